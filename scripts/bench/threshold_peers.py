"""Other programs that find the pairs of a set which are alike, made to look at every pair."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

SCORINGS = {
    "dna": ["--match", "2", "--mismatch", "-4", "--gap-open", "22", "--gap-extend", "2"],
    "protein": ["--mode", "local", "--gap-open", "12", "--gap-extend", "1"],
}
"""Our options for what the peers score."""

MOST_EVALUE = "1000000000"


@dataclass(frozen=True)
class Setting:
    """What a peer is run on.

    Attributes
    ----------
    reads, folder : Path
        The sequences, and where files may go.
    coverage : str
        Of both sequences, of proteins.
    threads : int
    """

    reads: Path
    folder: Path
    coverage: str
    threads: int


class Peer(ABC):
    """A program that writes names of pairs."""

    name: str

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.out = setting.folder / f"{self.name}.tsv"

    @abstractmethod
    def commands(self, identity: str) -> list[list[str]]:
        """Return what is run, from the FASTA file to the pairs that reach an identity."""

    def pairs(self) -> set[frozenset[str]]:
        """Return the pairs that it has found, without sequences with themselves."""
        rows = (row.split("\t") for row in self.out.read_text().splitlines())
        names = ([header.split()[0] for header in row[:2]] for row in rows)
        return {frozenset(two) for two in names if two[0] != two[1]}


class Vsearch(Peer):
    """vsearch, global alignments of all pairs."""

    name = "vsearch"

    def commands(self, identity: str) -> list[list[str]]:
        setting = self.setting
        return [
            [
                *("vsearch", "--allpairs_global", str(setting.reads), "--id", identity),
                *("--iddef", "1", "--threads", str(setting.threads), "--minseqlength", "1"),
                *("--quiet", "--userout", str(self.out), "--userfields", "query+target"),
            ]
        ]


class Diamond(Peer):
    """diamond blastp, Smith-Waterman of all pairs, without masking and composition."""

    name = "diamond"

    def commands(self, identity: str) -> list[list[str]]:
        setting, database = self.setting, str(self.setting.folder / "diamond.dmnd")
        share = str(100 * float(identity))
        cover = str(100 * float(setting.coverage))
        threads = ["--threads", str(setting.threads), "--quiet"]
        return [
            ["diamond", "makedb", "--in", str(setting.reads), "-d", database, *threads],
            [
                *("diamond", "blastp", "--swipe", "-q", str(setting.reads), "-d", database),
                *("--masking", "0", "--comp-based-stats", "0", "-k", "0", "-e", MOST_EVALUE),
                *("--id", share, "--query-cover", cover, "--subject-cover", cover, *threads),
                *("--outfmt", "6", "qseqid", "sseqid", "-o", str(self.out)),
            ],
        ]


class Mmseqs(Peer):
    """mmseqs align after a prefilter that lets every pair pass."""

    name = "mmseqs"

    def commands(self, identity: str) -> list[list[str]]:
        setting = self.setting
        database, every, found = (
            str(setting.folder / one) for one in ("mmseqs", "mmseqs-all", "mmseqs-found")
        )
        quiet = ["-v", "1"]
        thresholds = ["--min-seq-id", identity, "-c", setting.coverage, "--cov-mode", "0"]
        # A result of each query that names every entry: the index of the database itself.
        script = (
            f'rm -f "{every}"* "{found}"*; ln -s "{database}.index" "{every}"; '
            f'size=$(wc -c < "{database}.index"); '
            f'awk -v s=$size \'{{print $1 "\\t0\\t" s}}\' "{database}.index" > "{every}.index"; '
            f'printf "\\007\\000\\000\\000" > "{every}.dbtype"'
        )
        columns = ["--format-output", "qheader,theader"]  # names are parts of headers for it
        return [
            ["mmseqs", "createdb", str(setting.reads), database, *quiet],
            ["bash", "-c", script],
            [
                *("mmseqs", "align", database, database, every, found, "-e", MOST_EVALUE),
                *("--alignment-mode", "3", "--comp-bias-corr", "0", *thresholds),
                *("--threads", str(setting.threads), *quiet),
            ],
            ["mmseqs", "convertalis", database, database, found, str(self.out), *columns, *quiet],
        ]


PEERS: dict[str, tuple[type[Peer], ...]] = {"dna": (Vsearch,), "protein": (Mmseqs, Diamond)}


def peers_for(alphabet: str, setting: Setting) -> dict[str, Peer]:
    """Return the peers of an alphabet that are installed."""
    return {one.name: one(setting) for one in PEERS[alphabet] if shutil.which(one.name)}
