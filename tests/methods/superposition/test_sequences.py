import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.superposition import Xoshiro
from workbench.errors import ParameterError
from workbench.methods.superposition import _jit_sequences
from workbench.methods.superposition.amplitudes import AMPLITUDES, amplitude_law
from workbench.methods.superposition.sequences import NO_SERIES, delay_targets, sparse_sequences, streams

WORD = st.integers(0, 2**64 - 1)


@given(st.tuples(WORD, WORD, WORD, WORD))
def test_the_stream_is_xoshiro(words):
    state = np.array(words, dtype=np.uint64)
    twin = Xoshiro(words)
    for _ in range(20):
        assert _jit_sequences.uniform(state) == twin.uniform()
    assert state.tolist() == twin.s


def test_the_stream_is_uniform():
    state = streams(3, 1)[0]
    drawn = np.array([_jit_sequences.uniform(state) for _ in range(100_000)])
    counts = np.histogram(drawn, bins=100, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 99 + 5 * np.sqrt(2 * 99)
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5 / np.sqrt(len(drawn))
    assert drawn.min() >= 0 and drawn.max() < 1


@pytest.mark.parametrize("p", [1e-6, 0.01, 0.0999, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("name", AMPLITUDES)
def test_inputs_are_active_with_probability_p_and_have_the_moments_of_their_law(name, p):
    law = amplitude_law(name)
    x = sparse_sequences(20_000, 10, 2, p=p, amplitude=name, seed=5)
    active = x[x != 0]
    assert abs(active.size - p * x.size) <= 5 * np.sqrt(x.size * p * (1 - p))
    if active.size > 1000:
        for power, moment in ((1, law.mean), (2, law.second_moment)):
            drawn = active**power
            assert drawn.mean() == pytest.approx(moment, rel=1e-12, abs=5 * drawn.std() / np.sqrt(drawn.size))
    assert law.support[0] <= x.min() or law.support[0] == 1.0
    assert x.max() <= law.support[1]


@pytest.mark.parametrize("p", [0.05, 0.3])
def test_inputs_do_not_depend_on_each_other(p):
    x = sparse_sequences(50_000, 3, 2, p=p, seed=2).reshape(50_000, 6)
    assert np.abs(np.corrcoef(x.T) - np.eye(6)).max() < 5 / np.sqrt(50_000)
    np.testing.assert_allclose((x > 0).mean(axis=0), p, atol=5 * np.sqrt(p / 50_000))


@pytest.mark.parametrize("p", [0.0999, 0.1])
def test_dense_and_gap_draws_give_the_same_distribution(p):
    x = sparse_sequences(50_000, 4, p=p)
    counts = np.bincount((x[:, :, 0] > 0).sum(axis=1), minlength=5)[:3]
    wanted = 50_000 * np.array([(1 - p) ** 4, 4 * p * (1 - p) ** 3, 6 * p**2 * (1 - p) ** 2])
    assert (np.abs(counts - wanted) < 5 * np.sqrt(wanted)).all()
    amplitudes = x[x > 0]
    assert abs((amplitudes < 0.25).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / amplitudes.size)


@pytest.mark.parametrize("p", [5e-324, 1e-300, 1e-17])
def test_hopeless_activities_draw_nothing(p):
    assert not sparse_sequences(10, 5, p=p).any()


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 3), st.sampled_from([0.01, 0.5, 1.0]), st.integers(0, 9))
def test_the_seed_decides(n, T, n_features, p, seed):
    x = sparse_sequences(n, T, n_features, p=p, seed=seed)
    assert x.shape == (n, T, n_features)
    np.testing.assert_array_equal(x, sparse_sequences(n, T, n_features, p=p, seed=seed))
    if p == 1:
        assert (x != sparse_sequences(n, T, n_features, p=p, seed=seed + 1)).all()


def test_models_have_streams_of_their_own():
    states = streams(0, 100)
    assert states.shape == (100, 4) and len(np.unique(states)) == 400
    np.testing.assert_array_equal(streams([7, 3], 2), [streams(7, 1)[0], streams(3, 1)[0]])
    together, alone = streams(0, 3), streams(0, 3)
    x, p = np.empty((3, 4, 1, 5), np.float32), np.array([0.05, 0.5, 1.0])
    _jit_sequences.draw_all(x, p, 0, NO_SERIES, together)
    for m in range(3):
        single = np.empty((4, 1, 5), np.float32)
        _jit_sequences.draw(single, p[m], 0, NO_SERIES, alone[m])
        np.testing.assert_array_equal(x[m], single)


def test_windows_cover_the_series_evenly_and_stay_inside():
    series = np.stack([np.arange(1.0, 21.0), -np.arange(1.0, 21.0)], axis=1)
    x = np.empty((5, 2, 32_000), np.float32)
    _jit_sequences.fill_windows(x, series, streams(0, 1)[0])
    starts = x[0, 0].astype(int)
    np.testing.assert_array_equal(x[:, 0], starts + np.arange(5)[:, None])
    np.testing.assert_array_equal(x[:, 1], -x[:, 0])
    assert np.unique(starts).tolist() == list(range(1, 17))
    counts = np.bincount(starts)[1:]
    assert ((counts - 2000) ** 2 / 2000).sum() < 15 + 5 * np.sqrt(2 * 15)


@given(st.integers(0, 6), st.integers(1, 5), st.integers(1, 3), st.sampled_from([(), (2,), (2, 3)]))
def test_targets_are_inputs_of_k_steps_ago(k, T, n_features, leading):
    x = np.random.default_rng(0).normal(size=(*leading, T, n_features))
    y = delay_targets(x, k)
    for t in range(T):
        np.testing.assert_array_equal(y[..., t, :], x[..., t - k, :] if t >= k else 0 * x[..., t, :])


def test_wrong_input_is_named():
    for wrong in ({"n": 0}, {"T": -1}, {"n_features": 0}, {"p": 0.0}, {"p": 1.5}, {"p": float("nan")}, {"seed": -1}):
        with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} = "):
            sparse_sequences(**{"n": 2, "T": 3, "n_features": 1, "p": 0.5} | wrong)
    with pytest.raises(ParameterError, match="did you mean 'uniform'"):
        sparse_sequences(2, 3, p=0.5, amplitude="unifrom")
    with pytest.raises(ParameterError, match="k = -1"):
        delay_targets(np.zeros((2, 1)), -1)
    with pytest.raises(ParameterError, match=r"x has shape \(3,\)"):
        delay_targets(np.zeros(3), 1)
    for seed in ([1, 2], np.full(3, 0.5), [-1] * 3, True, 2**70):
        with pytest.raises(ParameterError, match=r"seed = .* one for each of 3 models"):
            streams(seed, 3)
