"""The summary of a run: lines for a person or, with ``--summary json``, a JSON object on a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from pairalign.alignments.problem import Problem
from pairalign.base.console import say
from pairalign.formats.output import open_output
from pairalign.requests.resources import CoreOptions, MessagesOptions, ResourcesOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_scoring

_KINDS = {"protein": ("protein", "proteins"), "dna": ("DNA sequence", "DNA sequences")}
_LEAST_GCUPS = 0.05
"""What is less would be printed as 0.0."""


class Lines:
    """What is said of a run that has ended.

    Attributes
    ----------
    rows : list of (str, str)
        Title and text of each line.
    facts : dict
        The same for programs: numbers, names and texts.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []
        self.facts: dict[str, Any] = {}

    def add(self, title: str, text: str, **facts: object) -> None:
        """Add a line.

        Parameters
        ----------
        **facts
            What JSON has of it; default: the text under the title.
        """
        self.rows.append((title, text))
        self.facts |= facts or {title.replace(" ", "_"): text}

    def add_problem(self, problem: Problem) -> None:
        """Add what is aligned with what, and how it is scored."""
        self.add_sets(*problem.sets)
        if problem.queries.compared:
            self.add("regions", problem.queries.compared)
        else:
            self.add("scoring", describe_scoring(problem.scoring))

    def add_sets(self, *sets: SequenceSet, title: str = "sequences") -> None:
        """Add the sequences; of two sets those of the queries first."""
        text = " against ".join(map(describe_set, sets))
        self.add(title, text, sets=[_facts_of(sequences) for sequences in sets])

    def add_time(self, seconds: float, cells: int | None = None, more: str = "") -> None:
        """Add the seconds of a run and, where all its cells are computed, the rate.

        Parameters
        ----------
        more : str
            To say between the two.
        """
        facts: dict[str, Any] = {"seconds": round(seconds, 3)}
        gcups = (cells or 0) / max(seconds, 1e-9) / 1e9
        rate = ""
        if gcups >= _LEAST_GCUPS:
            rate = f", {gcups:.1f} GCUPS (billion cells a second)"
            facts["gcups"] = round(gcups, 3)
        self.add("time", f"{seconds:.2f} s{more}{rate}", **facts)

    def add_leakage(self, leakage: float, pairs: str) -> None:
        """Add the leakage of folds or groups; `pairs`: which pairs it is of."""
        text = f"{leakage:.4f} of the identity of pairs {pairs} is across"
        self.add("leakage", text, leakage=round(leakage, 6))

    def add_outputs(self, paths: Iterable[str]) -> None:
        """Add where results went."""
        written = list(paths)
        shown = ("standard output" if path == "-" else path for path in written)
        self.add("written to", ", ".join(shown), written_to=written)

    def text(self) -> str:
        """Return the lines."""
        width = max(13, *(len(title) for title, _ in self.rows))
        return "\n".join(f"{title:>{width}}  {text}" for title, text in self.rows)

    def json(self, command: str) -> str:
        """Return the object, on one line.

        Parameters
        ----------
        command : str
            Its name, which the object has with the version.
        """
        from pairalign.base.version import __version__  # looks the version up

        return json.dumps({"command": command, "version": __version__, **self.facts})

    def multiqc(self, command: str) -> str:
        """Return the numbers as MultiQC's custom content: a row of the command's table.

        Parameters
        ----------
        command : str
            Its name; runs of one command share a table.
        """
        first, *_ = self.facts.get("sets", [{}])
        source = first.get("source") or self.facts.get("written_to", [command])[0]
        row = {
            name.replace("_", " "): value
            for name, value in (first | self.facts).items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        table = f"pairalign_{command}"
        content = {
            "id": table,
            "section_name": f"pairalign {command}",
            "plot_type": "table",
            "pconfig": {"id": f"{table}_table", "title": f"pairalign {command}"},
            "data": {os.path.basename(source).partition(".")[0]: row},
        }
        return json.dumps(content) + "\n"


def say_summary(request: MessagesOptions | CoreOptions | ResourcesOptions, lines: Lines) -> None:
    """Say the lines, or with ``--summary json`` the object; with ``--quiet`` nothing.

    With ``--multiqc`` the numbers are written there in any case.
    """
    command = request.command_line[0]
    if request.messages.multiqc is not None:
        with open_output(request.messages.multiqc) as output:
            output.write(lines.multiqc(command).encode())
    if request.messages.quiet:
        return
    say(lines.json(command) if request.messages.summary == "json" else lines.text())


def describe_fragments(count: int, least: Fraction, groups: str) -> tuple[str, str]:
    """Return title and text of pairs across folds or groups, one a fragment of the other."""
    text = f"{count:,} pairs across {groups} are {100 * float(least):g}% identical or more over "
    text += "the shorter one, with free ends"
    if count:
        request = f"--min-identity {float(least):g} --identity-of shorter --mode semiglobal"
        text += f" ({request})"
    return "fragments", text


def written_pairs(what: str, pairs: int, output: str) -> Lines:
    """Return what is said where others have done the work, or a part of it was done."""
    lines = Lines()
    lines.add("results", f"{what} of {pairs:,} pairs", results=what, pairs=pairs)
    lines.add_outputs([output])
    return lines


def describe_set(sequences: SequenceSet) -> str:
    """One line: ``57 proteins of 372-544 residues``, ``2 DNA sequences of 900 bases``."""
    shortest, longest = (int(sequences.sorted_lengths[k]) for k in (-1, 0))
    lengths = f"{shortest:,}-{longest:,}" if shortest < longest else f"{longest:,}"
    kind = _KINDS[sequences.alphabet.name][len(sequences) > 1]
    return f"{len(sequences):,} {kind} of {lengths} {sequences.alphabet.unit}"


def _facts_of(sequences: SequenceSet) -> dict[str, Any]:
    return {
        "source": sequences.source,
        "alphabet": sequences.alphabet.name,
        "sequences": len(sequences),
        "residues": sequences.total_residues,
        "shortest": int(sequences.sorted_lengths[-1]),
        "longest": int(sequences.sorted_lengths[0]),
    }
