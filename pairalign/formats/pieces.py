"""Pieces of a result and the manifest that lists them: the one way in which results are kept.

A shard (``--shard``), a run that can be resumed (``--resume``) and a task on a cluster (``--dask``)
write the same: a *part* of a whole, in a folder. The third of 64 parts is made of the pieces
``part-03-of-64.paf``, ``part-03-of-64.2.paf`` and so on, each of them pairs that follow one another
in the order of output. ``part-03-of-64.json``, its manifest, comes when the part is complete: which
run it is of, and each piece's pairs, bytes and checksum. Before that the manifest has another name,
``.part-03-of-64.begun``, so that a piece without either is never pairalign's. The first part has
the header of the whole, the last one its footer. A run that can be resumed makes the only part of
its whole, in ``OUT.parts``. `merge` joins the pieces.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from pairalign.base.compression import add_to_checksum, read_blocks
from pairalign.base.dry_run import is_dry_run
from pairalign.base.error_types import PartsError, error_by_cause
from pairalign.base.part_file import PartFile, remove_dead
from pairalign.base.run_files import is_hidden_name, is_regular, remove_empty_folder, remove_regular
from pairalign.base.spelling import spelled
from pairalign.formats.output import check_usable, folder_error, output_error, write_all
from pairalign.formats.schemas import (
    JOB_LEFT,
    MANIFEST,
    MOST_MANIFEST_BYTES,
    PIECES,
    SUMMARY_LEFT,
    SchemaError,
    check_object,
    read_object,
)

_log = logging.getLogger("pairalign")
_MANIFEST = re.compile(r"part-\d+-of-\d+\.json|\.part-\d+-of-\d+\.begun")
_VERSION = 2
_SHOWN_DIFFERENCES = 6


class Piece(NamedTuple):
    """A piece of a part.

    Attributes
    ----------
    start, pairs : int
        Pairs of the pair matrix that come before it, and that it covers.
    bytes : int
        0: it has no file.
    checksum : str
        CRC-32 of its bytes, in hexadecimal.
    path : str
        Of its file.
    """

    start: int
    pairs: int
    bytes: int
    checksum: str
    path: str


@dataclass
class Part:
    """A part of a whole: where it is kept and, as its manifest has it, what there is of it.

    Attributes
    ----------
    shard, shards : int
        Which part of how many, counted from 1.
    format : str
        Of its pieces.
    run : dict
        What decides the bytes of the whole: the same in all parts.
    command : list of str
        The arguments of the program that writes it.
    request : dict
        What was asked of the run, see `pairalign.base.declaration.stored`.
    pieces : list of Piece
        In the order in which they were written.
    job, summary : dict
        What the job, and `pairalign.jobs.commands.summary`, have to know of what was written.
    complete : bool
        Whether that is all of it, as the name of its manifest says.
    """

    folder: str
    shard: int
    shards: int
    format: str = ""
    run: dict[str, Any] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    job: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    complete: bool = False

    @property
    def manifest(self) -> str:
        """Where the manifest is when the part is complete."""
        return self._path("", ".json")

    @property
    def begun(self) -> str:
        """Where the manifest is until then."""
        return self._path(".", ".begun")

    @property
    def is_begun(self) -> bool:
        """Whether there is anything of it."""
        return bool(self.pieces or self.job)

    @property
    def pairs(self) -> int:
        """How many pairs its pieces cover."""
        return sum(piece.pairs for piece in self.pieces)

    @property
    def bytes(self) -> int:
        """Size of its pieces."""
        return sum(piece.bytes for piece in self.pieces)

    def piece(self, number: int = 1) -> str:
        """Where a piece is, by its number among those that have bytes."""
        return self._path("", f".{self.format}" if number == 1 else f".{number}.{self.format}")

    def next_piece(self) -> str:
        """Where the next piece is."""
        return self.piece(1 + sum(piece.bytes > 0 for piece in self.pieces))

    def add(self, start: int, pairs: int, size: int, checksum: str) -> None:
        """Add the next piece."""
        self.pieces.append(Piece(start, pairs, size, checksum, self.next_piece()))

    def named(self) -> list[str]:
        """Return the paths of all that has the name of a piece of it, in any format."""
        return self._matching(rf"{{}}(\.\d+)?\.({'|'.join(PIECES)})")

    def tidy(self) -> None:
        """Remove what other runs have left in the place of the part, which is complete."""
        pieces = {piece.path for piece in self.pieces}
        for path in self.named():
            if path not in pieces:
                remove_regular(path)
        remove_dead(self.unfinished())
        remove_regular(self.begun)

    def unfinished(self) -> list[str]:
        """Return the paths of hidden files that would have become a piece, or a manifest."""
        hidden = self._matching(r"\.+{}\..*")
        return [path for path in hidden if is_hidden_name(os.path.basename(path))]

    def _matching(self, pattern: str) -> list[str]:
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        own = re.compile(pattern.replace("{}", re.escape(os.path.basename(self._path("", "")))))
        return [os.path.join(self.folder, name) for name in names if own.fullmatch(name)]

    def _path(self, before: str, after: str) -> str:
        name = f"part-{self.shard:0{len(str(self.shards))}}-of-{self.shards}"
        return os.path.join(self.folder, f"{before}{name}{after}")

    def write(self, path: str) -> int:
        """Write the manifest in one step, onto the disk; return the open file, which is locked.

        Raises
        ------
        OutputError
            It cannot be written.
        """
        where = ("folder", "complete")
        values = {name: value for name, value in vars(self).items() if name not in where}
        values["pieces"] = [piece[:-1] for piece in self.pieces]
        text = json.dumps({"pairalign": _VERSION, **values})
        text = f'{text[:-1]}, "digest": "{zlib.crc32(text.encode()):08x}"}}\n'
        try:
            file = PartFile(path, None)
            try:
                write_all(lambda rest: os.write(file.descriptor, rest), text.encode(), path)
                os.fsync(file.descriptor)
                file.publish()
                _sync_folder(path)
            except BaseException:
                os.close(file.descriptor)
                raise
            finally:
                file.remove()
        except OSError as error:
            raise output_error(path, error) from error
        return file.descriptor


def _sync_folder(path: str) -> None:
    """Make sure that the name of a file in its folder is there for good, where that can be done."""
    descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems do not sync folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_manifest(path: str) -> Part:
    """Read a part's manifest; PartsError if it cannot be read or is damaged."""
    try:
        value = read_object(_read_small(path), MANIFEST)
        digest = value.pop("digest")
        if digest != f"{zlib.crc32(json.dumps(value).encode()):08x}":
            raise SchemaError("its digest is another")
        del value["pairalign"]
        pieces = value.pop("pieces")
        part = Part(os.path.dirname(path), **value)
        files = accumulate((piece[2] > 0 for piece in pieces), initial=1)
        for piece, number in zip(pieces, files, strict=False):
            start, pairs, size, checksum = piece
            part.pieces.append(Piece(start, pairs, size, checksum, part.piece(number)))
        name, part.complete = os.path.basename(path), path.endswith(".json")
        named = map(os.path.basename, (part.begun, part.manifest))
        if name not in named or part.shard > part.shards:
            raise SchemaError(f"it is that of part {part.shard} of {part.shards}")
        if part.summary:
            check_object(part.summary, SUMMARY_LEFT)
        if part.job:
            check_object(part.job, JOB_LEFT)
    except OSError as error:
        raise PartsError(f"'{path}': {error.strerror}") from error
    except SchemaError as error:
        raise PartsError(
            f"'{path}' is damaged ({error}): delete it and its pieces, and make its part again"
        ) from error
    return part


