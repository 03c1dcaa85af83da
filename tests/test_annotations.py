"""The guard of tests/conftest.py is in force: annotations of the methods are checked, shapes included."""

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from workbench.methods.transport.geometry import Grid, Measure


def test_a_wrong_shape_does_not_pass():
    with pytest.raises(TypeCheckError, match="mass"):
        Measure(Grid((2, 2), (1.0, 1.0)), np.ones((2, 2)))


def test_a_wrong_type_does_not_pass():
    with pytest.raises(TypeCheckError, match="shape"):
        Grid("2", (1.0,))
