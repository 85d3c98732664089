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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pairalign.base.checksum import add_to_checksum, measure_file, read_blocks
from pairalign.base.dry_run import is_dry_run
from pairalign.base.error_types import OutputError, PartsError, error_by_cause
from pairalign.base.part_file import PartFile
from pairalign.base.run_files import (
    is_hidden_name,
    is_name_of_part,
    is_regular,
    remove_empty_folder,
    remove_regular,
)
from pairalign.base.spelling import spelled
from pairalign.formats.output import output_error, write_all
from pairalign.formats.schemas import (
    JOB_LEFT,
    MANIFEST,
    MOST_MANIFEST_BYTES,
    SUMMARY_LEFT,
    SchemaError,
    check_object,
    read_object,
)

_log = logging.getLogger("pairalign")
_MANIFEST = re.compile(r"part-\d+-of-\d+\.json")
_EITHER_MANIFEST = re.compile(r"part-\d+-of-\d+\.json|\.part-\d+-of-\d+\.begun")
_VERSION = 1
_MAGIC = b'{"pairalign": '  # what a manifest begins with, also one that was damaged later
_SHOWN_DIFFERENCES = 6


class Part(NamedTuple):
    """Where a part of a whole is kept: its folder, its number from 1, and how many parts it has."""

    folder: str
    shard: int
    shards: int

    @property
    def manifest(self) -> str:
        """Where the manifest is of a part that is complete."""
        return self._path("", ".json")

    @property
    def begun(self) -> str:
        """Where the manifest is until then."""
        return self._path(".", ".begun")

    def piece(self, format: str, number: int = 1) -> str:
        """Where a piece is, by its number among those that have bytes."""
        return self._path("", f".{format}" if number == 1 else f".{number}.{format}")

    def pieces(self, format: str) -> list[str]:
        """Return the paths of all that has the name of a piece of it."""
        return self._named(re.compile(rf"{self._pattern}(\.\d+)?\.{format}"))

    def unfinished(self) -> list[str]:
        """Return the paths of hidden files that would have become a piece, or a manifest."""
        hidden = self._named(re.compile(rf"\.+{self._pattern}\..*"))
        return [path for path in hidden if is_hidden_name(os.path.basename(path))]

    @property
    def _pattern(self) -> str:
        return re.escape(os.path.basename(self._path("", "")))

    def _named(self, pattern: re.Pattern[str]) -> list[str]:
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return [os.path.join(self.folder, name) for name in names if pattern.fullmatch(name)]

    def _path(self, before: str, after: str) -> str:
        name = f"part-{self.shard:0{len(str(self.shards))}}-of-{self.shards}"
        return os.path.join(self.folder, f"{before}{name}{after}")


class Kept(NamedTuple):
    """What a manifest has of a piece.

    Attributes
    ----------
    start, pairs : int
        Pairs of the pair matrix that come before it, and that it covers.
    bytes : int
        0: it has no file.
    checksum : str
        CRC-32 of its bytes, in hexadecimal.
    """

    start: int
    pairs: int
    bytes: int
    checksum: str


class Piece(NamedTuple):
    """A piece and its file."""

    path: str
    kept: Kept