def _read_small(path: str) -> bytes:
    """Read a manifest; SchemaError if it is no file or larger than any manifest."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SchemaError("it is no regular file")
        if status.st_size > MOST_MANIFEST_BYTES:
            raise SchemaError("it is too large")
        return file.read()


def read_manifests(folder: str) -> list[Part]:
    """Read the manifests of a folder of complete parts, in the order of their numbers.

    Raises
    ------
    PartsError
        There is none, one is damaged, or they are not of one run; the message says what differs.
    """
    parts = parts_in(folder, begun=False)
    if not parts:
        raise PartsError(f"'{folder}': there is no part (part-1-of-N.json) in it")
    first, *others = (
        (one.manifest, {**one.run, "format": one.format, "parts": one.shards}) for one in parts
    )
    for path, run in others:
        differences = find_differences(first[1], run)
        if differences:
            names = " and ".join(map(os.path.basename, (first[0], path)))
            raise PartsError(f"'{folder}': {names} are not of the same run; {differences}")
    return sorted(parts, key=lambda part: part.shard)


def parts_in(folder: str, *, begun: bool = True) -> list[Part]:
    """Return the parts in a folder, those that are begun too; PartsError if one is damaged."""
    try:
        names = sorted(name for name in os.listdir(folder) if _MANIFEST.fullmatch(name))
    except OSError as error:
        reason = f"'{folder}': {error.strerror}, expected a folder of parts"
        raise error_by_cause(PartsError, reason, error) from error
    paths = [os.path.join(folder, name) for name in names if begun or not name.startswith(".")]
    return [read_manifest(path) for path in paths]


def find_differences(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Say in which values two descriptions of runs differ: ``scoring.gap_open: 11 and 12``."""
    flat, others = (_flatten(*two) for two in ((one, other), (other, one)))
    missing = "nothing"
    differences = [
        f"{key}: {flat.get(key, missing)} and {others.get(key, missing)}"
        for key in sorted({*flat, *others})
        if flat.get(key, missing) != others.get(key, missing)
    ]
    return "; ".join(differences[:_SHOWN_DIFFERENCES])


