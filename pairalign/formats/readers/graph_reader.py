"""GFA and networks: what they say of sequences, and of pairs as far as a graph does."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from pairalign.alignments.alignment_records import AlignmentRecords, Layout, read_lines
from pairalign.base.error_types import AlignmentFileError, cut_name, shown_name
from pairalign.base.texts import is_whole
from pairalign.formats.readers.block_reader import BlockReader, Row, is_known
from pairalign.formats.readers.line_reader import LineReader
from pairalign.formats.readers.reader import RecordReader

_RUN = re.compile(r"([0-9]{1,18})([MIDX=])")
_SPACE = re.compile(r"[\t\n\r]")
_EDGES = 1 << 14
_SHARE = 1e-8
"""What a share of an edge may differ by from one of whole residues."""
_DIGITS = 1e-8
"""By how much of the bits EFI's score, of which ten digits are written, may differ from theirs."""


class GfaReader(BlockReader):
    """GFA 1 of reads: segments are the sequences, links and containments are records.

    Links and containments have names, orientations, a coordinate, and a CIGAR whose residues must
    be inside of the segments; a contained segment is aligned whole. ``NM`` is of all columns, or of
    a local alignment in them, with all gaps: a CIGAR goes on to the ends of the segments. In
    modes that align ends, it is of all columns.
    """

    name = "gfa"
    suffixes = (".gfa",)
    never_checked = ("tags but LN, NM and on",)
    layout = Layout(
        (
            *("query", "target", "strand", "query_start", "query_end"),
            *("target_start", "target_end", "cigar", "says_edits_of_part"),
        )
    )

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines; their segments are checked before.

        Raises
        ------
        AlignmentFileError
            A segment is not one of the sequences.
        """
        self._names: dict[str, str] = {}
        line = 0
        for piece in self._text_pieces():
            for text in piece.split(b"\n"):
                line += 1
                if text.startswith(b"S\t"):
                    self._take_segment(text.decode("utf-8", "surrogateescape").rstrip("\r"), line)
            line -= 1
            yield piece

    def _take_segment(self, text: str, line: int) -> None:
        _, name, residues, *tags = [*text.split("\t"), "", ""]
        sequence_name = next((tag[5:] for tag in tags if tag.startswith("on:Z:")), name)
        said = next((tag[5:] for tag in tags if tag.startswith("LN:i:")), None)
        where = f"{self.source}: line {line}: segment {shown_name(name)}"
        if not any(
            is_known(names, sequence_name, None if residues == "*" else residues)
            for names in self.names
        ):
            raise AlignmentFileError(f"{where} is none of the sequences, or has other residues")
        length = self._length(0, sequence_name, self._length(1, sequence_name, 0))
        if said not in (None, str(length)):
            raise AlignmentFileError(f"{where} has LN:i:{said} and {length:,} residues")
        if name in self._names:
            raise AlignmentFileError(f"{where} comes a second time")
        self._names[name] = sequence_name

    def _rows(self, lines: list[str]) -> Iterator[Row]:
        for number, line in enumerate(lines):
            words = line.split("\t")
            if words[0] in ("L", "C"):
                least = 6 if words[0] == "L" else 7
                names = tuple(self._names.get(words[k], words[k]) for k in (3, 1) if k < len(words))
                is_whole = len(words) >= least and {words[2], words[4]} <= {"+", "-"}
                yield number, self._columns(words, names) if is_whole else names or ("",)
            elif line and line[0] != "#" and not (len(words[0]) == 1 and words[0].isalpha()):
                yield number, ("",)

    def _columns(self, words: list[str], names: tuple[str, ...]) -> tuple[str, ...]:
        """Return columns of a line; its first segment is the target, which D consumes alone."""
        turned = [words[4] == "-", words[2] == "-"]
        written = words[5 + (words[0] == "C")]
        runs = _RUN.findall(written)
        is_read = "".join(length + op for length, op in runs) == written
        if not is_read:
            runs = []
        used = [sum(int(n) for n, op in runs if op != other) for other in ("D", "I")]
        lengths = [self._length(side, names[side], used[side]) for side in (0, 1)]
        if words[0] == "L":
            # The end of the first, as it is oriented, and the beginning of the second.
            starts = [
                lengths[0] - used[0] if turned[0] else 0,
                0 if turned[1] else lengths[1] - used[1],
            ]
        else:
            starts = [0, int(words[5]) if is_whole(words[5]) else -1]
            used[0] = lengths[0]  # all of it
        if turned[1]:  # records run along the target
            runs = runs[::-1]
        cigar = "".join(length + op for length, op in runs) if is_read else "?"
        strand = "-" if turned[0] != turned[1] else "+"
        spans = (
            str(start + more) for start, n in zip(starts, used, strict=True) for more in (0, n)
        )
        return (*names, strand, *spans, cigar, _edits(words[6 + (words[0] == "C") :]))

    def _length(self, side: int, name: str, used: int) -> int:
        place = int(self.names[side].find([name])[0])
        return int(self.names[side].lengths[place]) if place >= 0 else used


def _edits(tags: list[str]) -> str:
    """Return the edits that ``NM`` states; ``*``: none are stated, ``?``: they cannot be read."""
    said = [tag for tag in tags if tag.startswith("NM:")]
    if not said:
        return "*"
    return said[0][5:] if len(said) == 1 and re.fullmatch("NM:i:[0-9]+", said[0]) else "?"


class AbcReader(LineReader):
    """mcl's abc: two names and a number that is not negative."""

    name = "abc"
    suffixes = (".abc",)
    never_checked = ("weights",)
    layout = Layout(("query", "target", "evalue"), required=2)


