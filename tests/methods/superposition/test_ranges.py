import numpy as np
import pytest

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition import ranges
from workbench.methods.superposition.exact_loss import expected_loss, null_loss
from workbench.methods.superposition.relu_loss import relu_loss_exact
from workbench.methods.superposition.sparse_limit import isotropic_kernel, sparse_relu_loss


def test_numbers_of_any_real_type_are_taken():
    for given in (True, 2, np.float32(0.5), [1, 2], np.array([1, 2], object), np.array([True])):
        assert ranges.numbers("x", given).dtype == float


def test_one_number():
    assert all(map(ranges.is_number, (1, -0.5, np.float32(2), np.int8(3))))
    assert not any(map(ranges.is_number, (np.nan, np.inf, None, "1", [1.0], 1j, 10**400, np.ones(2))))


def test_what_cannot_be_squared_is_refused():
    for call in (
        lambda: expected_loss([1e200, 1.0], 1, p=0.5, mu=0.5, nu=1 / 3),
        lambda: sparse_relu_loss([1e200, 1.0], 1),
        lambda: relu_loss_exact([1e200, 1.0], 1, p=0.5),
    ):
        with pytest.raises(DataError, match=r"holds values above 1e\+150"):
            call()
    with pytest.raises(ParameterError, match=r"nu is the raw second moment"):
        expected_loss([0.5, 1.0], 1, p=0.5, mu=1e200, nu=1 / 3)
    with pytest.raises(ParameterError, match="overflows; take one nearer to 1"):
        isotropic_kernel(2, 1e-300, 0.5, 5)


def test_no_importance_is_not_a_loss_of_zero():
    with pytest.raises(DataError, match=r"importance of shape \(0,\)"):
        null_loss(1, p=0.5, nu=1.0, importance=[])
