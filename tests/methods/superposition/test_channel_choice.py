import numpy as np
import pytest

from workbench.errors import DataError, ParameterError, RunError
from workbench.methods.superposition.channel_choice import kept_features

IMPORTANCE = 0.7 ** np.arange(5)


def sparse(T, N, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((T, N)) * (rng.random((T, N)) < p)


@pytest.fixture(scope="module")
def kept():
    return kept_features(sparse(20000, 5, 0.05), [0, 1, 2, 3], importance=IMPORTANCE, seeds=8, steps=700, batch=64)


def test_a_longer_delay_leaves_fewer_features_all_or_none(kept):
    assert kept.kept.sum(axis=1).tolist() == [4, 2, 1, 1]
    assert kept.kept[:, 0].all()
    assert kept.all_or_none.all()
    assert kept.loss == pytest.approx([0.11, 0.41, 0.65, 0.65], abs=0.02)


def test_parts_of_the_result_agree(kept):
    np.testing.assert_array_equal(kept.loss, kept.losses.min(axis=1))
    for row, model, k in zip(kept.recall, kept.models, kept.delays, strict=True):
        assert model.k == k
        np.testing.assert_array_equal(row, np.diagonal(model.kernel(model.k)[0, -1]))
    table = kept.table()
    assert table.index.tolist() == [0, 1, 2, 3]
    assert table.columns.tolist() == ["0", "1", "2", "3", "4", "kept", "loss", "all or none"]
    assert kept.diagnosis.p == pytest.approx([0.05] * 5, abs=0.02)


def test_every_channel_is_kept_where_there_is_room():
    found = kept_features(sparse(400, 2, 0.3), 1, 4, seeds=4, steps=500, batch=32, lr=0.02)
    assert found.kept.all() and found.all_or_none.all()
    assert found.loss[0] < 0.05


def test_units_of_a_channel_count_only_if_asked():
    x, options = sparse(400, 2, 0.3), {"seeds": 2, "steps": 30, "batch": 16}
    scaled = x * [1.0, 1024.0]
    plain, same = kept_features(x, 1, **options), kept_features(scaled, 1, **options)
    np.testing.assert_allclose(same.losses, plain.losses, rtol=1e-6)
    raw = kept_features(scaled, 0, standardize=False, n_hidden=1, seeds=4, steps=400, batch=32)
    assert raw.kept.tolist() == [[False, True]]


def test_a_silent_channel_is_not_kept():
    x = sparse(300, 3, 0.3)
    x[:, 1] = 0.0
    found = kept_features(x, [0], 3, seeds=2, steps=400, batch=32)
    assert np.isnan(found.recall[0, 1]) and found.kept.tolist() == [[True, False, True]]
    assert found.models[0].n_features == 2
    assert any("always zero" in warning for warning in found.diagnosis.warnings)


def test_the_same_seed_gives_the_same():
    options = {"seeds": 2, "steps": 20, "batch": 8}
    first, second = (kept_features(sparse(100, 2, 0.3), [1, 2], seed=3, **options) for _ in range(2))
    np.testing.assert_array_equal(first.recall, second.recall)
    alone = kept_features(sparse(100, 2, 0.3), 2, seed=3, **options)
    np.testing.assert_array_equal(alone.losses[0], first.losses[1])


def test_callback_ends_at_one():
    heard = []
    options = {"seeds": 1, "steps": 5, "batch": 4}
    kept_features(sparse(60, 1, 0.5), [0, 1], callback=lambda fraction, text: heard.append(fraction), **options)
    assert heard == sorted(heard) and heard[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delays": [0, 40]}, "the series has 100 steps: windows at delay 40 take 122, and there must be more"),
        ({"T": 100}, "windows at delay 2 take 100"),
        ({"threshold": 2.0}, "all zero up to threshold"),
        ({"array": np.full((100, 2), np.nan)}, "200 values that are not finite"),
        ({"array": np.zeros((100, 2))}, "all zero"),
        ({"array": np.zeros((0, 2))}, "holds no value"),
        ({"importance": [1.0]}, r"importance of shape \(1,\)"),
        ({"delays": []}, "give one delay or a list of them"),
        ({"delays": [-1]}, "delay = -1"),
        ({"seeds": 0}, "seeds = 0"),
        ({"n_hidden": 0}, "n_hidden = 0"),
        ({"kind": "smm"}, "did you mean 'ssm'"),
        ({"names": ["a"]}, "names has 1 entries for 2 channels"),
    ],
)
def test_bad_input(options, message):
    given = {"array": sparse(100, 2, 0.3), "delays": [2], "steps": 2} | options
    with pytest.raises((DataError, ParameterError), match=message):
        kept_features(**given)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"T": 2}, {"names": "ab"}], ids=repr)
def test_wrong_parameters_are_told_before_training(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        kept_features(**{"array": sparse(100, 2, 0.3), "delays": 1, "steps": 10**6, **wrong})


def test_networks_that_all_diverge_are_told():
    with pytest.raises(RunError, match=r"all 2 networks diverged at delay 1: .* below lr = 1e\+30"):
        kept_features(sparse(100, 2, 0.3), 1, seeds=2, steps=5, lr=1e30)
