"""What commands with ``--shard`` share: where a part goes, and its manifest."""

from __future__ import annotations

import argparse
import contextlib
import os
from dataclasses import dataclass
from typing import Any

from pairalign.base.arguments import Shard
from pairalign.cli.console import log
from pairalign.cli.files import check_files
from pairalign.formats.output import check_writable
from pairalign.formats.parts import (
    Manifest,
    check_manifest,
    checksum_of,
    is_made_by,
    manifest_path,
    part_path,
    prepare_folder,
)
from pairalign.formats.writer import Piece
from pairalign.jobs.run.align import AlignmentJob


@dataclass(frozen=True)
class PartPlace:
    """Where a part of a result goes.

    Attributes
    ----------
    folder, path : str
    shard : (int, int)
    command : list of str
        The program's arguments.
    """

    folder: str
    path: str
    shard: Shard
    command: list[str]

    def piece(self, job: AlignmentJob) -> Piece:
        """Return which part of the whole file it is."""
        number, shards = self.shard
        return Piece(number == 1, number == shards, job.first_pair + 1)

    def make_way(self) -> None:
        """Remove the manifest of another command in that place: its part is complete no longer.

        That of the same command stays until it is replaced: a task of a cluster may run twice, and
        its part may be merged meanwhile.
        """
        manifest = manifest_path(self.folder, *self.shard)
        if os.path.lexists(manifest) and not is_made_by(manifest, self.command):
            check_manifest(manifest)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(manifest)

    def finish(
        self,
        run: dict[str, Any],
        format: str,
        pairs: tuple[int, int],
        *,
        number: int = 1,
        shown: int = 0,
    ) -> None:
        """Write the manifest of the part, which is complete; `pairs`: where it begins and ends."""
        start, stop = pairs
        size, checksum = checksum_of(self.path)
        Manifest(
            run,
            format,
            *self.shard,
            start=start,
            pairs=stop - start,
            bytes=size,
            checksum=checksum,
            number=number,
            shown=shown,
            command=self.command,
        ).write(self.folder)


def choose_part(options: argparse.Namespace, suffix: str) -> PartPlace | None:
    """Return where a part goes, if ``--shard`` asks for one; OutputError if it cannot go there.

    Nothing is removed yet, see `PartPlace.make_way`. PartsError if what is in the place of the
    manifest is none.
    """
    if options.shard is None:
        return None
    folder = options.output
    shard: Shard = options.shard
    place = PartPlace(folder, part_path(folder, *shard, suffix), shard, options.given)
    options.output = place.path
    check_files(options)
    prepare_folder(folder)
    check_writable(place.path)
    manifest = manifest_path(folder, *shard)
    check_writable(manifest)
    if os.path.lexists(manifest):
        check_manifest(manifest)
        log.warning("'%s' was there before and is made again", place.path)
    return place


def without_option(command: list[str], name: str, values: int) -> list[str]:
    """Return the arguments of a command without an option that has so many values, 0 or 1."""
    left: list[str] = []
    words = iter(command)
    for word in words:
        if word == name:
            for _ in range(values):
                next(words, None)
        elif not word.startswith(f"{name}="):
            left.append(word)
    return left