class NetworkReader(RecordReader):
    """GraphML and GEXF, as we write them: nodes are the sequences, edges are records.

    Of nodes name and length, of edges the ends and ``score``; identity and coverage must be shares
    of whole residues, columns no more than the residues, EFI's score that of the bits, the weight
    one of the values, and the others numbers. More is not known: the file has no alignment.
    """

    name = "graphml"
    suffixes = (".graphml", ".gexf")
    never_checked = ("values of edges, but for what they can be",)
    layout = Layout(
        (*("query", "target", "says_query_length", "says_target_length", "says_score"), "strand")
    )

    def pieces(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield some edges.

        Raises
        ------
        AlignmentFileError
            It is no XML, or an edge has an end that is no node.
        """
        from xml.etree.ElementTree import ParseError

        edges: list[tuple[str, ...]] = []
        used: set[str] = set()
        self._lengths: dict[str, int] = {}
        nodes: dict[str, tuple[str, str]] = {}
        try:
            for element, values in _elements(self._file, self.source):
                if element.tag.endswith("}node"):
                    if element.get("id", "") in nodes:
                        raise AlignmentFileError(f"{self.source}: a node comes a second time")
                    name = values.get("name", "")
                    if self._length(name) and element.get("label", name) != name:
                        raise AlignmentFileError(
                            f"{self.source}: {shown_name(name)} has another label"
                        )
                    nodes[element.get("id", "")] = name, values.get("length", "?")
                    continue
                ends = [nodes.get(element.get(end, "")) for end in ("source", "target")]
                if None in ends or element.get("source") == element.get("target"):
                    raise AlignmentFileError(f"{self.source}: an edge has an end that is no other")
                end_nodes = [end for end in ends if end]
                used.update(name for name, _ in end_nodes)
                lengths = [self._length(name) for name, _ in end_nodes]
                if element.get("weight", "") in values.values() or "weight" not in element.attrib:
                    wrong = _wrong_value(values, lengths if all(lengths) else [])
                else:
                    wrong = f"weight {element.get('weight')}"
                edges.append(_edge_columns(end_nodes, values, wrong))
                if len(edges) == _EDGES:
                    yield edges
                    edges = []
        except AlignmentFileError:
            raise
        except (ParseError, OSError, EOFError, LookupError, ValueError, zlib.error) as error:
            raise self._unreadable(error) from error
        if edges:
            yield edges
        for name, length in nodes.values():  # those of edges are looked at in their records
            if (
                name not in used
                and self._length(name)
                and length not in ("?", str(self._length(name)))
            ):
                raise AlignmentFileError(
                    f"{self.source}: {shown_name(name)} has length {cut_name(length)}, the "
                    f"sequence {self._length(name):,} residues"
                )

    def _length(self, name: str) -> int:
        """Return the residues of a sequence; 0: there is none of this name."""
        if name not in self._lengths:
            places = [int(names.find([name])[0]) for names in self.names]
            lengths = (n.lengths[k] for n, k in zip(self.names, places, strict=True) if k >= 0)
            self._lengths[name] = int(next(lengths, 0))
        return self._lengths[name]

    def read(self, piece: list[tuple[str, ...]]) -> AlignmentRecords:
        """Read some edges."""
        lines = ("\t".join(_SPACE.sub(" ", word) for word in columns) for columns in piece)
        table = "".join(f"{line}\n" for line in lines)
        batch = read_lines(table.encode("utf-8", "surrogateescape"), self.layout, self.names)
        batch.records["line"] = np.arange(len(piece))
        return batch


def _elements(file: IO[bytes], source: str) -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield nodes and edges with what they say, and forget them; what edges lack is empty.

    Raises
    ------
    AlignmentFileError
        A value is not declared, or stands twice.
    """
    from xml.etree.ElementTree import iterparse

    declared: dict[str, set[str]] = {"node": set(), "edge": set()}
    for _, element in iterparse(file):
        kind = element.tag.partition("}")[2]
        if kind == "key":
            declared.get(element.get("for", ""), set()).add(element.get("id", ""))
        elif kind == "attributes":
            declared.get(element.get("class", ""), set()).update(
                attribute.get("id", "") for attribute in element
            )
        if kind not in declared:
            continue
        said = [
            (datum.get("key", ""), datum.text or "") for datum in element if "}data" in datum.tag
        ]
        for descendant in element.iter():
            if descendant.tag.endswith("}attvalue"):
                said.append((descendant.get("for", ""), descendant.get("value", "")))
        values = dict(said)
        for name in values.keys() - declared[kind]:
            raise AlignmentFileError(f"{source}: {kind}s have {shown_name(name)}, not declared")
        if len(values) < len(said):
            raise AlignmentFileError(f"{source}: {kind}s have a value twice")
        yield element, {**dict.fromkeys(declared["edge"] if kind == "edge" else (), ""), **values}
        element.clear()


def _edge_columns(
    ends: list[tuple[str, str]], values: dict[str, str], wrong: str
) -> tuple[str, ...]:
    names, lengths = zip(*ends, strict=True)
    score = values.get("score", "").replace("*", "?") if "score" in values else "*"
    lengths = tuple(length.replace("*", "?") for length in lengths)
    return (*names, *lengths, wrong or score, values.get("strand", "") or "+")


def _wrong_value(values: dict[str, str], lengths: list[int]) -> str:
    """Return the first value of an edge that cannot be; empty: there is none.

    Identity and coverage are shares of whole residues: matches by columns, and aligned residues by
    those of the longer sequence. `lengths` are empty where they are not known.
    """
    numbers: dict[str, float] = {}
    for name in ("identity", "coverage", "columns", "bits", "evalue", "alignment_score"):
        if name not in values:
            continue
        try:
            numbers[name] = float(values[name])
        except ValueError:
            return f"{name} {values[name]}"
        if math.isinf(numbers[name]):
            return f"{name} {cut_name(values[name])}"
    wholes = {"identity": numbers.get("columns", 0.0), "coverage": max(lengths, default=0)}
    for name, whole in wholes.items():
        count = numbers.get(name, 0.0) * whole
        if not 0 <= numbers.get(name, 0.0) <= 1 or abs(count - round(count)) > _SHARE * whole:
            return f"{name} {values[name]}"
    if numbers.get("evalue", 0.0) < 0 or not numbers.get("columns", 0.0).is_integer():
        return "evalue or columns"
    if lengths and numbers.get("columns", 0.0) > sum(lengths):
        return f"columns {values['columns']}"
    if lengths and {"bits", "alignment_score"} <= numbers.keys():
        score = math.log10(2) * numbers["bits"] - sum(map(math.log10, lengths))
        if abs(score - numbers["alignment_score"]) > _DIGITS * max(1, numbers["bits"]):
            return f"alignment_score {values['alignment_score']}"
    return ""
