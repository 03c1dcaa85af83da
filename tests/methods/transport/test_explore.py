import re
import shlex

import numpy as np
import pytest
from plotly.callbacks import InputDeviceState, Points
from plotly.io.json import to_json_plotly

from workbench.errors import DataError, ParameterError
from workbench.methods.transport import explore as explore_module
from workbench.methods.transport.explore import COARSEST, FILES, OWN, TIMES, View, explore
from workbench.methods.transport.images import dotmark_pair
from workbench.methods.transport.spec import CLASSES, Params
from workbench.methods.transport.support import ORIGINS


@pytest.fixture
def explorer():
    """An explorer of two small images."""
    frame = explore(np.ones((2, 2)), np.ones((2, 2)), tol=1e-2)
    frame.move(source="GRFmoderate", target="GRFmoderate", resolution=16, row=5, column=9)
    assert frame.state == "ready"
    return frame


def own_explorer(a, b, **options):
    frame = explore(a, b, **options)
    assert frame.state == "ready", frame.status
    return frame


def traces(frame):
    return {trace.name: trace for trace in frame.view.data}


def snapshot(frame):
    """Return all that the browser is told of each trace."""
    return {name: to_json_plotly(trace) for name, trace in traces(frame).items()}


def changed_traces(frame, **values):
    before = snapshot(frame)
    for name, value in values.items():
        frame.controls[name].value = value
    assert frame.state == "ready", frame.status
    after = snapshot(frame)
    return {name for name in after if after[name] != before[name]}


def interval(frame):
    low, high = re.search(r"cost between (\S+) and (\S+) ", frame.status).groups()
    return float(low), float(high)


def test_it_opens_without_arguments_and_shows_a_solution():
    frame = explore()
    assert frame.state == "ready"
    assert View(**frame.shown) == View()
    assert frame.controls["source"].options == CLASSES
    assert interval(frame)[0] > 0
    for name in ("source", "target", "way", "close-up"):
        assert traces(frame)[name].z.shape == (32, 32)


def test_every_control_has_help_and_no_slow_control_is_live(explorer):
    for name, field in View.fields().items():
        assert explorer.controls[name].tooltip.startswith(field.help)
        assert getattr(explorer.controls[name], "continuous_update", False) == (name in {"t", "row", "column"})


def test_time_moves_only_the_mass_on_its_way_from_source_to_target(explorer):
    assert changed_traces(explorer, t=0.0) == {"way"}
    np.testing.assert_allclose(traces(explorer)["way"].z, traces(explorer)["source"].z, atol=1e-9)
    assert changed_traces(explorer, t=1.0) == {"way"}
    np.testing.assert_allclose(traces(explorer)["way"].z, traces(explorer)["target"].z, atol=1e-6)
    assert "t = 1" in explorer.view.layout.annotations[2].text


def test_time_and_pixel_solve_nothing_anew(explorer, monkeypatch):
    monkeypatch.setattr(explore_module, "ot2_grid", lambda *_, **__: pytest.fail("solved again"))
    for t in TIMES[::10]:
        explorer.controls["t"].value = t
    explorer.controls["row"].value = 2
    assert explorer.state == "ready"


@pytest.mark.parametrize("name", ["row", "column"])
def test_row_and_column_move_the_pixel_and_its_targets(explorer, name):
    assert {"pixel", "from here", "path", "gets mass"} <= changed_traces(explorer, **{name: 12})
    pixel = traces(explorer)["pixel"]
    assert {"row": pixel.y[0], "column": pixel.x[0]}[name] == 12


def test_targets_of_a_pixel_are_drawn_by_origin_and_its_flow_is_among_them(explorer):
    drawn = traces(explorer)
    by_origin = {name: set(zip(drawn[name].y, drawn[name].x, strict=True)) for name in ORIGINS}
    targets = set().union(*by_origin.values())
    assert sum(map(len, by_origin.values())) == len(targets) > 1
    flow = set(zip(drawn["gets mass"].y, drawn["gets mass"].x, strict=True))
    assert flow and flow <= targets
    assert f"may send to {len(targets)} targets" in explorer.status
    assert sum(int(text.strip("%") or 0) for text in drawn["gets mass"].text) == pytest.approx(100, abs=10)
    for name, members in by_origin.items():
        assert (f"{len(members)} {name}" in explorer.status) == bool(members)


def test_the_close_up_holds_all_targets(explorer):
    low, high = explorer.view.layout.xaxis4.range
    bottom, top = explorer.view.layout.yaxis4.range
    for name in ORIGINS:
        assert all(low < x < high for x in traces(explorer)[name].x)
        assert all(top < y < bottom for y in traces(explorer)[name].y)


