"""Options of other programs and what they are here, for messages about unknown ones."""

from __future__ import annotations

import re
from collections.abc import Container

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
    **dict.fromkeys(["-evalue", "--evalue", "-e"], ("--max-evalue",)),
    **dict.fromkeys(["-num_threads", "-threads", "--thread", "-T", "-p"], ("--threads",)),
    "-max_target_seqs": ("--max-hits",),
    "-max_hsps": ("--hsps",),
    "-perc_identity": ("--min-identity",),
    "-qcov_hsp_perc": ("--min-coverage X --coverage-of query",),
    **dict.fromkeys(["-gapopen", "--gapopen", "--gap_open", "-O"], (_OPEN,)),
    **dict.fromkeys(["-gapextend", "--gapextend", "--gapext", "-E"], ("--gap-extend",)),
    **dict.fromkeys(["-matrix", "-datafile", "--sub-mat"], ("--matrix",)),
    **dict.fromkeys(["-reward", "-A"], ("--match",)),
    **dict.fromkeys(["-penalty", "-B"], ("--mismatch",)),
    **dict.fromkeys(["-word_size", "-task", "-n", "-w", "--maxrejects"], (_NO_USE,)),
    "-strand": ("--strand",),
    "-seg": ("--mask seg",),
    "-dust": ("--mask tantan",),
    "-dbsize": ("--db-size",),
    "-searchsp": ("--search-space",),
    "-comp_based_stats": ("--comp-based-stats",),
}
"""And EMBOSS, DIAMOND, MUSCLE, where they have a word of their own for the same."""

_CLUSTERING = {
    **dict.fromkeys(["--id", "-id", "--min-seq-id", "--approx-id"], ("--min-identity",)),
    **dict.fromkeys(["--iddef", "-iddef", "--seq-id-mode"], ("--identity-of",)),
    **dict.fromkeys(
        ["--cluster_fast", "-cluster_fast", "--cluster_smallmem", "--cluster_size"],
        (_FIRST, "pairalign cluster IN"),
    ),
    "--allpairs_global": ("pairalign align IN",),
    "--usearch_global": ("pairalign align IN IN2 --max-hits K",),
    "--uc": ("-o OUT.uc",),
    **dict.fromkeys(["--centroids", "-centroids"], ("--representatives",)),
    "--blast6out": ("-o OUT.b6",),
    "--samout": ("-o OUT.sam",),
    "--alnout": ("-o OUT.srspair",),
    "--fastapairs": ("-o OUT.fasta",),
    "--otutabout": ("-o OUT.otutab",),
    "--biomout": ("-o OUT.biom",),
    **dict.fromkeys(["--userfields", "--format-output"], ("--columns",)),
    **dict.fromkeys(["--query_cov", "--query-cover"], ("--min-coverage X --coverage-of query",)),
    **dict.fromkeys(
        ["--target_cov", "--subject-cover"], ("--min-coverage X --coverage-of target",)
    ),
    **dict.fromkeys(["--maxaccepts", "--max-seqs", "--max-target-seqs"], ("--max-hits",)),
    "--cov-mode": ("--coverage-of",),
    "--cluster-mode": ("--linkage",),
    "--format-mode": ("--format",),
    "-c": ("--min-identity (CD-HIT) or --min-coverage (MMseqs2)", "--min-identity"),
    "-i": (_FIRST,),
    "-M": ("--memory",),
    "-aS": ("--min-coverage X --coverage-of shorter",),
    "-G": ("--mode",),
    **dict.fromkeys(["-g", "--sensitive", "--very-sensitive", "--ultra-sensitive"], (_NO_USE,)),
}
"""Of vsearch, MMseqs2, CD-HIT, DIAMOND."""

_OTHERS = {
    "-x": ("--preset", "pairalign overlap --preset"),
    "-a": ("--format sam",),
    "-N": ("--max-hits",),
    "-X": ("of no use: each pair is aligned once",),
    "--cs": ("--paf-tags cs",),
    "--MD": ("--sam-tags MD",),
    "--eqx": ("of no use: CIGARs have = and X",),
    **dict.fromkeys(
        ["--auto", "--globalpair", "--localpair", "--genafpair", "--maxiterate"],
        ("of no use: the command chooses",),
    ),
    **dict.fromkeys(["--treein", "--guidetree-in"], ("--tree-in",)),
    **dict.fromkeys(["--treeout", "--guidetree-out"], ("--tree-out",)),
    "--clustalout": ("-o OUT.aln",),
    "--reorder": ("--order tree",),
    "--inputorder": ("--order input",),
    **dict.fromkeys(["--addfragments", "--addfull"], ("--add",)),
}
"""Of minimap2, MAFFT, Clustal Omega."""

FOREIGN = {**_BLAST, **_CLUSTERING, **_OTHERS}
"""What an option of another program is here: the first whose options a command has."""


def name_here(option: str, known: Container[str]) -> str:
    """Return what to say of an option of another program; empty: nothing.

    Parameters
    ----------
    option : str
    known : container of str
        Options of the command, as they are written.
    """
    for ours in FOREIGN.get(option, ()):
        if ours.startswith("pairalign ") or all(one in known for one in OPTION.findall(ours)):
            return f"; here {option} is {ours}"
    return ""
