"""Sets of immune receptors: CDR3s, and the loops of their V genes where these are known.

A receptor is a chain of a locus, or a cell's two chains. Its regions are those that TCRdist
compares: CDR3 with the conserved residues beside it, CDR1, CDR2 and CDR2.5 (between CDR2 and CDR3).
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s, UInt8s
from pairalign.base.error_types import AlphabetError, FastaError, shown_name
from pairalign.base.spelling import spelled
from pairalign.base.texts import as_tsv
from pairalign.sequences.airr import (
    MISSING,
    Chain,
    chains_of_table,
    gene_of,
    is_airr,
    of_loci,
    read_chains,
    records_of_chains,
)
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.fasta_records import Source, read_data, unify_lines
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules
from pairalign.sequences.native_arrays import digest_of
from pairalign.sequences.python_sequences import is_table
from pairalign.sequences.record_cleanup import join_files, tidy
from pairalign.sequences.set_reading import read_set
from pairalign.sequences.sets import SequenceSet, whole_records

log = logging.getLogger("pairalign")

CDR3 = "cdr3"
LOOPS = ("cdr1", "cdr2", "cdr2.5")
RESIDUES = "ARNDCQEGHILKMFPSTWYV"
"""Codes of regions: a residue's place here; all other letters and gaps have the next code."""
_LOOP_NAMES = {"cdr25": "cdr2.5", "cdr2_5": "cdr2.5", "pmhc": "cdr2.5"}
_CODES = np.full(256, len(RESIDUES), np.uint8)
for _code, _letter in enumerate(RESIDUES):
    _CODES[[ord(_letter), ord(_letter.lower())]] = _code
_MOST_RESIDUES = 1000
_MOST_SHOWN = 5

Loops = Mapping[str, Mapping[str, str]]
"""Residues of loops by V gene, then by loop; with gaps that align them, or without."""


@dataclass(frozen=True)
class Region:
    """The same region of all receptors of a set.

    Attributes
    ----------
    chain : int
        Which chain of the receptor, from 0.
    locus : str
        Of the chain; empty where it is not known.
    name : str
        `CDR3` or one of `LOOPS`.
    codes : ndarray of uint8
    offsets : ndarray of int64, shape (n + 1,)
        Where each receptor's begins, by input index.
    """

    chain: int
    locus: str
    name: str
    codes: UInt8s
    offsets: Int64s

    def taken(self, indices: npt.NDArray[np.signedinteger[Any]]) -> Region:
        """Return the region of some receptors, by input index, in their order."""
        starts = self.offsets[:-1][indices]
        lengths = self.offsets[1:][indices] - starts
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Region(self.chain, self.locus, self.name, self.codes[places], offsets)


class ReceptorSet(SequenceSet):
    """Receptors: a set whose residues are their CDR3s, with those of two chains side by side.

    Made by `read_receptors` and `receptors_of`.

    Attributes
    ----------
    remark : str
        What is to be said of it: of a table in which nothing tells the loops.
    """

    regions: tuple[Region, ...] = ()
    remark: str = ""

    @cached_property
    def digest(self) -> str:
        """As `SequenceSet.digest`, of all regions."""
        parts = [f"{region.chain}{region.name}".encode() for region in self.regions]
        arrays = (x.data for region in self.regions for x in (region.codes, region.offsets))
        return digest_of(super().digest.encode(), *parts, *arrays)

    def _chosen(self, places: list[int]) -> SequenceSet:
        return _with_regions(super()._chosen(places), self.regions, np.array(places, np.int64))

    def reordered(self, order: npt.NDArray[np.signedinteger[Any]]) -> SequenceSet:
        """As `SequenceSet.reordered`."""
        return _with_regions(super().reordered(order), self.regions, order)

    @property
    def compared(self) -> str:
        """The regions that a chain has, CDR1 first; that no loops are known."""
        names = dict.fromkeys(region.name.upper() for region in self.regions)
        return self.remark or ", ".join(names)


def _with_regions(
    sequences: SequenceSet,
    regions: Iterable[Region],
    indices: npt.NDArray[np.signedinteger[Any]] | None = None,
) -> ReceptorSet:
    receptors = ReceptorSet(whole_records(sequences), alphabet=PROTEIN, source=sequences.source)
    receptors.regions = tuple(
        region if indices is None else region.taken(indices) for region in regions
    )
    return receptors


