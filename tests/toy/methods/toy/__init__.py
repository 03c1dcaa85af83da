"""A method for the tests of the harness: the mean of some random numbers, with faults on demand."""
