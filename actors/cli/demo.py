"""`turnfold demo`: the main job on the sample chat in the box, with a kill in the middle."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import JsonOption

if TYPE_CHECKING:
    from turnfold.actors.cli.ingest_lines import ChatLine

ACKNOWLEDGED: Final = 41  # lines that are answered before the kill
AHEAD: Final = 4  # lines that the writer has in hand at any time, so that it dies at work
CHILD_S: Final = 60  # for the killed process to be gone

Ack = dict[str, Any]


def demo(
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="An empty directory, or one to be made, that keeps the store. Without it the"
            " store goes to a temporary directory, which is removed.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what Turnfold does, on a sample chat, in a few seconds.

    Turns go in, the process that takes them is killed with SIGKILL, a new one goes on, and nothing
    that was acknowledged is missing. Then: sessions, what a model would see, the events by reason,
    a deletion proved by a scan of every byte on disk, and a check of the whole store.

    \b
    Examples:
      turnfold demo
      turnfold demo my-demo && turnfold sessions --store my-demo
    """
    with _directory(directory) as place:
        steps = Demo(place, quiet=as_json)
        facts = steps.run()
        if as_json:
            render.print_json(facts)
        elif directory is not None:
            render.echo()
            render.echo(f"The store is kept: turnfold sessions --store {directory}")
    if not facts["ok"]:
        raise typer.Exit(1)
    if not as_json:
        render.echo()
        render.echo("ok")


@contextmanager
def _directory(directory: Path | None) -> Generator[Path]:
    """Where the store goes. Raises StorePathError if there is something there."""
    import tempfile

    from turnfold.events.errors import StorePathError

    if directory is None:
        with tempfile.TemporaryDirectory(prefix="turnfold-demo-") as name:
            yield Path(name) / "store"
        return
    try:
        empty = not directory.exists() or not any(directory.iterdir())
    except OSError as error:
        why = error.strerror or "unknown error"
        raise StorePathError(f"{directory} can't be used: {why}; name a new directory") from None
    if not empty:
        raise StorePathError(f"{directory} is not empty; name a new directory")
    yield directory


