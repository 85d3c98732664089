"""Files of clusters: vsearch's .uc, CD-HIT's .clstr, a table, and the representatives as FASTA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate

from pairalign.alignments.identities import name_identity
from pairalign.alignments.view import Alignment
from pairalign.base.choices import CLUSTER_SUFFIXES
from pairalign.clusters.clusters import Clusters
from pairalign.formats.names import choose_format
from pairalign.formats.output import Path, open_output
from pairalign.sequences.abundances import sample_of

_RESIDUES = {"protein": "aa", "dna": "nt"}
_LINES = 1 << 14
_MATCH, _DELETION, _INSERTION = "M", "D", "I"
# A .uc file has the query's residues without a partner as D, the target's as I: the other way
# round.
_UC_OPERATIONS = {"=": _MATCH, "X": _MATCH, "I": _DELETION, "D": _INSERTION}


def write_clusters(
    path: Path, clusters: Clusters, format: str | None = None, *, threads: int = 1
) -> None:
    """Write clusters.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.
    clusters : Clusters
    format : {"tsv", "uc", "clstr", "fasta", "otutab"}, optional
        Default: by the end of the file's name.
    threads : int
        Threads to compress on.

    Raises
    ------
    FormatError
        Unknown format.
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
    for each cluster (with its size). The alignment covers both sequences from end to end, ``M``
    aligned residues, ``D`` residues of the sequence alone, ``I`` residues of the representative
    alone, without counts of 1; ``=`` if the two are identical.

    ``clstr`` is CD-HIT's: ``*`` marks the representative, and ``at`` the percent identity with it,
    for DNA after the strand. Names are not cut short.

    ``fasta`` has the representatives as they were read, with their whole headers.

    ``otutab`` has a line a cluster and a column a sample, as ``biom convert`` and QIIME read it:
    how often sequences of the sample were seen, by ``;size=``, else how many there are. Samples are
    those of `pairalign.sequences.abundances.sample_of`; names end before the first ``;``, unless
    two would be the same.
    """
    chosen = choose_format(path, format, CLUSTER_SUFFIXES, "clusters")
    with open_output(path, threads=threads) as output:
        lines: list[str] = []
        for line in _WRITERS[chosen](clusters):
            lines.append(line)
            if len(lines) == _LINES:
                output.write("".join(lines).encode())
                lines.clear()
        output.write("".join(lines).encode())


def _table(clusters: Clusters) -> Iterator[str]:
    chosen = name_identity(clusters.thresholds.identity_of)
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
            f"{label}\t{sizes[label]}\t{sequences.names[clusters.representatives[label]]}\t"
            f"{sequences.names[index]}\t{sequences.lengths[index]}\t"
            f"{identity[index]:.6g}\t{coverage[index]:.6g}\n"
        )


def _uc(clusters: Clusters) -> Iterator[str]:
    sequences, rows, identity = clusters.sequences, clusters.rows, clusters.identity
    for index in clusters.order:
        label, name, length = (
            clusters.labels[index],
            sequences.names[index],
            sequences.lengths[index],
        )
        if rows[index] < 0:
            yield f"S\t{label}\t{length}\t*\t*\t*\t*\t*\t{name}\t*\n"
            continue
        representative = sequences.names[clusters.representatives[label]]
        pair = clusters.alignments[int(rows[index])]
        percent = f"{100 * identity[index]:.1f}"
        columns = (percent, _sign(pair), 0, 0, _uc_path(pair), name, representative)
        yield f"H\t{label}\t{length}\t" + "\t".join(map(str, columns)) + "\n"
    for label, (index, size) in enumerate(
        zip(clusters.representatives, clusters.sizes, strict=True)
    ):
        yield f"C\t{label}\t{size}\t*\t*\t*\t*\t*\t{sequences.names[index]}\t*\n"


def _sign(pair: Alignment) -> str:
    return "-" if pair.strand < 0 else "+"


def _uc_path(pair: Alignment) -> str:
    """Return the alignment of a sequence with its representative, from end to end.

    On strand - it runs along the representative, as in vsearch's files.
    """
    outside = [pair.query_start, len(pair.query) - pair.query_end]
    before, after = outside[:: pair.strand]
    runs = [
        (before, _DELETION),
        (pair.target_start, _INSERTION),
        *((length, _UC_OPERATIONS[operation]) for length, operation in _runs_of(pair.cigar)),
        (after, _DELETION),
        (len(pair.target) - pair.target_end, _INSERTION),
    ]
    if pair.matches == len(pair.query) == len(pair.target):
        return "="
    joined: list[tuple[int, str]] = []
    for length, operation in runs:
        if joined and joined[-1][1] == operation:
            length += joined.pop()[0]
        if length:
            joined.append((length, operation))
    return "".join(f"{length if length > 1 else ''}{operation}" for length, operation in joined)


def _runs_of(cigar: str) -> Iterator[tuple[int, str]]:
    number = 0
    for letter in cigar:
        if letter.isdigit():
            number = 10 * number + int(letter)
        else:
            yield number, letter
            number = 0


def _clstr(clusters: Clusters) -> Iterator[str]:
    sequences, rows, identity = clusters.sequences, clusters.rows, clusters.identity
    unit = _RESIDUES[sequences.alphabet.name]
    number = 0
    for index in clusters.order:
        place = "*"
        if rows[index] < 0:
            yield f">Cluster {clusters.labels[index]}\n"
            number = 0
        else:
            pair = clusters.alignments[int(rows[index])]
            strand = f"{_sign(pair)}/" if unit == "nt" else ""
            place = f"at {strand}{100 * identity[index]:.2f}%"
        yield f"{number}\t{sequences.lengths[index]}{unit}, >{sequences.names[index]}... {place}\n"
        number += 1


def _representatives(clusters: Clusters) -> Iterator[str]:
    for index in clusters.representatives:
        sequence = clusters.sequences[int(index)]
        yield f">{sequence.description}\n{sequence.letters}\n"


def _otu_table(clusters: Clusters) -> Iterator[str]:
    headers = clusters.sequences.descriptions
    samples = [sample_of(header) for header in headers]
    names = sorted(set(samples))
    places = {name: place for place, name in enumerate(names)}
    yield "\t".join(("#OTU ID", *names)) + "\n"
    whole = [clusters.sequences.names[index] for index in clusters.representatives]
    short = [name.split(";", 1)[0] for name in whole]
    titles = short if len(set(short)) == len(short) and all(short) else whole
    members = clusters.order.tolist()
    starts = [0, *accumulate(clusters.sizes.tolist())]
    for cluster, title in enumerate(titles):
        counts = [0] * len(names)
        for index in members[starts[cluster] : starts[cluster + 1]]:
            seen = 1 if clusters.abundances is None else int(clusters.abundances[index])
            counts[places[samples[index]]] += seen
        yield "\t".join((title, *map(str, counts))) + "\n"


_WRITERS: dict[str, Callable[[Clusters], Iterator[str]]] = {
    "tsv": _table,
    "uc": _uc,
    "clstr": _clstr,
    "fasta": _representatives,
    "otutab": _otu_table,
}
