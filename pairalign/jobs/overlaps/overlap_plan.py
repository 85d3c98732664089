"""From what a user says of overlaps to scoring and thresholds, with a sample of the reads."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.arguments import parse_share
from pairalign.base.spelling import spelled
from pairalign.jobs.overlaps.overlap_request import OverlapRequest
from pairalign.jobs.overlaps.presets import AUTO, PRESETS, Preset, find_preset
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.jobs.run.inputs import as_scoring
from pairalign.scoring.scoring import Scoring
from pairalign.scoring.scoring_request import check_any
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:  # what aligns samples is loaded where one is needed
    from pairalign.jobs.overlaps.choice import Chance

log = logging.getLogger("pairalign")

_MANY_BY_CHANCE, _SAFE = 1.0, 0.02
_MOST = 2**31 - 1  # residues or overlaps


@dataclass(frozen=True)
class OverlapPlan:
    """What reads are scored with, and what is asked of their overlaps."""

    preset: Preset
    scoring: Scoring
    thresholds: OverlapThresholds


def plan_overlaps(
    request: OverlapRequest, reads: SequenceSet, *, threads: int, memory_bytes: int
) -> OverlapPlan:
    """Choose preset, scoring and thresholds; say what ``auto`` took, and what chance reaches.

    Parameters
    ----------
    request : OverlapRequest
        Which has been checked.
    reads : SequenceSet
        Of DNA.

    Raises
    ------
    ScoringError
        Costs or a least score that make no sense.
    ValueError
        A number of residues or overlaps is none, or out of bounds.
    """
    preset = request.preset
    chosen = find_preset(preset) if preset != AUTO else _choose(reads, threads, memory_bytes)
    scoring = scoring_for(request, chosen)
    thresholds = make_thresholds(chosen, scoring, request)
    if len(reads) < 2 or (preset != AUTO and request.max_false is None):
        return OverlapPlan(chosen, scoring, thresholds)
    from pairalign.jobs.overlaps.choice import measure_chance

    chance = measure_chance(reads, scoring, thresholds, threads=threads, memory_bytes=memory_bytes)
    chosen = _fitted(chosen, scoring, chance)
    thresholds = make_thresholds(chosen, scoring, request)
    if request.max_false is not None:
        thresholds = chance.raised(thresholds, request.max_false)
    _say(chance, thresholds, scoring)
    return OverlapPlan(chosen, scoring, thresholds)


def scoring_for(request: OverlapRequest, preset: Preset) -> Scoring:
    """Return the scoring of a preset, with what is asked for instead.

    Raises
    ------
    ScoringError
        Costs out of bounds.
    """
    mode = request.scoring.mode
    if request.costs_instead is None:
        return preset.scoring(mode, **request.costs)
    return as_scoring(request.costs_instead, DNA, mode, preset.mode)


def check_costs(request: OverlapRequest) -> None:
    """Refuse scores and costs that make no sense for any reads, before these are read."""
    presets = PRESETS.values() if request.preset == AUTO else [find_preset(request.preset)]
    check_any(presets, lambda preset: scoring_for(request, preset))


def _choose(reads: SequenceSet, threads: int, memory_bytes: int) -> Preset:
    """Return the preset that ``auto`` means for some reads, and say why."""
    from pairalign.jobs.overlaps.choice import choose_preset, scaled_to

    if len(reads) < 2:  # nothing to look at; the job says so
        return scaled_to(PRESETS["ont"], reads)
    choice = choose_preset(reads, threads=threads, memory_bytes=memory_bytes)
    log.info("%s", choice.reason)
    return choice.preset


def _fitted(preset: Preset, scoring: Scoring, chance: Chance) -> Preset:
    """Return a preset whose least identity was lowered with what chance makes of it.

    Where unrelated reads align over as many residues as overlaps must have, identity alone keeps
    them out, and is that of the preset again. Elsewhere the least score is lowered, too, but not so
    far that chance would reach it; and the least overlap as much as the identity, because overlaps
    of such reads end before the reads do.
    """
    usual = find_preset(preset.name)
    if preset.min_identity == usual.min_identity:
        return preset
    if chance.identities is not None:
        return replace(preset, min_identity=usual.min_identity)
    safe = -(-chance.score_for(_SAFE) // scoring.scale)
    return replace(
        preset,
        min_score=min(preset.min_score, max(1, safe)),
        min_overlap=int(preset.min_overlap * preset.min_identity / usual.min_identity),
    )


def make_thresholds(preset: Preset, scoring: Scoring, limits: OverlapRequest) -> OverlapThresholds:
    """Return a preset's thresholds with those that are given instead.

    Raises
    ------
    ScoringError
        The least score is not a finite number, or the least identity no share.
    """
    least = preset.min_score if limits.min_score is None else limits.min_score
    raw = raw_minimum(least, scoring)
    assert raw is not None
    overlap = limits.min_overlap
    identity = preset.min_identity if limits.min_identity is None else limits.min_identity
    return OverlapThresholds(
        min_raw_score=max(1, raw),
        min_overlap=preset.min_overlap if overlap is None else overlap,
        min_identity=parse_share(identity, "min_identity"),
        all_strands=limits.all_strands,
        max_overlaps=(preset.max_overlaps if limits.max_overlaps is None else limits.max_overlaps),
    )


def _say(chance: Chance, limits: OverlapThresholds, scoring: Scoring) -> None:
    expected = chance.expected(limits)
    reached = f"score {scoring.format_score(chance.best_score)}"
    if chance.best_identity:
        reached += (
            f", and {100 * chance.best_identity:.1f}% identity over {limits.min_overlap:,} bases"
        )
    log.log(
        logging.WARNING if expected > _MANY_BY_CHANCE else logging.INFO,
        "chance: %d reads against reversed ones reach %s; asked for are score %s, "
        "%s bases and %.4g%%: about %.2g overlaps by chance are expected%s",
        chance.pairs,
        reached,
        scoring.format_score(limits.min_raw_score),
        f"{limits.min_overlap:,}",
        100 * float(limits.min_identity),
        expected,
        f" ({spelled('max_false')} raises what is asked for)" if expected > _MANY_BY_CHANCE else "",
    )
