import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.methods.superposition.hidden_plane import BASES, CANONICAL, POINTS_A_STEP, RAW, UPRIGHT, plane
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.read_outs import geometry

K = 3


def rotation(degrees, r=0.8, sense=1):
    a = np.radians(degrees)
    return r * np.array([[np.cos(a), -sense * np.sin(a)], [sense * np.sin(a), np.cos(a)]])


def network(W_h, *, kind="ssm", tied=True, w_x=(1.0, 0.4), w_y=(0.3, -0.7)):
    W_y = None if tied else np.array(w_y)[None, :, None]
    return DelayRecall(kind, k=K, tied=tied, W_x=np.array(w_x)[None, :, None], W_h=np.array(W_h)[None], W_y=W_y)


def turning(sense=1, **options):
    """A network whose spiral is elliptical: a rotation seen in a skew basis."""
    S = np.array([[1.0, 0.6], [0.2, 1.5]])
    return network(S @ rotation(50, sense=sense) @ np.linalg.inv(S), **options)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("sense", [1, -1])
def test_the_readout_takes_the_same_of_the_directions_in_every_basis(basis, tied, sense):
    model = turning(sense, tied=tied)
    found, kernel = plane(model, basis), model.kernel(2 * K)[0, :, 0, 0]
    seen = found.tips @ found.readout
    assert np.linalg.norm(found.readout) == pytest.approx(1)
    np.testing.assert_allclose(seen / np.abs(seen).max(), kernel / np.abs(kernel).max(), atol=1e-12)


@pytest.mark.parametrize("sense", [1, -1])
def test_upright_keeps_lengths_and_angles_and_turns_counterclockwise(sense):
    model = turning(sense, tied=False)
    upright, raw = plane(model, UPRIGHT), plane(model, RAW)
    np.testing.assert_array_equal(raw.tips, model.impulse(2 * K)[0, :, :, 0])
    np.testing.assert_allclose(upright.tips @ upright.tips.T, raw.tips @ raw.tips.T, atol=1e-12)
    np.testing.assert_allclose(upright.readout, [0, 1], atol=1e-12)
    x, y = upright.tips.T
    assert (x[:-1] * y[1:] > y[:-1] * x[1:]).all()


@pytest.mark.parametrize("sense", [1, -1])
def test_canonical_directions_turn_and_shrink_evenly_up_to_w_k(sense):
    model = turning(sense)
    z = plane(model, CANONICAL).tips @ [1, 1j]
    found = geometry(model)
    np.testing.assert_allclose(z[1:] / z[:-1], np.full(2 * K, found.rho * np.exp(1j * found.theta)), atol=1e-12)
    assert np.degrees(np.angle(z[K])) == pytest.approx(90)
    assert abs(z[K]) == pytest.approx(np.linalg.norm(model.impulse(K)[0, K]))


@pytest.mark.parametrize("basis", BASES)
def test_the_path_meets_the_directions(basis):
    found = plane(turning(), basis)
    np.testing.assert_allclose(found.path[::POINTS_A_STEP], found.tips, atol=1e-12)


@pytest.mark.parametrize("basis", BASES)
def test_the_arc_goes_from_the_direction_of_w_0_to_w_k(basis):
    found = plane(turning(), basis)
    start, first = found.arc[0], found.tips[0]
    np.testing.assert_allclose(start / np.linalg.norm(start), first / np.linalg.norm(first))
    np.testing.assert_allclose(found.arc[-1], found.tips[K])


def test_the_canonical_arc_is_of_one_radius_and_of_k_theta():
    model = turning()
    z = plane(model, CANONICAL).arc @ [1, 1j]
    np.testing.assert_allclose(np.abs(z), abs(z[-1]))
    assert np.degrees(np.angle(z[1:] / z[:-1]).sum()) == pytest.approx(geometry(model).ktheta[0])


@pytest.mark.parametrize(
    "model", [network([[0.5, 0.1], [0.2, 0.4]]), network(np.zeros((2, 2))), turning(kind="nonlinear")]
)
@pytest.mark.parametrize("basis", BASES)
def test_without_a_linear_rotation_the_path_joins_the_directions(model, basis):
    found = plane(model, basis)
    np.testing.assert_array_equal(found.path, found.tips)
    assert found.arc.shape == (0, 2)


def test_real_eigenvalues_have_no_canonical_basis():
    model = network([[0.5, 0.1], [0.2, 0.4]])
    assert plane(model, CANONICAL).basis == UPRIGHT
    assert plane(turning(), CANONICAL).basis == CANONICAL


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("W_h", [rotation(40), np.zeros((2, 2))])
def test_a_network_of_zeros_has_no_readout(basis, W_h):
    found = plane(network(W_h, w_x=(0.0, 0.0)), basis)
    assert np.isnan(found.readout).all() and not found.tips.any()


def test_what_is_no_plane_is_refused():
    with pytest.raises(ParameterError, match=r"basis = .canonicle. is not known.*canonical"):
        plane(turning(), "canonicle")
    for sizes in ({"n_models": 2}, {"n_hidden": 3}, {"n_features": 2}):
        with pytest.raises(ParameterError, match="one network of 2 units and 1 feature"):
            plane(DelayRecall("ssm", **sizes))


@pytest.mark.parametrize("basis", BASES)
def test_the_half_plane_holds_what_is_read_as_zero_or_less(basis):
    found = plane(turning(), basis)
    inward = np.diff(found.half_plane(7.0), axis=0)[1]
    np.testing.assert_allclose(inward, -7 * found.readout, atol=1e-12)
    np.testing.assert_allclose(found.half_plane(7.0)[:2].sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.readout_line(7.0), [-7 * found.readout, 7 * found.readout])


def test_lengths_in_units_of_the_output_direction():
    found = plane(turning(), CANONICAL)
    shown = found.in_units_of(float(np.linalg.norm(found.tips[K])))
    for output in (shown.tips[K], shown.path[K * POINTS_A_STEP]):
        assert np.linalg.norm(output) == pytest.approx(1)
    np.testing.assert_allclose(shown.arc_of(0.2), 0.2 * shown.arc, atol=1e-12)
    np.testing.assert_array_equal(shown.readout, found.readout)
