"""The frame of an explorer: controls, picture, status line, and the command that reruns what is shown.

The frame watches the controls and calls the explorer's ``draw`` with their values and the names of those
that changed. Nothing needs a browser: setting a control's ``value`` in Python does what moving it does.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from workbench.errors import WorkbenchError
from workbench.harness.progress import Progress

Draw = Callable[[dict[str, Any], frozenset[str], Progress], str]

DEBOUNCE_SECONDS = 0.15
STATE_OF_A_CONTROL = ("min", "max", "options", "value")


class Footer(anywidget.AnyWidget):
    """The status line, announced by screen readers, and the command line, which can be selected and copied."""

    _esm = Path(__file__).with_name("footer.js")
    _css = Path(__file__).with_name("footer.css")
    text = traitlets.Unicode().tag(sync=True)
    state = traitlets.Enum(["ready", "busy", "waiting", "error"], "ready").tag(sync=True)
    command = traitlets.Unicode().tag(sync=True)


class Frame(ipywidgets.VBox):
    """An explorer: a column of controls, a picture, a status line and a command line.

    Parameters
    ----------
    title
        What is explored, in a few words.
    controls
        The controls by name (see `workbench.harness.controls.widget_for`). A control that reports while it
        is dragged (``continuous_update``) is redrawn at once; changes of the others are gathered until
        they rest for 0.15 s.
    view
        The picture: any widget.
    draw
        ``draw(values, changed, progress) -> text`` brings the picture up to date with `values`, recomputing
        only what hangs on the `changed` names (all names the first time), and says in words what is shown.
        It may set controls; that starts no other drawing. ``progress(fraction, text)`` writes to the status.
    command
        ``command(values) -> str``: the command line that reruns what is shown.
    panel
        What the column shows, if not the controls alone and in order: headings, buttons and the controls.
    slow
        Names of controls whose change waits for the button "Run" (training of half a minute and more);
        until then the picture stays with their former values.
    actions
        Further buttons: name to a function whose text, or error, goes to the status.

    Attributes
    ----------
    controls : dict
        The controls by name.
    shown : dict
        The values that the picture shows.
    error : BaseException or None
        What the last drawing or action raised. The status tells its message and the picture stays as it was; the
        changes are kept and drawn with the next one.

    Examples
    --------
    >>> number = ipywidgets.IntSlider(3, continuous_update=True)
    >>> picture = ipywidgets.Label()
    >>> def draw(values, changed, progress):
    ...     picture.value = "#" * values["number"]
    ...     return f"{values['number']} marks"
    >>> frame = Frame("Marks", {"number": number}, picture, draw, command=lambda values: f"marks {values['number']}")
    >>> number.value = 5
    >>> picture.value, frame.command
    ('#####', 'marks 5')
    """

    def __init__(
        self,
        title: str,
        controls: Mapping[str, Any],
        view: ipywidgets.Widget,
        draw: Draw,
        *,
        command: Callable[[dict[str, Any]], str],
        panel: Sequence[ipywidgets.Widget] | None = None,
        slow: Collection[str] = (),
        actions: Mapping[str, Callable[[], str]] | None = None,
    ) -> None:
        self.controls = dict(controls)
        self.view = view
        self.shown: dict[str, Any] = {}
        self.error: BaseException | None = None
        self._draw, self._command, self._slow = draw, command, frozenset(slow)
        self._changed = set(self.controls)
        self._quiet = False
        self._timer: asyncio.TimerHandle | None = None
        self._footer = Footer()
        self._initial = {name: _state(control) for name, control in self.controls.items()}
        column = [*(self.controls.values() if panel is None else panel), self._buttons(actions or {})]
        body = ipywidgets.HBox([ipywidgets.VBox(column), view], layout={"flex_flow": "row wrap"})
        super().__init__([ipywidgets.HTML(f"<h3>{escape(title)}</h3>"), body, self._footer])
        for name, control in self.controls.items():
            control.observe(partial(self._note, name), "value")
        self.run()

    @property
    def status(self) -> str:
        """The text of the status line."""
        return self._footer.text

    @property
    def state(self) -> str:
        """``"ready"``, ``"busy"``, ``"waiting"`` (for the button "Run") or ``"error"``."""
        return self._footer.state

    @property
    def command(self) -> str:
        """The command line that reruns what is shown."""
        return self._footer.command

    def move(self, **values: Any) -> None:
        """Set several controls and draw once, e.g. when the picture is clicked."""
        with self._silence():
            for name, value in values.items():
                self.controls[name].value = value
        self._changed |= set(values)
        self._redraw(self._changed - self._slow)

    def reset(self) -> None:
        """Give all controls their initial state and draw once."""
        with self._silence():
            for name, control in self.controls.items():
                _restore(control, self._initial[name])
        self._changed |= {name for name, value in self.shown.items() if self.controls[name].value != value}
        self.run()

    def run(self) -> None:
        """Draw all changes, those of the slow controls included."""
        self._redraw(self._changed)

    def act(self, action: Callable[[], str]) -> None:
        """Do something that draws nothing; the text it returns, or its error, goes to the status."""
        try:
            self._say("ready", action())
        except Exception as error:
            self._fail(error)

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, str] | None:
        """Ask the view too: a plotly figure hands over what was drawn before it is displayed only when asked."""
        for widget in _with_children(self.view):
            widget._repr_mimebundle_()
        return super()._repr_mimebundle_(*args, **kwargs)

    def _buttons(self, actions: Mapping[str, Callable[[], str]]) -> ipywidgets.HBox:
        buttons = [_button("Run", self.run)] if self._slow else []
        buttons += [_button("Reset", self.reset)]
        buttons += [_button(name, partial(self.act, action)) for name, action in actions.items()]
        return ipywidgets.HBox(buttons)

    def _note(self, name: str, change: Any) -> None:
        """Take note that a control moved: draw now, soon, or when told to."""
        if self._quiet:
            return
        self._changed.add(name)
        if name in self._slow:
            self._say("waiting", self._waiting())
        elif getattr(self.controls[name], "continuous_update", False):
            self._redraw(self._changed - self._slow)
        else:
            self._redraw_soon()

    def _redraw_soon(self) -> None:
        """Draw once the controls have rested; at once where no event loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self._redraw(self._changed - self._slow)
        self._cancel_timer()
        self._timer = loop.call_later(DEBOUNCE_SECONDS, lambda: self._redraw(self._changed - self._slow))

    def _redraw(self, due: Collection[str]) -> None:
        self._cancel_timer()
        due = frozenset(due)
        if not due:
            return
        resting = self._changed - due
        values = {name: c.value for name, c in self.controls.items()}
        values |= {name: value for name, value in self.shown.items() if name in resting}
        start = time.perf_counter()
        self._say("busy", "computing ...")
        try:
            with self._silence():
                text = self._draw(values, due, self._progress)
            self.shown |= {name: c.value for name, c in self.controls.items() if name not in resting}
            self._footer.command = self._command(self.shown)
        except (Exception, KeyboardInterrupt) as error:
            return self._fail(error)
        self.error = None
        self._changed -= due
        text += f" ({time.perf_counter() - start:.2f} s)"
        self._say("waiting" if resting else "ready", f"{text}\n{self._waiting()}" if resting else text)

    def _fail(self, error: BaseException) -> None:
        self.error = error
        self._say("error", _message(error))

    def _waiting(self) -> str:
        return f"changed: {', '.join(sorted(self._changed & self._slow))}; press Run to compute"

    def _progress(self, fraction: float, text: str) -> None:
        self._say("busy", f"{text} ({fraction:.0%})")

    def _say(self, state: str, text: str) -> None:
        with self._footer.hold_sync():
            self._footer.state, self._footer.text = state, text

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """Let controls move without drawing."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before


def _button(name: str, action: Callable[[], None]) -> ipywidgets.Button:
    button = ipywidgets.Button(description=name, layout={"width": "auto"})
    button.on_click(lambda _: action())
    return button


def _with_children(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _with_children(child)


def _message(error: BaseException) -> str:
    if isinstance(error, WorkbenchError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; the picture shows the state before"
    return f"{type(error).__name__}: {error}"


def _state(control: Any) -> dict[str, Any]:
    return {trait: getattr(control, trait) for trait in STATE_OF_A_CONTROL if control.has_trait(trait)}


def _restore(control: Any, state: Mapping[str, Any]) -> None:
    with control.hold_trait_notifications():
        for trait, value in state.items():
            setattr(control, trait, value)