@dataclass
class Manifest:
    """What is known of a part.

    Attributes
    ----------
    run : dict
        What decides the bytes of the whole: the same in all parts.
    shard, shards : int
        Which part of how many, counted from 1.
    command : list of str
        The arguments of the program that writes it.
    request : dict
        What was asked of the run, see `pairalign.base.declaration.stored`.
    pieces : list of Kept
        In the order in which they were written.
    job, summary : dict
        What the job, and `pairalign.jobs.commands.summary`, have to know of what was written.
    complete : bool
        Whether this is all of it.
    """

    run: dict[str, Any]
    format: str
    shard: int
    shards: int
    command: list[str] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    pieces: list[Kept] = field(default_factory=list)
    job: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    complete: bool = False

    @property
    def pairs(self) -> int:
        """How many pairs its pieces cover."""
        return sum(piece.pairs for piece in self.pieces)

    @property
    def bytes(self) -> int:
        """Size of its pieces."""
        return sum(piece.bytes for piece in self.pieces)

    def files(self, folder: str) -> list[Piece]:
        """Return its pieces and where they are; a piece without bytes has no file."""
        part, count = Part(folder, self.shard, self.shards), 0
        files = []
        for kept in self.pieces:
            count += kept.bytes > 0
            files.append(Piece(part.piece(self.format, max(count, 1)), kept))
        return files

    def write(self, path: str) -> int:
        """Write it in one step, onto the disk; return the open file, which is locked.

        Raises
        ------
        OutputError
            It cannot be written.
        """
        text = json.dumps({"pairalign": _VERSION, **asdict(self)})
        text = f'{text[:-1]}, "digest": "{zlib.crc32(text.encode()):08x}"}}\n'
        try:
            part = PartFile(path, None)
            try:
                write_all(lambda rest: os.write(part.descriptor, rest), text.encode(), path)
                os.fsync(part.descriptor)
                part.publish()
                _sync_folder(path)
            except BaseException:
                os.close(part.descriptor)
                raise
            finally:
                part.remove()
        except OSError as error:
            raise output_error(path, error) from error
        return part.descriptor


def _sync_folder(path: str) -> None:
    """Make sure that the name of a file in its folder is there for good, where that can be done."""
    descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems do not sync folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_manifest(descriptor: int) -> bool:
    """Whether an open file begins as a manifest does, damaged or not; nothing is changed."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    return os.pread(descriptor, len(_MAGIC), 0) == _MAGIC


def read_manifest(path: str) -> Manifest:
    """Read a manifest; PartsError if it cannot be read or is damaged."""
    try:
        value = read_object(_read_small(path), MANIFEST)
        digest = value.pop("digest")
        if digest != f"{zlib.crc32(json.dumps(value).encode()):08x}":
            raise SchemaError("its digest is another")
        del value["pairalign"]
        manifest = Manifest(**{**value, "pieces": [Kept(*piece) for piece in value["pieces"]]})
        part = Part("", manifest.shard, manifest.shards)
        expected = {part.begun, part.manifest if manifest.complete else part.begun}
        if os.path.basename(path) not in expected or manifest.shard > manifest.shards:
            raise SchemaError(f"it is that of part {manifest.shard} of {manifest.shards}")
        if manifest.summary:
            check_object(manifest.summary, SUMMARY_LEFT)
        if manifest.job:
            check_object(manifest.job, JOB_LEFT)
    except OSError as error:
        raise PartsError(f"'{path}': {error.strerror}") from error
    except SchemaError as error:
        raise PartsError(
            f"'{path}' is damaged ({error}): delete it and make its part again"
        ) from error
    return manifest


def _read_small(path: str) -> bytes:
    """Read a manifest; SchemaError if it is no file or larger than any manifest."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SchemaError("it is no regular file")
        if status.st_size > MOST_MANIFEST_BYTES:
            raise SchemaError("it is too large")
        return file.read()