def _flatten(described: object, other: object, name: str = "") -> dict[str, Any]:
    """Return values by their names; what the other has not at all is only ``given``."""
    if not isinstance(described, dict):
        return {name: described}
    if not isinstance(other, dict):
        return {name: "given"}
    values: dict[str, Any] = {}
    for key, value in described.items():
        values.update(_flatten(value, other.get(key), f"{name}.{key}" if name else key))
    return values


def missing_shards(parts: Sequence[Part]) -> list[int]:
    """Return the numbers of the parts that are not there; a manifest says a million at most."""
    there = {part.shard for part in parts}
    return [shard for shard in range(1, parts[0].shards + 1) if shard not in there]


def describe_shards(shards: Sequence[int]) -> str:
    """Shorten numbers as Slurm's ``--array`` takes them: ``3,17-20``."""
    runs: list[list[int]] = []
    for shard in shards:
        if runs and shard == runs[-1][1] + 1:
            runs[-1][1] = shard
        else:
            runs.append([shard, shard])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


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


def pieces_of_whole(parts: Sequence[Part]) -> list[Piece]:
    """Return the pieces with bytes of all parts of a whole, in the order of output.

    What they hold is checked when it is read.

    Raises
    ------
    PartsError
        Parts are missing, do not meet, or have not the size that they should.
    """
    missing = missing_shards(parts)
    if missing:
        raise PartsError(
            f"'{parts[0].folder}': {len(missing):,} of {parts[0].shards:,} parts are missing: "
            f"{describe_shards(missing)}; {spelled('plan')} says how to make them"
        )
    places: list[tuple[float, Piece]] = []
    for part in parts:
        # One without pairs has the header of all, or the footer.
        start = None if part.pairs else 0 if part.shard == 1 else float("inf")
        places += ((piece.start if start is None else start, piece) for piece in part.pieces)
    places.sort(key=lambda place: place[0])
    end = 0
    for start, piece in places:
        if piece.pairs and start != end:
            raise PartsError(
                f"'{piece.path}' has pairs from {piece.start + 1:,} on, and what comes before "
                f"them ends with pair {end:,}: another version has cut it; make it again"
            )
        end += piece.pairs
    pieces = [piece for _, piece in places if piece.bytes]
    for piece in pieces:
        if not os.path.isfile(piece.path) or os.path.getsize(piece.path) != piece.bytes:
            raise _damaged(piece, "it is missing, or of another size")
    return pieces


def checked_blocks(piece: Piece) -> Iterator[bytes]:
    """Read a piece; PartsError in the end if it is not what was written."""
    checksum = 0
    for block in read_blocks(piece.path):
        checksum = add_to_checksum(checksum, block)
        yield block
    if f"{checksum:08x}" != piece.checksum:
        raise _damaged(piece, "its checksum is another")


def check_piece(piece: Piece) -> None:
    """Raise PartsError unless a piece is what was written."""
    for _ in checked_blocks(piece):
        pass


def _damaged(piece: Piece, reason: str) -> PartsError:
    return PartsError(
        f"'{piece.path}' is not what was written ({reason}): delete it and its .json and make it "
        "again"
    )


def is_whole(piece: Piece) -> bool:
    """Whether a piece is there as it was written."""
    if not piece.bytes:
        return True
    if not is_regular(piece.path):
        return False
    try:
        check_piece(piece)
    except (OSError, PartsError):
        return False
    return True


def find_complete(part: Part) -> Part | None:
    """Return a part as its manifest has it, if all is there as the same run has written it."""
    try:
        written = read_manifest(part.manifest)
    except PartsError:
        return None
    if (written.run, written.format) != (part.run, part.format):
        return None
    return written if is_complete(written) else None


def is_complete(part: Part) -> bool:
    """Whether a part is complete, and all there as it was written."""
    return part.complete and all(map(is_whole, part.pieces))


def prepare_folder(folder: str) -> None:
    """Make a folder where there is none, unless in a dry run; OutputError if that cannot be."""
    if is_dry_run():
        check_usable(folder)
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise folder_error(folder, error) from error


def check_place(part: Part) -> list[Part]:
    """Return what pairalign has begun or written in the place of a part.

    Raises
    ------
    PartsError
        What is there is not pairalign's: there is no manifest beside it, or something else.
    """
    there = []
    for path in filter(os.path.lexists, (part.manifest, part.begun)):
        if not is_regular(path):
            raise PartsError(f"'{path}' is no manifest of pairalign: move it away")
        there.append(read_manifest(path))
    for path in part.named():
        if not there or not is_regular(path):
            raise PartsError(f"'{path}' has no manifest, so it is no part: move it away")
    return there


def remove_parts(parts: Sequence[Part]) -> None:
    """Remove parts, their manifests last, and their folders if nothing else is in them."""
    pieces = [path for part in parts for path in (*part.named(), *part.unfinished())]
    manifests = [
        path for part in parts for path in (part.begun, part.manifest)[: 1 + part.complete]
    ]
    for path in (*pieces, *manifests):
        remove_regular(path)
    for folder in {part.folder for part in parts}:
        with contextlib.suppress(OSError):
            remove_empty_folder(folder)
