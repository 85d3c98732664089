"""The few lines that a person reads when a run has ended."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import find_extremes
from pairalign.alignments.problem import Problem
from pairalign.base.console import log, say
from pairalign.base.error_types import cut_name
from pairalign.base.texts import counted
from pairalign.formats.output import open_output
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import CoreOptions, MessagesOptions, ResourcesOptions
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_mask, describe_scoring, describe_statistics

if TYPE_CHECKING:
    from pairalign.jobs.run.run_request import AlignmentPlan
    from pairalign.jobs.stages.threshold_engine import Steps

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
        import json

        from pairalign.base.version import __version__  # looks the version up

        return json.dumps({"command": command, "version": __version__, **self.facts})

    def multiqc(self, command: str) -> str:
        """Return the numbers as MultiQC's custom content: a row of the command's table.

        Parameters
        ----------
        command : str
            Its name; runs of one command share a table.
        """
        import json

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
    text = f"{counted(count, 'pair')} across {groups} {'is' if count == 1 else 'are'} "
    text += f"{100 * float(least):g}% identical or more over the shorter one, with free ends"
    if count:
        request = f"--min-identity {float(least):g} --identity-of shorter --mode semiglobal"
        text += f" ({request})"
    return "fragments", text


def written_pairs(what: str, pairs: int, output: str) -> Lines:
    """Return what is said where others have done the work, or a part of it was done."""
    lines = Lines()
    lines.add("results", f"{what} of {counted(pairs, 'pair')}", results=what, pairs=pairs)
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


_THREADS = 4
"""That look at results of many pairs: two GPUs have 60 million short ones a second."""


class _Extreme(NamedTuple):
    """The pair that is the closest, or the most distant, as JSON has it."""

    query: str
    target: str
    raw_score: int
    matches: int
    columns: int

    @classmethod
    def of(cls, pair: Alignments) -> _Extreme:
        """Return what is said of a single pair."""
        return cls(  # of each block of results: names alone, for residues of a store are read
            pair.queries.name_of(int(pair.query[0])),
            pair.targets.name_of(int(pair.target[0])),
            int(pair.raw_score[0]),
            int(pair.field("matches")[0]),
            int(pair.columns[0]),
        )

    @property
    def identity(self) -> float:
        return self.matches / self.columns if self.columns else math.nan


class Summary:
    """Collects, alignment by alignment, what is worth saying about a run.

    Parameters
    ----------
    request : AlignRequest
        The request of the run.
    pairs, cells : int
        Pairs aligned, and cells of all dynamic programming matrices.
    """

    def __init__(self, problem: Problem, request: AlignRequest, *, pairs: int, cells: int) -> None:
        self._problem = problem
        self._request = request
        self._thresholds = request.thresholds
        self._pairs = pairs
        self._cells = cells
        self._kept = 0
        self._closest: _Extreme | None = None
        self._most_distant: _Extreme | None = None
        self._highest, self._lowest = -math.inf, math.inf

    def add(self, alignments: Alignments) -> None:
        """Take in some more of the run's results."""
        self._kept += len(alignments)
        if not alignments.has_stats:
            return
        counts = [alignments.field(name) for name in ("matches", "mismatches", "gap_residues")]
        scores = alignments.raw_score if self._is_by_score else None
        extremes = find_extremes(counts, scores, _THREADS)
        if extremes is None:
            return
        high, low = extremes
        self._compare(*(_Extreme.of(alignments[index : index + 1]) for index in (high, low)))

    def _compare(self, high: _Extreme, low: _Extreme) -> None:
        if (value := self._value(high)) > self._highest:
            self._highest, self._closest = value, high
        if (value := self._value(low)) < self._lowest:
            self._lowest, self._most_distant = value, low

    def leave(self) -> dict[str, Any]:
        """Return what a run that goes on must know: `pairalign.formats.schemas.SUMMARY_LEFT`."""
        left: dict[str, Any] = {"kept": self._kept}
        if self._closest is not None and self._most_distant is not None:
            left |= {"high": list(self._closest), "low": list(self._most_distant)}
        return left

    def go_on(self, left: Mapping[str, Any]) -> None:
        """Take in the results of runs before, by what `leave` returned."""
        self._kept += left.get("kept", 0)
        if "high" in left and "low" in left:
            self._compare(_Extreme(*left["high"]), _Extreme(*left["low"]))

    @property
    def _is_by_score(self) -> bool:
        """Whether pairs are compared by score: an overlap of five residues may be all identical."""
        return self._problem.scoring.mode != "global"

    def _value(self, pair: _Extreme) -> float:
        return float(pair.raw_score) if self._is_by_score else pair.identity

    def lines(self, seconds: float, output: str, computed: int | None = None) -> Lines:
        """Return what is said.

        Parameters
        ----------
        seconds : float
            Without reading.
        output : str
            Where results went.
        computed : int, optional
            Cells that were computed in that time; default: all.
        """
        lines = Lines()
        lines.add_problem(self._problem)
        lines.add("pairs", self._describe_pairs(), pairs=self._pairs, kept=self._kept)
        lines.add("cells", f"{self._cells:,}", cells=self._cells)
        # Under thresholds not all cells are computed.
        computed = self._cells if computed is None else computed
        lines.add_time(seconds, None if self._thresholds else computed)
        self._add_extremes(lines)
        lines.add_outputs([output])
        return lines

    def _add_extremes(self, lines: Lines) -> None:
        """Add the pairs that are most and least alike; one that is alone is said once."""
        titles = (
            ("highest score", "lowest score") if self._is_by_score else ("closest", "most distant")
        )
        pairs = [pair for pair in (self._closest, self._most_distant) if pair is not None]
        facts = [
            {title.replace(" ", "_"): _facts_of_pair(pair, self._problem.scoring)}
            for title, pair in zip(titles, pairs, strict=False)
        ]
        if self._kept == 1 and pairs:
            lines.add(
                "the pair", _describe_pair(pairs[0], self._problem.scoring), **facts[0], **facts[1]
            )
            return
        for title, pair, fact in zip(titles, pairs, facts, strict=False):
            lines.add(title, _describe_pair(pair, self._problem.scoring), **fact)

    def _describe_pairs(self) -> str:
        counted, several = self._request.counted
        if self._request.has_hits:
            return f"{self._pairs:,}, with {self._kept:,} {counted}"
        request = " and ".join(self._conditions())
        if several:
            kept = f"{self._kept:,} {counted}"
            return f"{self._pairs:,}, with {kept}{', which ' * bool(request)}{request}"
        return f"{self._pairs:,}" + f", of which {self._kept:,} {request}" * bool(request)

    def _conditions(self) -> Iterator[str]:
        """Yield what pairs must do to be written."""
        if self._thresholds:
            yield "reach the thresholds"
        if self._request.min_score is not None:
            yield f"score at least {self._request.min_score}"
        most = self._request.evalues.max_evalue
        if most is not None:
            yield f"have an E-value of at most {most:g}"


