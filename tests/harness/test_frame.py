import asyncio

import ipywidgets
import plotly.graph_objects
import pytest

from workbench.errors import DataError, ParameterError
from workbench.harness import frame as frame_module
from workbench.harness.frame import Footer, Frame


class Explorer:
    """A frame whose drawings are recorded: `heavy` is debounced, `light` is live, `training` waits for Run."""

    def __init__(self, slow=()):
        self.drawn = []
        self.failure = None
        controls = {
            "heavy": ipywidgets.IntSlider(3, 0, 9, continuous_update=False),
            "light": ipywidgets.IntSlider(5, 0, 9, continuous_update=True),
            "training": ipywidgets.IntSlider(1, 0, 9, continuous_update=False),
        }
        self.frame = Frame(
            "A <title>", controls, ipywidgets.Label(), self.draw, command=lambda values: f"run {values}", slow=slow
        )

    def draw(self, values, changed, progress):
        if self.failure is not None:
            raise self.failure
        progress(0.5, "half way")
        self.drawn.append((values, set(changed)))
        return f"shown {values}"

    def set(self, **values):
        for name, value in values.items():
            self.frame.controls[name].value = value


def test_everything_is_drawn_at_first():
    explorer = Explorer()
    start = {"heavy": 3, "light": 5, "training": 1}
    assert explorer.drawn == [(start, {"heavy", "light", "training"})]
    assert explorer.frame.shown == start
    assert explorer.frame.command == f"run {start}"
    assert explorer.frame.status.startswith(f"shown {start} (")
    assert explorer.frame.state == "ready"


@pytest.mark.parametrize("name", ["heavy", "light", "training"])
def test_a_moved_control_is_drawn_with_its_name(name):
    explorer = Explorer()
    explorer.set(**{name: 7})
    values, changed = explorer.drawn[-1]
    assert values[name] == 7
    assert changed == {name}
    assert explorer.frame.shown == values


def test_several_controls_move_with_one_drawing():
    explorer = Explorer()
    explorer.frame.move(heavy=1, light=2)
    assert len(explorer.drawn) == 2
    assert explorer.drawn[-1] == ({"heavy": 1, "light": 2, "training": 1}, {"heavy", "light"})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ParameterError("heavy = 4 is not allowed"), "heavy = 4 is not allowed"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_an_error_lands_in_the_status_and_its_change_is_drawn_next_time(error, message):
    explorer = Explorer()
    command = explorer.frame.command
    explorer.failure = error
    explorer.set(heavy=4)
    assert explorer.frame.state == "error"
    assert explorer.frame.status.startswith(message)
    assert explorer.frame.error is error
    assert explorer.frame.command == command
    assert explorer.frame.shown["heavy"] == 3

    explorer.failure = None
    explorer.set(light=6)
    assert explorer.frame.state == "ready"
    assert explorer.frame.error is None
    assert explorer.drawn[-1] == ({"heavy": 4, "light": 6, "training": 1}, {"heavy", "light"})


def test_reset_restores_values_and_ends_with_one_drawing():
    explorer = Explorer()
    explorer.set(heavy=8, light=9)
    explorer.frame.controls["light"].max = 9
    explorer.frame.controls["heavy"].max = 2
    count = len(explorer.drawn)
    explorer.frame.reset()
    assert explorer.frame.controls["heavy"].value == 3
    assert explorer.frame.controls["heavy"].max == 9
    assert explorer.drawn[count:] == [({"heavy": 3, "light": 5, "training": 1}, {"heavy", "light"})]


def test_reset_of_an_untouched_explorer_draws_nothing():
    explorer = Explorer()
    explorer.frame.reset()
    assert len(explorer.drawn) == 1


def test_slow_controls_wait_for_run_and_the_picture_keeps_their_former_values():
    explorer = Explorer(slow=["training"])
    explorer.set(training=4)
    assert len(explorer.drawn) == 1
    assert explorer.frame.state == "waiting"
    assert explorer.frame.status == "changed: training; press Run to compute"

    explorer.set(light=2)
    assert explorer.drawn[-1] == ({"heavy": 3, "light": 2, "training": 1}, {"light"})
    assert explorer.frame.state == "waiting"
    assert "'training': 1" in explorer.frame.command

    explorer.frame.run()
    assert explorer.drawn[-1] == ({"heavy": 3, "light": 2, "training": 4}, {"training"})
    assert explorer.frame.state == "ready"
    assert "'training': 4" in explorer.frame.command


