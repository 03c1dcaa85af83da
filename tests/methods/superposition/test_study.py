import numpy as np
import pytest
import xarray as xr

from workbench.errors import DataError, ParameterError
from workbench.harness.claims import Undecided, judge
from workbench.harness.data import own_data
from workbench.methods.superposition import measures, spec, study
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.study_curves import seeds_of, shown_delay
from workbench.methods.superposition.study_path import TERMS

SMALL = {
    "delays": [3, 4],
    "activities": [1.0, 0.1, 0.05],
    "restarts": 2,
    "steps": 40,
    "features": 2,
    "feature_delays": [0, 3],
    "feature_restarts": 2,
    "networks": ["10x2"],
}


@pytest.fixture(scope="module")
def dataset():
    return study.run(Params(**SMALL))


def test_the_table_has_every_network(dataset):
    assert dict(dataset["loss"].sizes) == {"kind": 3, "delay": 2, "activity": 3, "restart": 2}
    assert bool(np.isfinite(dataset["loss"]).all())
    assert bool((dataset["loss"] > 0).all())


def test_variables_are_labelled(dataset):
    for name, variable in dataset.variables.items():
        assert variable.attrs.get("long_name"), name


def test_the_best_restart_has_the_least_loss(dataset):
    best = dataset["loss"].isel(restart=dataset["best"])
    xr.testing.assert_equal(best, dataset["loss"].min("restart"))


def test_a_restart_begins_alike_whatever_their_number(dataset):
    more = study.run(Params(**{**SMALL, "restarts": 3, "delays": [4]}))
    same = more.isel(restart=slice(2))
    for name in ("loss", "W_x", "W_h"):
        np.testing.assert_array_equal(same[name].sel(delay=4), dataset[name].sel(delay=4))


def test_same_seed_same_numbers_another_seed_others(dataset):
    again, other = study.run(Params(**SMALL)), study.run(Params(**SMALL, seed=1))
    xr.testing.assert_identical(again, dataset)
    assert not np.allclose(other["W_h"], dataset["W_h"])


def test_the_kernel_belongs_to_the_weights(dataset):
    one = dataset.sel(kind="ssm", delay=4, activity=0.1).isel(restart=1)
    W_x, W_h = one["W_x"].values, one["W_h"].values
    directions = [np.linalg.matrix_power(W_h, s) @ W_x for s in range(9)]
    np.testing.assert_allclose(one["kernel"], [directions[4] @ w for w in directions], atol=1e-12)


def test_the_way_begins_at_the_first_weights_and_ends_at_the_trained(dataset):
    end = dataset["path_W_h"].isel(path=-1).sel(kind="ssm", shown_activity=0.05)
    table = dataset.sel(kind="ssm", delay=4, activity=0.05)
    np.testing.assert_array_equal(end, table["W_h"].isel(restart=table["best"]))
    assert (dataset["path_step"][0], dataset["path_step"][-1]) == (0, SMALL["steps"])


def test_terms_add_up_to_the_exact_loss_and_simulation_agrees(dataset):
    assert tuple(dataset["term"].values) == TERMS
    np.testing.assert_allclose(dataset["path_terms"].sum("term"), dataset["path_exact_loss"], rtol=1e-9)
    assert measures.formula(dataset) < 0.02


def test_progress_rises_to_the_end():
    seen = []
    study.run(Params(**SMALL), progress=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions) and 0.99 < fractions[-1] <= 1.0
    assert any("nonlinear networks, delay 4" in text for _, text in seen)


def test_untrained_networks_meet_few_claims(dataset):
    found = {verdict.claim: verdict.verdict for verdict in judge(dataset, spec.CLAIMS, "quick")}
    assert found["loss_formula"] == "holds"
    for name in ("optimum_loss", "dense_cone", "sparse_span", "abrupt_switch", "nonlinear_free", "all_or_none"):
        assert found[name] == "fails", name


def trained(dataset):
    """Return a copy in which every claim holds."""
    ideal = dataset.copy(deep=True)
    dense = ideal["activity"] == 1.0
    linear, ssm, nonlinear = ({"kind": kind} for kind in spec.KINDS)
    ideal["descent_loss"][:] = np.interp(np.arange(201), [0, 20, 100, 120, 200], [1.0, 0.29, 0.289, 0.22, 0.219])
    ideal["descent_optimum"][:] = [[0.289, 0.289], [0.219, 0.219]]
    ideal["descent_cosine"][:] = 1.0
    for lag in range(4):
        ideal["descent_cosine"].loc[{"descent": slice(120 + 10 * lag, None), "descent_lag": lag}] = 0.5
    for name, optimum in {"loss": 0.2, "rho": 0.8, "ktheta": 90.0}.items():
        ideal[name].loc[linear] = optimum
        ideal[f"optimum_{name}"][:] = optimum
    ideal["ktheta"].loc[ssm] = xr.where(dense, 90.0, 260.0)
    ideal["rho"].loc[ssm] = xr.where(dense, 0.8, 0.6)
    ideal["kernel"].loc[nonlinear] = -1.0
    ideal["kernel"].loc[{**nonlinear, "lag": 3}] = 1.0
    ideal["sharpness"].loc[nonlinear] = xr.where(dense, 0.8, 0.0)
    ideal["feature_recall"][:] = 0.0
    ideal["feature_recall"].loc[{"feature": "A"}] = 1.0
    ideal["feature_kept"].loc[{"feature_delay": 0}] = 3
    ideal["feature_kept"].loc[{"feature_delay": 3}] = 1
    ideal["network_mean_recall"][:] = ideal["network_kept_recall"][:] = 1.0
    ideal["network_mean_elsewhere"][:] = ideal["network_largest_elsewhere"][:] = -0.1
    return ideal


