import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import superposition as oracle
from workbench.errors import DataError, ParameterError
from workbench.methods.superposition.diagnosis import diagnose


def sparse(T, N, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((T, N)) * (rng.random((T, N)) < p)


@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(1, 4), st.floats(0.2, 1.0))
def test_equals_the_definitions(seed, T, N, p):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(T, N)) * (rng.random((T, N)) < p)
    x[0, 0] = 1.0
    found = diagnose(x, max_lag=3)
    np.testing.assert_allclose(found.correlation, oracle.correlations(x, 3), atol=1e-12)
    for i in range(N):
        active = [v for v in x[:, i] if v != 0]
        assert found.p[i] == pytest.approx(len(active) / T)
        if active:
            assert found.mu[i] == pytest.approx(np.mean(active))
            assert found.nu[i] == pytest.approx(np.mean(np.square(active)))
            assert found.negative[i] == pytest.approx(sum(v * v for v in active if v < 0) / sum(v * v for v in active))


@given(st.integers(0, 10**6), st.floats(1e-6, 1e6))
def test_scale_and_order_of_channels(seed, scale):
    x = sparse(300, 3, 0.3, seed)
    order = np.random.default_rng(seed).permutation(3)
    before, after = diagnose(x), diagnose(scale * x[:, order])
    np.testing.assert_allclose(after.p, before.p[order])
    np.testing.assert_allclose(after.mu, scale * before.mu[order])
    np.testing.assert_allclose(after.nu, scale**2 * before.nu[order])
    np.testing.assert_allclose(after.autocorrelation, before.autocorrelation[:, order], atol=1e-9)
    largest = np.abs(before.cross_correlation[np.ix_(order, order)])
    np.testing.assert_allclose(np.abs(after.cross_correlation), largest, atol=1e-9)


def test_independent_inputs_are_rarely_warned_of():
    warned = sum(bool(diagnose(sparse(1000, 4, p, seed)).warnings) for p in (0.1, 0.5, 0.99) for seed in range(30))
    assert warned <= 12  # of 90, at 5 % for dependence in time and as much between channels


def test_moments_of_the_generated_law():
    found = diagnose(sparse(20000, 2, 0.3))
    assert found.p == pytest.approx([0.3, 0.3], abs=0.01)
    assert found.mu == pytest.approx([0.5, 0.5], abs=0.01)
    assert found.nu == pytest.approx([1 / 3, 1 / 3], abs=0.01)


def test_dependence_in_time():
    x = sparse(2000, 2, 0.3)
    x[1:, 0] += 0.7 * x[:-1, 0]
    (warning,) = diagnose(x, names=["rain", "wind"]).warnings
    assert warning.startswith("channel 'rain' is dependent in time, 'rain' most (correlation 0.") and "lag 1" in warning


def test_channels_that_follow_one_another():
    x = sparse(2000, 3, 0.3)
    x[2:, 2] = x[:-2, 0]
    found = diagnose(x, names=["a", "b", "c"])
    (warning,) = found.warnings
    assert warning.startswith("channels 'a', 'c' are dependent on one another, 'a' and 'c' most (correlation 1.00")
    assert found.correlation[2, 2, 0] == pytest.approx(1, abs=0.01)
    assert found.cross_correlation[0, 2] == found.cross_correlation[2, 0] == pytest.approx(1, abs=0.01)
    assert found.table().loc["c", "with"] == "a"


def test_values_unlike_the_theory():
    x = sparse(500, 5, 0.5)
    x[:, 0], x[:, 1] = 0.0, 3.0
    x[:, 2] += 0.1
    x[3:, 3], x[:3, 3] = 0.0, 1.0
    x[:, 4] *= np.where(np.arange(500) % 2, 1.0, -1.0)
    text = "\n".join(diagnose(x, names=list("abcde")).warnings)
    assert "channel 'a' is always zero" in text
    assert "channel 'b' is constant" in text
    assert "channel 'c' is never zero, so that p = 1" in text and "threshold" in text
    assert "channel 'd' is active in fewer than 20 steps" in text
    assert "channel 'e' is negative at times" in text and "kind='linear'" in text
    assert "channel 'd' is too seldom active" in text