def test_slow_controls_bring_the_button_run():
    def names(explorer):
        body = explorer.frame.children[1]
        return [button.description for button in body.children[0].children[-1].children]

    assert names(Explorer()) == ["Reset"]
    assert names(Explorer(slow=["training"])) == ["Run", "Reset"]


def test_buttons_do_what_they_say():
    explorer = Explorer(slow=["training"])
    run, reset = explorer.frame.children[1].children[0].children[-1].children
    explorer.set(training=4)
    run.click()
    assert explorer.frame.shown["training"] == 4
    reset.click()
    assert explorer.frame.shown["training"] == 1


def test_actions_are_buttons_whose_text_or_error_goes_to_the_status():
    answers = iter(["saved", DataError("disk full")])

    def save():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    frame = Frame("", {}, ipywidgets.Label(), lambda *_: "", command=lambda _: "", actions={"Save": save})
    button = frame.children[1].children[0].children[-1].children[-1]
    button.click()
    assert (frame.state, frame.status) == ("ready", "saved")
    button.click()
    assert (frame.state, frame.status) == ("error", "disk full")


def test_a_drawing_may_move_controls_without_starting_another():
    heavy = ipywidgets.IntSlider(3, 0, 9, continuous_update=True)
    light = ipywidgets.IntSlider(5, 0, 9, continuous_update=True)
    calls = []

    def draw(values, changed, progress):
        calls.append(set(changed))
        light.max = values["heavy"]
        return "shown"

    frame = Frame("", {"heavy": heavy, "light": light}, ipywidgets.Label(), draw, command=str)
    heavy.value = 2
    assert calls == [{"heavy", "light"}, {"heavy"}]
    assert frame.shown == {"heavy": 2, "light": 2}


def test_in_an_event_loop_changes_are_gathered_until_they_rest(monkeypatch):
    monkeypatch.setattr(frame_module, "DEBOUNCE_SECONDS", 0.01)

    async def moves():
        explorer = Explorer()
        explorer.set(heavy=1)
        explorer.set(heavy=2, training=2)
        assert len(explorer.drawn) == 1
        await asyncio.sleep(0.2)
        assert explorer.drawn[1:] == [({"heavy": 2, "light": 5, "training": 2}, {"heavy", "training"})]
        explorer.set(light=1)
        assert len(explorer.drawn) == 3

    asyncio.run(moves())


def test_progress_reaches_the_status():
    texts = []
    explorer = Explorer()
    explorer.frame.children[-1].observe(lambda change: texts.append(change["new"]), "text")
    explorer.set(heavy=4)
    assert texts[:2] == ["computing ...", "half way (50%)"]


def test_the_panel_may_hold_more_than_the_controls():
    control = ipywidgets.Checkbox()
    heading = ipywidgets.HTML("heading")
    frame = Frame(
        "", {"on": control}, ipywidgets.Label(), lambda *_: "", command=lambda _: "", panel=[heading, control]
    )
    assert frame.children[1].children[0].children[:2] == (heading, control)


def test_a_displayed_figure_starts_from_what_was_drawn_before():
    figure = plotly.graph_objects.FigureWidget([{"y": [0]}])

    def draw(values, changed, progress):
        figure.data[0].y = [values["level"]]
        return ""

    level = ipywidgets.IntSlider(3)
    frame = Frame("", {"level": level}, ipywidgets.HBox([figure]), draw, command=lambda _: "")
    level.value = 7
    bundle = frame._repr_mimebundle_() or {}
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == frame.model_id
    assert list(figure._widget_data[0]["y"]) == [7]


def test_the_title_is_text_not_markup():
    assert Explorer().frame.children[0].value == "<h3>A &lt;title&gt;</h3>"


def test_the_footer_hands_its_text_state_and_command_to_the_browser():
    footer = Footer(text="shown", state="busy", command="run")
    assert footer.get_state(["text", "state", "command"]) == {"text": "shown", "state": "busy", "command": "run"}
    assert "render" in footer.get_state(["_esm"])["_esm"]