def read_manifests(folder: str) -> list[Manifest]:
    """Read the manifests of a folder, in the order of their parts.

    Of one run that was cut into several numbers of parts, whose results are the same, those of the
    smallest number that is complete; a warning names the first of the others.

    Raises
    ------
    PartsError
        There is none, one is damaged, or they are not of one run; the message says what differs.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if _MANIFEST.fullmatch(name))
    except OSError as error:
        reason = f"'{folder}': {error.strerror}, expected a folder of parts"
        raise error_by_cause(PartsError, reason, error) from error
    if not names:
        raise PartsError(f"'{folder}': there is no part (part-1-of-N.json) in it")
    manifests = [read_manifest(os.path.join(folder, name)) for name in names]
    manifests, names = _without_left_over(folder, manifests, names)
    for name, manifest in zip(names, manifests, strict=True):
        _check_same(folder, names[0], manifests[0], name, manifest)
    return sorted(manifests, key=lambda manifest: manifest.shard)


def _without_left_over(
    folder: str, manifests: list[Manifest], names: list[str]
) -> tuple[list[Manifest], list[str]]:
    """Leave out parts of another number of parts of the same run; say which."""
    present = Counter(manifest.shards for manifest in manifests)
    complete = [shards for shards, count in present.items() if count == shards]
    if (
        len(present) == 1
        or not complete
        or any(manifest.run != manifests[0].run for manifest in manifests)
    ):
        return manifests, names
    chosen = min(complete)
    others = [
        name for name, manifest in zip(names, manifests, strict=True) if manifest.shards != chosen
    ]
    _log.warning(
        "'%s': its %s parts are taken; left over is what the same run was cut into otherwise: %s",
        folder,
        f"{chosen:,}",
        f"{others[0]}{f' and {len(others) - 1:,} more' if len(others) > 1 else ''}",
    )
    kept = [k for k, manifest in enumerate(manifests) if manifest.shards == chosen]
    return [manifests[k] for k in kept], [names[k] for k in kept]


def _check_same(folder: str, first: str, manifest: Manifest, second: str, other: Manifest) -> None:
    differences = find_differences(
        {**manifest.run, "format": manifest.format, "parts": manifest.shards},
        {**other.run, "format": other.format, "parts": other.shards},
    )
    if differences:
        raise PartsError(f"'{folder}': {first} and {second} are not of the same run; {differences}")


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


def missing_shards(manifests: Sequence[Manifest]) -> list[int]:
    """Return the numbers of the parts that are not there; a manifest says a million at most."""
    there = {manifest.shard for manifest in manifests}
    return [shard for shard in range(1, manifests[0].shards + 1) if shard not in there]


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


def pieces_of_whole(folder: str, manifests: Sequence[Manifest]) -> list[Piece]:
    """Return the pieces with bytes of all parts of a whole, in the order of output.

    What they hold is checked when it is read.

    Raises
    ------
    PartsError
        Parts are missing, do not meet, or have not the size that they should.
    """
    missing = missing_shards(manifests)
    if missing:
        raise PartsError(
            f"'{folder}': {len(missing):,} of {manifests[0].shards:,} parts are missing: "
            f"{describe_shards(missing)}; {spelled('plan')} says how to make them"
        )
    places: list[tuple[float, Piece]] = []
    for manifest in manifests:
        # One without pairs has the header of all, or the footer.
        start = None if manifest.pairs else 0 if manifest.shard == 1 else float("inf")
        for piece in manifest.files(folder):
            places.append((piece.kept.start if start is None else start, piece))
    places.sort(key=lambda place: place[0])
    end = 0
    for start, piece in places:
        if piece.kept.pairs and start != end:
            raise PartsError(
                f"'{piece.path}' has pairs from {piece.kept.start + 1:,} on, and what comes before "
                f"them ends with pair {end:,}: another version has cut it; make it again"
            )
        end += piece.kept.pairs
    pieces = [piece for _, piece in places if piece.kept.bytes]
    for piece in pieces:
        _check_size(piece)
    return pieces


def _check_size(piece: Piece) -> None:
    """Raise PartsError unless a piece is a file of the right size."""
    try:
        size = os.path.getsize(piece.path)
    except OSError as error:
        raise PartsError(f"'{piece.path}': {error.strerror}; make it again") from error
    if size != piece.kept.bytes:
        raise PartsError(_damaged(piece.path, f"{size:,} bytes, expected {piece.kept.bytes:,}"))


def is_whole(piece: Piece) -> bool:
    """Whether a piece is there as it was written."""
    if not piece.kept.bytes:
        return True
    try:
        size, checksum = measure_file(piece.path) if is_regular(piece.path) else (0, 0)
    except OSError:
        return False
    return (size, f"{checksum:08x}") == (piece.kept.bytes, piece.kept.checksum)


def checked_blocks(piece: Piece) -> Iterator[bytes]:
    """Read a piece; PartsError in the end if it is not what was written."""
    size, checksum = 0, 0
    for block in read_blocks(piece.path):
        size += len(block)
        checksum = add_to_checksum(checksum, block)
        yield block
    if (size, f"{checksum:08x}") != (piece.kept.bytes, piece.kept.checksum):
        raise PartsError(_damaged(piece.path, "its checksum is another"))


def check_piece(piece: Piece) -> None:
    """Raise PartsError unless a piece is what was written."""
    for _ in checked_blocks(piece):
        pass


def _damaged(path: str, reason: str) -> str:
    return f"'{path}' is not what was written ({reason}): delete it and its .json and make it again"


def find_complete(part: Part, run: dict[str, Any], format: str) -> Manifest | None:
    """Return the manifest of a part, if all of it is there as a run has written it."""
    try:
        manifest = read_manifest(part.manifest)
    except PartsError:
        return None
    if (manifest.run, manifest.format) != (run, format):
        return None
    return manifest if all(map(is_whole, manifest.files(part.folder))) else None


def prepare_folder(folder: str) -> None:
    """Make a folder where there is none yet; OutputError if that cannot be."""
    if is_dry_run():
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if os.path.isfile(folder) else error.strerror
        raise OutputError(f"cannot use '{folder}' as a folder: {reason}") from error


def check_place(part: Part, format: str) -> bool:
    """Whether pairalign has begun or written a part.

    Raises
    ------
    PartsError
        What is there is not pairalign's: there is no manifest beside it, or something else.
    """
    there = [path for path in (part.manifest, part.begun) if os.path.lexists(path)]
    for path in there:
        if not is_regular(path):
            raise PartsError(f"'{path}' is no manifest of pairalign: move it away")
        read_manifest(path)
    for path in part.pieces(format):
        if not there or not is_regular(path):
            raise PartsError(f"'{path}' has no manifest, so it is no part: move it away")
    return bool(there)


def _is_manifest_name(name: str) -> bool:
    return _EITHER_MANIFEST.fullmatch(name) is not None


def check_folder(folder: str) -> list[str]:
    """Return the names of the manifests in a folder in which there is nothing else but parts.

    None if there is no folder. Nothing is changed.

    Raises
    ------
    PartsError
        Something in it is no part's.
    """
    if not os.path.lexists(folder):
        return []
    if os.path.islink(folder) or not os.path.isdir(folder):
        raise PartsError(f"'{folder}' is no folder of parts: move it away")
    names = os.listdir(folder)
    for name in names:
        path = os.path.join(folder, name)
        if not is_name_of_part(name) or not is_regular(path):
            raise PartsError(f"'{path}' is not of this run: move it away")
    manifests = [name for name in names if _is_manifest_name(name)]
    pieces = sorted(name for name in names if not name.startswith("."))
    if pieces and not manifests:
        path = os.path.join(folder, pieces[0])
        raise PartsError(f"'{path}' has no manifest, so it is no part: move it away")
    return manifests


def check_parts(folder: str, run: dict[str, Any]) -> list[Manifest]:
    """Return the manifests in a folder of parts of a run; PartsError if one is of another."""
    manifests = []
    for name in check_folder(folder):
        path = os.path.join(folder, name)
        manifests.append(read_manifest(path))
        if manifests[-1].run != run:
            raise PartsError(f"'{path}' is of another run: move '{folder}' away")
    return manifests


def clear_parts(folder: str, run: dict[str, Any]) -> None:
    """Remove the parts of a run, and their folder if nothing else is in it.

    Raises
    ------
    PartsError
        See `check_parts`.
    """
    remove_parts(folder, check_parts(folder, run))


def remove_parts(folder: str, manifests: Sequence[Manifest]) -> None:
    """Remove all parts in a folder, which are of some manifests' formats, and it if it is empty."""
    formats = {manifest.format for manifest in manifests}
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in sorted(names, key=_is_manifest_name):  # these last: they say whose the others are
        is_piece = name.startswith(".") or name.rpartition(".")[2] in formats
        if is_name_of_part(name) and (is_piece or _is_manifest_name(name)):
            remove_regular(os.path.join(folder, name))
    with contextlib.suppress(OSError):
        remove_empty_folder(folder)