def describe_steps(steps: Steps | None, pairs: int) -> str:
    """Lines on how many pairs each step of a run's thresholds has dropped.

    Parameters
    ----------
    steps : Steps or None
        Of a run that has ended; None: it has no thresholds, or to align all takes less time.
    pairs : int
        Of the run.
    """
    if steps is None:
        return f"{'thresholds':>13}  no pair is dropped: all {pairs:,} are aligned"
    grams = f"{steps.gram}-grams" if steps.gram else "q-grams"
    seeded = steps.pairs - steps.seedless
    connected = seeded - steps.unwanted
    rows = (
        _rows_of_greedy(steps)
        if steps.beatable
        else [
            *([(f"{steps.seed}-base seeds", steps.pairs, seeded)] if steps.seed else []),
            *([("connected", seeded, connected)] if steps.unwanted else []),
            ("lengths", connected, steps.possible),
            *([] if steps.seed else [(grams, steps.possible, steps.sharing)]),
            *(
                [("subsequences", steps.sharing, steps.common)]
                if steps.common < steps.sharing
                else []
            ),
            ("scores", steps.common, steps.scoring),
            ("alignments", steps.scoring, steps.passing),
        ]
    )
    lines = [
        f"{title:>13}  {before - left:,} of {before:,} pairs dropped"
        for title, before, left in rows
    ]
    return "\n".join(lines)


def _rows_of_greedy(steps: Steps) -> list[tuple[str, int, int]]:
    """Return what greedy clusters that align the most similar first have dropped and left."""
    first, second = (
        (f"{steps.seed}-base seeds", "differences") if steps.seed else ("lengths", "subsequences")
    )
    return [
        (first, steps.pairs, steps.possible),
        (second, steps.possible, steps.common),
        ("best found", steps.common, steps.beatable),
        ("no gaps", steps.beatable, steps.scoring),
        ("alignments", steps.scoring, steps.passing),
    ]


def _describe_pair(pair: _Extreme, scoring: Scoring) -> str:
    return (
        f"{cut_name(pair.query)} and {cut_name(pair.target)}: {pair.matches:,} of "
        f"{pair.columns:,} columns "
        f"identical ({100 * pair.identity:.1f}%), score {scoring.format_score(pair.raw_score)}"
    )


def _facts_of_pair(pair: _Extreme, scoring: Scoring) -> dict[str, Any]:
    return {
        "query": pair.query,
        "target": pair.target,
        "score": float(scoring.format_score(pair.raw_score)),
        "identity": round(pair.identity, 6),
        "matches": pair.matches,
        "columns": pair.columns,
    }


def say_plan(plan: AlignmentPlan, *, quiet: bool) -> None:
    """Say what residues are masked, what E-values are made of, and which pairs are left out."""
    request, job = plan.request, plan.job
    mask = request.masking.of_scores
    if mask is not None and not quiet:
        say(describe_mask(plan.problem, job.problem, mask))
    if plan.statistics.reason is not None:
        log.warning("evalue and bits are nan: %s", plan.statistics.reason)
    if plan.statistics.are_shown and plan.significance is not None and not quiet:
        say(f"E-values: {describe_statistics(plan.significance, job.scoring)}")
    if job.left_out:
        log.warning(
            "%s: %s left out, which came again or were sequences with themselves",
            request.pairs,
            counted(job.left_out, "pair"),
        )
