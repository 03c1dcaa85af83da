import re
import shlex

import numpy as np
import pytest
from plotly.callbacks import InputDeviceState, Points
from plotly.io.json import to_json_plotly

from workbench.errors import DataError, ParameterError
from workbench.methods.superposition import explore as explore_module
from workbench.methods.superposition.explore import View, explore, linear_optimum
from workbench.methods.superposition.explore_networks import ACTIVITIES, LAST, SEEDS, STEPS, Networks, frame_of, train
from workbench.methods.superposition.explore_picture import (
    ARC,
    BEST,
    FREE,
    NETWORKS,
    OPTIMUM,
    READOUT,
    SPIRAL,
)
from workbench.methods.superposition.hidden_plane import BASES
from workbench.methods.superposition.model import DelayRecall
from workbench.methods.superposition.shown import GREATEST_ANGLE, NO_ANGLE
from workbench.methods.superposition.spec import Params
from workbench.methods.superposition.study_curves import seeds_of
from workbench.methods.superposition.training import fit

LIVE = {"activity", "seed", "step", "basis", "own_scale"}


@pytest.fixture(scope="module")
def opened():
    frame = explore()
    assert frame.state == "ready", frame.status
    return frame


@pytest.fixture
def explorer(opened):
    """An explorer as it opens; the networks that were trained before stay at hand."""
    opened.reset()
    return opened


def traces(frame):
    return {trace.name: trace for trace in frame.view.data}


def snapshot(frame):
    """Return all that the browser is told of each trace."""
    return {name: to_json_plotly(trace) for name, trace in traces(frame).items()}


def changed_traces(frame, **values):
    before = snapshot(frame)
    put(frame, **values)
    after = snapshot(frame)
    return {name for name in after if after[name] != before[name]}


def put(frame, **values):
    for name, value in values.items():
        frame.controls[name].value = value
    assert frame.state == "ready", frame.status


def angle_in_words(frame):
    return float(re.search(r"k theta = (\d+) degrees, spectral", frame.status).group(1))


def swept(frame):
    """Return the angle in degrees from arrow w_0 over w_1 ... to w_k in the canonical basis, as drawn."""
    tips = np.array([(traces(frame)[f"w{s}"].x[1], traces(frame)[f"w{s}"].y[1]) for s in range(frame.shown["k"] + 1)])
    z = tips @ [1, 1j]
    return float(np.degrees(np.angle(z[1:] / z[:-1])).sum())


def tips(frame):
    drawn = traces(frame)
    return np.array([(drawn[f"w{s}"].x[1], drawn[f"w{s}"].y[1]) for s in range(2 * frame.shown["k"] + 1)])


def test_it_opens_without_arguments_and_every_control_has_help(explorer):
    assert View(**explorer.shown) == View()
    for name, field in View.fields().items():
        assert explorer.controls[name].tooltip.startswith(field.help)
        if explorer.controls[name].has_trait("continuous_update"):
            assert explorer.controls[name].continuous_update == (name in LIVE)


def test_sparsity_turns_90_into_270_degrees(explorer):
    assert angle_in_words(explorer) == pytest.approx(90, abs=15)
    put(explorer, activity=0.05, basis="canonical")
    assert angle_in_words(explorer) == pytest.approx(swept(explorer), abs=0.6)
    assert 225 <= swept(explorer) <= 290
    assert f"k theta = {swept(explorer):.0f}°" in explorer.view.layout.annotations[0].text
    put(explorer, activity=1.0)
    assert swept(explorer) == pytest.approx(90, abs=15)
    line = np.array(traces(explorer)[BEST].y)
    assert np.abs(np.diff(line)).max() >= 90
    jump = int(np.argmax(np.abs(np.diff(line))))
    assert f"jumps from {line[jump]:.0f} degrees at p = {ACTIVITIES[jump]:g} to {line[jump + 1]:.0f}" in explorer.status


