"""Posteriors of similar long DNA by parts: close to those of whole pairs, whatever the pair is."""

import numpy as np
import pytest

import pairalign
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import (
    LEAST_LENGTH,
    RegroupedPosteriors,
    is_ever_cut,
    open_posterior_engine,
    regrouped,
)
from pairalign.scoring.posterior_models import posterior_model


def _gene(seed, length):
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), length))


def _changed(gene, seed, share=0.08):
    random = np.random.default_rng(seed)
    letters = np.array(list(gene))
    which = random.random(len(gene)) < share
    letters[which] = random.choice(list("ACGT"), which.sum())
    kept = random.random(len(gene)) > share / 8
    return "".join(letters[kept])


GENE = _gene(1, 900)
TWIN = _changed(GENE, 2)
REVERSED = GENE[300:600][::-1].translate(str.maketrans("ACGT", "TGCA"))

PAIRS = {
    "substitutions and gaps": (GENE, TWIN, True),
    "the same": (GENE, GENE, True),
    "a long insertion": (GENE, TWIN[:400] + _gene(3, 300) + TWIN[400:], True),
    "few differences": (GENE, GENE[:300] + "A" + GENE[301:600] + GENE[602:], True),
    "an inversion": (GENE, _changed(GENE[:300] + REVERSED + GENE[600:], 4), True),
    "a repeat in one": (GENE, TWIN[:500] + TWIN[300:], True),
    "repeats in both": (_gene(5, 40) * 20, _gene(5, 40) * 24, False),
    "a part": (GENE, TWIN[200:700], True),
    "ends of others": (GENE + _gene(6, 200), _gene(7, 150) + TWIN, True),
    "N": (GENE[:300] + "N" * 50 + GENE[350:], TWIN, True),
    "letters for several bases": (
        GENE[:100] + "RYK" + GENE[103:],
        TWIN[:700] + "W" + TWIN[701:],
        True,
    ),
    "unrelated": (GENE, _gene(8, 800), False),
    "distant": (GENE, _changed(GENE, 9, 0.6), False),
    "short": (GENE[:300], TWIN[:300], False),
}


def _engine(sequences, **more):
    model = posterior_model(sequences.alphabet)
    return PosteriorEngine(sequences, model, **more)


def _cutting(engine, host, sequences, memory_bytes=None):
    return regrouped(engine, sequences, posterior_model(sequences.alphabet), host, memory_bytes)


def _dense(found, pair, shape):
    table = np.zeros(shape)
    own = slice(found.offsets[pair], found.offsets[pair + 1])
    table[found.rows[own], found.columns[own]] = found.values[own] / 65535
    return table


@pytest.mark.parametrize(("x", "y", "is_cut"), PAIRS.values(), ids=PAIRS)
def test_parts_have_the_posteriors_of_the_pair(x, y, is_cut):
    sequences = pairalign.SequenceSet.from_strings([x, y], alphabet="dna")
    pair = np.zeros(1, np.int32), np.ones(1, np.int32)
    whole = _engine(sequences).compute(*pair)
    opened = open_posterior_engine("cpu", PosteriorRequest(sequences))
    assert isinstance(opened, RegroupedPosteriors) == is_ever_cut(sequences) or x == y
    found = opened.compute(*pair)
    shape = len(x), len(y)
    apart = np.abs(_dense(found, 0, shape) - _dense(whole, 0, shape))
    assert apart.max() < 0.02
    places = found.rows.astype(np.int64) * len(y) + found.columns
    assert (np.diff(places) > 0).all()
    counts = _engine(sequences).cut(*pair)[0] if min(shape) >= LEAST_LENGTH else [0]
    assert bool(counts[0]) == is_cut
    if not is_cut:
        assert np.array_equal(found.values, whole.values)


