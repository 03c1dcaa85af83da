"""Everything that turns a method into runs; it knows no method by name."""
