"""How sequences are read: a group of options of every request that has sequences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pairalign.base.arguments import IN_FILE, LOCUS, parse_locus
from pairalign.base.choices import NAMES, ON_DUPLICATE, ON_EMPTY
from pairalign.base.declaration import Request, check, choice, flag, option, request

if TYPE_CHECKING:
    from pairalign.sequences.alphabets import Alphabet
    from pairalign.sequences.fasta_records import Source

AUTO = "auto"


@request
class InputRules(Request):
    """What is done about what is unusual in an input.

    Attributes
    ----------
    qualities : bool
        Keep the qualities of FASTQ.
    """

    alphabet: Alphabet | str | None = choice(
        (AUTO, "dna", "protein"),
        "default: guessed",
        about="of the sequences; default: that of the scoring, or guessed",
        decides=False,
    )
    degap: bool = flag("drop - and . from the sequences (of alignments)", decides=False)
    also: tuple[Source, ...] = option(
        help="another file of the same set, whose sequences follow; may be given again",
        about="other files of the same set, whose sequences follow",
        metavar="FILE",
        kind=IN_FILE,
        is_several=True,
        decides=False,
    )
    on_empty: str = choice(
        ON_EMPTY, "skip: no records without residues (default: error)", decides=False
    )
    on_duplicate: str = choice(
        ON_DUPLICATE,
        "rename: NAME_2 of a second NAME; drop: no equal records",
        decides=False,
    )
    names: str = choice(NAMES, "whole: whole headers, with _ for blanks", decides=False)
    locus: str | None = option(
        help="of AIRR tables: chains of this locus, such as TRB",
        metavar="LOCUS",
        kind=LOCUS,
        decides=False,
    )
    qualities: bool = False

    @property
    def known_alphabet(self) -> Alphabet | str | None:
        """The alphabet; None: that of the scoring, or guessed."""
        return None if self.alphabet == AUTO else self.alphabet

    @property
    def loci(self) -> tuple[str, ...]:
        """The loci of the chains of AIRR tables that are read; none: all."""
        return () if self.locus is None else tuple(self.locus.split(","))


def checked_rules(**options: Any) -> InputRules:
    """Return the rules that a function is given, with loci as AIRR tables have them.

    Raises
    ------
    UsageError
        There is no such choice, or no such locus.
    """
    rules = InputRules(**options)
    check(rules)
    return rules if rules.locus is None else replace(rules, locus=parse_locus(rules.locus))


DEFAULT_RULES = InputRules(qualities=True)
