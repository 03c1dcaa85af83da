import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.transport.ctransform import c_transform_grid

SHAPES = [((7,), (4,)), ((5, 9), (8, 3)), ((1, 12), (6, 1)), ((3, 4, 5), (4, 2, 6)), ((1,), (1,))]


@pytest.mark.parametrize(("shape", "shape_out"), SHAPES)
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_equals_enumeration(shape, shape_out, share):
    rng = np.random.default_rng(0)
    spacing = (1.0, 0.5, 2.0)[: len(shape)]
    g = np.round(rng.normal(size=shape) * 32) / 4
    mask = rng.random(shape) < share
    mask.flat[0] = True
    values, argmin = c_transform_grid(g, shape_out, spacing=spacing, mask=mask)
    np.testing.assert_array_equal(values, oracle.c_transform(g, shape_out, spacing, mask))
    chosen = oracle.costs(shape_out, shape, spacing)[np.arange(argmin.size), argmin.ravel()] - g.flat[argmin.ravel()]
    np.testing.assert_array_equal(chosen.reshape(shape_out), values)
    assert mask.flat[argmin.ravel()].all()


def test_three_transforms_are_one_and_two_are_larger():
    g = np.random.default_rng(1).normal(size=(9, 11)) * 20
    one, _ = c_transform_grid(g, (8, 7))
    two, _ = c_transform_grid(one, g.shape)
    three, _ = c_transform_grid(two, (8, 7))
    np.testing.assert_allclose(three, one, rtol=1e-13, atol=1e-12)
    assert (two >= g - 1e-12).all()


def test_another_spacing_of_the_result():
    g = np.random.default_rng(2).normal(size=6)
    values, _ = c_transform_grid(g, (3,), spacing=1.0, spacing_out=2.0)
    fine, coarse = np.arange(6) + 0.5, 2 * (np.arange(3) + 0.5)
    np.testing.assert_allclose(values, ((coarse[:, None] - fine) ** 2 - g).min(axis=1), rtol=1e-14)


def test_nothing_allowed_is_infinite():
    values, argmin = c_transform_grid(np.zeros((2, 2)), (2, 2), mask=np.zeros((2, 2), bool))
    assert np.isinf(values).all()
    assert (argmin == -1).all()


def test_bad_input():
    with pytest.raises(DataError, match="same one to 3 axes"):
        c_transform_grid(np.zeros((2, 2)), (2,))
    with pytest.raises(DataError, match="mask of shape"):
        c_transform_grid(np.zeros(2), (2,), mask=np.ones(3, bool))
    with pytest.raises(ParameterError, match="spacing_out"):
        c_transform_grid(np.zeros(2), (2,), spacing_out=-1.0)
