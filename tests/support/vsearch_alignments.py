"""vsearch's global alignments beside ours: raw scores, identities, and what its paths are worth.

Of several alignments with the same score vsearch may show another one than we do, and then has
other identities. So its own alignments are read, too: each must be worth the raw score that both
print, and by our definitions have the identities that vsearch prints of it.
"""

import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pairalign import Alignments, Scoring, SequenceSet, make_scoring
from pairalign.alignments.identities import count_identity

IDENTITIES = ("shorter", "columns", "internal", "mbl", "columns")
"""Our names of vsearch's definitions 0 to 4."""

_FIELDS = ("query", "target", "raw", "id0", "id1", "id2", "id3", "id4", "caln")
_RESIDUES = "ACGTRYSWKMBDHVN"


def vsearch_scoring(folder: Path, **changed: str) -> Scoring:
    """Return vsearch's defaults: 20I/2E to open a gap, 2I/1E for each further residue.

    Ambiguous residues score 0, which takes a matrix; it is written to the folder.
    """
    path = folder / "vsearch.txt"
    lines = [" ".join([" ", *_RESIDUES])]
    for a in _RESIDUES:
        row = [("2" if a == b else "-4") if {a, b} <= set("ACGT") else "0" for b in _RESIDUES]
        lines.append(" ".join([a, *row]))
    path.write_text("\n".join(lines) + "\n")
    costs = {"gap_open": "20", "gap_extend": "2", "end_gap_open": "2", "end_gap_extend": "1"}
    return make_scoring("dna", matrix=path, **{**costs, **changed})


def run_vsearch(folder: Path, sequences: SequenceSet, *options: str) -> dict[tuple[int, int], dict]:
    """Align every pair with vsearch; its fields by the indices of query and target."""
    source, table = folder / "sample.fa", folder / "vsearch.tsv"
    source.write_text("".join(f">{k}\n{one.residues.upper()}\n" for k, one in enumerate(sequences)))
    command = ["vsearch", "--allpairs_global", source, "--acceptall", "--quiet", "--threads", "1"]
    command += ["--userout", table, "--userfields", "+".join(_FIELDS), "--qmask", "none"]
    subprocess.run([*map(str, command), "--minseqlength", "1", *options], check=True)
    found = {}
    for line in table.read_text().splitlines():
        row = dict(zip(_FIELDS, line.split("\t"), strict=True))
        found[int(row["query"]), int(row["target"])] = row
    return found


def runs_of(
    caln: str, query: npt.NDArray[np.uint8], target: npt.NDArray[np.uint8], unambiguous: int
) -> list[int]:
    """Return vsearch's path, ``12M3I``, as our runs; its I is our D."""
    runs: list[int] = []
    q = t = 0
    for number, letter in re.findall(r"(\d*)([MID])", caln):
        for _ in range(int(number or 1)):
            same = letter == "M" and query[q] == target[t] and query[q] < unambiguous
            operation = {"I": 2, "D": 1, "M": 7 if same else 8}[letter]
            q += letter != "I"
            t += letter != "D"
            if runs and runs[-1] & 15 == operation:
                runs[-1] += 16
            else:
                runs.append(16 | operation)
    return runs


@dataclass
class Comparison:
    """How many pairs there are, and how many are equal in what.

    Attributes
    ----------
    pairs, scores : int
        Pairs, and those with the same raw score.
    worth : int
        Pairs whose path of vsearch is worth its raw score by `Scoring.rescore`.
    identities : int
        Pairs with the same five identities, as vsearch prints them.
    of_paths : int
        Pairs whose path of vsearch has the five identities that vsearch prints, by our definitions.
    paths : int
        Pairs with the same alignment.
    """

    pairs: int = 0
    scores: int = 0
    worth: int = 0
    identities: int = 0
    of_paths: int = 0
    paths: int = 0


def compare(found: Alignments, theirs: dict[tuple[int, int], dict]) -> Comparison:
    """Compare alignments of every pair of a set with what vsearch found."""
    ours = _identities(found)
    paths = _with_paths(found, theirs)
    as_read = _identities(paths)
    counts = Comparison(pairs=len(found))
    for k in range(len(found)):
        row = _row(found, theirs, k)[0]
        shown = [row[f"id{n}"] for n in range(5)]
        counts.scores += int(row["raw"]) == found.raw_score[k]
        counts.identities += ours[k] == shown
        counts.of_paths += as_read[k] == shown
        span = paths.cigar[paths.cigar_offsets[k] : paths.cigar_offsets[k + 1]]
        query, target = (found.queries.codes_of(int(one[k])) for one in (found.query, found.target))
        own = found.cigar[found.cigar_offsets[k] : found.cigar_offsets[k + 1]]
        counts.paths += np.array_equal(own, span)
        counts.worth += found.scoring.rescore(query, target, span) == int(row["raw"])
    return counts


def _row(found: Alignments, theirs: dict[tuple[int, int], dict], k: int) -> tuple[dict, bool]:
    """Return vsearch's row of a pair, and whether its query is our target."""
    pair = int(found.query[k]), int(found.target[k])
    return (theirs[pair], False) if pair in theirs else (theirs[pair[::-1]], True)


def _with_paths(found: Alignments, theirs: dict[tuple[int, int], dict]) -> Alignments:
    """Return the same pairs with vsearch's paths."""
    cigars, counts = [], []
    for k in range(len(found)):
        row, turned = _row(found, theirs, k)
        caln = row["caln"].translate(str.maketrans("ID", "DI")) if turned else row["caln"]
        query, target = (found.queries.codes_of(int(one[k])) for one in (found.query, found.target))
        runs = np.array(runs_of(caln, query, target, found.queries.alphabet.unambiguous), np.uint32)
        cigars.append(runs)
        lengths, operations = runs >> 4, runs & 15
        counts.append(
            [
                *(int(lengths[operations == one].sum()) for one in (7, 8)),
                int((operations <= 2).sum()),
                int(lengths[operations <= 2].sum()),
            ]
        )
    names = ("matches", "mismatches", "gap_openings", "gap_residues")
    columns = np.array(counts, np.int32).T
    return replace(
        found,
        **dict(zip(names, columns, strict=True)),
        cigar=np.concatenate(cigars),
        cigar_offsets=np.cumsum([0, *map(len, cigars)], dtype=np.int64),
    )


def _identities(found: Alignments) -> list[list[str]]:
    """Return the five identities of each pair as vsearch prints them."""
    shares = [count_identity(found, name) for name in IDENTITIES]
    return [
        [f"{100 * part[k] / whole[k]:.1f}" for part, whole in shares] for k in range(len(found))
    ]
