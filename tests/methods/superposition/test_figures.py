import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgba

from workbench.harness import style
from workbench.harness.data import own_data
from workbench.methods.superposition import spec, study
from workbench.methods.superposition.cell_pictures import dead_networks, kept_features, kernel_matrices, phase_map
from workbench.methods.superposition.curve_pictures import against_optimum, loss_terms
from workbench.methods.superposition.figures import FIGURES
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.plane_pictures import draw_plane, hidden_planes
from workbench.methods.superposition.shown import FREE, OUTPUT, angle_dots, best, lag_color, places, shown_table
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.toy_phases import phase_diagram
from workbench.methods.superposition.toy_pictures import draw_phases, draw_polygons

SHORT = {"steps": 20, "batch": 16, "feature_delays": [0, 1], "feature_restarts": 2, "networks": ["10x2"]}
SMALL = {**SHORT, "delays": [2, 3], "activities": [0.05, 1.0, 0.3], "restarts": 2, "features": 3, "shown": 3}
every_figure = pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)


@pytest.fixture(scope="module")
def dataset():
    return study.run(Params(**SMALL))


def check(draw, dataset):
    figure, caption = draw(dataset)
    assert any(character.isdigit() for character in caption), draw.__name__
    texts = [caption, figure.get_suptitle(), *(ax.get_title() for ax in figure.axes)]
    assert not any("nan" in text or "inf" in text for text in texts), texts
    assert figure.get_suptitle() or all(ax.get_title() for ax in figure.axes)
    assert any(ax.get_ylabel() for ax in figure.axes) and any(ax.get_xlabel() for ax in figure.axes)
    style._png(figure, caption, 40)
    return figure, caption


@every_figure
def test_a_figure_tells_its_numbers(draw, dataset):
    check(draw, dataset)


@every_figure
def test_networks_that_recall_nothing(draw, dataset):
    dead = dataset.copy(deep=True)
    for name in ("W_x", "path_W_x", "kernel", "feature_recall", "feature_kept"):
        dead[name][:] = 0
    for name in ("ktheta", "sharpness", "free_fraction"):
        dead[name][:] = np.nan
    dead["dead"][:] = 1
    check(draw, dead)


@every_figure
def test_networks_that_diverged(draw, dataset):
    lost = dataset.copy(deep=True)
    for name in ("loss", "ktheta"):
        lost[name].loc[{"kind": "ssm"}] = np.nan
    check(draw, lost)


@pytest.mark.parametrize(
    "params",
    [
        {"delays": [1], "activities": [0.3, 0.2], "restarts": 1, "features": 1, "shown": 7, "feature_restarts": 1},
        {"delays": [5], "activities": [1.0, 1e-4], "restarts": 1, "features": 50, "steps": 10},
        {"delays": [12, 1, 2], "activities": [0.05, 0.06], "restarts": 1, "features": 2, "feature_delays": [12, 0]},
        {"delays": [2], "activities": list(np.geomspace(1, 0.01, 25)), "restarts": 1, "features": 2},
    ],
    ids=["one delay", "50 features", "the longest delay", "25 activities"],
)
def test_other_parameters(params):
    found = study.run(Params(**{**SHORT, **params}))
    for draw in FIGURES:
        check(draw, found)


