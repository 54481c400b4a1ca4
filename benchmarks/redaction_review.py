"""Recall on sets that the rules were not written with: other scanners' rules as a review list.

    python benchmarks/redaction_review.py [--gitleaks gitleaks.toml] [--kingfisher RULES_DIR] [-v]

gitleaks (MIT) publishes regular expressions; from each a few strings are drawn, and the secret
group must not survive. kingfisher (Apache-2.0) publishes examples with its rules (YAML, needs
PyYAML); the last group of the rule's match must not survive. Both are downloaded by whoever runs
this and never committed. Rules that kingfisher itself marks as not visible (ids, host names that go
with a key) and its rule for user names in React settings are left out: they hold no secret.
Also scored are the wordings of passwords and codes in tests/domain/redaction_wordings.tsv.
"""

import argparse
import importlib
import random
import re
import string
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from turnfold.events.redaction import redact

ROOT = Path(__file__).resolve().parent.parent
ALPHANUMERIC = string.ascii_letters + string.digits
SAMPLES_PER_RULE = 4
REPEAT_EXTRA = 12
"""How far above its minimum an open repetition is drawn."""

Miss = tuple[str, str]


class Sampler:
    """Draws strings that a regular expression matches, and remembers its groups."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.groups: dict[int, str] = {}

    def sample(self, pattern: str) -> str:
        """One string; `groups` holds what its groups matched."""
        self.groups = {}
        parser: Any = importlib.import_module("re._parser")
        return self._sequence(parser.parse(pattern))

    def _sequence(self, tree: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._item(str(operation), value) for operation, value in tree)

    def _item(self, operation: str, value: Any) -> str:
        match operation:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL":
                return "x" if value != ord("x") else "y"
            case "ANY":
                return self._draw.choice(ALPHANUMERIC)
            case "IN":
                return self._draw.choice(self._alphabet(value))
            case "BRANCH":
                return self._sequence(self._draw.choice(value[1]))
            case "SUBPATTERN":
                group, _, _, inner = value
                text = self._sequence(inner)
                if group is not None:
                    self.groups[group] = text
                return text
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = value
                extra = 3 if operation == "MIN_REPEAT" else REPEAT_EXTRA
                count = self._draw.randint(low, min(int(high), low + extra))
                return "".join(self._sequence(inner) for _ in range(count))
            case "ATOMIC_GROUP":
                return self._sequence(value)
            case "GROUPREF":
                return self.groups.get(value, "")
            case _:
                return ""  # anchors and look-arounds match no character

    def _alphabet(self, items: Iterable[tuple[Any, Any]]) -> list[str]:
        chars: list[str] = []
        negated = False
        for operation, value in items:
            match str(operation):
                case "NEGATE":
                    negated = True
                case "LITERAL":
                    chars.append(chr(value))
                case "RANGE":
                    chars += map(chr, range(value[0], value[1] + 1))
                case _:
                    chars += _CATEGORIES.get(str(value).rpartition(".")[2], ALPHANUMERIC)
        return [char for char in ALPHANUMERIC if char not in chars] if negated else chars


_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": ALPHANUMERIC + "_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_WORD": " ",
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
}


def survives(secret: str, text: str) -> bool:
    """Whether twelve characters in a row of the secret (or all of it) are left."""
    size = min(12, len(secret))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))


def go_to_python(pattern: str) -> str:
    """An RE2 pattern as Python's `re` spells it; case doesn't matter for drawing samples."""
    for old, new in (("[[:alnum:]]", "[A-Za-z0-9]"), (r"\z", r"\Z"), ("(?s:.)", ".")):
        pattern = pattern.replace(old, new)
    return re.sub(r"\(\?-?i:", "(?:", pattern).replace("(?i)", "")


def gitleaks(path: Path, seed: int) -> tuple[int, list[Miss]]:
    """Strings drawn from every rule: how many, and which survive."""
    sampler, total = Sampler(seed), 0
    missed: list[Miss] = []
    for rule in tomllib.loads(path.read_text(encoding="utf-8"))["rules"]:
        if "regex" not in rule:
            continue
        for _ in range(SAMPLES_PER_RULE):
            try:
                text = sampler.sample(go_to_python(rule["regex"]))
            except (re.error, IndexError):  # no Python spelling, or an empty alphabet
                break
            group = rule.get("secretGroup") or (1 if 1 in sampler.groups else 0)
            secret = (sampler.groups[group] if group else text).strip()
            total += 1
            if secret and survives(secret, redact(text)):
                missed.append((rule["id"], text))
    return total, missed


def python_flags_first(pattern: str) -> str:
    """Kingfisher writes flags after blanks and more than once; Python wants them first."""
    flags = ""
    while match := re.match(r"\s*\(\?([a-z]+)\)", pattern):
        flags += match[1]
        pattern = pattern[match.end() :]
    kept = "".join(sorted(set(flags) & set("imsx")))
    return f"(?{kept}){pattern}" if kept else pattern


def kingfisher(folder: Path) -> tuple[int, list[Miss]]:
    """The examples of every rule that marks a secret: how many, and which survive."""
    yaml: Any = importlib.import_module("yaml")
    total = 0
    missed: list[Miss] = []
    for path in sorted(folder.rglob("*.yml")):
        loaded: dict[str, list[dict[str, Any]]] = yaml.safe_load(path.read_text("utf-8")) or {}
        for rule in loaded.get("rules", []):
            if rule.get("visible") is False or rule["id"].startswith("kingfisher.reactapp"):
                continue
            examples: list[str] = rule.get("examples") or []
            for example in examples:
                total += 1
                try:
                    match = re.search(python_flags_first(rule["pattern"]), example)
                except re.error:
                    match = None
                text = redact(example)
                if match is None:
                    left = text == example
                else:
                    token = match.groupdict().get("TOKEN") or match[match.lastindex or 0]
                    left = survives(token.strip(), text)
                if left:
                    missed.append((rule["id"], example))
    return total, missed


def wordings() -> dict[str, tuple[int, list[Miss]]]:
    """Each round of wordings, and the ordinary lines (round N), which must stay."""
    rounds: dict[str, tuple[int, list[Miss]]] = {}
    table = ROOT / "tests" / "domain" / "redaction_wordings.tsv"
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        turn, wording, secret = line.split("\t")
        text = wording.replace("\\n", "\n").replace("\\t", "\t").replace("{}", secret or "{}")
        total, missed = rounds.get(turn, (0, []))
        wrong = secret in redact(text) if secret else redact(text) != text
        rounds[turn] = total + 1, [*missed, (turn, text)] if wrong else missed
    return rounds


def show(name: str, total: int, missed: list[Miss], *, verbose: bool) -> None:
    print(f"{name:24} {total - len(missed):5} of {total:5}  {1 - len(missed) / total:.4f}")
    if verbose:
        for source, text in missed:
            print(f"    {source}: {ascii(text)[:140]}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Recall on sets the rules were not written with")
    parser.add_argument("--gitleaks", type=Path, help="gitleaks.toml")
    parser.add_argument("--kingfisher", type=Path, help="folder of rule files")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed")
    chosen = parser.parse_args()
    if chosen.gitleaks:
        show("gitleaks samples", *gitleaks(chosen.gitleaks, chosen.seed), verbose=chosen.verbose)
    if chosen.kingfisher:
        show("kingfisher examples", *kingfisher(chosen.kingfisher), verbose=chosen.verbose)
    for turn, (total, missed) in wordings().items():
        show(f"wordings, round {turn}", total, missed, verbose=chosen.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
