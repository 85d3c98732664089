"""Parts of alignments become one file, with the bytes of a single run."""

from __future__ import annotations

from collections.abc import Sequence

from pairalign.errors import FormatError
from pairalign.formats import WRITERS
from pairalign.formats.output import Path, open_output
from pairalign.formats.parts import Manifest, check_parts, copy_parts

_TYPES = {writer.name: writer for writer in WRITERS}


def merge_alignments(
    folder: str, manifests: Sequence[Manifest], path: Path, threads: int = 1
) -> None:
    """Write the whole that parts belong to.

    Parameters
    ----------
    folder : str
    manifests : sequence of Manifest
        From `pairalign.formats.parts.read_manifests`.
    path : str or path
        ``.gz`` compresses.
    threads : int
        To compress on.

    Raises
    ------
    PartsError
        Parts are missing, or one is not what was written.
    OutputError
        The file cannot be written.
    """
    writer = _TYPES[manifests[0].format]
    suffix = writer.suffixes[0]
    check_parts(folder, manifests, suffix)
    if writer.name == "parquet":
        raise FormatError("parts of Parquet are a table as they are; they are not merged")
    with open_output(path, threads=threads) as output:
        copy_parts(folder, manifests, suffix, output, numbered=writer.numbers)
