"""Posteriors as functions return them: files."""

from __future__ import annotations

import os

from pairalign.alignments import posteriors
from pairalign.alignments.posteriors import ONE
from pairalign.base.choices import POSTERIOR_SUFFIXES
from pairalign.base.error_types import UsageError
from pairalign.base.notebooks import html_table
from pairalign.results.tabular import Result


class SparsePosteriors(Result, posteriors.SparsePosteriors):
    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the posteriors, as ``pairalign posterior`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"npz", "parquet", "tsv", "tc_lib"}, optional
            Default: by the end of the name.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        from pairalign.formats.names import choose_format
        from pairalign.jobs.posterior.posterior_files import check_format, open_posteriors

        if self.sequences is None:
            raise UsageError("posteriors without their sequences cannot be written")
        chosen = choose_format(path, format, POSTERIOR_SUFFIXES, "posteriors")
        check_format(chosen, os.fspath(path))
        writer = open_posteriors(path, chosen, self.sequences, self.threshold)
        try:
            writer.write(self)
            writer.close()
        except BaseException:
            writer.abort()
            raise

    def _repr_html_(self) -> str:
        """Show the first pairs as a table, for notebooks."""
        heads = ["query", "target", "pairs of residues", "highest posterior"]
        return html_table(self, heads, map(self._shown, range(len(self))))

    def _shown(self, pair: int) -> list[object]:
        values = self.values[slice(*self.offsets[pair : pair + 2].tolist())]
        highest = values.max(initial=0) / ONE
        pair_of = int(self.queries[pair]), int(self.targets[pair])
        names = pair_of if self.sequences is None else [self.sequences.names[k] for k in pair_of]
        return [*names, len(values), float(highest)]