def receptors_of(sequences: SequenceSet) -> ReceptorSet:
    """Return sequences that are CDR3s as receptors of which nothing else is known.

    Raises
    ------
    AlphabetError
        They are no proteins.
    FastaError
        One is too long.
    """
    if isinstance(sequences, ReceptorSet):
        return sequences
    if sequences.alphabet != PROTEIN:
        raise AlphabetError(
            f"{sequences.source}: {sequences.alphabet.name} sequences, but TCRdist is of proteins "
            f"({spelled('alphabet', 'protein')})"
        )
    region = Region(0, "", CDR3, _CODES[sequences.residues], np.asarray(sequences.offsets))
    return _checked(_with_regions(sequences, [region]))


def _checked(receptors: ReceptorSet) -> ReceptorSet:
    for region in receptors.regions:
        lengths = np.diff(region.offsets)
        for index in np.flatnonzero(lengths > _MOST_RESIDUES)[:1].tolist():
            raise FastaError(
                f"{receptors.source}: {receptors.record(index)} has {lengths[index]:,} residues of "
                f"{region.name.upper()}, more than {_MOST_RESIDUES:,}"
            )
    return receptors


def read_receptors(
    sources: Iterable[Any],
    loci: tuple[str, ...] = (),
    v_genes: Loops | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> ReceptorSet:
    """Read receptors from AIRR tables, or CDR3s alone from other files of sequences.

    Parameters
    ----------
    sources : iterable of str, paths, file objects or DataFrames
    loci : tuple of str
        One, such as ``TRB``; or two, whose chains a cell has: the name of a receptor then is its
        ``cell_id``, after its sample's where a table has several. None: what the tables have,
        which is one.
    v_genes : mapping, optional
        Loops by V gene, see `read_v_genes`; without it those of the columns ``cdr1_aa``,
        ``cdr2_aa`` and ``cdr2.5_aa`` that there are.

    Raises
    ------
    FastaError
        A file cannot be read, or something of a receptor is not known; the message names it.
    """
    parts: list[tuple[list[Chain], str]] = []
    others: list[Source] = []
    for source in sources:
        if is_table(source):
            parts.append((chains_of_table(source), "the table"))
            continue
        data, name = read_data(source, "a file of receptors")
        text = unify_lines(data)
        if is_airr(text):
            parts.append((read_chains(text, name, degap=rules.degap), name))
        else:
            others.append(_Read(data, name))
    if not others:
        loci = loci or _only_locus(parts)
        by_locus = [(of_loci(chains, loci, name), name) for chains, name in parts]
        return _make(by_locus, v_genes, rules)
    sequences = read_set(others, alphabet=PROTEIN, rules=rules)
    for value, option in ((v_genes, "v_genes"), (parts, "also")):
        if value:
            raise FastaError(f"{sequences.source}: {spelled(option)} is for AIRR tables alone")
    return receptors_of(sequences)


class _Read(io.BytesIO):
    """What a file has, under its name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _only_locus(parts: list[tuple[list[Chain], str]]) -> tuple[str, ...]:
    """Return the locus of all chains; FastaError if there are several."""
    loci = sorted({chain.locus for chains, _ in parts for chain in chains})
    if len(loci) > 1:
        some, both = loci[-1], ",".join(loci[-2:])
        raise FastaError(
            f"{parts[0][1]}: chains of {', '.join(locus or 'no locus' for locus in loci)}: choose "
            f"with {spelled('locus', some)}, or two that a cell has ({spelled('locus', both)})"
        )
    return tuple(loci) or ("",)


_Receptor = tuple[Chain, ...]
_Cell = tuple[str, str]
"""Its sample, and what it is called there."""


def _make(
    parts: list[tuple[list[list[Chain]], str]], v_genes: Loops | None, rules: InputRules
) -> ReceptorSet:
    """Make a set of the chains of each locus of some tables."""
    by_number: dict[tuple[str, int], _Receptor] = {}
    files = []
    for by_locus, name in parts:
        are_cells = len(by_locus) > 1
        single: list[_Receptor] = [(chain,) for chain in by_locus[0]]
        receptors = _cells(by_locus, name) if are_cells else single
        if v_genes is not None:
            receptors = _with_loops(receptors, v_genes, name)
        by_number.update({(name, receptor[0].number): receptor for receptor in receptors})
        files.append((records_of_chains([_joined(receptor) for receptor in receptors], name), name))
    records, source = join_files(files)
    records = tidy(records, source, rules, are_proteins=True)
    plain = SequenceSet(records, alphabet=PROTEIN, source=source)
    numbers = (
        (origin.name, number) for origin in plain.origins for number in origin.numbers.tolist()
    )
    chosen = [by_number[number] for number in numbers]
    receptor_set = _checked(_with_regions(plain, _regions(chosen, plain, v_genes)))
    if all(region.name == CDR3 for region in receptor_set.regions):
        receptor_set.remark = f"no loops are known ({spelled('v_genes')}): CDR3 alone"
    return receptor_set


def _with_loops(receptors: list[_Receptor], v_genes: Loops, source: str) -> list[_Receptor]:
    """Leave out receptors of V genes that are not known, with a message."""
    kept = []
    unknown: dict[str, None] = {}
    for receptor in receptors:
        lost = [chain.v_gene for chain in receptor if _loops_of_gene(chain, v_genes) is None]
        unknown.update(dict.fromkeys(lost))
        if not lost:
            kept.append(receptor)
    genes = ", ".join(shown_name(gene) if gene else "none" for gene in [*unknown][:_MOST_SHOWN])
    if unknown and not kept:
        raise FastaError(f"{source}: {spelled('v_genes')} has none of its V genes, such as {genes}")
    if unknown:
        log.warning(
            "%s: %s receptors left out, whose V genes %s has not: %s%s",
            source,
            f"{len(receptors) - len(kept):,}",
            spelled("v_genes"),
            genes,
            " and others" * (len(unknown) > _MOST_SHOWN),
        )
    return kept


def _loops_of_gene(chain: Chain, v_genes: Loops) -> Mapping[str, str] | None:
    gene = gene_of(chain.v_gene)
    return v_genes.get(gene) or v_genes.get(f"{gene}*01")


def _joined(receptor: _Receptor) -> Chain:
    """Return a receptor as one chain; a chain without residues leaves it without."""
    first = receptor[0]
    if len(receptor) == 1:
        return first
    junctions = [chain.junction for chain in receptor]
    whole = b"".join(junctions) if all(junctions) else b""
    return replace(first, name=first.cell, junction=whole)


def _cells(by_locus: list[list[Chain]], source: str) -> list[_Receptor]:
    """Put the chains of each cell together; of several with residues the one seen most."""
    best: list[dict[_Cell, Chain]] = []
    more = 0
    for chains in by_locus:
        of_cell: dict[_Cell, Chain] = {}
        for chain in chains:
            if not chain.cell:
                raise FastaError(
                    f"{source}: record {chain.number} {shown_name(chain.name)} has no cell_id"
                )
            cell = chain.sample, chain.cell
            more += cell in of_cell
            before = of_cell.setdefault(cell, chain)
            if (bool(chain.junction), chain.seen) > (bool(before.junction), before.seen):
                of_cell[cell] = chain
        best.append(of_cell)
    cells = list(
        dict.fromkeys((chain.sample, chain.cell) for chains in by_locus for chain in chains)
    )
    lone = [cell for cell in cells if not all(cell in of for of in best)]
    receptors = [tuple(of[cell] for of in best) for cell in cells if all(cell in of for of in best)]
    if more:
        log.info("%s: %s further chains of cells left out, seen less or empty", source, f"{more:,}")
    if lone:
        left = f"{len(lone):,} cells (the first is {shown_name(lone[0][1])})"
        log.info("%s: %s without one of the two chains left out", source, left)
    if not receptors:
        raise FastaError(f"{source}: no cell has both chains")
    if len({sample for sample, _ in cells}) == 1:
        return receptors
    return [tuple(_named_by_sample(chain) for chain in receptor) for receptor in receptors]


def _named_by_sample(chain: Chain) -> Chain:
    return replace(chain, cell=f"{chain.sample}_{chain.cell}".removeprefix("_"))


def _regions(
    receptors: list[_Receptor], sequences: SequenceSet, v_genes: Loops | None
) -> Iterable[Region]:
    for place in range(len(receptors[0])):
        chains = [receptor[place] for receptor in receptors]
        if v_genes is None:
            loops = _loops_of_columns(chains, sequences)
        else:
            gene_loops = [_loops_of_gene(chain, v_genes) or {} for chain in chains]
            loops = {
                name: [by_name[name] for by_name in gene_loops]
                for name in next(iter(v_genes.values()))
            }
        for name, texts in loops.items():
            yield _region((place, chains[0].locus, name), [text.encode() for text in texts])
        yield _region((place, chains[0].locus, CDR3), [chain.junction for chain in chains])


def _region(what: tuple[int, str, str], texts: list[bytes]) -> Region:
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
    return Region(*what, _CODES[np.frombuffer(b"".join(texts), np.uint8)], offsets)


def _loops_of_columns(chains: list[Chain], sequences: SequenceSet) -> dict[str, list[str]]:
    """Return the loops that some chains have in columns; then all must have them."""
    loops = {}
    for name in LOOPS:
        texts = [chain.loops.get(name, "") for chain in chains]
        if not any(texts):
            continue
        for index, text in enumerate(texts):
            if not text:
                raise FastaError(f"{sequences.source}: {sequences.record(index)} has no {name}_aa")
        loops[name] = texts
    return loops


def checked_v_genes(genes: object) -> Loops:
    """Return a mapping of V genes, with the loops of each in the order of `LOOPS`.

    Raises
    ------
    FastaError
        It is none, or a gene has no loop, other loops than the first one, or one that is no text.
    """
    what, choices = spelled("v_genes"), f"some of {', '.join(LOOPS)}"
    if not isinstance(genes, Mapping) or not genes:
        raise FastaError(f"{what} of type {type(genes).__name__}: expected a path, or V genes")
    v_genes: dict[str, dict[str, str]] = {}
    for gene, loops in genes.items():
        names = [loop for loop in LOOPS if isinstance(loops, Mapping) and loop in loops]
        if not names or len(names) < len(loops):
            raise FastaError(f"{what}: {gene} has {loops!r}, expected {choices}")
        if not all(isinstance(loops[loop], str) and loops[loop] for loop in names):
            raise FastaError(f"{what}: {gene} has {loops!r}, expected a text of each loop")
        v_genes[gene] = {loop: loops[loop] for loop in names}
        first = next(iter(v_genes.items()))
        if names != [*first[1]]:
            raise FastaError(f"{what}: {gene} has {', '.join(names)}, {first[0]} has others")
    return v_genes


def read_v_genes(source: Source) -> Loops:
    """Read the loops of V genes: a table with tabs, ``gene``, ``cdr1``, ``cdr2`` and ``cdr2.5``.

    Raises
    ------
    FastaError
        It is no such table, has a gene twice, or a gene without a loop; the message names the line.
    """
    data, name = read_data(source, "a table of V genes")
    text = as_tsv(unify_lines(data), name, quotes=False)
    lines = text.decode("utf-8", "replace").split("\n")
    titles = [title.strip().lower() for title in lines[0].split("\t")]
    titles = [
        _LOOP_NAMES.get(title.removesuffix("_aa"), title.removesuffix("_aa")) for title in titles
    ]
    columns = {loop: titles.index(loop) for loop in LOOPS if loop in titles}
    if not columns or "gene" not in titles or len(set(titles)) < len(titles):
        raise FastaError(f"{name}: expected the columns gene, {', '.join(LOOPS)}, tabs between")
    place, v_genes = titles.index("gene"), dict[str, dict[str, str]]()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        words = map(str.strip, line.split("\t"))
        fields = ["" if word.lower() in MISSING else word for word in words]
        loops = {loop: fields[at] for loop, at in columns.items() if at < len(fields)}
        gene = fields[place] if place < len(fields) else ""
        if not gene or len(loops) < len(columns) or not all(loops.values()):
            raise FastaError(f"{name}: line {number}: expected {', '.join(titles)}")
        if v_genes.setdefault(gene, loops) != loops:
            raise FastaError(f"{name}: line {number}: {gene} again, with other loops")
    if not v_genes:
        raise FastaError(f"{name}: no V gene")
    return v_genes
