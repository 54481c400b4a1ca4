"""The screen of `turnfold replay --tui`: a position, what happened there and why, and the state.

Needs the extra `tui`. Everything shown is free of content, as in `turnfold events`.
"""

from pathlib import Path
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, Footer, Input, Label, ProgressBar, Static

from turnfold.actors.cli import render
from turnfold.actors.cli.step_trail import Frame, Trail
from turnfold.events.event_document import event_document

LEAP: Final = 100  # frames
ROWS_MAX: Final = 200  # sessions listed
_HIDDEN: Final = ("position", "at", "age_ns", "type", "schema", "reason", "limits")


class SteppingApp(App[None]):
    """Steps through a log's frames."""

    CSS = """
    #head { height: 3; padding: 1 2 0 2; }
    #bar { padding: 0 2; }
    #events { width: 2fr; height: 100%; padding: 1 2; border: round $primary; }
    #state { width: 3fr; }
    #facts { height: 9; padding: 1 2; border: round $primary; }
    DataTable { height: 1fr; border: round $primary; }
    #goto { display: none; dock: bottom; }
    #goto.asked { display: block; }
    """
    AUTO_FOCUS = None  # else the field for a position would take every key
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l,space", "forward(1)", "next"),
        Binding("left,h", "backward(1)", "previous"),
        # Before the screen, which would scroll.
        Binding("pagedown", f"forward({LEAP})", f"+{LEAP}", priority=True),
        Binding("pageup", f"backward({LEAP})", f"-{LEAP}", priority=True),
        Binding("home", "first", "first", priority=True),
        Binding("end", "last", "last", priority=True),
        Binding("g", "ask", "go to"),
        Binding("q,escape", "leave", "quit"),
    ]

    def __init__(self, storage_path: Path, until: int | None = None) -> None:
        super().__init__()
        self.title = "turnfold replay"
        self.trail = Trail(storage_path, until)
        self._table = DataTable[str](id="sessions", cursor_type="none", zebra_stripes=True)

    def compose(self) -> ComposeResult:
        """See App."""
        yield Label(id="head")
        yield ProgressBar(total=self.trail.last, show_eta=False, id="bar")
        with Horizontal():
            yield Static(id="events")
            with Vertical(id="state"):
                yield Static(id="facts")
                yield self._table
        yield Input(placeholder="position", type="integer", id="goto")
        yield Footer()

    def on_mount(self) -> None:
        """Show the first frame."""
        table = self._table
        table.add_columns("session", "channel", "who", "turns", "bytes", "last")
        table.can_focus = False
        self._show(self.trail.frame)

    # --- keys --------------------------------------------------------------------------------

    def action_forward(self, steps: int) -> None:
        """Go on."""
        self._show(self.trail.forward(steps))

    def action_backward(self, steps: int) -> None:
        """Go back."""
        self._show(self.trail.back(steps))

    def action_first(self) -> None:
        """The first frame."""
        self._show(self.trail.to(1))

    def action_last(self) -> None:
        """The last frame."""
        self._show(self.trail.to(self.trail.last))

    def action_ask(self) -> None:
        """Ask for a position."""
        field = self.query_one("#goto", Input)
        field.add_class("asked")
        field.focus()

    def action_leave(self) -> None:
        """Close the question for a position, or the screen."""
        if self.query_one("#goto", Input).has_class("asked"):
            self._close_question()
        else:
            self.exit()

    def on_input_submitted(self, answered: Input.Submitted) -> None:
        """Go to the position that was typed."""
        self._close_question()
        if answered.value.isascii() and answered.value.isdigit():
            self._show(self.trail.to(min(int(answered.value), self.trail.last)))

    def _close_question(self) -> None:
        field = self.query_one("#goto", Input)
        field.value = ""
        field.remove_class("asked")
        self.set_focus(None)

    # --- what is shown -----------------------------------------------------------------------

    def _show(self, frame: Frame) -> None:
        head = Text.assemble(
            (f"position {frame.position:,}", "bold"), f" of {self.trail.last:,}   {frame.at}"
        )
        self.query_one("#head", Label).update(head)
        self.query_one("#bar", ProgressBar).update(progress=frame.position)
        self.query_one("#events", Static).update(events_text(frame))
        self.query_one("#facts", Static).update(facts_text(frame))
        table = self._table
        table.clear()
        for row in frame.sessions[:ROWS_MAX]:
            table.add_row(
                f"{row.start:,}",
                row.channel,
                row.pseudonym,
                f"{row.turns:,}",
                render.size(row.size),
                f"{row.last:,}",
            )


def events_text(frame: Frame) -> Text:
    """What happened, why, and every number that goes with it."""
    text = Text()
    if not frame.events:
        text.append("the state is from a generation: what came before is gone", "italic")
    for event in frame.events:
        document = event_document(event)
        text.append(f"{event.position:,} {document['type']}\n", "bold")
        text.append(f"  {document['reason']}\n", "cyan")
        for name, value in document.items():
            if name not in _HIDDEN:
                text.append(f"  {name} {value}\n", "dim")
    return text


def facts_text(frame: Frame) -> Text:
    """The state in numbers."""
    return Text(
        f"sessions {frame.active:,} of {frame.active_limit:,}\n"
        f"bytes    {render.size(frame.total_bytes)} of {render.size(frame.bytes_limit)}\n"
        f"ended keys remembered {frame.ended:,}, erasures pending {frame.pending:,}\n"
        f"digest   {frame.digest}"
    )