def test_a_click_on_the_source_chooses_its_pixel(explorer):
    source = traces(explorer)["source"]
    points = Points(point_inds=[(3, 7)], xs=[7], ys=[3], trace_name="source", trace_index=0)
    source._dispatch_on_click(points, InputDeviceState())
    assert (explorer.controls["row"].value, explorer.controls["column"].value) == (3, 7)
    assert "row 3, column 7" in explorer.status


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"source": "CauchyDensity"}, {"source", "way"}),
        ({"source_number": 4}, {"source", "way"}),
        ({"target": "CauchyDensity"}, {"target", "close-up", "way"}),
        ({"target_number": 4}, {"target", "close-up", "way"}),
        ({"resolution": 20}, {"source", "target", "close-up", "way"}),
    ],
)
def test_other_images_are_drawn_and_solved(explorer, changes, expected):
    drawn = changed_traces(explorer, **changes)
    assert expected <= drawn
    assert not (drawn & {"source", "target"}) - expected


def test_the_axes_and_sliders_follow_the_resolution(explorer):
    explorer.controls["resolution"].value = 20
    assert explorer.controls["row"].max == explorer.controls["column"].max == 19
    assert tuple(explorer.view.layout.xaxis.range) == (-0.5, 19.5)
    explorer.move(row=19, column=19)
    explorer.controls["resolution"].value = 16
    assert explorer.shown["row"] == 15
    assert traces(explorer)["pixel"].y[0] == 15


def test_the_tolerance_is_kept_and_said(explorer):
    explorer.controls["tolerance"].value = 1e-5
    low, high = interval(explorer)
    assert high - low <= 1e-5 * high
    assert "-p tolerance=1e-05" in explorer.command


def test_both_backends_certify_the_same_value(explorer):
    low, high = interval(explorer)
    explorer.controls["backend"].value = "highs"
    other_low, other_high = interval(explorer)
    assert max(low, other_low) <= min(high, other_high) * (1 + 1e-6)


def test_a_pixel_without_mass_is_said_to_send_nothing():
    image = np.zeros((16, 16))
    image[4:9, 5:8] = 1
    frame = own_explorer(image, image.T)
    frame.move(row=0, column=0)
    assert "row 0, column 0: no mass" in frame.status
    assert all(len(traces(frame)[name].x) == 0 for name in (*ORIGINS, "gets mass"))


def test_an_error_of_the_solver_lands_in_the_status_and_the_picture_stays(explorer, monkeypatch):
    before, command = snapshot(explorer), explorer.command

    def fail(*_, **__):
        raise DataError("no solution today")

    with monkeypatch.context() as patch:
        patch.setattr(explore_module, "ot2_grid", fail)
        explorer.controls["tolerance"].value = 1e-3
    assert (explorer.state, explorer.status) == ("error", "no solution today")
    assert (snapshot(explorer), explorer.command) == (before, command)
    explorer.controls["t"].value = 0.25
    assert explorer.state == "ready"
    assert explorer.shown["tolerance"] == 1e-3


def test_reset_brings_the_first_picture_back():
    frame = explore(tol=1e-2)
    before, command, way = snapshot(frame), frame.command, traces(frame)["way"].z
    frame.move(t=0.0, row=3, column=30)
    frame.move(resolution=16, target="GRFsmooth")
    assert snapshot(frame) != before
    frame.reset()
    assert View(**frame.shown) == View(tolerance=1e-2)
    assert frame.command == command
    for name in ("source", "target", "pixel"):
        assert snapshot(frame)[name] == before[name]
    np.testing.assert_allclose(traces(frame)["way"].z, way, atol=1e-4)


def parsed(command):
    """Return the parameters and the files of a ``workbench run`` line."""
    program, verb, method, *options = shlex.split(command)
    assert (program, verb, method) == ("workbench", "run", "transport")
    pairs = list(zip(options[::2], options[1::2], strict=True))
    texts = dict(text.split("=", 1) for flag, text in pairs if flag == "-p")
    return Params(**Params.parse(texts)), [text for flag, text in pairs if flag == "--data"]


def test_the_command_line_of_a_pair_of_the_study_solves_that_pair(explorer):
    explorer.controls["tolerance"].value = 1e-4
    explorer.controls["backend"].value = "highs"
    params, files = parsed(explorer.command)
    assert files == []
    assert params == Params(
        classes=["GRFmoderate"], resolutions=[16], tolerance=1e-4, backend="highs", coarsest=COARSEST
    )
    for name, image in zip(("source", "target"), dotmark_pair(*params.classes, *params.resolutions), strict=True):
        np.testing.assert_allclose(traces(explorer)[name].z, image, rtol=1e-6)


