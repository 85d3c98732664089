"""Options of other programs, and those of old, and what they are here: for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pairalign.base.declaration import Option

if TYPE_CHECKING:
    import argparse

_FIRST, _SECOND = "IN, a name without an option", "IN2 of pairalign align IN IN2"
_NO_USE = "of no use: every pair is aligned"
_OPEN = "--gap-open, plus the extension,"
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
"""An option in a text."""

_BLAST = {
    **dict.fromkeys(["-query", "--query", "-asequence", "-in", "-align"], (_FIRST,)),
    **dict.fromkeys(["-subject", "-db", "--db", "-bsequence"], (_SECOND,)),
    **dict.fromkeys(["-out", "--out", "-output", "-outfile"], ("-o",)),
    **dict.fromkeys(["-outfmt", "--outfmt", "-f"], ("--format blast6", "--format")),
    "-qcov_hsp_perc": ("--min-coverage X --coverage-of query",),
    **dict.fromkeys(["-gapopen", "--gapopen", "--gap_open", "-O"], (_OPEN,)),
    **dict.fromkeys(["-word_size", "-task", "-n", "-w", "--maxrejects"], (_NO_USE,)),
    "-seg": ("--mask seg",),
    "-dust": ("--mask tantan",),
}
"""And EMBOSS, DIAMOND, MUSCLE, where they have a word of their own for the same."""

_CLUSTERING = {
    **dict.fromkeys(
        ["--cluster_fast", "-cluster_fast", "--cluster_smallmem", "--cluster_size"],
        (_FIRST, "pairalign cluster IN"),
    ),
    "--allpairs_global": ("pairalign align IN",),
    "--usearch_global": ("pairalign align IN IN2 --max-hits K",),
    "--uc": ("-o OUT.uc",),
    "--blast6out": ("-o OUT.b6",),
    "--samout": ("-o OUT.sam",),
    "--alnout": ("-o OUT.srspair",),
    "--fastapairs": ("-o OUT.fasta",),
    "--otutabout": ("-o OUT.otutab",),
    "--biomout": ("-o OUT.biom",),
    **dict.fromkeys(["--query_cov", "--query-cover"], ("--min-coverage X --coverage-of query",)),
    **dict.fromkeys(
        ["--target_cov", "--subject-cover"], ("--min-coverage X --coverage-of target",)
    ),
    "-c": ("--min-identity (CD-HIT) or --min-coverage (MMseqs2)", "--min-identity"),
    "-i": (_FIRST,),
    "-aS": ("--min-coverage X --coverage-of shorter",),
    **dict.fromkeys(["-g", "--sensitive", "--very-sensitive", "--ultra-sensitive"], (_NO_USE,)),
}
"""Of vsearch, MMseqs2, CD-HIT, DIAMOND."""

_OTHERS = {
    "-x": ("--preset", "pairalign overlap --preset"),
    "-a": ("--format sam",),
    "-X": ("of no use: each pair is aligned once",),
    "--cs": ("--paf-tags cs",),
    "--MD": ("--sam-tags MD",),
    "--eqx": ("of no use: CIGARs have = and X",),
    **dict.fromkeys(
        ["--auto", "--globalpair", "--localpair", "--genafpair", "--maxiterate"],
        ("of no use: the command chooses",),
    ),
    "--clustalout": ("-o OUT.aln",),
    "--reorder": ("--order tree",),
    "--inputorder": ("--order input",),
}
"""Of minimap2, MAFFT, Clustal Omega."""

FOREIGN = {**_BLAST, **_CLUSTERING, **_OTHERS}
"""What an option of another program is here: the first whose options a command has."""


def name_here(option: str, known: Mapping[str, Any]) -> str:
    """Return what to say of an option of another program; empty: nothing.

    Parameters
    ----------
    known : mapping of str to argparse.Action
        Options of the command, as they are written.
    """
    same = (name for name, action in known.items() if option in elsewhere(action))
    for ours in (*(name for name in same if name.startswith("--")), *FOREIGN.get(option, ())):
        if ours.startswith("pairalign ") or all(name in known for name in OPTION.findall(ours)):
            return f"; here {option} is {ours}"
    return ""


def elsewhere(action: argparse.Action) -> tuple[str, ...]:
    """Return what other programs call an option, where its declaration says so."""
    declared: Option | None = getattr(action, "declared", None)
    return () if declared is None else declared.elsewhere


_OPTIONS = {"--best": "--max-hits N --rank identity"}
"""By their old names: those that are several options now; of others, their declaration says it."""

VALUES = {"identity-definite": "identity-unambiguous"}
"""Values that options had, and what they are called now."""


def new_names(words: Iterable[str], known: Mapping[str, Any]) -> dict[str, str]:
    """Return the new names of options whose old names are among the words of a message.

    Parameters
    ----------
    known : mapping of str to argparse.Action
        Options of the command, as they are written.
    """
    declared = (getattr(action, "declared", None) for action in known.values())
    now = dict(_OPTIONS)
    for option in declared:
        if option is not None and option.formerly is not None:
            now[option.formerly] = f"{option.flag} {(option.metavar or '').partition('|')[0]}"
    return {old: now[old] for old in (word.partition("=")[0] for word in words) if old in now}
