"""A timeline as one self-contained picture: SVG by hand, no script, no font, nothing fetched."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Final

import attrs

from turnfold.actors.cli import render

if TYPE_CHECKING:
    from turnfold.events.timeline import Bucket, Timeline

WIDTH: Final = 1120
LEFT: Final = 104  # where the axis begins; names stand before it
RIGHT: Final = 1072
PLOT: Final = RIGHT - LEFT
COLUMNS: Final = 480
PANEL: Final = 150  # height of a chart
TOP: Final = 104
BETWEEN: Final = 46
LANE: Final = 24
NS_PER_S: Final = 1_000_000_000
HOUR: Final = 3600
DAY: Final = 24 * HOUR
STEPS_S: Final = (
    1, 5, 15, 60, 300, 900, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
    DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 365 * DAY,
)  # fmt: skip
_NICE: Final = (2, 4, 6, 8, 10, 12, 16, 20, 24, 30, 40, 50, 60, 80, 100)
COLOURS: Final = {
    "sessions": "#2563eb",
    "bytes": "#0d9488",
    "compaction": "#7c3aed",
    "expiry": "#64748b",
    "eviction": "#d97706",
    "deletion": "#be123c",
    "quarantine": "#a16207",
    "damage": "#dc2626",
    "opening": "#15803d",
}
# Plain colours first: not every viewer knows variables or colour schemes.
STYLE: Final = """
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#0f172a}
.paper{fill:#ffffff}.title{font-size:20px;font-weight:600}.head{font-size:13px;font-weight:600}
.dim{fill:#64748b}.limit{fill:#b91c1c}.end{text-anchor:end}.mid{text-anchor:middle}
.grid{stroke:#e2e8f0;stroke-width:1}.axis{stroke:#64748b;stroke-width:1}
.cap{stroke:#b91c1c;stroke-width:1.2;stroke-dasharray:6 4;fill:none}
@media (prefers-color-scheme:dark){text{fill:#e2e8f0}.paper{fill:#0f172a}.dim{fill:#94a3b8}
.limit{fill:#f87171}.grid{stroke:#273449}.axis{stroke:#94a3b8}.cap{stroke:#f87171}}
"""


@attrs.frozen
class _Panel:
    """One chart: what it shows, its values per column, its limit now."""

    name: str
    title: str
    peaks: Sequence[int]
    ends: Sequence[int]
    limits: Sequence[int]  # per column
    is_size: bool

    def told(self, value: int) -> str:
        return render.size(value) if self.is_size else f"{value:,}"


def svg_of(timeline: "Timeline", name: str) -> str:
    """The picture; `name` says whose life it is."""
    from turnfold.events.timeline import Mark

    cells = timeline.spread(COLUMNS)
    parts = [*_header(timeline, name)]
    y = TOP
    for panel in _panels(timeline, cells):
        parts += _chart(panel, y)
        y += PANEL + BETWEEN
    y -= BETWEEN - 22
    parts += _lanes(timeline, cells, y)
    y += LANE * len(Mark) + 8
    parts += _axis(timeline, y)
    height = y + 48
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' aria-labelledby="t d" width="{WIDTH}" height="{height}">'
    )
    paper = f'<rect width="{WIDTH}" height="{height}" class="paper"/>'
    return "\n".join([opening, f"<style>{STYLE}</style>", paper, *parts, "</svg>", ""])


def html_of(timeline: "Timeline", name: str) -> str:
    """A page with the picture and a table of all reasons."""
    rows = "".join(
        f"<tr><td><code>{escape(reason)}</code></td><td>{count:,}</td></tr>"
        for reason, count in sorted(timeline.reasons.items())
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(name)}: timeline</title>\n<style>"
        ":root{color-scheme:light dark}body{margin:2rem auto;max-width:1120px;padding:0 1rem;"
        "font:14px system-ui,sans-serif}svg{width:100%;height:auto}table{border-collapse:collapse;"
        "margin:1.5rem 0}td,th{padding:.25rem 1rem .25rem 0;text-align:left;border-bottom:1px solid"
        " #8884}td+td{text-align:right;font-variant-numeric:tabular-nums}</style></head>\n<body>\n"
        f"{svg_of(timeline, name)}<table><thead><tr><th>reason</th><th>events</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>\n</body></html>\n"
    )


# --- header --------------------------------------------------------------------------------------


def _header(timeline: "Timeline", name: str) -> Iterator[str]:
    events = render.quantity(sum(timeline.reasons.values()), "event")
    span = f"positions {timeline.first:,} to {timeline.last:,}, {events}"
    if not timeline.by_position:
        span = f"{_moment(timeline.begin)} to {_moment(timeline.end)} UTC · {span}"
    yield f'<title id="t">{escape(name)}: timeline</title>'
    told = ", ".join(f"{count:,} {mark.value}" for mark, count in timeline.marks.items())
    yield f'<desc id="d">{escape(span)}. {escape(told)}.</desc>'
    yield f'<text class="title" x="24" y="38">{escape(name)}</text>'
    yield f'<text class="dim" x="24" y="60">{escape(span)}</text>'


def _moment(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // NS_PER_S, UTC).strftime("%Y-%m-%d %H:%M")


# --- charts --------------------------------------------------------------------------------------


def _panels(timeline: "Timeline", cells: "Sequence[Bucket]") -> list[_Panel]:
    limits = limits_at(timeline, len(cells))
    return [
        _Panel(
            "sessions",
            "Live sessions",
            [cell.sessions_most for cell in cells],
            [cell.sessions for cell in cells],
            [limit[0] for limit in limits],
            is_size=False,
        ),
        _Panel(
            "bytes",
            "Bytes of all sessions",
            [cell.bytes_most for cell in cells],
            [cell.bytes for cell in cells],
            [limit[1] for limit in limits],
            is_size=True,
        ),
    ]


def limits_at(timeline: "Timeline", columns: int) -> list[tuple[int, int]]:
    """Sessions and bytes that are allowed, at each column."""
    span = max(1, timeline.end - timeline.begin + 1)
    found: list[tuple[int, int]] = []
    for column in range(columns):
        x = timeline.begin + (column + 1) * span // columns - 1
        now = [change for change in timeline.limits if change.x <= x] or timeline.limits[:1]
        found.append((now[-1].active_sessions, now[-1].aggregate_bytes) if now else (0, 0))
    return found


def _chart(panel: _Panel, top: int) -> Iterator[str]:
    peak, allowed = max(panel.peaks, default=0), max(panel.limits, default=0)
    shown = allowed <= 3 * peak  # else the curve would be flat
    ceiling = round_up(max(peak, allowed if shown else 0, 1), by_1024=panel.is_size)
    bottom = top + PANEL
    told = f"peak {panel.told(peak)}, at the end {panel.told(panel.ends[-1])}"
    yield f'<text class="head" x="{LEFT}" y="{top - 14}">{panel.title}</text>'
    yield f'<text class="dim" x="{LEFT + 176}" y="{top - 14}">{told}</text>'
    share = 100 * peak / panel.limits[-1] if panel.limits[-1] else 0.0
    limit = f"limit {panel.told(panel.limits[-1])}, {share:.3g} % of it used at the peak"
    yield f'<text class="limit end" x="{RIGHT}" y="{top - 14}">{limit}</text>'
    for value in (0, ceiling // 2, ceiling):
        y = bottom - PANEL * value / ceiling
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="dim end" x="{LEFT - 8}" y="{y + 4:.1f}">{panel.told(value)}</text>'
    colour = COLOURS[panel.name]
    peaks = _steps(panel.peaks, bottom, ceiling)
    area = f"M{LEFT} {bottom}{peaks}L{RIGHT} {bottom}Z"
    yield f'<path d="{area}" fill="{colour}" fill-opacity=".14"/>'
    line = "M" + _steps(panel.ends, bottom, ceiling)[1:]
    yield f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    if shown:
        path = "M" + _steps(panel.limits, bottom, ceiling)[1:]
        yield f'<path class="cap" d="{path}"/>'


def _steps(values: Sequence[int], bottom: int, ceiling: int) -> str:
    """A path of steps; columns of the same height are one."""
    parts: list[str] = []
    before: int | None = None
    for column, value in enumerate(values):
        if value != before:
            x = LEFT + PLOT * column / len(values)
            y = bottom - PANEL * value / ceiling
            parts.append(f"{'H' + format(x, '.1f') if parts else f'L{x:.1f} {y:.1f}'}V{y:.1f}")
            before = value
    return "".join([*parts, f"H{RIGHT}"])


def round_up(value: int, *, by_1024: bool = False) -> int:
    """The next number that reads well, of which half does too."""
    unit = 1
    while by_1024 and value >= 1024 * unit:
        unit *= 1024
    count, power = -(-value // unit), 1
    while count > 100 * power:
        power *= 10
    nice = next(step for step in _NICE if step * power >= count)
    return nice * power * unit


# --- marks ---------------------------------------------------------------------------------------


def _lanes(timeline: "Timeline", cells: "Sequence[Bucket]", top: int) -> Iterator[str]:
    from turnfold.events.timeline import Mark

    total = timeline.marks
    for number, mark in enumerate(Mark):
        y = top + LANE * number + LANE // 2
        count = total[mark]
        style = "" if count else ' class="dim"'
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end"{style}>{mark.value}</text>'
        yield f'<text class="dim" x="{RIGHT + 8}" y="{y + 4}">{count:,}</text>'
        yield from _dots(mark.value, [(cell.marks[mark], cell) for cell in cells], y)


def _dots(kind: str, counted: "Iterable[tuple[int, Bucket]]", y: int) -> Iterator[str]:
    """A dot for each column with marks; its area grows with their number."""
    for column, (count, cell) in enumerate(counted):
        if not count:
            continue
        radius = min(9.0, 2.4 + count**0.5 * 0.8)
        x = LEFT + PLOT * (column + 0.5) / COLUMNS
        where = f"position {cell.first:,}"
        if cell.last > cell.first:
            where = f"positions {cell.first:,} to {cell.last:,}"
        yield (
            f'<circle cx="{x:.1f}" cy="{y}" r="{radius:.1f}" fill="{COLOURS[kind]}"'
            f' fill-opacity=".72"><title>{count:,} {kind}, {where}</title></circle>'
        )


# --- axis ----------------------------------------------------------------------------------------


def _axis(timeline: "Timeline", y: int) -> Iterator[str]:
    yield f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}" class="axis"/>'
    span = max(1, timeline.end - timeline.begin)
    ticks = position_ticks(timeline) if timeline.by_position else time_ticks(timeline)
    for x, label in ticks:
        at = LEFT + PLOT * (x - timeline.begin) / span
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y}" y2="{y + 5}" class="axis"/>'
        yield f'<text class="dim mid" x="{at:.1f}" y="{y + 20}">{label}</text>'
    unit = "position" if timeline.by_position else "time (UTC)"
    yield f'<text class="dim end" x="{RIGHT}" y="{y + 38}">{unit}</text>'


def time_ticks(timeline: "Timeline", most: int = 10) -> list[tuple[int, str]]:
    """Moments on round times, with a date where a day begins or the first of them stands."""
    begin, end = timeline.begin // NS_PER_S, timeline.end // NS_PER_S
    fitting = (step for step in STEPS_S if (end - begin) // step < most)
    step = next(fitting, STEPS_S[-1])
    ticks: list[tuple[int, str]] = []
    day = ""
    for second in range(-(-begin // step) * step, end + 1, step):
        moment = datetime.fromtimestamp(second, UTC)
        date = moment.strftime("%Y-%m-%d")
        clock = moment.strftime("%H:%M:%S" if step < timedelta(minutes=1).seconds else "%H:%M")
        ticks.append((second * NS_PER_S, date if step >= DAY else _labelled(date, day, clock)))
        day = date
    return ticks


def _labelled(date: str, before: str, clock: str) -> str:
    return clock if date == before else f"{date} {clock}"


def position_ticks(timeline: "Timeline") -> list[tuple[int, str]]:
    """Round positions."""
    step = round_up(max(1, (timeline.end - timeline.begin) // 8))
    return [(x, f"{x:,}") for x in range(-(-timeline.begin // step) * step, timeline.end + 1, step)]
