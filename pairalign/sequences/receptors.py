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

from pairalign.base.arrays import Int64s
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
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.set_reading import read_set
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.tidying import join_files, tidy

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
    codes: npt.NDArray[np.uint8]
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
    regions : tuple of Region
    remark : str
        What is to be said of it: of a table in which nothing tells the loops.
    """

    regions: tuple[Region, ...] = ()
    remark: str = ""

    @cached_property
    def digest(self) -> str:
        """As `SequenceSet.digest`, of all regions."""
        parts = [f"{one.chain}{one.name}".encode() for one in self.regions]
        arrays = (x.data for one in self.regions for x in (one.codes, one.offsets))
        return digest_of(super().digest.encode(), *parts, *arrays)

    def _chosen(self, places: list[int]) -> SequenceSet:
        return _with_regions(super()._chosen(places), self.regions, np.array(places, np.int64))

    def reordered(self, order: npt.NDArray[np.int32]) -> SequenceSet:
        """As `SequenceSet.reordered`."""
        return _with_regions(super().reordered(order), self.regions, order)

    @property
    def summary(self) -> str:
        """The regions that a chain has, CDR1 first; that no loops are known."""
        names = dict.fromkeys(one.name.upper() for one in self.regions)
        return self.remark or ", ".join(names)


def _with_regions(
    made: SequenceSet,
    regions: Iterable[Region],
    indices: npt.NDArray[np.signedinteger[Any]] | None = None,
) -> ReceptorSet:
    records = Records(
        made.names, made.descriptions, made.residues.tobytes(), made.offsets, made.origins
    )
    found = ReceptorSet(records, alphabet=PROTEIN, source=made.source)
    found.regions = tuple(one if indices is None else one.taken(indices) for one in regions)
    return found


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
    rules : InputRules

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
        by_locus = [(of_loci(found, loci, name), name) for found, name in parts]
        return _make(by_locus, v_genes, rules)
    made = read_set(others, alphabet=PROTEIN, rules=rules)
    for given, option in ((v_genes, "v_genes"), (parts, "also")):
        if given:
            raise FastaError(f"{made.source}: {spelled(option)} is for AIRR tables alone")
    return receptors_of(made)


class _Read(io.BytesIO):
    """What a file has, under its name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _only_locus(parts: list[tuple[list[Chain], str]]) -> tuple[str, ...]:
    """Return the locus of all chains; FastaError if there are several."""
    found = sorted({one.locus for chains, _ in parts for one in chains})
    if len(found) > 1:
        some, both = found[-1], ",".join(found[-2:])
        raise FastaError(
            f"{parts[0][1]}: chains of {', '.join(one or 'no locus' for one in found)}: choose "
            f"with {spelled('locus', some)}, or two that a cell has ({spelled('locus', both)})"
        )
    return tuple(found) or ("",)


_Receptor = tuple[Chain, ...]
_Cell = tuple[str, str]
"""Its sample, and what it is called there."""


def _make(
    parts: list[tuple[list[list[Chain]], str]], v_genes: Loops | None, rules: InputRules
) -> ReceptorSet:
    """Make a set of the chains of each locus of some tables."""
    known: dict[tuple[str, int], _Receptor] = {}
    files = []
    for by_locus, name in parts:
        are_cells = len(by_locus) > 1
        single: list[_Receptor] = [(one,) for one in by_locus[0]]
        receptors = _cells(by_locus, name) if are_cells else single
        if v_genes is not None:
            receptors = _with_loops(receptors, v_genes, name)
        known.update({(name, one[0].number): one for one in receptors})
        files.append((records_of_chains([_joined(one) for one in receptors], name), name))
    records, source = join_files(files)
    records = tidy(records, source, rules, are_proteins=True)
    plain = SequenceSet(records, alphabet=PROTEIN, source=source)
    numbers = ((one.name, number) for one in plain.origins for number in one.numbers.tolist())
    chosen = [known[number] for number in numbers]
    made = _checked(_with_regions(plain, _regions(chosen, plain, v_genes)))
    if all(one.name == CDR3 for one in made.regions):
        made.remark = f"no loops are known ({spelled('v_genes')}): CDR3 alone"
    return made


def _with_loops(receptors: list[_Receptor], v_genes: Loops, source: str) -> list[_Receptor]:
    """Leave out receptors of V genes that are not known, with a message."""
    found = []
    unknown: dict[str, None] = {}
    for receptor in receptors:
        lost = [one.v_gene for one in receptor if _loops_of_gene(one, v_genes) is None]
        unknown.update(dict.fromkeys(lost))
        if not lost:
            found.append(receptor)
    genes = ", ".join(shown_name(one) if one else "none" for one in [*unknown][:_MOST_SHOWN])
    if unknown and not found:
        raise FastaError(f"{source}: {spelled('v_genes')} has none of its V genes, such as {genes}")
    if unknown:
        log.warning(
            "%s: %s receptors left out, whose V genes %s has not: %s%s",
            source,
            f"{len(receptors) - len(found):,}",
            spelled("v_genes"),
            genes,
            " and others" * (len(unknown) > _MOST_SHOWN),
        )
    return found


def _loops_of_gene(chain: Chain, v_genes: Loops) -> Mapping[str, str] | None:
    gene = gene_of(chain.v_gene)
    return v_genes.get(gene) or v_genes.get(f"{gene}*01")


