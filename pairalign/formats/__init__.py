"""Formats of alignment files: one writer per format, found by its name or a file's name."""

from __future__ import annotations

from collections.abc import Mapping

from pairalign.alignments.fields import FIELDS, Field
from pairalign.base.choices import FORMAT_NAMES, NETWORK_NAMES, OVERLAP_FORMAT_NAMES, REGISTRY
from pairalign.base.error_types import FormatError
from pairalign.base.spelling import left_out, spelled
from pairalign.formats.names import LazyDict, choose_format, compression_of, suffixes_of
from pairalign.formats.output import Output, Path, open_output
from pairalign.formats.writer import NOTHING_MORE, PLAIN_CIGAR, Content, Shown, Writer
from pairalign.pairs.want import Detail

__all__ = [
    "FORMATS",
    "NETWORK_FORMATS",
    "OVERLAP_FORMATS",
    "WRITERS",
    "FormatError",
    "Writer",
    "check_shown",
    "find_format",
    "open_writer",
]

WRITERS: Mapping[str, type[Writer]] = LazyDict(REGISTRY, lambda name: REGISTRY[name].load_writer())
"""The formats of `pairalign.base.choices.REGISTRY`; a run loads the code of its own."""

FORMATS = LazyDict(FORMAT_NAMES, WRITERS.__getitem__)
NETWORK_FORMATS = LazyDict(NETWORK_NAMES, WRITERS.__getitem__)
"""Formats of networks, whose nodes may have clusters."""
OVERLAP_FORMATS = LazyDict(OVERLAP_FORMAT_NAMES, WRITERS.__getitem__)
"""Formats of overlaps, which have a strand and a kind."""


def find_format(
    path: Path, name: str | None = None, formats: Mapping[str, type[Writer]] = FORMATS
) -> type[Writer]:
    """Find the writer class for a format's name or, without one, for the name of a file.

    Parameters
    ----------
    name : str, optional
    formats : mapping of str to type
        What there is to choose from.

    Raises
    ------
    FormatError
        If there is no such format, or the file's name does not tell.
    """
    return formats[choose_format(path, name, suffixes_of(formats), "alignments")]


def open_writer(
    path: Path,
    format: str | None,
    content: Content,
    *,
    threads: int = 1,
    output: Output | None = None,
) -> Writer:
    """Open a file for alignments, or for overlaps, which have a strand and a kind.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output. A file appears under its name when the writer is closed without
        an error, and not before. Pipes and devices are written directly.
    format : str or None
        One of `FORMATS`, of overlaps one of `OVERLAP_FORMATS`; None: by the end of the file's name.
        ``.gz`` after it compresses.
    content : Content
        What is going to be written.
    threads : int
        Threads to format and compress on; the bytes written do not depend on it.
    output : Output, optional
        Takes the bytes instead of a file that is opened.

    Returns
    -------
    Writer
        A context manager. Call `Writer.write` with alignments in the order of output, then
        `Writer.close` (leaving the ``with`` block does), or `Writer.abort` to leave nothing behind.

    Raises
    ------
    FormatError
        Unknown format; a format that cannot hold the results, or needs a missing package.
    OutputError
        If the file cannot be written.
    """
    writer = find_format(path, format, OVERLAP_FORMATS if content.are_overlaps else FORMATS)
    check_shown(writer, content.detail, content.shown, overlaps=content.are_overlaps)
    ending = compression_of(path)
    if ending and not writer.compressible:
        raise FormatError(f"{writer.name} is compressed inside: leave '{ending}' out of the name")
    writer.check()
    threads = max(1, threads)
    output = open_output(path, threads=threads) if output is None else output
    try:
        return writer(output, content, threads)
    except BaseException:
        output.abort()
        raise


