"""Networks of similar sequences: GraphML, GEXF, and mcl's abc. Sequences are nodes, pairs edges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, strands_of
from pairalign.alignments.identities import count_coverage, count_identity
from pairalign.base.arrays import Doubles
from pairalign.base.error_types import FormatError, shown_name
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, PairLines, Writer
from pairalign.pairs.want import Detail
from pairalign.sequences.block_set import indices_in_whole, slices, whole_of
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import Significance

_NODE_FIELDS = (
    ("name", "string"),
    ("header", "string"),
    ("length", "int"),
    ("set", "int"),
    ("cluster", "int"),
)
_EDGE_FIELDS = (
    ("identity", "double"),
    ("score", "double"),
    ("coverage", "double"),
    ("columns", "int"),
)
_STATISTICS = (("bits", "double"), ("evalue", "double"), ("alignment_score", "double"))
_STRAND = (("strand", "string"),)
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # compiled when it is used
_PAIRS = 1 << 14  # formatted at a time
_LINES = 1 << 12  # written at a time


class NetworkWriter(Writer):
    """Nodes first, of all sequences, then an edge for each pair of which something is aligned.

    A node has ``name``, ``header`` (the whole header), ``length``, with two sets ``set`` (1 or 2),
    and ``cluster`` where there are clusters. An edge has ``identity`` (matches by columns),
    ``score``, ``coverage`` (aligned residues by those of the longer sequence), ``columns`` and,
    where they are known, ``bits``, the bit score, ``evalue`` of the first sequence as query, and
    ``alignment_score``, EFI's: -log10 of the lengths' product by 2 to the power of the bits; and
    ``strand``, ``+`` or ``-``, where pairs may be on either.
    """

    needs = Detail.STATS
    pairs_once = True
    either_strand = True
    between: ClassVar[str] = ""  # nodes and edges
    after: ClassVar[str] = ""

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        self._edge_fields = edge_fields(self.name, content)
        self._weight = [name for name, _ in self._edge_fields].index(content.shown.weight)
        self._ids = [[f"n{k}" for k in indices_in_whole(content.queries).tolist()]]
        sets = [content.queries]
        if content.targets is content.queries:
            self._ids.append(self._ids[0])
        else:
            sets.append(content.targets)
            self._ids.append([f"m{k}" for k in indices_in_whole(content.targets).tolist()])
        if content.piece.first:
            self._put(self.before(len(sets) > 1))
            for number, sequences in enumerate(sets, 1):
                self._put(self._nodes(sequences, number if len(sets) > 1 else None))
            self._output.write(self.between.encode())

    def _put(self, lines: Iterator[str]) -> None:
        batch: list[str] = []
        for line in lines:
            batch.append(line)
            if len(batch) == _LINES:
                self._output.write("".join(batch).encode())
                batch.clear()
        self._output.write("".join(batch).encode())

    def _nodes(self, sequences: SequenceSet, set_number: int | None) -> Iterator[str]:
        """Yield the nodes of a set, of a block those of the whole."""
        labels, whole = self._content.labels, whole_of(sequences)
        for some in slices(whole):
            texts = whole.names_at(some), whole.descriptions_at(some)
            said = zip(some.tolist(), *texts, whole.lengths_at(some).tolist(), strict=True)
            for index, name, header, length in said:
                values: dict[str, object] = {"name": name, "header": header, "length": length}
                if set_number is not None:
                    values["set"] = set_number
                if labels is not None:
                    values["cluster"] = int(labels[index])
                yield self.node(f"{'m' if set_number == 2 else 'n'}{index}", values)

    def _write(self, alignments: Alignments) -> None:
        for start in range(0, len(alignments), _PAIRS):
            part = alignments[start : start + _PAIRS]
            self._put(self._edges(part.take(part.columns > 0)))

    def _edges(self, part: Alignments) -> Iterator[str]:
        said = [name for name, _ in self._edge_fields]
        value_columns = edge_values(part, said, self._content.significance)
        columns: list[Any] = [part.query, part.target, *value_columns]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        names = self._content.queries.names, self._content.targets.names
        for query, target, *values in rows:
            ids = self._ids[0][query], self._ids[1][target]
            yield self.edge(ids, (names[0][query], names[1][target]), values)

    def flush(self) -> None:
        """Do nothing: all was written."""

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        if self._content.piece.last:
            self._output.write(self.after.encode())
        self._output.close()

    def before(self, two_sets: bool) -> Iterator[str]:
        """Text before the nodes."""
        return iter(())

    def node(self, identifier: str, values: dict[str, object]) -> str:
        """Text of a node."""
        return ""

    def edge(self, ids: tuple[str, str], names: tuple[str, str], values: list[Any]) -> str:
        """Text of an edge; `values` are those of its fields, in order."""
        raise NotImplementedError


class AbcWriter(NetworkWriter):
    """What mcl and mcxload read (``--abc``): two names and the weight, between tabs.

    The weight is the identity, where no other is named.

    Sequences without a pair are not in it.
    """

    name: ClassVar[str] = "abc"
    lines = PairLines()
    weighted = True
    of_block = True
    suffixes: ClassVar[tuple[str, ...]] = (".abc",)

    def _edges(self, part: Alignments) -> Iterator[str]:
        content = self._content
        (weights,) = edge_values(part, [content.shown.weight], content.significance)
        names = content.queries.names, content.targets.names
        yield _rows("%s\t%s\t%.6g\n", names, part, weights)


class EdgesWriter(NetworkWriter):
    """What GraphPart reads (``precomputed``): two names and the identity, between commas.

    The identity is GraphPart's: matches by columns with those of free end gaps (``full``). Names
    end at the first ``|`` or ``:``, as GraphPart has them.
    """

    name: ClassVar[str] = "edges"
    suffixes: ClassVar[tuple[str, ...]] = (".edges",)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        self._short = [_short_names(content.queries)]
        is_one_set = content.targets is content.queries
        self._short.append(self._short[0] if is_one_set else _short_names(content.targets))

    def _edges(self, part: Alignments) -> Iterator[str]:
        share, whole = count_identity(part, "full")
        yield _rows("%s,%s,%.6f\n", self._short, part, share / whole)


def _rows(
    row: str, names: Sequence[Sequence[str]], part: Alignments, values: npt.NDArray[Any]
) -> str:
    """Return a line for each pair: two names and a value, formatted at once, which is faster."""
    queries = map(names[0].__getitem__, part.query.tolist())
    targets = map(names[-1].__getitem__, part.target.tolist())
    said = zip(queries, targets, values.tolist(), strict=True)
    return row * len(part) % tuple(chain.from_iterable(said))


def edge_fields(format: str, content: Content) -> list[tuple[str, str]]:
    """Return the values that edges have, each with its type.

    Raises
    ------
    FormatError
        The weight is none of them.
    """
    fields = [*_EDGE_FIELDS, *(() if content.significance is None else _STATISTICS)]
    if content.shown.weight not in dict(fields):
        raise FormatError(f"{format}: {content.shown.weight} of these scores is not known")
    return [*fields, *(_STRAND if content.shown.strands else ())]


def edge_values(
    part: Alignments, names: Iterable[str], significance: Significance | None
) -> list[npt.NDArray[Any]]:
    """Return some values of edges, a value a pair, see `edge_fields`."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in names:
        if name == "coverage":
            aligned, longer = count_coverage(part)
            columns[name] = aligned / longer
        elif name == "strand":
            columns[name] = np.array(list("-+"))[(strands_of(part) > 0).astype(np.int8)]
        elif significance is None or name not in dict(_STATISTICS):
            columns[name] = getattr(part, name)
        elif name == "evalue":
            columns[name] = significance.evalues(part)
        else:
            bits = columns["bits"] if "bits" in columns else significance.bits(part)
            columns[name] = bits if name == "bits" else _alignment_scores(part, bits)
    return list(columns.values())