def test_linear_networks_do_not_jump_and_follow_the_exact_optimum(explorer):
    put(explorer, kind="linear", activity=0.05)
    line, optimum = (np.array(traces(explorer)[name].y) for name in (BEST, OPTIMUM))
    assert np.abs(line - optimum).max() < 1.0
    assert "does not jump" in explorer.status and "interference" not in explorer.status
    assert traces(explorer)[FREE].visible is False
    put(explorer, kind="ssm")
    assert traces(explorer)[FREE].visible is True


def test_look_ups_train_nothing_and_draw_only_what_they_change(explorer, monkeypatch):
    monkeypatch.setattr(explore_module, "train", lambda **_: pytest.fail("trained again"))
    arrows = {f"w{s}" for s in range(9)}
    one = {FREE, ARC, READOUT, SPIRAL, "stems", "kernel", *arrows}
    assert arrows | {"shown", "loss", "kernel"} <= changed_traces(explorer, activity=0.1)
    assert changed_traces(explorer, seed="2") <= one | {"shown", "loss", "now"}
    moved = changed_traces(explorer, step=STEPS[20])
    assert {"now", BEST, NETWORKS[0]} <= moved and "loss" not in moved
    assert changed_traces(explorer, basis="canonical") <= one - {"stems", "kernel"}
    assert changed_traces(explorer, own_scale=True) == {ARC}


def test_the_first_step_shows_the_first_weights_which_do_not_hang_on_the_activity(explorer):
    put(explorer, step=0, seed="3", basis="as trained")
    first = tips(explorer)
    put(explorer, activity=0.01)
    unit = np.linalg.norm(tips(explorer), axis=1) / np.linalg.norm(first, axis=1)
    np.testing.assert_allclose(unit, unit[0])
    np.testing.assert_allclose(tips(explorer) / unit[0], first, atol=1e-12)


def test_arrows_beyond_the_delay_are_told_from_those_before_it_and_follow_it(explorer):
    for k in (2, 4):
        put(explorer, k=k)
        drawn = traces(explorer)
        colors = [drawn[f"w{s}"].line.color for s in range(2 * k + 1)]
        assert len(set(colors[: k + 1])) == k + 1
        assert set(colors[k + 1 :]) == {colors[-1]} and colors[-1] not in colors[: k + 1]
        assert list(drawn["stems"].marker.color) == list(drawn["kernel"].marker.color) == colors
        assert drawn[f"w{k}"].line.width > drawn["w0"].line.width
        assert drawn[f"w{k}"].text[1] == f"<b>k = {k}</b>"
        assert all(len(drawn[f"w{s}"].x) == 0 for s in range(2 * k + 1, 17))
        assert len(drawn["kernel"].y) == 2 * k + 1


@pytest.mark.parametrize("basis", BASES)
def test_the_half_plane_holds_what_the_readout_takes_as_zero_or_less(explorer, basis):
    put(explorer, basis=basis, activity=0.05)
    drawn = traces(explorer)
    kernel = np.array(drawn["kernel"].y)
    corners = np.stack([drawn[FREE].x, drawn[FREE].y], axis=1)[:4]
    inward = corners[2] - corners[1]
    np.testing.assert_array_equal(tips(explorer) @ inward > 0, kernel < 0)
    np.testing.assert_allclose(corners[0], -corners[1])


def test_k_theta_of_every_network_is_drawn_or_marked(explorer):
    put(explorer, step=STEPS[8])
    drawn = np.array([traces(explorer)[name].y for name in NETWORKS])
    assert (np.isfinite(drawn).sum(axis=0) == 1).all()
    assert (drawn[1][np.isfinite(drawn[1])] == GREATEST_ANGLE).all()
    none = drawn[2][np.isfinite(drawn[2])]
    assert none.size and (none == NO_ANGLE).all()


def test_a_click_on_a_network_chooses_its_activity_and_seed(explorer):
    for place, trace in ((3 * len(SEEDS) + 2, NETWORKS[0]), (8 * len(SEEDS) + 5, NETWORKS[2])):
        traces(explorer)[trace]._dispatch_on_click(
            Points(point_inds=[place], xs=[0], ys=[0], trace_name=trace, trace_index=0), InputDeviceState()
        )
        activity, seed = divmod(place, len(SEEDS))
        assert (explorer.shown["activity"], explorer.shown["seed"]) == (ACTIVITIES[activity], str(SEEDS[seed]))
        assert f"p = {ACTIVITIES[activity]:g} " in explorer.status and f"seed {SEEDS[seed]}" in explorer.status
        assert traces(explorer)["shown"].x[0] == traces(explorer)[trace].x[place]


