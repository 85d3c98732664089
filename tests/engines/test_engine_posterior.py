"""Posteriors: the definition against all paths, the kernels against the definition, one result."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from posterior_reference import (
    enumerated_posteriors,
    hmm_posteriors,
    hmm_tables,
    partition_posteriors,
    posteriors,
)

from pairalign.alignments.posteriors import ARITHMETICS, ONE
from pairalign.engines.cpu import cpu_posterior
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.scoring.posterior_models import (
    GROUP,
    MOST_MATCH_STATES,
    growth_bits,
    posterior_model,
)
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.sets import SequenceSet

MODELS = {
    alphabet.name: posterior_model(alphabet, match_states=MOST_MATCH_STATES)
    for alphabet in (PROTEIN, DNA)
}
ONE_STATE = posterior_model(PROTEIN)
LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYVBZXUOJ*", "dna": "ACGTNRYU"}
STEP = 1.5 / ONE  # two roundings


def _random_set(seed, lengths, alphabet="protein", letters=None):
    random = np.random.default_rng(seed)
    letters = (
        LETTERS[alphabet][: 20 if alphabet == "protein" else 4] if letters is None else letters
    )
    strings = ["".join(random.choice(list(letters), length)) for length in lengths]
    return SequenceSet.from_strings(strings, alphabet=alphabet)


def _all_pairs(sequences):
    first, second = np.triu_indices(len(sequences), 1)
    return first.astype(np.int32), second.astype(np.int32)


def _compute(sequences, **options):
    engine = PosteriorEngine(sequences, MODELS[sequences.alphabet.name], **options)
    return engine.compute(*_all_pairs(sequences))


def _same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("offsets", "rows", "columns", "values", "arithmetic")
    )


def _assert_is_definition(sequences, found, threshold=0.01, model=None):
    model = model or MODELS[sequences.alphabet.name]
    for pair, (query, target) in enumerate(zip(found.queries, found.targets, strict=True)):
        expected = posteriors(sequences.codes_of(query), sequences.codes_of(target), model)
        own = slice(found.offsets[pair], found.offsets[pair + 1])
        dense = np.zeros(expected.shape)
        dense[found.rows[own], found.columns[own]] = found.probabilities[own]
        kept = dense > 0
        assert np.abs(dense - expected)[kept].max(initial=0) < STEP
        assert (expected[~kept] < threshold + STEP).all()
        assert (expected[kept] > threshold - STEP).all()


@pytest.mark.parametrize("alphabet", MODELS)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 4), (3, 1), (2, 3), (4, 4), (5, 3)])
def test_definition_is_the_sum_over_all_paths(alphabet, sizes):
    sequences = _random_set(sum(sizes), sizes, alphabet)
    x, y = sequences.codes_of(0), sequences.codes_of(1)
    hmm, partition = enumerated_posteriors(x, y, MODELS[alphabet])
    assert np.allclose(hmm, hmm_posteriors(x, y, MODELS[alphabet]), rtol=1e-12)
    assert np.allclose(partition, partition_posteriors(x, y, MODELS[alphabet]), rtol=1e-12)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("alphabet", MODELS)
def test_kernel_computes_the_definition(alphabet, arithmetic):
    lengths = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 23, 40, 61]
    sequences = _random_set(7, lengths, alphabet, LETTERS[alphabet])
    found = _compute(sequences, arithmetic=arithmetic)
    assert set(found.arithmetic) == {ARITHMETICS.index(arithmetic)}
    _assert_is_definition(sequences, found)


@settings(max_examples=examples(15))
@given(
    st.sampled_from(sorted(MODELS)),
    st.lists(st.integers(1, 30), min_size=2, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_kernel_computes_the_definition_of_any_pairs(alphabet, lengths, seed):
    sequences = _random_set(seed, lengths, alphabet, LETTERS[alphabet])
    _assert_is_definition(sequences, _compute(sequences))


def test_every_instruction_set_and_thread_count_gives_the_same_bytes():
    sequences = _random_set(
        3, [3, 40, 41, 64, 90, 200, 7, 7, 7, 33, 120, 121, 122, 1, 2, 50, 77, 150]
    )
    for arithmetic in ARITHMETICS[:2]:
        results = [
            _compute(sequences, threads=threads, instruction_set=name, arithmetic=arithmetic)
            for name in instruction_sets()
            for threads in (1, 3)
        ]
        assert len(results[0].rows) > 0
        assert all(_same(results[0], other) for other in results[1:])


@settings(max_examples=examples(20))
@given(st.lists(st.integers(1, 90), min_size=3, max_size=20), st.integers(0, 2**32 - 1))
def test_a_pair_gives_the_same_bytes_in_any_company(lengths, seed):
    sequences = _random_set(seed, lengths)
    together = _compute(sequences)
    engine = PosteriorEngine(sequences, MODELS["protein"])
    for pair, (query, target) in enumerate(zip(*_all_pairs(sequences), strict=True)):
        alone = engine.compute([query], [target])
        own = slice(together.offsets[pair], together.offsets[pair + 1])
        for name in ("rows", "columns", "values"):
            assert np.array_equal(getattr(alone, name), getattr(together, name)[own])


def _pair_with_a_wide_range(repeats):
    """Two blocks of each sequence that belong together, crosswise: one has to give way."""
    return SequenceSet.from_strings(
        ["W" * repeats + "C" * repeats, "C" * repeats + "W" * repeats], alphabet="protein"
    )


@pytest.mark.parametrize(("repeats", "expected"), [(10, "float32"), (60, "float64")])
def test_a_wide_range_is_found_and_computed_with_more(repeats, expected):
    sequences = _pair_with_a_wide_range(repeats)
    results = [_compute(sequences, instruction_set=name) for name in instruction_sets()]
    assert [ARITHMETICS[k] for k in results[0].arithmetic] == [expected]
    _assert_is_definition(sequences, results[0])
    assert all(_same(results[0], other) for other in results[1:])


def test_a_range_beyond_float64_is_computed_with_exponents_that_do_not_end():
    sequences = _pair_with_a_wide_range(420)
    found = _compute(sequences)
    assert ARITHMETICS[found.arithmetic[0]] == "extended"
    widest = _compute(sequences, arithmetic="extended")
    assert _same(found, widest)
    per_row = np.bincount(found.rows, found.probabilities, minlength=840)
    assert per_row.max() < 1.5


EVERY_MODEL = [
    pytest.param(alphabet, posterior_model(alphabet, match_states=states), id=f"{name}-{states}")
    for name, alphabet in (("protein", PROTEIN), ("dna", DNA))
    for states in (1, MOST_MATCH_STATES)
]


def _dense(found, pair, shape):
    own = slice(*found.offsets[pair : pair + 2])
    dense = np.zeros(shape)
    dense[found.rows[own], found.columns[own]] = found.probabilities[own]
    return dense


@pytest.mark.parametrize(("alphabet", "model"), EVERY_MODEL)
def test_a_homopolymer_of_every_residue_is_as_in_double_precision(alphabet, model):
    """Alone, with flanks on either side, in both directions, shorter and longer than the other."""
    random = np.random.default_rng(4)
    letters = alphabet.letters[: 20 if alphabet == PROTEIN else 4]
    strings, pairs = [], []
    for letter in alphabet.letters.replace("*", ""):
        flank = "".join(random.choice(list(letters), 30))
        run, longer = letter * 24, letter * 61
        for one in (longer, run + flank, flank + longer, flank + run + flank):
            pairs += [(len(strings), len(strings) + 1), (len(strings) + 1, len(strings))]
            changed = (longer, run) if longer in one else (run, longer)
            strings += [one, one.replace(*changed)]
    sequences = SequenceSet.from_strings(strings, alphabet=alphabet.name)
    queries, targets = np.array(pairs, np.int32).T
    found, wide = (
        PosteriorEngine(sequences, model, threshold=2**-10, arithmetic=arithmetic).compute(
            queries, targets
        )
        for arithmetic in ("float32", "float64")
    )
    assert 0 in found.arithmetic
    for pair, (query, target) in enumerate(pairs):
        shape = len(strings[query]), len(strings[target])
        dense, expected = _dense(found, pair, shape), _dense(wide, pair, shape)
        both = (dense > 0) & (expected > 0)
        assert np.abs(dense - expected)[both].max() < 3 / ONE
        assert np.maximum(dense, expected)[~both].max(initial=0) < 2**-10 + 3 / ONE
        for axis in (0, 1):  # 1 of each model, whose root mean square is kept
            assert dense.sum(axis).max() < 2**0.5 + 1e-3
    if alphabet == PROTEIN:
        w = alphabet.letters.index("W") * 8
        for pair in (w, w + 1):
            x, y = (sequences.codes_of(one[pair]) for one in (queries, targets))
            right, shape = posteriors(x, y, model), (len(x), len(y))
            dense = _dense(found, pair, shape)
            assert np.abs(dense - right)[dense > 0].max() < 3 / ONE
            assert hmm_posteriors(x, y, model).sum(1).max() <= 1 + 1e-9


@pytest.mark.parametrize(("alphabet", "model"), EVERY_MODEL)
def test_rows_grow_by_less_than_their_bound(alphabet, model):
    """In plain float64, of what is dearest and what is random."""
    best = int(model.hmm_emission.max(axis=0).diagonal().argmax())
    random = np.random.default_rng(2)
    k, bound = model.match_states, 2.0 ** growth_bits(model)
    grown = 0.0
    for x, y in [
        (np.full(20, best), np.full(23, best)),
        (np.r_[np.full(9, best), random.integers(0, 4, 12)], random.integers(0, 4, 20)),
        tuple(random.integers(0, len(alphabet.letters), (2, 20))),
    ]:
        f, b, _ = hmm_tables(x, y, model)
        kept = b.copy()
        kept[:k, 1:, 1:] *= model.hmm_emission[:, x][:, :, y]
        counting = [*range(k), k + 1, k + 3]
        for row in range(20, GROUP, -1):
            scale = b[counting, row, 1:].max()
            grown = max(grown, kept[:, row - GROUP : row, 1:].max() / scale)
        close = np.tile([model.close_short, model.close_long], 2)
        hub = np.tensordot(model.leave, f[:k], 1) + np.tensordot(close, f[k:], 1)
        handed = model.stay[:, None, None] * f[:k] + model.enter[:, None, None] * hub
        for row in range(1, 20 - GROUP):
            scale = max(handed[:, row].max(), f[k + 1, row + 1, 1:].max())
            grown = max(grown, f[:k, row + 1 : row + 1 + GROUP].max() / scale)
    assert grown < bound
    assert grown > bound / 2**16  # the bound is not idle


def _with_better_matches(model):
    return replace(model, hmm_emission=model.hmm_emission * 64)


def test_a_model_that_grows_by_more_than_kernels_hold_is_refused():
    sequences = _random_set(1, [5, 6])
    with pytest.raises(AssertionError, match=r"grow by \d+ bits, kernels hold \d+"):
        PosteriorEngine(sequences, _with_better_matches(ONE_STATE))


def test_rows_that_add_up_to_more_than_1_are_computed_with_more(monkeypatch):
    """What a wrong bound would let through."""
    sequences = SequenceSet.from_strings(["W" * 30, "W" * 25], alphabet="protein")
    model = _with_better_matches(ONE_STATE)
    monkeypatch.setattr(cpu_posterior, "growth_bits", lambda model: 0)
    found = PosteriorEngine(sequences, model).compute([0], [1])
    assert ARITHMETICS[found.arithmetic[0]] == "float64"
    _assert_is_definition(sequences, found, model=model)


def test_float32_agrees_with_float64_on_long_pairs():
    random = np.random.default_rng(1)
    base = random.choice(list("ARNDCQEGHILKMFPSTWYV"), 900)
    strings = []
    for rate in (0.2, 0.5, 0.7):
        letters = base.copy()
        changed = random.random(len(base)) < rate
        letters[changed] = random.choice(list("ARNDCQEGHILKMFPSTWYV"), changed.sum())
        strings.append("".join(np.delete(letters, slice(300, 300 + int(100 * rate)))))
    sequences = SequenceSet.from_strings(strings, alphabet="protein")
    narrow, wide = _compute(sequences), _compute(sequences, arithmetic="float64")
    assert set(narrow.arithmetic) == {0}
    key = [pairs.pairs * 10**8 + pairs.rows * 10**4 + pairs.columns for pairs in (narrow, wide)]
    _, one, other = np.intersect1d(*key, return_indices=True)
    assert len(one) >= 0.999 * max(map(len, key))
    apart = narrow.values[one].astype(int) - wide.values[other]
    assert np.abs(apart).max() <= 32  # of 65535


def test_cancelled():
    sequences = _random_set(1, [30, 30])
    engine = PosteriorEngine(sequences, MODELS["protein"])
    engine.cancel()
    with pytest.raises(InterruptedError):
        engine.compute(*_all_pairs(sequences))


@pytest.mark.parametrize("model", [*MODELS.values(), ONE_STATE], ids=[*MODELS, "one state"])
def test_models_are_distributions(model):
    """That of ProbCons; the weights of four states were trained freely, DNA has flanks."""
    if model is ONE_STATE:
        gaps = 2 * model.open_short + 2 * model.open_long
        assert model.stay + gaps == pytest.approx(1, abs=1e-5)
        assert (model.leave[0], model.enter[0]) == (0, 1)
        assert model.extend_short + model.close_short == pytest.approx(1, abs=1e-5)
        start = model.start_match + 2 * model.start_short + 2 * model.start_long
        assert start == pytest.approx(1, abs=1e-5)
    for table in (*model.hmm_emission, model.partition_emission):
        assert (table == table.T).all()
        assert (table > 0).all()


@pytest.mark.parametrize("match_states", [1, MOST_MATCH_STATES])
def test_gaps_of_dna_are_alike_from_both_ends_and_dear_inside_where_they_are_flanks(match_states):
    model = posterior_model(DNA, match_states=match_states)
    assert model.match_states == match_states
    assert model.start_match < model.start_long == 1
    assert model.close_short == model.start_short / model.start_match
    assert model.open_short @ model.enter == pytest.approx(model.close_short, rel=1e-5)
    assert (model.open_long == model.close_long).all()
    flank, ends_in_match = model.open_long[0] * model.start_long, model.start_match
    assert flank < ends_in_match
    inside = model.open_short.min() * model.close_short
    assert model.open_long[0] * model.close_long < inside / 10**5
    assert model.extend_short < model.extend_long < 1


def test_proteins_may_have_one_match_state():
    sequences = _random_set(7, [1, 2, 5, 9, 33, 40])
    found = PosteriorEngine(sequences, ONE_STATE).compute(*_all_pairs(sequences))
    assert not _same(found, _compute(sequences))
    _assert_is_definition(sequences, found, model=ONE_STATE)


@pytest.mark.parametrize(("repeats", "more"), [(41, 3), (42, 5), (43, 8)])
def test_what_a_pair_is_computed_with_does_not_depend_on_its_company(repeats, more):
    """At the edge of what float32 holds, beside a sequence that is longer."""
    strings = ["W" * repeats + "C" * repeats + "A" * more, "C" * repeats + "W" * repeats]
    sequences = SequenceSet.from_strings([*strings, "C" * (8 * repeats)], alphabet="protein")
    engine = PosteriorEngine(sequences, MODELS["protein"])
    alone, together = engine.compute([0], [1]), engine.compute([0, 0], [1, 2])
    assert alone.arithmetic[0] == together.arithmetic[0]