def test_many_channels_are_not_all_named():
    assert any("'0', '1', '2' and 2 more are never zero" in w for w in diagnose(sparse(200, 5, 1.0) + 1).warnings)


def test_threshold_makes_zeros():
    x = sparse(1000, 1, 0.3) + 0.01
    assert diagnose(x).p == pytest.approx([1.0])
    found = diagnose(x, threshold=0.01)
    assert found.p == pytest.approx([0.3], abs=0.05)
    assert not any("never zero" in warning for warning in found.warnings)
    assert x.min() == 0.01  # the given array stays as it is


def test_one_axis_is_one_channel():
    x = sparse(100, 1, 0.5)
    found = diagnose(x[:, 0])
    assert found.names == ("0",)
    np.testing.assert_array_equal(found.correlation, diagnose(x).correlation)
    assert np.isnan(found.cross_correlation).all()
    assert found.table()["with"].tolist() == [""]


def test_whole_numbers_and_flags():
    x = sparse(100, 2, 0.5) > 0
    assert diagnose(x).mu.tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(diagnose(x.astype(np.int32)).p, diagnose(x).p)


def test_table():
    table = diagnose(sparse(200, 2, 0.5), names=["a", "b"]).table()
    assert table.index.tolist() == ["a", "b"]
    columns = ["p", "mu", "nu", "negative", "autocorrelation", "at lag", "cross-correlation", "with"]
    assert table.columns.tolist() == columns
    assert table["at lag"].between(1, 10).all()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((100, 2)), "the series is all zero: there is nothing to recall"),
        (np.zeros((0, 3)), r"shape \(0, 3\) and holds no value"),
        (np.zeros((50, 0)), r"shape \(50, 0\) and holds no value"),
        (np.ones((5, 2)), r"the series has 5 steps \(shape \(5, 2\)\): it takes at least 12"),
        (np.ones((2, 50, 2)), r"shape \(2, 50, 2\): give \(time, channel\)"),
        (np.array(3.0), r"shape \(\): give \(time, channel\)"),
        (np.full((50, 2), "x"), "dtype <U1: give real numbers"),
        (np.ones((50, 2), complex), "dtype complex128: give real numbers"),
        (np.where(np.eye(50) > 0, np.nan, 1.0), "50 values that are not finite, the first at step 0 of channel 0"),
        (np.r_[np.ones(49), np.inf], "1 values that are not finite, the first at step 49 of channel 0"),
    ],
)
def test_bad_series(array, message):
    with pytest.raises(DataError, match=message):
        diagnose(array)


def test_bad_options():
    x = sparse(50, 2, 0.5)
    with pytest.raises(ParameterError, match=r"max_lag = 0"):
        diagnose(x, max_lag=0)
    with pytest.raises(ParameterError, match=r"threshold = -1\.0"):
        diagnose(x, threshold=-1.0)
    with pytest.raises(ParameterError, match="names has 3 entries for 2 channels"):
        diagnose(x, names=list("abc"))
    with pytest.raises(DataError, match="all zero up to threshold = 2: give a lower one"):
        diagnose(x, threshold=2.0)


def test_text_is_no_list_of_names_and_ragged_rows_no_series():
    with pytest.raises(ParameterError, match=r"names = 'ab' .* give a list, one name a channel"):
        diagnose(sparse(100, 2, 0.3), names="ab")
    with pytest.raises(DataError, match="rows of different lengths"):
        diagnose([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e-310])
def test_values_whose_squares_are_no_numbers_are_refused(scale):
    x = sparse(100, 2, 0.3)
    x[:, 1] *= scale
    with pytest.raises(DataError, match=r"channel 1 of the series .* give it in a unit"):
        diagnose(x)
