import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from tests.oracles import superposition as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.read_outs import angle_histogram, geometry


def network(kind, W_x, W_h, k, W_y=None):
    M, N_h, N_x = W_x.shape
    return DelayRecall(
        kind=kind, n_hidden=N_h, n_features=N_x, k=k, tied=W_y is None, n_models=M, W_x=W_x, W_h=W_h, W_y=W_y
    )


def random_network(seed, *, kind="ssm", n_hidden=2, n_features=1, k=4, tied=True, M=5):
    rng = np.random.default_rng(seed)
    W_h = 0.5 * np.eye(n_hidden) + 0.5 * rng.normal(size=(M, n_hidden, n_hidden))
    W_x, W_y = rng.normal(size=(2, M, n_hidden, n_features))
    return network(kind, W_x, W_h, k, None if tied else W_y)


def spiral(r, degrees, k, *, length=1.0, kind="ssm", W_y=None):
    turn = np.radians(degrees)
    W_h = r * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return network(kind, np.array([[[length], [0.0]]]), W_h[None], k, W_y)


def test_a_spiral_reads_out_its_own_radius_and_turn():
    found = geometry(spiral(0.8, 67.4, 4, length=3.0))
    assert found.rho == pytest.approx([0.8])
    assert found.ktheta == pytest.approx([269.6])
    assert found.theta == pytest.approx([np.radians(67.4)])
    assert found.first_norm == pytest.approx([3.0])
    assert found.sharpness == pytest.approx([0.8])
    assert found.kept.tolist() == [1]
    s = np.arange(10)
    assert found.kernel[0, :, 0, 0] == pytest.approx(9 * 0.8 ** (s + 4) * np.cos(np.radians(67.4 * (s - 4))))
    assert found.free_fraction.tolist() == [0.75]
    beyond = spiral(0.8, 68.0, 4, length=3.0)  # 272 degrees: w_0 is no longer free, by 9 % of a_k
    assert geometry(beyond).free_fraction.tolist() == [0.5]
    assert geometry(beyond, slack=0.1).free_fraction.tolist() == [0.75]


def test_k_theta_is_not_wrapped():
    assert geometry(spiral(0.95, 100.0, 9, length=3.0)).ktheta == pytest.approx([900.0])


def test_angles_of_a_spiral():
    angles = geometry(spiral(0.9, 50.0, 3)).angles[0]
    turned = 50.0 * np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    np.testing.assert_allclose(angles, np.minimum(turned, 360 - turned), atol=1e-5)


def test_real_eigenvalues_have_no_turn():
    found = geometry(network("linear", np.ones((1, 2, 1)), np.diag([0.9, 0.5])[None], 2))
    assert np.isnan(found.theta).all() and np.isnan(found.ktheta).all()
    assert found.rho == pytest.approx([0.9])
    assert not found.dead[0]


def test_dead_models():
    found = geometry(spiral(0.7, 60.0, 4, length=0.1))
    assert found.dead.tolist() == [True]
    assert found.kept.tolist() == [0]
    for name in ("theta", "ktheta", "free_fraction", "sharpness"):
        assert np.isnan(getattr(found, name)).all(), name
    assert found.rho == pytest.approx([0.7])


def test_all_zero_weights():
    found = geometry(network("nonlinear", np.zeros((2, 2, 1)), np.zeros((2, 2, 2)), 3))
    assert found.dead.all()
    assert np.isnan(found.angles).all()


@pytest.mark.parametrize("n_hidden", [1, 3, 4])
def test_other_sizes_have_eigenvalues_but_no_single_turn(n_hidden):
    model = random_network(0, n_hidden=n_hidden)
    found = geometry(model)
    assert np.isnan(found.theta).all()
    assert found.eigenvalues.shape == (5, n_hidden)
    for m in range(5):
        assert found.rho[m] == pytest.approx(max(abs(np.linalg.eigvals(model.W_h[m]))))


def test_shift_register_forgets_at_once():
    k, W_h = 3, np.diag(np.ones(3), -1)[None]
    found = geometry(network("ssm", np.eye(4)[None, :, :1], W_h, k))
    assert found.sharpness.tolist() == [0.0]
    assert found.free_fraction.tolist() == [1.0]
    assert found.kept.tolist() == [1]
    assert found.angles[0][np.triu_indices(4, 1)] == pytest.approx(90.0)


def test_nonlinear_directions_pass_the_relu():
    W_h = np.array([[[0.0, 0.0], [-1.0, 0.0]]])
    found = geometry(network("nonlinear", np.array([[[1.0], [0.0]]]), W_h, 1))
    assert found.kernel[0, :, 0, 0].tolist() == [0.0, 1.0, 0.0, 0.0]  # w_1 = (0, -1), and its ReLU is zero
    assert found.sharpness.tolist() == [0.0]