class Demo:
    """The steps in their order; `facts` is what they found."""

    def __init__(self, place: Path, *, quiet: bool) -> None:
        from turnfold.actors.cli.demo_writer import SAMPLE, parse_sample

        self._place = place
        self._quiet = quiet
        self._step = 0
        self._data = [_with_turn_id(line, number) for number, line in _numbered(SAMPLE)]
        self._lines: list[ChatLine] = [parse_sample(data) for data in self._data]
        self._facts: dict[str, Any] = {"store": str(place), "lines": len(self._lines)}

    def run(self) -> dict[str, Any]:
        """All steps."""
        acks = self._take_in_and_kill()
        self._restart(acks)
        self._show()
        self._delete()
        return self._verify()

    def _say(self, line: str = "") -> None:
        if not self._quiet:
            render.echo(line)

    def _title(self, title: str) -> None:
        self._step += 1
        self._say()
        self._say(f"{self._step}. {title}")
        self._say()

    # --- 1: turns in, and a kill ---------------------------------------------------------------

    def _take_in_and_kill(self) -> list[Ack]:
        avatars = len({line.key.avatar for line in self._lines})
        self._title("Turns go in, and their writer is killed")
        self._say(
            f"The sample chat has {len(self._lines)} lines of {avatars} avatars who talk to Wick,"
            " the keeper of a harbour on a"
        )
        self._say("virtual-world grid. A second process takes them in, one sync of the disk each.")
        acks = self._feed_and_kill()
        self._facts |= {"acknowledged": len(acks), "killed": True}
        self._say(
            f"It acknowledged {len(acks)} lines and had more in hand when it got SIGKILL:"
            " no goodbye, no flush."
        )
        return acks

    def _feed_and_kill(self) -> list[Ack]:
        """Feed the writer until enough is acknowledged, then kill it while it works on more."""
        command = [sys.executable, "-P", "-m", "turnfold.actors.cli.demo_writer", str(self._place)]
        child = subprocess.Popen(  # noqa: S603 - this very program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        acks: list[Ack] = []
        with child:
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                for number, data in enumerate(self._data, 1):
                    child.stdin.write(data)
                    child.stdin.flush()
                    if number > AHEAD:
                        acks.append(_ack(child.stdout.readline()))
                    if len(acks) == ACKNOWLEDGED:
                        break
            finally:
                os.kill(child.pid, signal.SIGKILL)
                child.wait(CHILD_S)
                # What it had already said counts as acknowledged too.
                acks += [_ack(line) for line in child.stdout if line.endswith(b"\n")]
        return acks

    # --- 2: restart ----------------------------------------------------------------------------

    def _restart(self, acks: list[Ack]) -> None:
        from turnfold.actors.cli.demo_writer import open_at
        from turnfold.actors.cli.intake import add_and_wait

        self._title("Restart: is every acknowledged turn there?")
        rest = self._lines[len(acks) :]
        store = open_at(self._place, rest[0])
        try:
            opened, there = self._compare(acks)
            receipts = [add_and_wait(store, line) for line in rest]
        finally:
            store.close()
        duplicates = sum(receipt.duplicate for receipt in receipts)
        self._facts |= {"opened": opened, "found": there, "duplicates": duplicates}
        self._say(f"The log was opened as `{opened}`.")
        self._say(
            f"{there} of {len(acks)} acknowledged turns are at their position with the same text"
            " (compared by digest)."
        )
        self._say(f"The other {len(rest)} lines are sent again, from the first unacknowledged one.")
        self._say(
            f"{render.quantity(duplicates, 'line')} of these had been written before the kill, and"
            " known by the turn id: nothing is there twice."
        )

    def _compare(self, acks: list[Ack]) -> tuple[str, int]:
        """How the store was opened, and how many acknowledged turns are where they were."""
        from turnfold.actors.cli.demo_writer import text_digest
        from turnfold.events import read_events
        from turnfold.events.event import TurnAdded
        from turnfold.events.store_events import StoreOpened

        opened = ""
        digests: dict[int, str] = {}
        for event in read_events(self._place, content=True):
            if isinstance(event, StoreOpened):
                opened = event.reason.value
            elif isinstance(event, TurnAdded) and event.text is not None:
                digests[event.position] = text_digest(event.text)
        there = sum(digests.get(ack["position"]) == ack["digest"] for ack in acks)
        return opened, there

    # --- 3 to 5: what is in it -------------------------------------------------------------------

    def _show(self) -> None:
        from turnfold.actors.cli.contexts import context_of, print_context
        from turnfold.actors.cli.inspection import print_sessions, sessions_of
        from turnfold.actors.cli.views import read_view
        from turnfold.events.keys import ConversationKey

        view = read_view(self._place)
        sessions = sessions_of(view)
        self._title("Sessions: who is talking, never what")
        self._say("$ turnfold sessions")
        self._facts["sessions"] = len(sessions)
        if not self._quiet:
            print_sessions(sessions, view)
        self._say(
            "Public chat expires after 30 minutes of silence, private messages after 24 hours."
        )
        longest = max(sessions, key=lambda session: session.turn_count)
        self._title("Context: what a model would see of one of them, and of no other")
        self._say(f"$ turnfold context {longest.avatar} {longest.channel.value}")
        assert longest.avatar is not None
        key = ConversationKey(longest.avatar, longest.channel)
        context = context_of(self._place, view, key)
        self._facts["context_messages"] = len(context.messages)
        if not self._quiet:
            print_context(context)
        self._say(
            "The oldest exchanges became a summary. Whatever is not the avatar's or the agent's own"
            " words stands in a marked block."
        )
        self._title("Events: everything that happened, by reason")
        self._count_events()

    def _count_events(self) -> None:
        from turnfold.actors.cli.tally import tally

        counts: dict[str, int] = tally(self._place)["events"]
        self._facts["events"] = counts
        if not self._quiet:
            render.print_table(("reason", ">events"), list(counts.items()))
        self._say("Secrets were redacted before anything was stored: a card number and a password.")

    # --- 6: deletion ----------------------------------------------------------------------------

    def _delete(self) -> None:
        from turnfold.actors.cli.byte_scan import files_below, pieces, scan
        from turnfold.actors.cli.erase import carry_out, print_deletion
        from turnfold.actors.cli.place import locate
        from turnfold.events.commands import DeleteKey

        key = self._lines[-1].key
        own = [line.turn.text for line in self._lines if line.key == key]
        others = [line.turn.text for line in self._lines if line.key != key]
        wanted = pieces(own) - pieces(others)
        self._title("Deletion: the last avatar wants a secret forgotten")
        before = scan(self._place, wanted)
        self._say(
            f"Its conversation has {len(wanted)} pieces of 12 bytes that nobody else said. Now they"
            " are in:"
        )
        for name, count in before.items():
            self._say(f"   {name}: {count}")
        self._say(f"$ turnfold delete {key.avatar} {key.channel.value}")
        (receipt,) = carry_out(locate(self._place, None), [DeleteKey(key)])
        if not self._quiet:
            print_deletion(receipt)
        after = scan(self._place, wanted)
        scanned = sum(path.stat().st_size for path in files_below(self._place))
        self._facts |= {
            "pieces_before": sum(before.values()),
            "pieces_after": sum(after.values()),
            "bytes_scanned": scanned,
        }
        self._say(
            f"A scan of all {scanned:,} bytes below the store's directory finds"
            f" {sum(after.values()) or 'none'} of these pieces."
        )

    # --- 7: verify --------------------------------------------------------------------------------

    def _verify(self) -> dict[str, Any]:
        from turnfold.actors.cli.verification import print_report, verified

        self._title("Verify: frames, hash chain, commitments, generations, redaction")
        self._say("$ turnfold verify")
        report = verified(self._place)
        if not self._quiet:
            print_report(report)
        facts = self._facts
        facts["verified"] = report.ok
        facts["ok"] = (
            report.ok
            and facts["found"] == facts["acknowledged"]
            and facts["pieces_before"] > 0
            and facts["pieces_after"] == 0
        )
        return facts


def _numbered(sample: Path) -> list[tuple[int, bytes]]:
    return list(enumerate(sample.read_bytes().splitlines(), 1))


def _with_turn_id(line: bytes, number: int) -> bytes:
    """The line with a turn id of its own, by which it is recognised if it is sent twice."""
    fields = {**json.loads(line), "turn_id": f"sample-{number}"}
    return json.dumps(fields).encode() + b"\n"


def _ack(line: bytes) -> Ack:
    from turnfold.events.errors import StoreFailed

    if not line:
        raise StoreFailed("the demo's writer ended before it was killed; see its error above")
    answer: Ack = json.loads(line)
    return answer
