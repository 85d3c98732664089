"""Files of clusters: vsearch's .uc, CD-HIT's .clstr, a table, and the representatives as FASTA."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import accumulate, pairwise

import numpy as np

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import CLUSTER_SUFFIXES, TABLES
from pairalign.base.texts import quoted
from pairalign.clusters.clusters import Clusters
from pairalign.formats.libraries import array_format, biom_table
from pairalign.formats.output import Path, open_table
from pairalign.jobs.clusters.abundances import name_size, sample_of

_RESIDUES = {"protein": "aa", "dna": "nt"}
_LINES = 1 << 14
_DATE = datetime(1970, 1, 1)  # of every file, so that the bytes are the same


def write_clusters(
    path: Path,
    clusters: Clusters,
    format: str | None = None,
    *,
    sizein: bool = False,
    sizeout: bool = False,
    threads: int = 1,
) -> None:
    """Write clusters.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.
    format : {"tsv", "csv", "uc", "clstr", "fasta", "otutab", "biom", "biom2"}, optional
        Default: by the end of the file's name.
    sizein : bool
        Count each sequence ``;size=`` times, as its header says, in ``uc`` and of `sizeout`.
    sizeout : bool
        Write ``;size=`` in the headers of ``fasta``.
    threads : int
        Threads to compress on.

    Raises
    ------
    FormatError
        Unknown format; biom-format is not installed.
    OutputError
        The file cannot be written.

    Notes
    -----
    ``tsv`` has a line a sequence: number of the cluster, from 0, sequences in it, representative,
    sequence, its residues, identity and coverage with the representative (1 for that itself). An
    identity other than matches by columns has its name in the header: ``identity_shorter``. Where
    headers have ``;size=`` the third column is ``abundance``, the sum of the cluster's.

    ``uc`` has vsearch's ten columns: S for a representative, H for each other sequence (cluster,
    residues, percent identity, strand, two unused, alignment, both names), and in the end a line C
    for each cluster: how many sequences it has, with `sizein` how often they were seen. The
    alignment covers both sequences from end to end, ``M`` aligned residues, ``D`` residues of the
    sequence alone, ``I`` residues of the representative alone, without counts of 1; ``=`` if the
    two are identical.

    ``clstr`` is CD-HIT's: ``*`` marks the representative, and ``at`` the percent identity with it,
    for DNA after the strand. Names are not cut short.

    ``fasta`` has the representatives as they were read, with their whole headers; with `sizeout`
    ``;size=`` of the cluster follows the name, and the header's own is left out.

    ``otutab`` has a line a cluster and a column a sample, as ``biom convert`` and QIIME read it,
    names without quotes around them: how often sequences of the sample were seen, by ``;size=``,
    else how many there are. Samples are
    those of `pairalign.jobs.clusters.abundances.sample_of`; names end before the first ``;``,
    unless two would be the same. ``biom`` is the same table as BIOM 1.0, JSON, whose date is a
    constant; ``biom2`` as BIOM 2.1, HDF5, by biom-format.
    """
    chosen = array_format(path, format, CLUSTER_SUFFIXES, "clusters")
    counts = clusters.cluster_abundances if sizein else clusters.sizes
    with open_table(path, chosen, threads=threads) as output:
        if chosen == "biom2":
            output.write(_biom_hdf5(clusters))
            return
        lines: list[str] = []
        for line in _lines_of(chosen, clusters, counts, sizeout):
            lines.append(line)
            if len(lines) == _LINES:
                output.write("".join(lines).encode())
                lines.clear()
        output.write("".join(lines).encode())


def _lines_of(format: str, clusters: Clusters, counts: Int64s, sizeout: bool) -> Iterator[str]:
    if format == "uc":
        return _uc(clusters, counts)
    if format == "fasta":
        return _representatives(clusters, counts if sizeout else None)
    return _WRITERS[format](clusters)


def _table(clusters: Clusters) -> Iterator[str]:
    chosen = clusters.thresholds.identity_column
    has_abundances = clusters.abundances is not None
    counts = ("size", "abundance") if has_abundances else ("size",)
    columns = ("cluster", *counts, "representative", "sequence", "length", chosen, "coverage")
    yield "\t".join(columns) + "\n"
    sequences, sizes = clusters.sequences, [str(size) for size in clusters.sizes]
    if has_abundances:
        sizes = [
            f"{size}\t{abundance}"
            for size, abundance in zip(sizes, clusters.cluster_abundances, strict=True)
        ]
    identity, coverage = clusters.identity, clusters.coverage
    for index in clusters.order:
        label = clusters.labels[index]
        yield (
            f"{label}\t{sizes[label]}\t{quoted(sequences.names[clusters.representatives[label]])}\t"
            f"{quoted(sequences.names[index])}\t{sequences.lengths[index]}\t"
            f"{identity[index]:.6g}\t{coverage[index]:.6g}\n"
        )


def _uc(clusters: Clusters, counts: Int64s) -> Iterator[str]:
    names, order = clusters.sequences.names, clusters.order
    representatives = clusters.representatives.tolist()
    identity, rows = clusters.identity, clusters.rows[order].tolist()
    paths, signs = write_uc_paths(clusters.alignments), _signs(clusters.alignments)
    lines = zip(
        order.tolist(),
        clusters.labels[order].tolist(),
        clusters.sequences.lengths[order].tolist(),
        (100 * identity[order]).tolist(),
        rows,
        strict=True,
    )
    for index, label, length, percent, row in lines:
        if row < 0:
            yield f"S\t{label}\t{length}\t*\t*\t*\t*\t*\t{names[index]}\t*\n"
        else:
            yield (
                f"H\t{label}\t{length}\t{percent:.1f}\t{signs[row]}\t0\t0\t{paths[row]}\t"
                f"{names[index]}\t{names[representatives[label]]}\n"
            )
    for label, (index, size) in enumerate(zip(representatives, counts.tolist(), strict=True)):
        yield f"C\t{label}\t{size}\t*\t*\t*\t*\t*\t{names[index]}\t*\n"


def _signs(alignments: Alignments) -> str:
    """Return the strand of each pair, + or -."""
    if alignments.strand is None:
        return "+" * len(alignments)
    return "".join("-" if strand < 0 else "+" for strand in alignments.strand.tolist())


def _clstr(clusters: Clusters) -> Iterator[str]:
    sequences, rows, identity = clusters.sequences, clusters.rows, clusters.identity
    signs = _signs(clusters.alignments)
    unit = _RESIDUES[sequences.alphabet.name]
    number = 0
    for index in clusters.order:
        place = "*"
        if rows[index] < 0:
            yield f">Cluster {clusters.labels[index]}\n"
            number = 0
        else:
            strand = f"{signs[rows[index]]}/" if unit == "nt" else ""
            place = f"at {strand}{100 * identity[index]:.2f}%"
        yield f"{number}\t{sequences.lengths[index]}{unit}, >{sequences.names[index]}... {place}\n"
        number += 1


def _representatives(clusters: Clusters, sizes: Int64s | None) -> Iterator[str]:
    indices = clusters.representatives.tolist()
    headers = [clusters.sequences.descriptions[index] for index in indices]
    if sizes is not None:
        headers = list(map(name_size, headers, sizes.tolist()))
    for header, residues in zip(headers, clusters.sequences.residue_texts(indices), strict=True):
        yield f">{header}\n{residues}\n"


def _otu_table(clusters: Clusters) -> Iterator[str]:
    samples, counts = _count_samples(clusters)
    yield "\t".join(("#OTU ID", *samples)) + "\n"
    for title, row in counts:
        yield "\t".join((title, *map(str, row))) + "\n"


def _biom_hdf5(clusters: Clusters) -> bytes:
    """Return BIOM 2.1, with the date of `_biom`."""
    from pairalign.base.version import __version__

    table, h5py = biom_table()
    samples, counts = _count_samples(clusters)
    titles: list[str] = []
    cells: dict[tuple[int, int], int] = {}
    for number, (title, row) in enumerate(counts):
        titles.append(title)
        cells |= {(number, place): count for place, count in enumerate(row) if count}
    biom = table(cells, titles, samples, type="OTU table", input_is_dense=False)
    file = io.BytesIO()
    with h5py.File(file, "w") as whole:
        biom.to_hdf5(whole, f"pairalign {__version__}", creation_date=_DATE)
    return file.getvalue()


def _biom(clusters: Clusters) -> Iterator[str]:
    """Yield BIOM 1.0; its date is always the same, so that the bytes are."""
    from pairalign.base.version import __version__

    samples, counts = _count_samples(clusters)
    head = {
        "id": None,
        "format": "Biological Observation Matrix 1.0.0",
        "format_url": "http://biom-format.org",
        "type": "OTU table",
        "generated_by": f"pairalign {__version__}",
        "date": _DATE.isoformat(),
        "matrix_type": "sparse",
        "matrix_element_type": "int",
        "shape": [len(clusters), len(samples)],
        "columns": [{"id": name, "metadata": None} for name in samples],
    }
    yield json.dumps(head)[:-1] + ',\n"data": ['
    titles, before = [], "\n"
    for number, (title, row) in enumerate(counts):
        titles.append(title)
        seen = [[number, place, count] for place, count in enumerate(row) if count]
        yield before + ", ".join(map(str, seen))
        before = ",\n"
    rows = (json.dumps({"id": title, "metadata": None}) for title in titles)
    yield '],\n"rows": [\n' + ",\n".join(rows) + "]}\n"


def _count_samples(clusters: Clusters) -> tuple[list[str], Iterator[tuple[str, list[int]]]]:
    """Return the samples, and of each cluster its title and how often each sample has it."""
    headers = clusters.sequences.descriptions
    samples = [sample_of(header) for header in headers]
    names = sorted(set(samples))
    places = {name: place for place, name in enumerate(names)}
    whole = [clusters.sequences.names[index] for index in clusters.representatives]
    short = [name.split(";", 1)[0] for name in whole]
    titles = short if len(set(short)) == len(short) and all(short) else whole
    members = clusters.order.tolist()
    starts = [0, *accumulate(clusters.sizes.tolist())]

    def rows() -> Iterator[tuple[str, list[int]]]:
        for cluster, title in enumerate(titles):
            counts = [0] * len(names)
            for index in members[starts[cluster] : starts[cluster + 1]]:
                seen = 1 if clusters.abundances is None else int(clusters.abundances[index])
                counts[places[samples[index]]] += seen
            yield title, counts

    return names, rows()


_WRITERS: dict[str, Callable[[Clusters], Iterator[str]]] = {
    **dict.fromkeys(TABLES, _table),
    "clstr": _clstr,
    "otutab": _otu_table,
    "biom": _biom,
}


_MATCH, _DELETION, _INSERTION = range(3)
_TEXT_OF = "MDI"
# A .uc file has the query's residues without a partner as D, the target's as I: the other way
# round.
_UC_OPERATIONS = np.full(16, _MATCH, np.int64)
_UC_OPERATIONS[1], _UC_OPERATIONS[2] = _DELETION, _INSERTION


def write_uc_paths(alignments: Alignments) -> list[str]:
    """Return the alignment column of each pair, from end to end of both sequences.

    Parameters
    ----------
    alignments : Alignments
        With CIGARs; the query is the member, the target its representative.

    Returns
    -------
    list of str
        ``=`` where both sequences are the same from end to end. On strand - the alignment runs
        along the representative, as in vsearch's files.
    """
    query_lengths = alignments.queries.lengths[alignments.query]
    target_lengths = alignments.targets.lengths[alignments.target]
    lengths, operations, pairs = _end_to_end(alignments, query_lengths, target_lengths)
    is_first = np.ones(len(lengths), np.bool_)
    is_first[1:] = (pairs[1:] != pairs[:-1]) | (operations[1:] != operations[:-1])
    starts = np.flatnonzero(is_first)
    joined = np.add.reduceat(lengths, starts) if len(starts) else lengths
    texts = _texts_of(joined, operations[starts])
    stops = np.searchsorted(pairs[starts], np.arange(len(alignments) + 1)).tolist()
    paths = ["".join(texts[start:stop]) for start, stop in pairwise(stops)]
    matches = alignments.field("matches")
    for same in np.flatnonzero((matches == query_lengths) & (matches == target_lengths)).tolist():
        paths[same] = "="
    return paths


def _end_to_end(
    alignments: Alignments,
    query_lengths: Int32s,
    target_lengths: Int32s,
) -> tuple[Int64s, Int64s, Int64s]:
    """Return lengths, operations and pairs of all runs but empty ones, those at the ends too."""
    runs, offsets = runs_of(alignments)
    counts = np.diff(offsets)
    before = alignments.field("query_start").astype(np.int64)
    after = query_lengths - alignments.field("query_end").astype(np.int64)
    if alignments.strand is not None:
        before, after = (
            np.where(alignments.strand < 0, after, before),
            np.where(alignments.strand < 0, before, after),
        )
    pairs = np.repeat(np.arange(len(alignments)), counts + 4)
    first = np.concatenate(([0], np.cumsum(counts + 4)))[:-1]
    last = first + counts + 2
    lengths, operations = np.empty((2, len(pairs)), np.int64)
    is_run = np.ones(len(pairs), np.bool_)
    ends = (
        (first, before, _DELETION),
        (first + 1, alignments.field("target_start"), _INSERTION),
        (last, after, _DELETION),
        (last + 1, target_lengths - alignments.field("target_end"), _INSERTION),
    )
    for places, residues, operation in ends:
        lengths[places], operations[places], is_run[places] = residues, operation, False
    lengths[is_run], operations[is_run] = runs >> 4, _UC_OPERATIONS[runs & 15]
    kept = lengths > 0
    return lengths[kept], operations[kept], pairs[kept]


def _texts_of(lengths: Int64s, operations: Int64s) -> list[str]:
    """Return the text of each run; a count of 1 is left out."""
    distinct, places = np.unique(3 * lengths + operations, return_inverse=True)
    texts = [f"{key // 3 if key >= 6 else ''}{_TEXT_OF[key % 3]}" for key in distinct.tolist()]
    return [texts[place] for place in places.tolist()]