def test_pairs_do_not_depend_on_others_nor_on_instruction_sets():
    strings = [one for x, y, _ in PAIRS.values() for one in (x, y)]
    sequences = pairalign.SequenceSet.from_strings(strings, alphabet="dna")
    queries, targets = (np.arange(k, len(strings), 2, dtype=np.int32) for k in (0, 1))
    parts = []
    for used in instruction_sets()[:: len(instruction_sets()) - 1 or 1]:
        host = _engine(sequences, instruction_set=used)
        engine = _cutting(host, host, sequences)
        together = engine.compute(queries, targets)
        alone = [
            engine.compute(queries[k : k + 1], targets[k : k + 1]) for k in range(len(queries))
        ]
        assert np.array_equal(together.values, np.concatenate([one.values for one in alone]))
        assert np.array_equal(together.columns, np.concatenate([one.columns for one in alone]))
        parts.append(together)
    assert np.array_equal(parts[0].values, parts[-1].values)
    assert np.array_equal(parts[0].rows, parts[-1].rows)


def test_a_pair_whose_cuts_are_unsure_is_computed_as_a_whole(monkeypatch):
    sequences = pairalign.SequenceSet.from_strings([GENE, TWIN], alphabet="dna")
    host = _engine(sequences)
    monkeypatch.setattr("pairalign.engines.posterior_engines._SURE", 1 << 16)
    pair = np.zeros(1, np.int32), np.ones(1, np.int32)
    found = _cutting(host, host, sequences).compute(*pair)
    assert np.array_equal(found.values, host.compute(*pair).values)


LONG = _gene(1, 1500)


class _Nothing:
    """An engine that is not asked."""

    is_gpu, residues_at_once = False, 1


@pytest.mark.parametrize(
    ("other", "sure"),
    [(_changed(LONG, 2), 65490), (_changed(LONG[:700] + _gene(3, 500) + LONG[700:], 2), 64880)],
    ids=["more asked", "an insertion"],
)
def test_parts_beside_an_unsure_cut_are_merged_and_the_others_stay(other, sure, monkeypatch):
    sequences = pairalign.SequenceSet.from_strings([LONG, other], alphabet="dna")
    host = _engine(sequences)
    pair = np.zeros(1, np.int32), np.ones(1, np.int32)
    counts, parts = host.cut(*pair)
    first = host.compute_parts(*(np.repeat(one, counts) for one in pair), parts)
    merged, left, places = host.merge_parts(
        *pair, counts, parts, np.arange(len(parts)), first, sure
    )
    assert 1 < merged[0] < counts[0]
    assert 0 < (places < 0).sum() < len(places)
    assert (left["x_core"][0], left["x_core_end"][-1]) == (0, len(LONG))
    assert (left["x_core"][1:] >= left["x_core_end"][:-1]).all()
    monkeypatch.setattr("pairalign.engines.posterior_engines._SURE", sure)
    found = _cutting(_Nothing(), host, sequences).compute(*pair)  # nothing is left for an engine
    shape = len(LONG), len(other)
    apart = _dense(found, 0, shape) - _dense(host.compute(*pair), 0, shape)
    assert np.abs(apart).max() < 0.01


def test_threads_for_parts_are_those_that_the_memory_of_whole_pairs_lets_fit(monkeypatch):
    """One thread fits for whole pairs: parts need far less, so more compute them."""
    sequences = pairalign.SequenceSet.from_strings([LONG, _changed(LONG, 2)], alphabet="dna")
    taken = []
    compute = PosteriorEngine._compute
    monkeypatch.setattr(
        PosteriorEngine, "_compute", lambda *given: taken.append(given[-1]) or compute(*given)
    )
    engine = open_posterior_engine("cpu", PosteriorRequest(sequences, part_threads=3))
    found = engine.compute(np.zeros(1, np.int32), np.ones(1, np.int32))
    assert taken == [3]
    host = _engine(sequences, threads=3)
    alone = _cutting(host, host, sequences, 1).compute(found.queries, found.targets)
    assert taken == [3, 1]
    assert np.array_equal(alone.values, found.values)


def test_proteins_are_never_cut():
    assert not is_ever_cut(pairalign.SequenceSet.from_strings(["MKVLW" * 100] * 2))