def _alignment_scores(part: Alignments, bits: Doubles) -> Doubles:
    """Return -log10 of the E-values of the pairs by themselves, whichever is the query.

    That is the score of an edge in EFI-EST (Zallot, Oberg and Gerlt 2019), which rounds it down.
    """
    lengths = part.queries.lengths[part.query], part.targets.lengths[part.target]
    scores: Doubles = np.log10(2) * bits
    return scores - np.log10(lengths[0]) - np.log10(lengths[1])


def _short_names(sequences: SequenceSet) -> list[str]:
    """Return names up to the first ``|`` or ``:``.

    Raises
    ------
    FormatError
        Two are the same, one is empty, or has a comma.
    """
    names = [re.split("[|:]", name, maxsplit=1)[0] for name in sequences.names]
    for name, count in Counter(names).items():
        if count > 1 or not name or "," in name:
            reason = f"it is that of {count:,} sequences" if count > 1 else "it cannot be written"
            raise FormatError(
                f"edges: the name {shown_name(name)} before the first | or :: {reason}"
            )
    return names


class GraphmlWriter(NetworkWriter):
    """GraphML 1.0, for Cytoscape, Gephi, igraph, networkx and others; undirected."""

    name: ClassVar[str] = "graphml"
    of_block = True
    suffixes: ClassVar[tuple[str, ...]] = (".graphml",)
    after = "</graph>\n</graphml>\n"

    def before(self, two_sets: bool) -> Iterator[str]:
        """Text before the nodes."""
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        for kind, fields in (("node", _NODE_FIELDS), ("edge", self._edge_fields)):
            for name, type in fields:
                if (name, two_sets) == ("set", False):
                    continue
                if name == "cluster" and self._content.labels is None:
                    continue
                yield f'<key id="{name}" for="{kind}" attr.name="{name}" attr.type="{type}"/>\n'
        yield '<graph edgedefault="undirected">\n'

    def node(self, identifier: str, values: dict[str, object]) -> str:
        """Text of a node."""
        data = "".join(f'<data key="{key}">{_text(value)}</data>' for key, value in values.items())
        return f'<node id="{identifier}">{data}</node>\n'

    def edge(self, ids: tuple[str, str], names: tuple[str, str], values: list[Any]) -> str:
        """Text of an edge."""
        data = "".join(
            f'<data key="{key}">{_value(value)}</data>'
            for (key, _), value in zip(self._edge_fields, values, strict=True)
        )
        return f'<edge source="{ids[0]}" target="{ids[1]}">{data}</edge>\n'