BREAKS = {
    "loss_formula": {"path_simulated_loss": 9.0},
    "staircase": {"descent_optimum": 0.25},
    "first_aligned": {"descent_cosine": 0.5},
    "then_separate": {"descent_cosine": 0.5},
    "optimum_loss": {"optimum_loss": 0.1},
    "optimum_angle": {"optimum_ktheta": 92.0},
    "optimum_radius": {"optimum_rho": 0.81},
    "spiral_sink": {"rho": 1.2},
    "linear_steady": {"ktheta": np.nan},
    "dense_cone": {"ktheta": 270.0},
    "sparse_span": {"ktheta": 90.0},
    "abrupt_switch": {"ktheta": 90.0},
    "radius_drop": {"rho": 0.8},
    "nonlinear_free": {"kernel": 1.0},
    "nonlinear_sharp": {"sharpness": 0.5},
    "nonlinear_dense": {"sharpness": 0.1},
    "all_or_none": {"feature_recall": 0.5},
    "all_or_none_nonlinear": {"feature_recall": 0.8},
    "many_at_once": {"feature_kept": 1},
    "one_at_last": {"feature_kept": 2},
    "most_important": {"feature_recall": 0.4},
    "larger_networks": {"network_mean_elsewhere": 0.01},
    "larger_networks_entries": {"network_largest_elsewhere": 0.2},
}


def test_ideal_networks_meet_every_claim(dataset):
    verdicts = judge(trained(dataset), spec.CLAIMS, "quick")
    assert {verdict.claim: verdict.verdict for verdict in verdicts} == {claim.name: "holds" for claim in spec.CLAIMS}


@pytest.mark.parametrize("name", [claim.name for claim in spec.CLAIMS])
def test_every_claim_can_fail(dataset, name):
    broken = trained(dataset)
    if name == "fewer_with_delay":
        broken["feature_kept"].loc[{"feature_delay": 3}] = 5
    for variable, value in BREAKS.get(name, {}).items():
        broken[variable][:] = value
    (claim,) = [claim for claim in spec.CLAIMS if claim.name == name]
    assert not claim.bound.margin(claim.measure(broken)) >= 0


@pytest.mark.parametrize(
    ("changes", "claim", "words"),
    [
        ({"delays": [3]}, "dense_cone", "delay 4"),
        ({"activities": [0.5, 0.05]}, "dense_cone", "activity 1"),
        ({"activities": [1.0, 0.5]}, "sparse_span", "at most 0.05"),
        ({"feature_delays": [1, 2]}, "many_at_once", "delay 0"),
    ],
)
def test_a_claim_without_its_networks_is_undecided(changes, claim, words):
    found = study.run(Params(**{**SMALL, **changes}))
    (chosen,) = [c for c in spec.CLAIMS if c.name == claim]
    with pytest.raises(Undecided, match=words):
        chosen.measure(found)


def test_the_shown_delay_is_the_nearest_that_is_trained():
    assert [shown_delay(Params(delays=[2, 6], shown=shown)) for shown in (1, 3, 5, 9)] == [2, 2, 6, 6]


def test_seeds_differ_and_do_not_hang_on_their_number():
    assert len(set(seeds_of(Params(), 50))) == 50
    np.testing.assert_array_equal(seeds_of(Params(), 50)[:7], seeds_of(Params(), 7))


def events(folder, series, name="events.csv"):
    np.savetxt(folder / name, series, delimiter=",")
    return own_data([folder / name], spec.DATA)


def test_own_channels_take_the_place_of_the_features(tmp_path):
    rng = np.random.default_rng(0)
    series = rng.random((300, 3)) * (rng.random((300, 3)) < 0.2)
    found = study.run(Params(**SMALL), events(tmp_path, series))
    assert found.sizes["feature"] == 3 and found.attrs["own_data"] == "events.csv"
    assert bool(np.isfinite(found["feature_loss"]).all())


def test_a_channel_that_is_never_active_is_not_kept(tmp_path):
    series = np.random.default_rng(0).random((300, 2)) * [1.0, 0.0]
    found = study.run(Params(**SMALL), events(tmp_path, series))
    assert bool(found["feature_recall"].isel(feature=1).isnull().all())
    assert bool(found["feature_recall"].isel(feature=0).notnull().all())
    assert found["own_activity"].values.tolist() == [1.0, 0.0] and "1" in found.attrs["own_warnings"]


@pytest.mark.parametrize(
    ("series", "words"),
    [
        (np.ones((5, 2)), "5 steps"),
        (np.zeros((50, 2)), "all zero"),
        (np.full((50, 2), np.nan), "not finite"),
        (np.ones((200, 51)), "51 channels"),
    ],
)
def test_own_series_that_cannot_be_trained_on(tmp_path, series, words):
    with pytest.raises(DataError, match=words):
        study.run(Params(**SMALL), events(tmp_path, series))


@pytest.mark.parametrize(
    "wrong",
    [
        {"delays": []},
        {"delays": [0]},
        {"activities": [0.5]},
        {"activities": [0.5, 0.0]},
        {"activities": [0.5, 1.1]},
        {"amplitude": "cauchy"},
        {"restarts": 0},
        {"steps": 1},
        {"importance": 0.0},
        {"networks": ["3x3"]},
        {"feature_activity": 2.0},
    ],
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Params(**wrong)


@pytest.mark.parametrize("name", ["delays", "activities", "feature_delays", "networks"])
def test_a_value_that_is_given_twice_is_refused(name):
    twice = [*SMALL[name], SMALL[name][0]]
    with pytest.raises(ParameterError, match=f"{name} = .* it takes each value once"):
        Params(**{name: twice})
    with pytest.raises(ParameterError, match="each value once"):
        Params.parse({name: ",".join(map(str, twice))})
