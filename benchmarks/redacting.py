"""Redaction: a chat line without a trigger, the job's texts, real chat, and hostile input."""

import json
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from job import Figures, Line

from turnfold.events.redaction import redact

REPEATS = 5


def plain_line() -> str:
    """300 ASCII characters as people type them, with nothing that looks like a secret."""
    text = (
        "well i walked over to the market place near the old bridge and looked at the new shirts"
        " they had, some of them are nice but a little bit expensive for me. maybe we can go there"
        " together later when you are back home? i would like to show you the blue one, it has the"
        " sort of collar that you said you wanted for the dance on friday evening"
    )
    return text[:300]


HOSTILE = {
    "cue": "password ",
    "assignment": "key:",
    "token": "eyJ",
    "url": "http://a:b@",
    "escape": "%25",
    "digits": "4111 1111 ",
    "spaced": "p a s s ",
    "placeholder": "[redacted:",
    "cyrillic": "пароль ",
    "lookalike": "p\u0430ss ",
    "lines": "ab12CD34\n",
    "blanks": "secret    =    ",
}
"""Each is repeated to 16 KiB and to 32 KiB."""


def chat_lines() -> list[str]:
    """Recorded chat from outside the repository, if it is there."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("TURNFOLD_SHARED", beside)) / "data"
    return [
        json.loads(line)["text"]
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def _us_each(texts: Sequence[str]) -> float:
    """CPU microseconds a text, the best of some passes: the machine adds, never takes away."""
    best: list[float] = []
    for _ in range(REPEATS):
        begin = time.process_time()
        for text in texts:
            redact(text)
        best.append((time.process_time() - begin) / len(texts) * 1e6)
    return min(best)


def redaction(lines: Sequence[Line], _directory: Path) -> Figures:
    """Microseconds a text, and milliseconds a KiB for the worst of the hostile inputs."""
    figures: Figures = {
        "plain_us": _us_each([plain_line()] * 500),
        "job_us": _us_each([text for _, _, text in lines[:2000]]),
    }
    chat = chat_lines()
    if chat:
        figures["chat_us"] = _us_each(chat[::8])
    worst, growth = 0.0, 0.0
    for unit in HOSTILE.values():
        small, large = (_us_each([(unit * (size // len(unit)))]) for size in (16384, 32768))
        worst = max(worst, large / 32 / 1000)
        growth = max(growth, large / small)
    figures["hostile_ms_per_kib"] = worst
    figures["hostile_growth_when_doubled"] = growth
    figures["chars"] = statistics.mean(len(text) for _, _, text in lines[:2000])
    return figures
