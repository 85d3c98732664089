"""Multiple alignments as functions return them: files, objects of other packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import multiple
from pairalign.alignments.multiple import GAP
from pairalign.base.choices import MSA_SUFFIXES
from pairalign.base.error_types import cut_name
from pairalign.base.notebooks import SHOWN_LINES, html_text
from pairalign.base.packages import check_biopython
from pairalign.results.objects import to_biotite_alignment, to_tabular_msa
from pairalign.results.tabular import Result
from pairalign.results.tree_result import GuideTree

if TYPE_CHECKING:
    import Bio.Align
    import biotite.sequence.align
    import skbio

_NAME_SHOWN = 20
_COLUMNS_SHOWN = 80


class MultipleAlignment(Result, multiple.MultipleAlignment):
    tree: GuideTree | None

    def write(
        self, path: str | os.PathLike[str], format: str | None = None, order: str = "input"
    ) -> None:
        """Write the alignment, as ``pairalign msa`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"fasta", "clustal", "stockholm", "a2m", "tsv", "csv", "html"}, optional
            Default: by the end of the name.
        order : {"input", "tree"}
            Of the rows.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.names import choose_format
        from pairalign.formats.output import open_output
        from pairalign.jobs.msa.msa_files import check_msa_names, write_alignment

        chosen = choose_format(path, format, MSA_SUFFIXES, "multiple alignments")
        check_msa_names(self.sequences, chosen)
        with open_output(path) as output:
            write_alignment(output, chosen, self, order)

    def _repr_html_(self) -> str:
        """Show the left of the first rows, for notebooks."""
        names = [cut_name(name, _NAME_SHOWN) for name in self.sequences.names[: SHOWN_LINES + 1]]
        widest = max(map(len, names))
        more = "..." if self.width > _COLUMNS_SHOWN else ""
        rows = (self.text(k)[:_COLUMNS_SHOWN] for k in range(len(names)))
        lines = (f"{name:<{widest}}  {row}{more}" for name, row in zip(names, rows, strict=True))
        return html_text(self, lines)

    def to_biopython(self) -> Bio.Align.Alignment:
        """Convert to Biopython's object.

        Returns
        -------
        Bio.Align.Alignment
            Of SeqRecords, in the order of the input.
        """
        check_biopython("such an alignment")
        from Bio.Align import Alignment
        from Bio.Seq import Seq
        from Bio.SeqRecord import SeqRecord

        make: Any = Alignment  # untyped
        rows = np.stack([self.row(index) for index in range(len(self))])
        records = [
            SeqRecord(
                Seq(sequence.residues),
                id=sequence.name,
                name=sequence.name,
                description=sequence.description,
            )
            for sequence in self.sequences
        ]
        converted: Bio.Align.Alignment = make(records, _corners(rows != GAP))
        return converted

    def to_skbio(self) -> skbio.TabularMSA:
        """Convert to scikit-bio's object.

        Returns
        -------
        skbio.TabularMSA
            With the names as labels, in the order of the input.

        Raises
        ------
        MissingPackageError
            scikit-bio is not installed.
        """
        rows = [self.text(index) for index in range(len(self))]
        return to_tabular_msa(rows, self.sequences.names, self.sequences.alphabet)

    def to_biotite(self) -> biotite.sequence.align.Alignment:
        """Convert to biotite's object.

        Returns
        -------
        biotite.sequence.align.Alignment
            In the order of the input.

        Raises
        ------
        MissingPackageError
            biotite is not installed.
        """
        rows = [self.text(index) for index in range(len(self))]
        residues = [sequence.residues for sequence in self.sequences]
        return to_biotite_alignment(rows, residues, [0] * len(self), self.sequences.alphabet)


def _corners(is_residue: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return how far each row is where a gap of any row begins or ends, and at both ends."""
    changes = (is_residue[:, 1:] != is_residue[:, :-1]).any(axis=0)
    places = np.concatenate(([0], np.flatnonzero(changes) + 1, [is_residue.shape[1]]))
    far = np.zeros((len(is_residue), is_residue.shape[1] + 1), np.int64)
    np.cumsum(is_residue, axis=1, out=far[:, 1:])
    return far[:, places]
