"""SAM: one record a pair, for samtools, pysam and genome browsers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, UInt8s
from pairalign.base.error_types import FormatError
from pairalign.formats.names import NameRule
from pairalign.formats.output import Output
from pairalign.formats.text import SetText
from pairalign.formats.writer import PLAIN_CIGAR, Amender, Content, PairLines, TextWriter
from pairalign.pairs.want import Detail
from pairalign.sequences.block_set import slices, whole_of
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import statements

_SAYS = (
    "SAM names are up to 254 characters of printable ASCII without '@' or, for targets, brackets, "
    "quotes, commas and the like"
)
_QUERY = NameRule(r"[!-?A-~]{1,254}\Z", _SAYS)
_TARGET = NameRule(r"[0-9A-Za-z!#$%&+./:;?@^_|~-][0-9A-Za-z!#$%&*+./:;=?@^_|~-]*\Z", _SAYS)

_FLAG = re.compile(rb"^([^\t\n]+)\t(\d+)\t", re.MULTILINE)
_SECONDARY = 256

_T_FOR_U = np.arange(256, dtype=np.uint8)
_T_FOR_U[[ord("U"), ord("u")]] = [ord("T"), ord("t")]


class SamWriter(TextWriter):
    """SAM 1.6.

    ``@SQ`` lines are the targets in the order of the input, all of them but empty ones. A record a
    pair: the query's residues, clipped softly outside the alignment; mapping quality 255 (not
    computed); CIGAR with ``=`` and ``X``; ``NM:i:`` mismatches and gap columns; ``AS:i:`` score
    (``AS:f:`` where costs or matrix have decimals). The first record of a query in the file is its
    primary one, the others are secondary (flag 256), whatever their scores. On strand ``-`` (flag
    16) residues, clipping and CIGAR are those of the query's other strand, as the CIGAR runs along
    the target. Pairs without an aligned pair of residues are left out. ``DS`` of ``@PG`` names
    the scoring and, where bits and E-values of its scores are known, lambda, K and the search
    space: Biopython reads no file with ``@CO`` lines. ``MD:Z:`` is written if it is wanted.
    Qualities are those of the queries' FASTQ, as it has them, in the order of the residues; ``*``
    where they are not known.

    htslib knows the residues of DNA alone: samtools and pysam show those of proteins as N, and keep
    all else. The file itself has all residues. U of DNA is written as T, as minimap2 does.

    Raises
    ------
    FormatError
        By the constructor, if a name, a residue or a quality cannot stand in a SAM file.
    """

    name = "sam"
    lines = PairLines(names=(0, 2), comment=b"@")
    suffixes = (".sam",)
    needs = Detail.CIGAR
    either_strand = True
    of_block = True
    name_rules = (_QUERY, _TARGET)
    shows_qualities = True
    known_tags = ("MD", "pp", PLAIN_CIGAR)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        is_first = content.piece.first  # which looks at all, and the others at those of a block
        sets = [
            whole_of(sequences) if is_first else sequences
            for sequences in (content.queries, content.targets)
        ]
        _check_residues(sets[0])
        self._seen = np.zeros(len(content.queries), np.bool_)
        super().__init__(output, content, threads)
        if is_first:
            for lines in self._rest_of_header(sets[1]):
                self._output.write(lines.encode())

    def set_text(self, sequences: SequenceSet, residues: bool, titles: bool) -> SetText:
        """Return what native code writes of a set: T for U of DNA, qualities of queries."""
        counts = sequences.byte_counts
        is_rna = sequences.alphabet.name == "dna" and bool(counts[ord("U")] + counts[ord("u")])
        shown_as = _T_FOR_U if is_rna else None
        qualities = sequences.qualities if sequences is self._content.queries else None
        if qualities is not None:
            _check_qualities(sequences, qualities)
        return SetText(sequences, residues=residues, shown_as=shown_as, qualities=qualities)

    def header(self) -> bytes:
        """Return the line that names the version."""
        return b"@HD\tVN:1.6\tSO:unsorted\n"

    def _rest_of_header(self, targets: SequenceSet) -> Iterator[str]:
        """Yield all targets, some at a time; program, how it was made."""
        from pairalign.base.version import __version__

        for some in slices(targets):
            pairs = zip(targets.names_at(some), targets.lengths_at(some).tolist(), strict=True)
            yield "".join(f"@SQ\tSN:{name}\tLN:{length}\n" for name, length in pairs if length)
        said = " | ".join(statements(self._content.scoring, self._content.significance))
        yield f"@PG\tID:pairalign\tPN:pairalign\tVN:{__version__}\tDS:{said}\n"

    def secondary(self, alignments: Alignments) -> Bools:
        """Which pairs are not the first of their query."""
        shown = np.flatnonzero(alignments.field("matches") + alignments.field("mismatches"))
        inside = (alignments.query >= 0) & (alignments.query < len(self._seen))
        shown = shown[inside[shown]]  # native code refuses the others
        queries, first = np.unique(alignments.query[shown], return_index=True)
        new = ~self._seen[queries]
        self._seen[queries] = True
        secondary = np.ones(len(alignments), np.bool_)
        secondary[shown[first[new]]] = False
        return secondary

    @classmethod
    def amender(cls) -> Amender:
        """Return what makes the first record of each query primary and the others secondary."""
        seen: set[bytes] = set()

        def with_flag(match: re.Match[bytes]) -> bytes:
            flag = int(match[2]) & ~_SECONDARY
            if match[1] in seen:
                flag |= _SECONDARY
            seen.add(match[1])
            return b"%s\t%d\t" % (match[1], flag)

        return partial(_FLAG.sub, with_flag)


def _check_qualities(sequences: SequenceSet, qualities: UInt8s) -> None:
    """Raise FormatError for a quality that is no printable character."""
    wrong = np.flatnonzero((qualities < ord("!")) | (qualities > ord("~")))
    if len(wrong):
        index, place = sequences.locate(int(wrong[0]))
        raise FormatError(
            f"{sequences.source}: {sequences.record(index)}: the quality of base {place + 1} is "
            "none that a SAM file can hold, expected characters from ! to ~; write PAF"
        )


def _check_residues(sequences: SequenceSet) -> None:
    if not sequences.byte_counts[ord("*")]:
        return
    places = np.flatnonzero(sequences.residues == ord("*"))
    if len(places):  # else those of a set that this is a block of
        index, place = sequences.locate(int(places[0]))
        raise FormatError(
            f"{sequences.source}: {sequences.record(index)}: '*' at position {place + 1} cannot "
            "stand in a SAM file; remove it, or write PAF"
        )