class GexfWriter(NetworkWriter):
    """GEXF 1.2, Gephi's format; undirected, with the identity or another weight of an edge."""

    name: ClassVar[str] = "gexf"
    weighted = True
    of_block = True
    suffixes: ClassVar[tuple[str, ...]] = (".gexf",)
    between, after = "</nodes>\n<edges>\n", "</edges>\n</graph>\n</gexf>\n"

    def before(self, two_sets: bool) -> Iterator[str]:
        """Text before the nodes."""
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
        yield '<graph defaultedgetype="undirected" mode="static">\n'
        for kind, fields in (("node", _NODE_FIELDS), ("edge", self._edge_fields)):
            yield f'<attributes class="{kind}" mode="static">\n'
            for name, type in fields:
                gexf_type = {"int": "integer"}.get(type, type)
                yield f'<attribute id="{name}" title="{name}" type="{gexf_type}"/>\n'
            yield "</attributes>\n"
        yield "<nodes>\n"

    def node(self, identifier: str, values: dict[str, object]) -> str:
        """Text of a node."""
        label = _attribute(values["name"])
        return f'<node id="{identifier}" label={label}>{_gexf_values(values)}</node>\n'

    def edge(self, ids: tuple[str, str], names: tuple[str, str], values: list[Any]) -> str:
        """Text of an edge."""
        ends = f'source="{ids[0]}" target="{ids[1]}" weight="{values[self._weight]:.10g}"'
        fields = (name for name, _ in self._edge_fields)
        shown = dict(zip(fields, map(_value, values), strict=True))
        return f'<edge id="{ids[0]}-{ids[1]}" {ends}>{_gexf_values(shown)}</edge>\n'


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.10g}"


def _gexf_values(values: dict[str, object] | dict[str, str]) -> str:
    shown = "".join(
        f'<attvalue for="{key}" value={_attribute(value)}/>' for key, value in values.items()
    )
    return f"<attvalues>{shown}</attvalues>"


def _text(value: object) -> str:
    from xml.sax.saxutils import escape

    return escape(re.sub(_NOT_XML, "\ufffd", str(value)))


def _attribute(value: object) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(re.sub(_NOT_XML, "\ufffd", str(value)))