def _joined(receptor: _Receptor) -> Chain:
    """Return a receptor as one chain; a chain without residues leaves it without."""
    first = receptor[0]
    if len(receptor) == 1:
        return first
    junctions = [one.junction for one in receptor]
    whole = b"".join(junctions) if all(junctions) else b""
    return replace(first, name=first.cell, junction=whole)


def _cells(by_locus: list[list[Chain]], source: str) -> list[_Receptor]:
    """Put the chains of each cell together; of several with residues the one seen most."""
    best: list[dict[_Cell, Chain]] = []
    more = 0
    for chains in by_locus:
        of_cell: dict[_Cell, Chain] = {}
        for one in chains:
            if not one.cell:
                raise FastaError(
                    f"{source}: record {one.number} {shown_name(one.name)} has no cell_id"
                )
            cell = one.sample, one.cell
            more += cell in of_cell
            before = of_cell.setdefault(cell, one)
            if (bool(one.junction), one.seen) > (bool(before.junction), before.seen):
                of_cell[cell] = one
        best.append(of_cell)
    cells = list(dict.fromkeys((one.sample, one.cell) for chains in by_locus for one in chains))
    lone = [cell for cell in cells if not all(cell in of for of in best)]
    found = [tuple(of[cell] for of in best) for cell in cells if all(cell in of for of in best)]
    if more:
        log.info("%s: %s further chains of cells left out, seen less or empty", source, f"{more:,}")
    if lone:
        left = f"{len(lone):,} cells (the first is {shown_name(lone[0][1])})"
        log.info("%s: %s without one of the two chains left out", source, left)
    if not found:
        raise FastaError(f"{source}: no cell has both chains")
    if len({sample for sample, _ in cells}) == 1:
        return found
    return [tuple(_named_by_sample(one) for one in receptor) for receptor in found]


def _named_by_sample(chain: Chain) -> Chain:
    return replace(chain, cell=f"{chain.sample}_{chain.cell}".removeprefix("_"))


def _regions(
    receptors: list[_Receptor], made: SequenceSet, v_genes: Loops | None
) -> Iterable[Region]:
    for place in range(len(receptors[0])):
        chains = [one[place] for one in receptors]
        if v_genes is None:
            loops = _loops_of_columns(chains, made)
        else:
            found = [_loops_of_gene(one, v_genes) or {} for one in chains]
            loops = {name: [one[name] for one in found] for name in next(iter(v_genes.values()))}
        for name, texts in loops.items():
            yield _region((place, chains[0].locus, name), [text.encode() for text in texts])
        yield _region((place, chains[0].locus, CDR3), [one.junction for one in chains])


def _region(what: tuple[int, str, str], texts: list[bytes]) -> Region:
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
    return Region(*what, _CODES[np.frombuffer(b"".join(texts), np.uint8)], offsets)


def _loops_of_columns(chains: list[Chain], made: SequenceSet) -> dict[str, list[str]]:
    """Return the loops that some chains have in columns; then all must have them."""
    found = {}
    for name in LOOPS:
        texts = [one.loops.get(name, "") for one in chains]
        if not any(texts):
            continue
        for index, text in enumerate(texts):
            if not text:
                raise FastaError(f"{made.source}: {made.record(index)} has no {name}_aa")
        found[name] = texts
    return found


def checked_v_genes(given: Any) -> Loops:
    """Return a mapping of V genes, with the loops of each in the order of `LOOPS`.

    Raises
    ------
    FastaError
        It is none, or a gene has no loop, other loops than the first one, or one that is no text.
    """
    what, known = spelled("v_genes"), f"some of {', '.join(LOOPS)}"
    if not isinstance(given, Mapping) or not given:
        raise FastaError(f"{what} of type {type(given).__name__}: expected a path, or V genes")
    found: dict[str, dict[str, str]] = {}
    for gene, loops in given.items():
        names = [one for one in LOOPS if isinstance(loops, Mapping) and one in loops]
        if not names or len(names) < len(loops):
            raise FastaError(f"{what}: {gene} has {loops!r}, expected {known}")
        if not all(isinstance(loops[one], str) and loops[one] for one in names):
            raise FastaError(f"{what}: {gene} has {loops!r}, expected a text of each loop")
        found[gene] = {one: loops[one] for one in names}
        first = next(iter(found.items()))
        if names != [*first[1]]:
            raise FastaError(f"{what}: {gene} has {', '.join(names)}, {first[0]} has others")
    return found


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
    titles = [one.strip().lower() for one in lines[0].split("\t")]
    titles = [_LOOP_NAMES.get(one.removesuffix("_aa"), one.removesuffix("_aa")) for one in titles]
    columns = {one: titles.index(one) for one in LOOPS if one in titles}
    if not columns or "gene" not in titles or len(set(titles)) < len(titles):
        raise FastaError(f"{name}: expected the columns gene, {', '.join(LOOPS)}, tabs between")
    place, found = titles.index("gene"), dict[str, dict[str, str]]()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        words = map(str.strip, line.split("\t"))
        fields = ["" if one.lower() in MISSING else one for one in words]
        loops = {one: fields[at] for one, at in columns.items() if at < len(fields)}
        gene = fields[place] if place < len(fields) else ""
        if not gene or len(loops) < len(columns) or not all(loops.values()):
            raise FastaError(f"{name}: line {number}: expected {', '.join(titles)}")
        if found.setdefault(gene, loops) != loops:
            raise FastaError(f"{name}: line {number}: {gene} again, with other loops")
    if not found:
        raise FastaError(f"{name}: no V gene")
    return found
