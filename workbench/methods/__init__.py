"""One package for each paper's method; they never import one another."""

from workbench.harness import paths, threads

__path__ += [str(root / "methods") for root in paths.extra_roots()]
threads.prepare()