def check_shown(
    writer: type[Writer],
    detail: Detail,
    shown: Shown = NOTHING_MORE,
    *,
    overlaps: bool = False,
) -> None:
    """Refuse what a format cannot show, or what is not computed.

    Parameters
    ----------
    writer : type of Writer
        The format.
    detail : Detail
        What is computed of each pair.
    overlaps : bool
        Whether the pairs are overlaps.

    Raises
    ------
    FormatError
        The message says what to leave out or which formats fit.
    """
    _check_detail(writer, detail, overlaps)
    _check_columns(writer, shown.fields, detail)
    _check_ways(writer, shown, overlaps)
    _check_tags(writer, shown.tags, detail)
    _check_strands(writer, shown)


def _check_ways(writer: type[Writer], shown: Shown, overlaps: bool) -> None:
    """Raise FormatError if a format cannot have each pair both ways, and that is wanted."""
    if not shown.both_ways or writer.takes_both_ways:
        return
    if overlaps:
        raise FormatError(
            f"{writer.name} has each overlap once: {left_out('dual', True)}, or write paf"
        )
    fitting = ", ".join(name for name, other in FORMATS.items() if other.takes_both_ways)
    raise FormatError(f"{writer.name} has each pair once; written both ways are {fitting}")


def _check_strands(writer: type[Writer], shown: Shown) -> None:
    """Raise FormatError if both strands are looked at, and a format does not say which it is."""
    if not shown.strands or writer.either_strand:
        return
    fitting = ", ".join(n for n, other in FORMATS.items() if other.either_strand)
    both = spelled("strand", "both")
    raise FormatError(f"{writer.name} has no strands: leave {both} out, or write {fitting}")


def _check_tags(writer: type[Writer], tags: frozenset[str], detail: Detail) -> None:
    """Raise FormatError if a format cannot have these tags, or they need more than is computed."""
    for tag in sorted(tags):
        if tag not in writer.known_tags:
            fitting = " and ".join(n for n, other in FORMATS.items() if tag in other.known_tags)
            what = "CIGARs with M" if tag == PLAIN_CIGAR else f"the tag {tag}"
            raise FormatError(f"{writer.name} cannot have {what}; {fitting} can")
        if tag != "tp" and detail < Detail.CIGAR:
            option = spelled(f"{writer.name}_tags", tag)
            raise FormatError(f"{option} needs alignments, which are not computed")


def _check_columns(writer: type[Writer], fields: tuple[Field, ...], detail: Detail) -> None:
    """Raise FormatError if a format cannot have these columns, or they are not computed."""
    if fields and writer.default_fields is None:
        fitting = ", ".join(n for n, other in FORMATS.items() if other.default_fields is not None)
        raise FormatError(f"{writer.name} has no columns to choose; {fitting} have")
    names = [field.name for field in fields]
    for name in writer.needed_fields if fields else ():
        if name not in names:
            raise FormatError(f"{writer.name} needs a column '{name}'")
    for field in fields:
        if writer.known_fields is not None and field.name not in writer.known_fields:
            choices = ", ".join(name for name in FIELDS if name in writer.known_fields)
            raise FormatError(
                f"{writer.name} has no column '{field.name}': expected some of {choices}"
            )
        if writer.fields_once and names.count(field.name) > 1:
            raise FormatError(f"{writer.name} has each column once: '{field.name}' comes twice")
        if field.detail > detail:
            raise FormatError(f"column '{field.name}' needs alignments, which are not computed")


def _check_detail(writer: type[Writer], detail: Detail, overlaps: bool) -> None:
    """Raise FormatError if a format needs more of each pair than is computed."""
    if detail >= writer.needs:
        return
    if overlaps:
        raise FormatError(f"{writer.name} needs CIGARs: {left_out('no_cigar', True)}, or write paf")
    fitting = " or ".join(n for n, other in FORMATS.items() if other.needs == Detail.SCORE)
    without = "alignments" if writer.needs == Detail.CIGAR else "spans"
    raise FormatError(
        f"{writer.name} needs {without}, but only "
        f"{'scores' if detail == Detail.SCORE else 'spans and counts'} are computed; "
        f"write {fitting} instead, or compute alignments"
    )