def test_other_pairs_are_rerun_from_saved_files(explorer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    explorer.controls["target"].value = "CauchyDensity"
    params, files = parsed(explorer.command)
    assert params == Params(tolerance=1e-2, coarsest=COARSEST)
    assert files == [str(path) for path in FILES]
    save = next(b for b in explorer.children[1].children[0].children[-1].children if b.description.startswith("Save"))
    save.click()
    assert explorer.state == "ready"
    for path, name in zip(FILES, ("source", "target"), strict=True):
        np.testing.assert_allclose(np.load(path), traces(explorer)[name].z, rtol=1e-6)


def test_own_images_of_different_shapes_are_shown_and_may_be_mixed_with_classes():
    rng = np.random.default_rng(0)
    frame = own_explorer(rng.random((17, 23)), rng.random((20, 11)))
    assert frame.shown["source"] == frame.shown["target"] == OWN
    assert [traces(frame)[name].z.shape for name in ("source", "target", "way")] == [(17, 23), (20, 11), (20, 23)]
    assert "17 x 23 to 20 x 11 pixels" in frame.status
    assert parsed(frame.command)[1] == [str(path) for path in FILES]
    frame.controls["target"].value = "GRFsmooth"
    assert frame.state == "ready"
    assert traces(frame)["target"].z.shape == (32, 32)


def test_large_own_images_are_summed_in_blocks():
    rng = np.random.default_rng(0)
    a, b = rng.random((50, 66)), rng.random((66, 50))
    frame = own_explorer(a, b)
    shown = traces(frame)["source"].z
    assert shown.shape == (17, 22)
    assert shown[1, 2] == pytest.approx(a[3:6, 6:9].sum() / a.sum())
    assert shown.sum() == pytest.approx(1)


def test_own_images_are_drawn_in_the_same_grey_levels_on_their_way():
    a, b = 255 * np.random.default_rng(0).random((2, 8, 8))
    drawn = traces(own_explorer(a, b))
    assert drawn["way"].zmax == pytest.approx(max(drawn["source"].z.max(), drawn["target"].z.max()))
    assert drawn["way"].zmax / 3 < drawn["way"].z.max() < drawn["way"].zmax * 3


def test_the_cost_scales_with_the_squared_spacing():
    rng = np.random.default_rng(0)
    a, b = rng.random((12, 16)), rng.random((12, 16))
    unit, double = (own_explorer(a, b, spacing=h) for h in (1 / 16, 2 / 16))
    assert interval(double)[1] == pytest.approx(4 * interval(unit)[1], rel=1e-3)
    assert "squared units of the spacing" in double.status
    assert interval(own_explorer(a, b))[1] == pytest.approx(interval(unit)[1], rel=1e-3)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1)])
def test_thin_images_are_shown(shape):
    rng = np.random.default_rng(0)
    frame = own_explorer(rng.random(shape), rng.random(shape))
    assert frame.controls["row"].max == shape[0] - 1


def test_equal_images_cost_nothing():
    image = np.random.default_rng(0).random((8, 8))
    assert interval(own_explorer(image, image))[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"a": np.ones((4, 4))}, ParameterError, "b is not given"),
        ({"b": np.ones((4, 4))}, ParameterError, "a is not given"),
        ({"a": np.ones(4), "b": np.ones((4, 4))}, DataError, r"a has shape \(4,\)"),
        ({"a": np.ones((4, 4)), "b": np.full((4, 4), np.nan)}, DataError, "b of shape .* NaN"),
        ({"a": -np.ones((4, 4)), "b": np.ones((4, 4))}, DataError, "a of shape .* negative"),
        ({"a": np.zeros((4, 4)), "b": np.ones((4, 4))}, DataError, "a of shape .* zero everywhere"),
        ({"a": np.ones((0, 4)), "b": np.ones((4, 4))}, DataError, "a of shape .* no pixel"),
        ({"a": np.ones((4, 4)), "b": np.ones((4, 4)), "spacing": -1.0}, ParameterError, "spacing"),
        ({"tol": 0.0}, ParameterError, "tolerance = 0.0"),
        ({"tol": 2}, ParameterError, "tolerance = 2.0"),
    ],
)
def test_bad_input_is_refused_with_its_name(arguments, error, message):
    with pytest.raises(error, match=message):
        explore(**arguments)