def test_the_axes_stay_over_activities_and_steps_unless_they_are_to_fit(explorer):
    def axes():
        layout = explorer.view.layout
        return [tuple(layout[name].range) for name in ("xaxis", "yaxis", "yaxis3", "yaxis4", "yaxis2")]

    first = axes()
    assert explorer.view.layout.yaxis.scaleanchor == "x"
    put(explorer, activity=0.02, step=STEPS[10])
    assert axes() == first
    put(explorer, step=STEPS[-1], activity=1.0, own_scale=True)
    (left, right), (bottom, top) = axes()[:2]
    assert right - left == pytest.approx(top - bottom) and right - left < first[0][1] - first[0][0]
    assert all(left < x < right and bottom < y < top for x, y in tips(explorer))
    put(explorer, own_scale=False)
    assert axes() == first


def test_the_loss_falls_to_the_loss_in_words(explorer):
    put(explorer, activity=0.1)
    loss = traces(explorer)["loss"].y
    assert loss[-1] < 0.5 < loss[0]
    assert f"loss {loss[-1]:.3f}" in explorer.status
    put(explorer, step=STEPS[4])
    assert (traces(explorer)["now"].x[0], traces(explorer)["now"].y[0]) == (STEPS[4], loss[4])


def test_free_directions_are_counted(explorer):
    put(explorer, activity=0.05)
    kernel = np.array(traces(explorer)["kernel"].y)
    free = (kernel[:4] <= 0.05 * kernel[4]).sum()
    assert free == 3 and f"{free} of 4 intermediate directions free of interference" in explorer.status


def test_dead_networks_and_what_else_to_keep_in_mind_are_said(explorer):
    put(explorer, kind="nonlinear", activity=0.05)
    assert "The angle is that of W_h alone" in explorer.status
    for seed in SEEDS:
        put(explorer, seed=str(seed))
        dead = max(traces(explorer)["kernel"].y) < 0.05
        assert ("dead, it recalls nothing" in explorer.status) == dead
    put(explorer, kind="ssm", seed="best", step=0, basis="canonical")
    real = "real eigenvalues" in explorer.status or "dead" in explorer.status
    assert real
    explorer.move(k=1, amplitude="sign", step=STEPS[-1])
    assert explorer.state == "ready" and "half the loss stays" in explorer.status
    assert traces(explorer)["loss"].y[-1] == pytest.approx(0.5, abs=0.1)


def test_untied_networks_are_said_to_be_none_of_the_study(explorer):
    put(explorer, tied=False)
    assert "readouts are tied" in explorer.status
    assert angle_in_words(explorer) == pytest.approx(90, abs=15)


def parsed(command):
    """Return the parameters of a ``workbench run`` line."""
    program, verb, method, *options = shlex.split(command)
    assert (program, verb, method, set(options[::2])) == ("workbench", "run", "superposition", {"-p"})
    return Params(**Params.parse(dict(text.split("=", 1) for text in options[1::2])))


def test_the_command_line_runs_the_study_of_what_is_shown(explorer):
    explorer.move(k=1, amplitude="sign")
    assert parsed(explorer.command) == Params(
        delays=[1], shown=1, activities=list(ACTIVITIES), amplitude="sign", restarts=len(SEEDS)
    )


def test_an_error_lands_in_the_status_and_the_picture_stays(explorer, monkeypatch):
    before, command = snapshot(explorer), explorer.command

    def fail(**_):
        raise DataError("no training today")

    with monkeypatch.context() as patch:
        patch.setattr(explore_module, "train", fail)
        explorer.controls["k"].value = 5
    assert (explorer.state, explorer.status) == ("error", "no training today")
    assert (snapshot(explorer), explorer.command) == (before, command)
    explorer.controls["k"].value = 4
    put(explorer, activity=0.5)
    assert explorer.shown["k"] == 4


