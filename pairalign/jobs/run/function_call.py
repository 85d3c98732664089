"""The call of a public function: what it was given becomes requests, sets and resources."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pairalign.alignments.problem import Problem
from pairalign.base.declaration import Rule, check, make
from pairalign.base.function_options import refuse_unknown, taken_by
from pairalign.jobs.run.inputs import (
    AnyScoring,
    ProblemRequest,
    Sequences,
    given_problem,
    mode_of,
    read_problem,
)
from pairalign.jobs.run.progress import Progress
from pairalign.requests.resources import Resources

_Request = TypeVar("_Request")


@dataclass(frozen=True)
class Call:
    """What a function was given.

    Attributes
    ----------
    function : callable
        See `pairalign.base.function_options.takes`.
    options : mapping of str to object
        Those that it takes.
    sequences, targets : Sequences
    scoring : Scoring, matrix as `make_scoring` takes it, or None

    Raises
    ------
    TypeError
        There is no such option.
    """

    function: Callable[..., Any]
    options: Mapping[str, Any]
    sequences: Sequences
    targets: Sequences | None = None
    scoring: AnyScoring | None = field(default=None, kw_only=True)
    mode: str | None = field(default=None, kw_only=True)
    progress: Progress = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        refuse_unknown(self.function.__name__, self.options, taken_by(self.function).options)

    def request(
        self, kind: type[_Request], *, more: tuple[Rule, ...] = (), **own: object
    ) -> _Request:
        """Return a request of the options, checked.

        Parameters
        ----------
        kind : type
            Of the request.
        more : tuple of Rule
            Of functions alone.
        **own
            Values of what the function has arguments of its own for; default of the mode: that of
            the scoring.
        """
        request = make(kind, {"mode": self.known_mode, **self.options, **own})
        check(request, more)
        return request

    @property
    def known_mode(self) -> str:
        """The mode of alignments."""
        return mode_of(self.scoring, self.mode)

    @property
    def resources(self) -> Resources:
        """What may be used."""
        resources = make(Resources, {**self.options, "progress": self.progress})
        check(resources)
        return resources

    @property
    def problem_request(self) -> ProblemRequest:
        """What is asked of the sequences and their scoring."""
        return given_problem(self.sequences, self.targets, self.scoring, self.mode, self.options)

    def read(self, stacklevel: int = 3) -> Problem:
        """Read the sequences, and make their scoring; warn of residues that are scored as others.

        Parameters
        ----------
        stacklevel : int
            Of the warning; 3: the function calls this itself.

        Raises
        ------
        FastaError, AlphabetError, ScoringError, TypeError
            See `pairalign.jobs.run.inputs.read_problem`.
        """
        problem = read_problem(self.problem_request)
        if problem.replaced_message:
            warnings.warn(problem.replaced_message, stacklevel=stacklevel)
        return problem