def test_own_series(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "spikes.csv"
    np.savetxt(path, rng.random((300, 4)) * (rng.random((300, 4)) < 0.2), "%.3f", ",", header="a,b,c,d", comments="")
    found = study.run(Params(**SMALL), own_data([path], spec.DATA))
    assert "spikes.csv" in check(kept_features, found)[1]
    assert [label.get_text() for label in kept_features(found)[0].axes[2].get_yticklabels()] == list("abcd")


def test_the_shown_delay_is_drawn_with_activities_falling(dataset):
    table = shown_table(dataset)
    assert int(table["delay"]) == 3 and table["activity"].values.tolist() == [1.0, 0.3, 0.05]
    assert places(table) == (0, 2)
    row = dataset.sel(kind="ssm", delay=3, activity=0.05)
    assert best(table, "loss", "ssm")[2] == float(row["loss"].min())


def quarter_turns(k):
    """Return a spiral of a quarter turn a step, mirrored, so that the first basis vector is w_0."""
    return DelayRecall("ssm", k=k, W_x=[[[1.0], [0.0]]], W_h=[[[0.0, 0.8], [-0.8, 0.0]]])


def test_a_plane_shades_what_the_readout_takes_for_nothing():
    _, ax = style.subplots()
    drawn = draw_plane(ax, quarter_turns(3))
    (free,) = (patch for patch in ax.patches if patch.get_facecolor() == to_rgba(FREE))
    inside = [bool(free.get_path().contains_point(tip + 1e-6 * drawn.readout)) for tip in drawn.tips[:4]]
    read = drawn.tips[:4] @ drawn.readout
    np.testing.assert_allclose(read / abs(read[3]), [0, -(0.8**-2), 0, 1], atol=1e-12)
    assert inside == [False, True, False, False]


def test_the_arc_of_a_plane_sweeps_k_theta():
    _, ax = style.subplots()
    draw_plane(ax, quarter_turns(3))
    arc = ax.lines[-1].get_xydata()
    swept = np.degrees(np.unwrap(np.arctan2(*arc.T[::-1])))
    assert swept[-1] - swept[0] == pytest.approx(270)
    assert swept[-1] % 360 == pytest.approx(90)


def test_lags_are_told_apart():
    colors = [lag_color(s, 4) for s in range(9)]
    assert len(set(colors[:5])) == 5 and colors[4] == OUTPUT and len(set(colors[5:])) == 1
    assert all(style.contrast(color) > 2 for color in colors)


def test_large_angles_and_missing_ones_are_marked(dataset):
    table = shown_table(dataset).copy(deep=True)
    table["ktheta"].loc[{"kind": "ssm"}] = [[100.0, 500.0], [np.nan, 90.0], [80.0, 70.0]]
    _, ax = style.subplots()
    angle_dots(ax, table, "ssm")
    counts = {line.get_label().split(" ")[0]: np.isfinite(line.get_ydata()).sum() for line in ax.lines}
    assert counts == {"a": 4, "beyond": 1, "no": 1}


def test_the_terms_are_stacked_to_the_exact_loss(dataset):
    terms = dataset["path_terms"]
    above, below = terms.where(terms > 0, 0).sum("term"), terms.where(terms < 0, 0).sum("term")
    xr.testing.assert_allclose(above + below, dataset["path_exact_loss"].drop_vars(["term"], errors="ignore"))
    figure, _ = loss_terms(dataset)
    tops = max(band.get_paths()[0].vertices[:, 1].max() for band in figure.axes[0].collections)
    assert tops == pytest.approx(float(above.isel(shown_activity=0).max()))


def test_captions_count_and_compare(dataset):
    dead = dataset.copy(deep=True)
    dead["dead"][:] = 0
    dead["dead"].loc[{"kind": "nonlinear", "delay": 2}] = 1
    assert "linear 0 of 12; ssm 0 of 12; nonlinear 6 of 12" in dead_networks(dead)[1]
    exact = dataset.copy(deep=True)
    for name in ("loss", "ktheta", "rho"):
        exact[name].loc[{"kind": "linear"}] = exact[f"optimum_{name}"].expand_dims(restart=2, axis=-1)
    assert "Largest differences: 0 of the loss, 0 degrees, 0 of the radius" in against_optimum(exact)[1]
    switched = dataset.copy(deep=True)
    switched["ktheta"].loc[{"kind": "ssm"}] = np.reshape([270.0, 90.0, 250.0], (1, 3, 1))
    assert "k = 2 p = 1 to 0.3; k = 3 p = 1 to 0.3" in phase_map(switched)[1]
    assert (
        "90 degrees wide when inputs are dense, 270 when they are sparse" in hidden_planes(switched)[0].get_suptitle()
    )


def test_without_a_network_of_few_features_there_are_no_matrices(dataset):
    none = dataset.drop_vars("network_kernel")
    none["network_kernel"] = (("network_lag", "network_output", "network_feature"), np.zeros((4, 0, 0)))
    figure, caption = check(kernel_matrices, none)
    assert "75x100" not in caption and "10 features" in caption and figure.get_suptitle() == "No matrices to show"


@pytest.mark.parametrize("activities", [[0.5], [1.0, 0.1]])
def test_polygons(activities):
    turn = 2 * np.pi * np.arange(5) / 5
    W = np.repeat(np.array([np.cos(turn), np.sin(turn)])[None], len(activities), axis=0)
    W[-1, :, 4] = 0.01
    figure, caption = draw_polygons(W, np.array(activities))
    assert len(figure.axes) == 2 * len(activities) and caption.endswith("4 of 5.")
    heights = [bar.get_height() for bar in figure.axes[0 if len(activities) == 1 else len(activities)].patches]
    assert len(activities) == 1 or heights == pytest.approx([0.4] * 5)


def test_phases():
    found = phase_diagram([0.1, 1.0], [0.5, 1.5], seeds=2, steps=200)
    figure, caption = draw_phases(found)
    assert "4 points" in caption
    line = figure.axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata()[0], 4 * 0.5 / (2 + 5 * 0.5))
