import numpy as np
import pytest

from tests.oracles import superposition as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.amplitudes import AMPLITUDES
from workbench.methods.superposition.exact_loss import expected_loss
from workbench.methods.superposition.relu_loss import relu_loss_exact
from workbench.methods.superposition.sequences import sparse_sequences

KERNEL = np.array([-0.9, 0.37, -0.2, 0.7, 0.5, -0.1])
ATOMS = {"sign": ((-1.0, 1.0), (0.5, 0.5)), "constant": ((1.0,), (1.0,))}


@pytest.mark.parametrize("p", [1e-3, 1e-2, 0.05, 0.6, 1.0])
@pytest.mark.parametrize("amplitude", ATOMS)
def test_atoms_equal_the_mean_over_all_windows(amplitude, p):
    exact = oracle.enumerated_relu_loss(KERNEL, 3, p, *ATOMS[amplitude])
    assert relu_loss_exact(KERNEL, 3, p=p, amplitude=amplitude) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("p", [1e-3, 1e-2, 0.05, 0.6, 1.0])
@pytest.mark.parametrize("amplitude", ["uniform", "exponential", "constant"])
def test_where_nothing_is_negative_the_relu_does_nothing(amplitude, p):
    a, law = np.array([0.1, 0.5, 0.0, 0.8, 0.3, 0.2]), AMPLITUDES[amplitude]
    exact = expected_loss(a, 3, p=p, mu=law.mean, nu=law.second_moment)
    unit = p * law.second_moment
    assert relu_loss_exact(a, 3, p=p, amplitude=amplitude) == pytest.approx(exact, abs=2e-6 * unit)
    assert relu_loss_exact(-a, 3, p=p, amplitude=amplitude) == pytest.approx(unit, abs=2e-6 * unit)


def test_gaussian_inputs_lose_half():
    # z and x_{t-k} are jointly normal: E relu(z)^2 = |a|^2 / 2 and E relu(z) x_{t-k} = a_k / 2.
    exact = KERNEL @ KERNEL / 2 - KERNEL[3] + 1
    assert relu_loss_exact(KERNEL, 3, p=1, amplitude="gaussian") == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("amplitude", ["gaussian", "sign"])
def test_symmetric_inputs_and_a_readout_that_knows_nothing_of_the_target(amplitude):
    a = np.where(np.arange(6) == 3, 0, KERNEL)
    exact = 0.2 * (a @ a / 2 + 1)
    assert relu_loss_exact(a, 3, p=0.2, amplitude=amplitude) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("p", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("amplitude", AMPLITUDES)
def test_equals_a_random_sample(amplitude, p):
    x = sparse_sequences(200_000, 6, p=p, amplitude=amplitude, seed=5)[..., 0]
    errors = (np.maximum(x[:, ::-1] @ KERNEL, 0) - x[:, 2]) ** 2
    deviation = errors.std() / np.sqrt(len(errors))
    assert relu_loss_exact(KERNEL, 3, p=p, amplitude=amplitude) == pytest.approx(
        errors.mean(), abs=4 * deviation + 1e-4
    )


@pytest.mark.parametrize("amplitude", ["uniform", "exponential", "gaussian"])
def test_more_points_change_little(amplitude):
    a = 0.9 ** np.abs(np.arange(20) - 4) * np.cos(np.arange(20) - 4)
    for p in (1e-3, 0.05, 1.0):
        unit = p * AMPLITUDES[amplitude].second_moment
        few, many = (relu_loss_exact(a, 4, p=p, amplitude=amplitude, points=n) for n in (4096, 40_000))
        assert few == pytest.approx(many, abs=5e-6 * unit)


def test_short_and_empty_kernels():
    assert relu_loss_exact([0.0], 0, p=0.3) == pytest.approx(0.1, abs=1e-8)
    assert relu_loss_exact([1.0], 0, p=0.3) == pytest.approx(0, abs=1e-8)
    assert relu_loss_exact([1.0], 2, p=0.3) == pytest.approx(0.2 - 2 * 0.15**2, abs=1e-7)
    with pytest.raises(DataError, match=r"a of shape \(0,\)"):
        relu_loss_exact([], 0, p=0.3)


def test_bad_input():
    with pytest.raises(DataError, match="finite kernel"):
        relu_loss_exact([np.inf], 0, p=0.3)
    with pytest.raises(DataError, match=r"shape \(2, 2\)"):
        relu_loss_exact(np.eye(2), 0, p=0.3)
    with pytest.raises(ParameterError, match="p = 0"):
        relu_loss_exact([1.0], 0, p=0.0)
    with pytest.raises(ParameterError, match=r"points = 63 .*at least 64"):
        relu_loss_exact([1.0], 0, p=0.1, points=63)
    with pytest.raises(ParameterError, match="'unifrom' is not a law"):
        relu_loss_exact([1.0], 0, p=0.1, amplitude="unifrom")
