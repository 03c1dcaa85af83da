"""One package for each paper's method; they never import one another."""
