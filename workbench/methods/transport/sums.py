"""Sums of products without BLAS, whose threads wake from 10,000 numbers on and cost more than they save."""

import numpy as np


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of products of two vectors.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i->", a, b))
