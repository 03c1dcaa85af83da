import numpy as np
import pytest
import xarray as xr

from workbench.errors import DataError, ParameterError
from workbench.harness.data import own_data
from workbench.harness.runner import Run
from workbench.methods.transport import spec, study
from workbench.methods.transport.figures import FIGURES
from workbench.methods.transport.instances import known_instances, own_instance, pair_indices
from workbench.methods.transport.spec import Params

SMALL = {"classes": ["GRFsmooth", "Shapes"], "exact_resolution": 8, "coarsest": 4, "shown": "Shapes"}


@pytest.fixture(scope="module")
def dataset():
    return study.run(Params(**SMALL, resolutions=[16, 32], pairs=2))


def test_the_table_has_every_instance(dataset):
    assert dict(dataset["value"].sizes) == {"class": 2, "resolution": 2, "pair": 2}
    for name in ("value", "lower", "upper", "recertified_gap", "seconds", "memory"):
        assert bool(np.isfinite(dataset[name]).all()), name
    assert bool((dataset["lower"] <= dataset["upper"]).all())


def test_variables_are_labelled(dataset):
    for name, variable in dataset.variables.items():
        assert variable.attrs.get("long_name"), name
    assert dataset["seconds"].attrs["volatile"] == 1
    assert "volatile" not in dataset["value"].attrs


def test_gap_taken_anew_agrees_with_the_solver(dataset):
    np.testing.assert_allclose(dataset["recertified_gap"], dataset["certified_gap"], atol=2e-6)


def test_each_class_stands_in_its_own_row(dataset):
    alone = study.run(Params(**{**SMALL, "classes": ["Shapes"]}, resolutions=[32], pairs=2))
    row = dataset.sel({"class": "Shapes", "resolution": 32})
    np.testing.assert_array_equal(alone["value"].squeeze(), row["value"])


def test_same_seed_same_numbers_another_seed_others():
    values = [study.run(Params(**SMALL, resolutions=[16], seed=seed))["value"] for seed in (0, 0, 1)]
    xr.testing.assert_identical(values[0], values[1])
    assert not np.allclose(values[0], values[2])


def test_progress_rises_to_the_end():
    seen = []
    study.run(Params(**SMALL, resolutions=[16]), progress=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions) and fractions[-1] <= 1.0
    assert any("Shapes" in text for _, text in seen)


def test_every_figure_tells_its_numbers(dataset):
    for draw in FIGURES:
        figure, caption = draw(dataset)
        assert any(character.isdigit() for character in caption), draw.__name__
        assert "nan" not in caption
        for ax in figure.axes:
            assert ax.get_ylabel() or ax.get_xlabel(), draw.__name__
            assert "nan" not in ax.get_title()


def test_claims_can_fail(dataset):
    broken = dataset.copy(deep=True)
    broken["recertified_gap"][:] = 1e-3
    broken["inner_iterations"][:] = 4.0
    broken["inner_iterations"][..., 0] = 5.0
    broken["support_per_pixel"][..., 0] *= 10
    broken["outside_exact"][:] = 1e-3
    broken["outside_closed_form"][:] = 1e-3
    for claim in spec.CLAIMS:
        if claim.name != "linear_time":
            assert claim.bound.margin(claim.measure(broken)) < 0, claim.name


@pytest.mark.parametrize(("power", "holds"), [(1.0, True), (1.5, False)])
def test_linear_time_is_judged_by_the_slope(power, holds):
    sides = np.array([64, 128, 256])
    seconds = xr.DataArray((sides**2.0) ** power, {"resolution": sides}, "resolution").expand_dims(["class", "pair"])
    (claim,) = (claim for claim in spec.CLAIMS if claim.name == "linear_time")
    slope = claim.measure(xr.Dataset({"seconds": seconds}))
    assert slope == pytest.approx(power)
    assert (claim.bound.margin(slope) >= 0) == holds


def test_own_images_of_unequal_sizes(tmp_path):
    rng = np.random.default_rng(0)
    paths = [tmp_path / "before.npy", tmp_path / "after.npy"]
    np.save(paths[0], rng.random((20, 31)))
    np.save(paths[1], rng.random((25, 12)))
    found = study.run(Params(**SMALL, resolutions=[16]), own_data(paths, spec.DATA))
    assert found["value"].shape == (1, 1, 1)
    assert found["source"].shape == (20, 31) and found["target"].shape == (25, 12)
    for draw in FIGURES:
        draw(found)


@pytest.mark.parametrize("image", [np.zeros((3, 3)), -np.ones((3, 3)), np.ones((2, 2000)), np.full((2, 2), np.inf)])
def test_own_images_that_are_no_masses(tmp_path, image):
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
    np.save(paths[0], image)
    np.save(paths[1], np.ones((3, 3)))
    with pytest.raises(DataError, match=r"a\.npy"):
        own_instance(own_data(paths, spec.DATA))


def test_pairs_are_all_different():
    assert len({pair_indices(k) for k in range(45)}) == 45


@pytest.mark.parametrize("resolution", [8, 17, 32])
def test_known_instances_are_probability_masses(resolution):
    for known in known_instances(resolution, np.random.default_rng(0)):
        assert known.source.sum() == pytest.approx(1) and known.target.sum() == pytest.approx(1)
        assert known.value > 0


def test_the_same_image_twice_costs_nothing(tmp_path):
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for path in paths:
        np.save(path, np.arange(1.0, 26).reshape(5, 5))
    found = study.run(Params(**SMALL, resolutions=[16]), own_data(paths, spec.DATA))
    assert found["value"].item() == 0 and found["outside_exact"].item() == 0
    for draw in FIGURES:
        draw(found)


def test_a_missing_folder_is_refused_before_the_run():
    with pytest.raises(ParameterError, match=r"dotmark = '/no/such/folder' is not a folder"):
        Run("transport", {"dotmark": "/no/such/folder"})