def test_reset_brings_the_first_picture_back(explorer):
    before, command, words = snapshot(explorer), explorer.command, explorer.status.split(" (")[0]
    explorer.move(activity=0.02, seed="4", step=STEPS[7], basis="as trained", own_scale=True)
    explorer.move(kind="linear", k=2)
    assert snapshot(explorer) != before
    explorer.reset()
    assert View(**explorer.shown) == View()
    assert (explorer.command, explorer.status.split(" (")[0]) == (command, words)
    assert snapshot(explorer) == before


@pytest.mark.parametrize("k", [1, 8])
def test_the_ends_of_the_delay(explorer, k):
    put(explorer, k=k)
    assert len(traces(explorer)["kernel"].y) == 2 * k + 1
    assert f"k = {k}" in explorer.status


def test_it_opens_where_it_is_told():
    frame = explore(k=1, kind="linear", activity=0.5, basis="as trained", amplitude="constant", tied=False)
    assert frame.state == "ready", frame.status
    opened = View(k=1, kind="linear", activity=0.5, basis="as trained", amplitude="constant", tied=False)
    assert View(**frame.shown) == opened


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k = 0"),
        ({"k": 9}, "k = 9"),
        ({"kind": "gru"}, "kind = 'gru'"),
        ({"activity": 0.33}, "activity = 0.33"),
        ({"amplitude": "cauchy"}, "amplitude = 'cauchy'"),
        ({"basis": "up"}, "basis = 'up'"),
    ],
)
def test_bad_arguments_are_refused_with_their_names(arguments, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        explore(**arguments)


def test_the_networks_are_those_that_training_gives():
    told = []
    networks = train(k=2, kind="nonlinear", amplitude="uniform", tied=False, progress=lambda *step: told.append(step))
    assert told[-1][0] == 1
    activity, seed = 4, 1
    first = int(seeds_of(Params(), len(SEEDS))[seed])
    alone = DelayRecall("nonlinear", k=2, tied=False).init(first)
    fitted = fit(alone, ACTIVITIES[activity], steps=STEPS[-1], batch=64, lr=0.02, seed=first).model
    for step, expected in ((0, alone), (LAST, fitted)):
        model = networks.model.take(networks.place(step, activity, seed))
        for name, weights in expected.weights().items():
            np.testing.assert_array_equal(model.weights()[name], weights)


def test_the_best_seed_has_the_least_finite_loss(monkeypatch):
    networks = Networks(DelayRecall(n_models=len(STEPS) * len(ACTIVITIES) * len(SEEDS)), "uniform")
    loss = np.tile(np.array([np.nan, 0.5, 0.2, 0.4, np.nan, 0.3]), (len(ACTIVITIES), 1))
    networks.__dict__["final_loss"] = loss
    assert (networks.best == 2).all()


def test_the_loss_is_measured_in_that_of_saying_0_on_the_same_sequences():
    many = len(STEPS) * len(ACTIVITIES) * len(SEEDS)
    zeros = Networks(DelayRecall(n_models=many, W_x=np.zeros((many, 2, 1)), W_h=np.zeros((many, 2, 2))), "uniform")
    np.testing.assert_allclose(zeros.final_loss, 1)
    np.testing.assert_allclose(zeros.losses(11, 2), 1)


def test_a_frame_holds_the_directions_and_is_never_too_small_or_too_large():
    x, y, reach = frame_of(np.array([[3.0, 0.0], [-1.0, -4.0]]))
    assert abs(3 - x) < reach and abs(-1 - x) < reach and abs(-4 - y) < reach and abs(1 - y) < reach
    assert frame_of(np.zeros((3, 2)))[2] == pytest.approx(1.2)
    assert frame_of(np.full((3, 2), 1e9))[2] < 10


def test_the_optimum_is_searched_once_a_delay_and_law():
    assert linear_optimum(4, "uniform") is linear_optimum(4, "uniform")
    assert linear_optimum(4, "uniform")[0] == pytest.approx(85.7, abs=0.1)
