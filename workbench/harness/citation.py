"""How to cite this software, in BibTeX; a test holds these facts equal to CITATION.cff."""

import workbench

TITLE = "workbench: papers as runnable methods with measured verdicts"
AUTHOR = "workbench contributors"
YEAR = 2026


def software() -> str:
    """Return the BibTeX entry of this software at this version.

    Examples
    --------
    >>> print(software().splitlines()[0])
    @software{workbench,
    """
    return (
        "@software{workbench,\n"
        f"  title   = {{{TITLE}}},\n"
        f"  author  = {{{{{AUTHOR}}}}},\n"
        f"  version = {{{workbench.__version__}}},\n"
        f"  year    = {{{YEAR}}}\n"
        "}"
    )
