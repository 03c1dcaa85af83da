"""The errors a user may meet.

Every message says what was given (name, value, shape), what is allowed and what to do.
The command line prints the message alone, without a traceback, and exits with ``exit_code``.
"""

import difflib
from collections.abc import Iterable


class WorkbenchError(ValueError):
    """Root of all errors that are the user's to mend."""

    exit_code = 2


class ParameterError(WorkbenchError):
    """A parameter is unknown, of the wrong type, or out of its range."""


class DataError(WorkbenchError):
    """A file or an array is not what the method takes."""


class MissingExtra(WorkbenchError):
    """An optional package is not installed.

    Parameters
    ----------
    package
        The missing package, as imported.
    extra
        The extra of this distribution that installs it.
    why
        What it is needed for.
    """

    def __init__(self, package: str, extra: str, why: str) -> None:
        super().__init__(f"{why} needs {package}, which is not installed: pip install 'claims-workbench[{extra}]'")


class RunError(WorkbenchError):
    """A run crashed, was killed, or ran out of time or disk; the message names where."""

    exit_code = 1


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'a' or 'b'?"`` for the names closest to `word`, else all names.

    Examples
    --------
    >>> nearest("tolerence", ["tolerance", "seed"])
    "; did you mean 'tolerance'?"
    >>> nearest("xyz", ["tolerance", "seed"])
    '; known: tolerance, seed'
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(f"'{name}'" for name in close) + "?"
    return "; known: " + ", ".join(names) if names else ""
