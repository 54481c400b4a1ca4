"""Carrying a verdict out: what is to be kept is copied, what is no part of the log goes.

Every step may be repeated after a crash. Nothing is cut before the segment that takes its place
is durable under its name.
"""

from collections.abc import Sequence

from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import Rejected, generation_path, generation_position
from turnfold.events.log.generations import zero
from turnfold.events.log.quarantine import Finding, Quarantine
from turnfold.events.log.segment import segment_path
from turnfold.events.log.survey import Cut, SegmentEntry
from turnfold.events.log.verdict import TO_THE_END, Region, Verdict
from turnfold.events.reasons import Reason


class Repair:
    """The repair of one store; `findings` are what was set aside."""

    def __init__(self, disk: Disk, quarantine: Quarantine) -> None:
        self._disk = disk
        self._quarantine = quarantine
        self.findings: list[Finding] = []

    def set_aside(
        self,
        verdict: Verdict,
        unusable: Sequence[SegmentEntry],
        rejected: Sequence[Rejected],
    ) -> None:
        """Before the new segment: copy what will be cut, take away files that hold no log."""
        for region in verdict.kept:
            self._copy(region)
        for entry in unusable:
            self._move(entry, Reason.QUARANTINED_CORRUPT)
        for generation in rejected:
            finding = self._quarantine.move(
                generation_path(generation.name),
                generation.reason,
                what="generation",
                around=generation_position(generation.name) or 0,
                message=generation.message,
            )
            self.findings.append(finding)

    def clear_away(self, verdict: Verdict) -> None:
        """Once the new segment is durable: cut, zero and drop."""
        for cut in verdict.cuts:
            self._cut(cut)
        for region in verdict.zeroed:
            self._zero(region)
        for entry in verdict.dropped:
            self._move(entry, Reason.QUARANTINED_CORRUPT)

    def _copy(self, region: Region) -> None:
        file = self._disk.open(segment_path(region.base))
        try:
            end = file.status().size if region.end == TO_THE_END else region.end
            if end > region.offset:
                self.findings.append(
                    self._quarantine.copy(
                        file, region.offset, end, around=region.around, message=region.why
                    )
                )
        finally:
            file.close()

    def _move(self, entry: SegmentEntry, reason: Reason) -> None:
        finding = self._quarantine.move(
            entry.path, reason, what="segment", around=entry.base, message=entry.message
        )
        self.findings.append(finding)

    def _cut(self, cut: Cut) -> None:
        try:
            file = self._disk.open(segment_path(cut.base), write=True)
        except FileNotFoundError:
            return  # it was dropped or replaced as a whole
        try:
            if file.status().size > cut.offset:
                file.truncate(cut.offset)
                file.sync()
        finally:
            file.close()

    def _zero(self, region: Region) -> None:
        file = self._disk.open(segment_path(region.base), write=True)
        try:
            zero(file, region.offset, region.end - region.offset)
            file.sync()
        finally:
            file.close()
