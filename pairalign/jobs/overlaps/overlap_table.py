"""The overlaps of a set of reads, as columns: what `pairalign.overlap` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, UInt8s
from pairalign.base.choices import MUTUAL, OVERLAP_KINDS
from pairalign.base.error_types import FormatError, UsageError
from pairalign.base.notebooks import html_table
from pairalign.base.packages import needed
from pairalign.formats import open_writer
from pairalign.formats.writer import Content, Shown
from pairalign.jobs.overlaps.presets import Preset
from pairalign.jobs.overlaps.read_report import ReadReport, report_reads
from pairalign.jobs.overlaps.string_graph import Reduction
from pairalign.jobs.overlaps.trimming import Trimmed, trim_reads
from pairalign.jobs.run.progress import Stages
from pairalign.pairs.want import Detail
from pairalign.results.alignment_result import Alignment
from pairalign.results.alignments_result import Alignments
from pairalign.results.tabular import Tabular
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Overlaps(Tabular):
    """Overlaps of a set of reads, as columns.

    Attributes
    ----------
    alignments : Alignments
        One each, in the order of output; `Alignments.strand` is there.
    kind_codes : ndarray of uint8, shape (n,)
        See `pairalign.reads.overlap_kinds`.
    preset : Preset
    stages : Stages
    kept : ndarray of bool, shape (reads,), or None
        Reads that `reduced` has left; None: all.
    """

    alignments: Alignments
    kind_codes: UInt8s
    preset: Preset
    stages: Stages
    kept: Bools | None = None

    @property
    def reads(self) -> SequenceSet:
        """The set that `query` and `target` point into."""
        return self.alignments.queries

    @property
    def kind(self) -> npt.NDArray[np.str_]:
        """How each pair overlaps: ``dovetail``, ``contained``, ``contains`` or ``internal``."""
        return np.array(OVERLAP_KINDS)[self.kind_codes]

    def __getattr__(self, name: str) -> Any:
        """Columns of the alignments: `query`, `target`, `strand`, `score`, `identity`, spans ..."""
        if name.startswith("_") or name == "alignments":
            raise AttributeError(name)
        return getattr(self.alignments, name)

    def __len__(self) -> int:
        return len(self.alignments)

    def __repr__(self) -> str:
        return f"<Overlaps: {len(self)} of {len(self.reads)} reads, preset {self.preset.name}>"

    def _repr_html_(self) -> str:
        """Show the first overlaps as a table, for notebooks."""
        heads = ["query", "target", "strand", "kind", "score", "identity"]
        signs = {1: "+", -1: "-"}

        def cells(alignment: Alignment, kind: int) -> list[object]:
            named = [
                alignment.query.name,
                alignment.target.name,
                signs[alignment.strand],
                OVERLAP_KINDS[kind],
            ]
            return [*named, alignment.score, f"{100 * alignment.identity:.1f}%"]

        return html_table(self, heads, map(cells, self.alignments, self.kind_codes.tolist()))

    def take(self, pairs: npt.ArrayLike) -> Overlaps:
        """Copy some of the overlaps; see `Alignments.take`."""
        return replace(
            self,
            alignments=self.alignments.take(pairs),
            kind_codes=self.kind_codes[np.asarray(pairs)],
        )

    def reduced(
        self,
        *,
        contained: bool = True,
        transitive: bool = True,
        tolerance: int | None = None,
        weak: bool = False,
        mutual: str = MUTUAL[0],
    ) -> Overlaps:
        """Leave out what the string graph of an assembler has no need of (Myers 2005).

        Parameters
        ----------
        contained : bool
            Remove reads that are contained in others, and their overlaps, see
            `pairalign.jobs.overlaps.string_graph.find_kept`. Files and graphs then lack them.
        transitive : bool
            Then remove dovetails that two others make superfluous, see
            `pairalign.jobs.overlaps.string_graph.find_transitive`.
        tolerance : int, optional
            Residues by which the lengths of those may differ; default: the preset's `max_overhang`.
        weak : bool
            First remove overlaps that are little alike, as far as others cover reads deep enough,
            see `pairalign.jobs.overlaps.string_graph.find_weak`.
        mutual : {"keep", "drop", "one"}
            Then what to do where reads are contained in each other, see
            `pairalign.jobs.overlaps.string_graph.find_representatives`.

        Returns
        -------
        Overlaps

        Raises
        ------
        UsageError
            An unknown `mutual`.
        """
        if mutual not in MUTUAL:
            raise UsageError(f"mutual {mutual!r}: expected one of {', '.join(MUTUAL)}")
        tolerance = self.preset.max_overhang if tolerance is None else tolerance
        alignments, kinds, kept = Reduction(weak, mutual, contained, transitive).apply(
            self.alignments, self.preset.max_overhang, tolerance
        )
        return replace(self, alignments=Alignments.of(alignments), kind_codes=kinds, kept=kept)

    def report_reads(self) -> ReadReport:
        """Report on each read: depth, sudden ends, kind; see `read_report`."""
        return report_reads(self.alignments, self.kind_codes)

    def trim_reads(self) -> Trimmed:
        """Cut the reads at adapters and chimeras; see `pairalign.jobs.overlaps.trimming`."""
        return trim_reads(self.alignments, self.preset.max_overhang)

    def to_arrow(self) -> pa.Table:
        """Convert to a ``pyarrow.Table``: as `Alignments.to_arrow`, and ``kind``."""
        import pyarrow as pa

        table = self.alignments.to_arrow()
        kinds = pa.DictionaryArray.from_arrays(pa.array(self.kind_codes), list(OVERLAP_KINDS))
        return table.append_column("kind", kinds)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write PAF (``.paf``) or GFA (``.gfa``), compressed when the name ends in ``.gz``.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete.
        format : {"paf", "gfa"}, optional
            Default: by the end of the name.

        Raises
        ------
        FormatError, OutputError
        """
        content = Content(
            *(self.reads, self.reads, self.alignments.scoring, Detail.CIGAR),
            shown=Shown(strands=True),
            max_overhang=self.preset.max_overhang,
            kept=self.kept,
        )
        with open_writer(path, format, content) as writer:
            writer.write(self.alignments)

    def to_networkx(self) -> Any:
        """Return the overlap graph: reads are nodes, overlaps edges (needs networkx).

        Returns
        -------
        networkx.MultiGraph
            Nodes have ``length``; edges ``kind``, ``strand``, ``score``, ``identity``, ``columns``,
            and the names and spans of ``query`` and ``target``, since edges have no direction.

        Raises
        ------
        FormatError
            networkx is not installed.
        """
        with needed("a graph", "networkx", "'pairalign[graph]'", FormatError):
            import networkx
        graph = networkx.MultiGraph()
        alignments, reads = self.alignments, self.reads
        for number, name in enumerate(reads.names):
            if self.kept is None or self.kept[number]:
                graph.add_node(name, length=int(reads.lengths[number]))
        for alignment, kind in zip(alignments, self.kind.tolist(), strict=True):
            graph.add_edge(
                reads.names[alignment.query_index],
                reads.names[alignment.target_index],
                kind=kind,
                strand=alignment.strand,
                score=alignment.score,
                identity=alignment.identity,
                columns=alignment.columns,
                query=reads.names[alignment.query_index],
                query_span=(alignment.query_start, alignment.query_end),
                target=reads.names[alignment.target_index],
                target_span=(alignment.target_start, alignment.target_end),
            )
        return graph
