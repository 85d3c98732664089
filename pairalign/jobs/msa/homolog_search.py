"""Homologs of families: sequences of a database that are aligned with a family, to align it better.

1. Local scores of all members of distant families with all sequences of the database; a hit has an
   E-value of at most `MOST_EVALUE`. Each sequence that is one counts once for a family: with the
   member with which it scores most.
2. Each of these pairs is aligned. A hit that has less than `LEAST_COVERED` of the member is left
   out: what is beside it is another domain. Others are trimmed to what is aligned. Where ends of
   the member are not, because a local alignment ends where it scores no more, as many residues
   beside it stay.
3. Sequences are chosen from the nearest to the farthest, so that their identities with that member
   are evenly spaced.

All scores are exact, so what is chosen depends neither on the order of the database nor on that of
the family, nor on other families of the same search.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Homologs
from pairalign.alignments.problem import Problem
from pairalign.base.arguments import whole_number
from pairalign.base.declaration import make
from pairalign.base.error_types import AlphabetError
from pairalign.jobs.msa.grouping import Indices
from pairalign.jobs.msa.one_family import is_distant
from pairalign.jobs.run.inputs import as_scoring
from pairalign.jobs.run.query_slices import lengths_of
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.sequences.sequence_records import join_records
from pairalign.sequences.sets import SequenceSet, join_sets

log = logging.getLogger("pairalign")

MOST_EVALUE = 1e-3
LEAST_COVERED = 0.7
MOST_SEQUENCES = 2**31 - 1

MARK = "homolog_"
"""What the names of homologs begin with."""

_PENDING = 1 << 16
"""Hits that wait before they are compared with those of the same sequences."""


def find_homologs(
    families: Mapping[str, SequenceSet],
    database: SequenceSet,
    *,
    most: int,
    resources: Resources,
    are_kept: bool = False,
) -> dict[str, Homologs]:
    """Find homologs of several families in one search.

    Parameters
    ----------
    most : int
        Sequences that a family has with its homologs; one that has as many gets none.
    are_kept : bool
        Whether they are found of families that are not distant, too.

    Returns
    -------
    dict of str to Homologs
        Of each family.

    Raises
    ------
    AlphabetError
        Database and families are not both proteins, or both DNA.
    """
    most = whole_number("homologs_per_family", most, most=MOST_SEQUENCES)
    for family in families.values():
        _check_alphabets(family, database)
    nothing = Homologs(None, 0, np.zeros(0))
    homologs = dict.fromkeys(families, nothing)
    small = [name for name, family in families.items() if len(family) < most]
    helped = [name for name in small if are_kept or is_distant(families[name], resources)]
    if helped:
        search = _Search([families[name] for name in helped], database, resources)
        homologs |= zip(helped, search.homologs(most), strict=True)
    if len(helped) < len(small):
        number, of = len(small) - len(helped), len(families)
        text = f"{number} of {of} families are not distant: they take no homologs"
        log.info(text if of > 1 else "the family is not distant: it takes no homologs")
    return homologs


def _check_alphabets(family: SequenceSet, database: SequenceSet) -> None:
    if family.alphabet != database.alphabet:
        raise AlphabetError(
            f"{family.source} is {family.alphabet.name}, but its homologs would come from "
            f"{database.source}, which is {database.alphabet.name}"
        )


class _Candidate(NamedTuple):
    """A hit, trimmed."""

    identity: float
    residues: bytes
    name: str


@dataclass(frozen=True)
class _Hits:
    """Sequences of the database that are hits, by family and index: the member, and the score."""

    family: Indices
    target: Indices
    member: Indices
    raw_score: Indices

    def __len__(self) -> int:
        return len(self.family)

    def with_more(self, others: list[_Hits], positions: npt.NDArray[np.int32]) -> _Hits:
        """Return both, each sequence once; of members with the same score the first by residues."""
        names = ("family", "target", "member", "raw_score")
        columns = [
            np.concatenate([getattr(hits, name) for hits in (self, *others)]) for name in names
        ]
        family, target, member, raw_score = columns
        order = np.lexsort((positions[member], -raw_score, target, family))
        family, target = family[order], target[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (family[1:] != family[:-1]) | (target[1:] != target[:-1])
        return _Hits(family[first], target[first], member[order][first], raw_score[order][first])


class _Search:
    """A search for the homologs of some families."""

    def __init__(
        self, families: list[SequenceSet], database: SequenceSet, resources: Resources
    ) -> None:
        self._families, self._database = families, database
        self._resources = resources
        self._members = join_sets(families, are_numbered=True)
        self._family_of = np.repeat(np.arange(len(families)), list(map(len, families)))
        scoring = as_scoring(None, database.alphabet, "local")
        self._problem = Problem(self._members, database, scoring)

    def homologs(self, most: int) -> Iterator[Homologs]:
        """Yield those of each family, in turn."""
        hits = self._hits()
        starts = np.searchsorted(hits.family, np.arange(len(self._families) + 1)).tolist()
        spans = self._spans(hits)
        for k, family in enumerate(self._families):
            entries = slice(starts[k], starts[k + 1])
            candidates = _trimmed(self._database, hits.target[entries], spans[:, entries])
            chosen = _evenly(candidates, most - len(family))
            identities = np.array([candidate.identity for candidate in chosen])
            yield Homologs(_as_set(chosen, family), len(candidates), identities)

    def _hits(self) -> _Hits:
        request = make(AlignRequest, {"mode": "local", "max_evalue": MOST_EVALUE})
        run = RunRequest(detail=Detail.SCORE, resources=self._resources)
        nothing = np.zeros(0, np.int64)
        hits, pending = _Hits(*[nothing] * 4), []
        for alignments in plan_alignment(request, self._problem, run).job:
            pair = (
                values.astype(np.int64)
                for values in (alignments.target, alignments.query, alignments.raw_score)
            )
            pending.append(_Hits(self._family_of[alignments.query], *pair))
            if sum(map(len, pending)) > max(_PENDING, len(hits)):
                hits, pending = hits.with_more(pending, self._members.positions), []
        return hits.with_more(pending, self._members.positions)

    def _spans(self, hits: _Hits) -> npt.NDArray[np.int64]:
        """Return where each hit is cut, its matches and columns, or zeros; shape (4, hits)."""
        spans = np.zeros((4, len(hits)), np.int64)
        if not len(hits):
            return spans
        listed = PairList(hits.member.astype(np.int32), hits.target.astype(np.int32))
        run = RunRequest(detail=Detail.STATS, resources=self._resources)
        lengths = lengths_of(self._database, hits.target.astype(np.int32))
        keys, done = hits.member * len(self._database) + hits.target, 0
        order = np.argsort(keys)
        for alignments in plan_alignment(
            make(AlignRequest, {"mode": "local", "pairs": listed}), self._problem, run
        ).job:
            key = alignments.query.astype(np.int64) * len(self._database) + alignments.target
            places = order[np.searchsorted(keys, key, sorter=order)]
            before = alignments.field("target_start") - alignments.field("query_start")
            after = self._members.lengths[alignments.query] - alignments.field("query_end")
            stop = np.minimum(alignments.field("target_end") + after, lengths[places])
            cut = np.maximum(before, 0), stop
            found = np.stack((*cut, alignments.field("matches"), alignments.columns))
            aligned = alignments.field("query_end") - alignments.field("query_start")
            members = self._members.lengths[alignments.query]
            spans[:, places] = found * (aligned >= LEAST_COVERED * members)
            done += len(key)
        assert done == len(hits)
        return spans


def _trimmed(
    database: SequenceSet, targets: Indices, spans: npt.NDArray[np.int64]
) -> list[_Candidate]:
    """Return hits trimmed, from the nearest to the farthest; of equal ones the first by name."""
    if not len(targets):
        return []
    indices = targets.astype(np.int32)
    residues, lengths = database.residues_at(indices), database.lengths_at(indices)
    begins = np.cumsum(lengths, dtype=np.int64) - lengths
    candidates: dict[bytes, _Candidate] = {}
    for name, begin, (start, stop, matches, columns) in zip(
        database.names_at(indices), begins.tolist(), spans.T.tolist(), strict=True
    ):
        if not columns:
            continue
        cut_residues = residues[begin + start : begin + stop].tobytes().upper()
        candidate = _Candidate(matches / columns, cut_residues, f"{MARK}{name}/{start + 1}-{stop}")
        candidates[cut_residues] = min(candidates.get(cut_residues, candidate), candidate)
    return sorted(candidates.values(), key=lambda hit: (-hit.identity, hit.residues))


def _as_set(chosen: list[_Candidate], family: SequenceSet) -> SequenceSet | None:
    """Return homologs of a family, with names that it does not have."""
    if not chosen:
        return None
    names = [candidate.name for candidate in chosen]
    used_names = {*family.names, *names}
    for k in np.flatnonzero(np.isin(names, family.names)).tolist():
        names[k] = next(new for n in count(2) if (new := f"{names[k]}_{n}") not in used_names)
        used_names.add(names[k])
    records = join_records(names, names, [candidate.residues for candidate in chosen])
    return SequenceSet(records, alphabet=family.alphabet, source=f"homologs of {family.source}")


def _evenly(candidates: list[_Candidate], most: int) -> list[_Candidate]:
    """Return those whose identities are evenly spaced, the nearest and the farthest included."""
    if most >= len(candidates):
        return candidates
    identities = np.array([candidate.identity for candidate in candidates])
    places: set[int] = set()
    for identity in np.linspace(identities[0], identities[-1], most):
        apart = np.abs(identities - identity)
        apart[list(places)] = np.inf
        places.add(int(apart.argmin()))
    return [candidates[place] for place in sorted(places)]
