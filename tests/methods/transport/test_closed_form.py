import numpy as np
import pytest

from tests.oracles import transport as oracle
from workbench.errors import DataError
from workbench.methods.transport import ot2_grid
from workbench.methods.transport.closed_form import product_value, transport_1d


def test_one_axis_equals_the_linear_program():
    rng = np.random.default_rng(0)
    u, v = rng.random(9), rng.random(6)
    v[2] = 0
    expected = oracle.least_cost(u, v, (0.5,))
    assert transport_1d(0.5 * np.arange(9), 0.5 * np.arange(6), u, v) == pytest.approx(expected, rel=1e-12)
    order = rng.permutation(9)
    assert transport_1d(0.5 * order, 0.5 * np.arange(6), u[order], v) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sides", [(32, 32), (20, 33)])
def test_product_measures(sides):
    rng = np.random.default_rng(1)
    a, b = ([rng.dirichlet(np.ones(n)) for n in sides] for _ in range(2))
    exact = product_value(a, b, spacing=1 / 32)
    result = ot2_grid(np.outer(*a), np.outer(*b), spacing=1 / 32)
    assert result.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= result.upper
    assert result.rel_gap <= 1e-4


def test_bad_input():
    with pytest.raises(DataError, match="one mass per point"):
        transport_1d(np.zeros(2), np.zeros(2), np.ones(3), np.ones(2))
    with pytest.raises(DataError, match="v needs finite masses"):
        transport_1d(np.zeros(2), np.zeros(2), np.ones(2), np.zeros(2))
    with pytest.raises(DataError, match="equally many"):
        product_value([[1.0]], [[1.0], [1.0]])
