"""Names that a format can hold: one that its readers would take for something else is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pairalign.base.arrays import has_none
from pairalign.base.error_types import FormatError
from pairalign.sequences.block_set import slices
from pairalign.sequences.sets import SequenceSet


@dataclass(frozen=True)
class NameRule:
    """Which names a format can hold.

    Attributes
    ----------
    allowed : str
        A regular expression that names match from their first character on.
    says : str
        The rule, for the message.
    suspects : str
        Names without these characters of ASCII, and with no other than ASCII, are allowed; empty:
        there are none such.
    """

    allowed: str
    says: str
    suspects: str = ""

    def check(self, sequences: SequenceSet) -> None:
        """Raise FormatError for a name that is not allowed."""
        is_allowed = re.compile(self.allowed).match
        for some in slices(sequences):
            names = sequences.names_at(some)
            if self.suspects and "".join(names).isascii() and has_none(names, self.suspects):
                continue
            for index, name in zip(some.tolist(), names, strict=True):
                if not is_allowed(name):
                    raise FormatError(
                        f"{sequences.source}: {sequences.record(index)}: {self.says}; rename it, "
                        "or write another format"
                    )


FASTA = NameRule(
    r"[\S \t\v\f]+\Z",
    "readers of FASTA end names at Unicode's blanks",
    "\x1c\x1d\x1e\x1f",
)
NO_COMMENT = NameRule(r"(?!#)", "a line that begins with '#' is a comment", "#")
STOCKHOLM = NameRule(
    r"(?!#|//)\S+\Z",
    "a row of Stockholm cannot begin with '#' or '//', and readers end names at Unicode's blanks",
    "#/",
)
TC_LIB = NameRule(
    r"(?![#!])[^();:,]{1,150}\Z",
    "T-Coffee ends at names that begin with '#' or '!', have one of '();:,' or more than 150 "
    "characters",
)
MAF = NameRule(
    r"\S+\Z", "names of MAF are without Unicode's blanks, where readers end them", "\x7f"
)
SRSPAIR = NameRule(
    r"(?!#)\S+\Z",
    "names of srspair do not begin with '#', and are without Unicode's blanks, where readers end "
    "them",
    "#",
)
CLUSTAL = NameRule(
    r"\S{1,255}\Z",
    "names of Clustal have up to 255 characters, since each line has one, and are without "
    "Unicode's blanks, where readers end them",
)
