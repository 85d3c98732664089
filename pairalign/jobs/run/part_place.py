"""What commands with ``--shard`` share: where a part goes, and its manifest."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pairalign.base.arguments import Shard
from pairalign.base.declaration import stored
from pairalign.base.run_files import remove_regular
from pairalign.formats import WRITERS
from pairalign.formats.names import check_ending
from pairalign.formats.output import check_writable
from pairalign.formats.part_places import check_place, find_complete, is_made_by
from pairalign.formats.parts import (
    Manifest,
    begun_path,
    checksum_of,
    manifest_path,
    part_path,
    prepare_folder,
)
from pairalign.formats.writer import Piece
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.blocks import Pairs
from pairalign.jobs.run.file_checks import check_files

log = logging.getLogger("pairalign")


class End(NamedTuple):
    """Where a piece ends: bytes of the part up to there, and the number of the next pair."""

    bytes: int
    number: int


@dataclass(frozen=True)
class PartPlace:
    """Where a part of a result goes.

    Attributes
    ----------
    shard : (int, int)
    command : list of str
        The program's arguments.
    request : dict
        What the run stores of what is asked.
    """

    folder: str
    path: str
    shard: Shard
    command: list[str]
    request: dict[str, Any]

    def piece(self, job: AlignmentJob) -> Piece:
        """Return which part of the whole file it is."""
        number, shards = self.shard
        first = job.pieces[0].start + 1 if job.pieces else 1
        return Piece(number == 1, number == shards, first)

    @property
    def manifest(self) -> str:
        """Where its manifest goes."""
        return manifest_path(self.folder, *self.shard)

    @property
    def begun(self) -> str:
        """Where the manifest goes that says that it is begun."""
        return begun_path(self.folder, *self.shard)

    def find_complete(self, run: dict[str, Any], format: str) -> Manifest | None:
        """Return the manifest of the part, if a run before has completed it."""
        manifest = find_complete(self.path, self.manifest, run, format)
        if manifest is not None:
            remove_regular(self.begun)
        return manifest

    def begin(self, run: dict[str, Any], format: str, *, is_resumed: bool = False) -> None:
        """Say that the part is begun, and remove the manifest of another command in that place.

        That of the same command stays until it is replaced: a task of a cluster may run twice, and
        its part may be merged meanwhile.
        """
        if check_place(self.path, (self.manifest, self.begun)) and not is_resumed:
            log.warning("'%s' was there before and is made again", self.path)
        begun = Manifest(run, format, *self.shard, 0, 0, 0, "00000000", command=self.command)
        begun.write(self.begun)
        if not is_made_by(self.manifest, self.command):
            remove_regular(self.manifest)

    def give_up(self) -> None:
        """Take back that the part is begun, if it has come to nothing."""
        if not os.path.lexists(self.path):
            remove_regular(self.begun)

    def finish(
        self,
        run: dict[str, Any],
        format: str,
        pieces: Sequence[Pairs],
        ends: Sequence[End],
        *,
        number: int = 1,
        summary: dict[str, Any] | None = None,
    ) -> None:
        """Write the manifest of the part, which is complete, with what is known of its pieces."""
        size, checksum = checksum_of(self.path)
        cuts = [[*pair, end.bytes, end.number] for pair, end in zip(pieces, ends, strict=True)]
        if cuts:
            cuts[-1][2] = size
        Manifest(
            run,
            format,
            *self.shard,
            start=pieces[0].start if pieces else 0,
            pairs=sum(piece.pairs for piece in pieces),
            bytes=size,
            checksum=checksum,
            number=number,
            shown=ends[-1].number - number if ends else 0,
            command=self.command,
            request=self.request,
            pieces=cuts if len(cuts) > 1 else [],
            summary=summary or {},
        ).write(self.manifest)
        remove_regular(self.begun)


def choose_part(options: Any, suffix: str) -> PartPlace | None:
    """Return where a part goes, if ``--shard`` asks for one; OutputError if it cannot go there.

    Nothing is written yet, see `PartPlace.begin`. PartsError if what is in the place of the part or
    its manifest is not pairalign's.
    """
    if options.shard is None:
        return None
    folder = options.output
    shard: Shard = options.shard
    path = part_path(folder, *shard, suffix)
    place = PartPlace(folder, path, shard, list(options.command_line), stored(options))
    check_files(replace(options, output=place.path))
    prepare_folder(folder)
    check_writable(place.path)
    check_writable(place.manifest)
    check_place(place.path, (place.manifest, place.begun))
    return place


def without_option(command: list[str], name: str, values: int) -> list[str]:
    """Return the arguments of a command without an option that has `values` values, 0 or 1."""
    left: list[str] = []
    words = iter(command)
    for word in words:
        if word == name:
            for _ in range(values):
                next(words, None)
        elif not word.startswith(f"{name}="):
            left.append(word)
    return left


def check_parts_ending(output: str, format: str) -> None:
    """Refuse a file's name that says another format than that of the parts; FormatError."""
    endings = WRITERS[format].suffixes
    check_ending(output, endings, f"the parts are {format}")