def test_no_intermediate_directions_at_delay_zero():
    found = geometry(random_network(3, n_features=3, k=0))
    assert np.isnan(found.free_fraction).all()
    assert found.angles.shape == (5, 3, 3)


def test_a_vector_direction_is_free_if_no_recalled_output_reads_it():
    W_x, k = np.zeros((1, 6, 3)), 1
    W_x[0, 0, 0] = W_x[0, 1, 1] = 1.0
    W_h = np.zeros((1, 6, 6))
    W_h[0, 2, 0] = W_h[0, 3, 1] = 1.0
    W_y = np.zeros((1, 6, 3))
    W_y[0, 2, 0] = W_y[0, 3, 1] = 1.0
    W_y[0, 0, 1] = 0.4  # output 1 reads feature 0 too early
    W_y[0, 1, 2] = 9.0  # output 2 reads feature 1 early, but recalls nothing
    found = geometry(network("ssm", W_x, W_h, k, W_y))
    assert found.kept.tolist() == [2]
    assert found.free_fraction.tolist() == [0.5]
    assert geometry(network("ssm", W_x, W_h, k, W_y), slack=0.4).free_fraction.tolist() == [1.0]


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["linear", "ssm", "nonlinear"]), k=st.integers(0, 4))
def test_equals_the_definitions(seed, kind, k):
    model = random_network(seed, kind=kind, n_hidden=3, n_features=2, k=k, tied=bool(seed % 2), M=2)
    found = geometry(model)
    for m in range(2):
        W = oracle.directions(kind, model.W_x[m], model.W_h[m], k + 1)
        expected = oracle.geometry(W, W[k] if model.W_y is None else model.W_y[m], k)
        assert found.kept[m] == expected["kept"] and found.dead[m] == expected["dead"]
        for name in ("free_fraction", "sharpness", "angles"):
            np.testing.assert_allclose(getattr(found, name)[m], expected[name], rtol=1e-9, atol=2e-5, err_msg=name)


@given(seed=st.integers(0, 10**6), tied=st.booleans())
def test_invariances(seed, tied):
    model = random_network(seed, tied=tied)
    rng = np.random.default_rng(seed)
    S = ortho_group.rvs(2, random_state=rng)
    if not tied:
        S = S @ np.diag([3.0, 0.5]) @ ortho_group.rvs(2, random_state=rng)
    W_y = None if tied else np.linalg.inv(S).T @ model.W_y
    changed = network("ssm", S @ model.W_x, S @ model.W_h @ np.linalg.inv(S), 4, W_y)
    before, after = geometry(model), geometry(changed)
    for name in ("rho", "theta", "ktheta", "kernel"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-6, atol=1e-6, err_msg=name)
    if tied:
        np.testing.assert_allclose(after.angles, before.angles, atol=1e-3)
        np.testing.assert_allclose(after.sharpness, before.sharpness, rtol=1e-6)


def test_a_tied_readout_sees_more_than_the_similarity_class():
    model, S = spiral(0.9, 60.0, 4), np.diag([2.0, 1.0])
    changed = network("ssm", S @ model.W_x, S @ model.W_h @ np.linalg.inv(S), 4)
    assert geometry(changed).ktheta == pytest.approx(geometry(model).ktheta)
    assert abs(geometry(changed).kernel - geometry(model).kernel).max() > 0.1


def test_bad_input():
    W_h = np.stack([np.eye(2), 1e99 * np.eye(2), 1e99 * np.eye(2)])
    with pytest.raises(DataError, match=r"directions of model 1 overflow within 9 steps \(2 of 3 models\)"):
        geometry(network("linear", np.ones((3, 2, 1)), W_h, 4))
    with pytest.raises(ParameterError, match=r"slack = -0\.1"):
        geometry(random_network(1), slack=-0.1)


def test_angle_histogram_counts_each_pair_once():
    angles = np.array([[0.0, 10.0, 100.0], [10.0, 0.0, np.nan], [100.0, np.nan, 0.0]])
    shares, edges = angle_histogram(np.stack([angles, angles]), bins=2)
    assert shares.tolist() == [0.5, 0.5]
    assert edges.tolist() == [0.0, 90.0, 180.0]
    assert np.isnan(angle_histogram(np.full((2, 2), np.nan), bins=3)[0]).all()
    with pytest.raises(ParameterError, match="bins = 0"):
        angle_histogram(angles, bins=0)
