"""The judge's corpus and real chat, where the shared folder with them is at hand."""

import csv
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

import pytest

from turnfold.events.redaction import redact

REVIEW = Path(__file__).resolve().parents[2] / "docs" / "reference" / "redaction-review.csv"


class Judge(Protocol):
    """What the tests use of evaluate.py."""

    def score(self, redact: Callable[[str], str], split: str) -> dict[str, float]: ...


def judge(path: Path) -> Judge:
    spec = importlib.util.spec_from_file_location("redaction_judge", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Judge", module)


# The judge leaves closing its files to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_the_judge_finds_no_leak_no_false_alarm_and_only_fixed_points(shared_data: Path) -> None:
    score = judge(shared_data / "redaction" / "evaluate.py").score(redact, "all")
    assert score["recall_strict"] >= 0.995
    assert score["fp"] == 0
    assert score["over"] == 0
    assert score["idem"] == 0


@pytest.mark.parametrize("name", ["public_chat", "direct_im"])
def test_every_hit_in_real_chat_was_looked_at(shared_data: Path, name: str) -> None:
    with REVIEW.open(encoding="utf-8", newline="") as rows:
        known = {
            (int(row["line"]), row["kind"]) for row in csv.DictReader(rows) if row["file"] == name
        }
    hits = set[tuple[int, str]]()
    with (shared_data / "data" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            hits |= {(number, kind) for kind, _ in redact(json.loads(line)["text"]).redactions}
    assert hits == known


def test_no_hit_in_real_chat_is_a_false_one() -> None:
    with REVIEW.open(encoding="utf-8", newline="") as rows:
        assert {row["verdict"].split(":")[0] for row in csv.DictReader(rows)} == {"true"}
