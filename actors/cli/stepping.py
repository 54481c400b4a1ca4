"""`turnfold replay --tui`: where the screen comes from, which not everybody has installed."""

from pathlib import Path


def show(storage_path: Path, until: int | None) -> None:
    """Step through the log on the terminal. Raises MissingExtra without the extra `tui`."""
    from turnfold.events.errors import MissingExtra

    try:
        import textual
    except ImportError as error:
        raise MissingExtra("tui", "stepping through a log (replay --tui)") from error
    from turnfold.actors.cli.stepping_screen import SteppingApp

    del textual
    SteppingApp(storage_path, until).run()
