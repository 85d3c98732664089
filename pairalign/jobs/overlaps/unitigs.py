"""Unitigs: stretches of the string graph without a fork, and the sequences that they spell.

References
----------
E. W. Myers: The fragment assembly string graph. Bioinformatics 21 (Suppl. 2):ii79-ii85, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int64s, UInt8s
from pairalign.formats.output import Output
from pairalign.jobs.overlaps.string_graph import Edges, make_edges
from pairalign.sequences.sets import SequenceSet

_COMPLEMENT = bytes.maketrans(b"ACGTUacgtuRYKMBVDHrykmbvdh", b"TGCAAtgcaaYRMKVBHDyrmkvbhd")


@dataclass(frozen=True)
class Unitig:
    """Reads that follow one another without a choice.

    Attributes
    ----------
    vertices : list of int
        See `pairalign.jobs.overlaps.string_graph.Edges`.
    added : list of int
        Residues that each adds to those before it; the first of a circle to the last.
    """

    vertices: list[int]
    added: list[int]
    is_circle: bool

    def spell(self, reads: SequenceSet) -> bytes:
        """Return the residues: of each read those that it adds."""
        pieces = []
        for vertex, added in zip(self.vertices, self.added, strict=True):
            read = vertex >> 1
            residues = reads.residues[reads.offsets[read] : reads.offsets[read + 1]].tobytes()
            if vertex & 1:
                residues = residues[::-1].translate(_COMPLEMENT)
            pieces.append(residues[len(residues) - added :])
        return b"".join(pieces)


@dataclass(frozen=True)
class UnitigGraph:
    """Unitigs and how they go on.

    Attributes
    ----------
    unitigs : list of Unitig
        In the order of their first reads in the input.
    links : list of (int, bool, int, bool, int)
        A unitig, whether it is reversed, the one that follows it and whether that is, and the
        residues by which they overlap. A circle is linked with itself by 0.
    """

    unitigs: list[Unitig]
    links: list[tuple[int, bool, int, bool, int]]


def make_unitigs(alignments: Alignments, kinds: UInt8s) -> UnitigGraph:
    """Make unitigs of overlaps without contained reads and transitive ones.

    Parameters
    ----------
    alignments : Alignments
        Of one set, with spans.
    kinds : ndarray of uint8, shape (n,)
        See `pairalign.reads.overlap_kinds.classify`.

    Returns
    -------
    UnitigGraph
        Reads without dovetails are in none.
    """
    reads = alignments.queries
    edges = make_edges(alignments, kinds)
    following, added = _sole_steps(edges, 2 * len(reads))
    used = np.ones(len(reads), np.bool_)
    used[edges.tail >> 1] = False
    unitigs = []
    for read in range(len(reads)):
        if not used[read]:
            unitigs.append(_walk(2 * read, following, added, reads, used))
    return UnitigGraph(unitigs, _links(unitigs, edges, following, reads))


def _sole_steps(edges: Edges, vertices: int) -> tuple[Int64s, Int64s]:
    """Return the vertex that follows each without a choice, or -1, and what it adds."""
    leaving = np.bincount(edges.tail, minlength=vertices)
    sole = (leaving[edges.tail] == 1) & (leaving[edges.head ^ 1] == 1)
    sole &= edges.tail >> 1 != edges.head >> 1
    following, added = np.full(vertices, -1, np.int64), np.zeros(vertices, np.int64)
    following[edges.tail[sole]] = edges.head[sole]
    added[edges.tail[sole]] = edges.length[sole]
    return following, added


def _walk(vertex: int, following: Int64s, added: Int64s, reads: SequenceSet, used: Bools) -> Unitig:
    """Go back to where a unitig begins, then along it; its reads are used."""
    first = vertex
    while (before := int(following[first ^ 1])) >= 0 and before ^ 1 != vertex:
        first = before ^ 1
    path, lengths = [first], [int(reads.lengths[first >> 1])]
    used[first >> 1] = True
    while (after := int(following[path[-1]])) >= 0 and not used[after >> 1]:
        lengths.append(int(added[path[-1]]))
        path.append(after)
        used[after >> 1] = True
    is_circle = following[path[-1]] == first
    if is_circle:
        lengths[0] = int(added[path[-1]])
    return Unitig(path, lengths, bool(is_circle))


def _links(
    unitigs: list[Unitig], edges: Edges, following: Int64s, reads: SequenceSet
) -> list[tuple[int, bool, int, bool, int]]:
    """Return how unitigs go on: circles, and the edges where there is a choice."""
    links = [(k, False, k, False, 0) for k, unitig in enumerate(unitigs) if unitig.is_circle]
    begins, ends = {}, {}
    for k, unitig in enumerate(unitigs):
        begins[unitig.vertices[0]], begins[unitig.vertices[-1] ^ 1] = (k, False), (k, True)
        ends[unitig.vertices[-1]], ends[unitig.vertices[0] ^ 1] = (k, False), (k, True)
    rows = zip(edges.tail.tolist(), edges.head.tolist(), edges.length.tolist(), strict=True)
    for tail, head, length in rows:
        is_twin = (head ^ 1, tail ^ 1) < (tail, head)
        if not is_twin and following[tail] != head and tail in ends and head in begins:
            overlap = int(reads.lengths[head >> 1]) - length
            links.append((*ends[tail], *begins[head], overlap))
    return links


def write_unitigs(output: Output, graph: UnitigGraph, reads: SequenceSet) -> None:
    """Write unitigs as GFA 1, named as miniasm does: ``utg000001c`` is a circle, ``l`` is not one.

    ``rc:i:`` says how many reads a segment is made of. Closes the output.

    Raises
    ------
    OutputError
    """
    names = [
        f"utg{number:06}{'c' if unitig.is_circle else 'l'}"
        for number, unitig in enumerate(graph.unitigs, 1)
    ]
    output.write(b"H\tVN:Z:1.0\n")
    for name, unitig in zip(names, graph.unitigs, strict=True):
        residues = unitig.spell(reads)
        tags = f"LN:i:{len(residues)}\trc:i:{len(unitig.vertices)}"
        output.write(b"S\t%s\t%s\t%s\n" % (name.encode(), residues, tags.encode()))
    for first, turned, second, second_turned, overlap in graph.links:
        ends = f"{names[first]}\t{'+-'[turned]}\t{names[second]}\t{'+-'[second_turned]}"
        output.write(f"L\t{ends}\t{overlap}M\n".encode())
    output.close()
