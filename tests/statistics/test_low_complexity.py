"""Repeats of few residues: tantan's probabilities, and bits and E-values without them."""

import dataclasses
import itertools
import math
import subprocess

import numpy as np
import pytest
from align_command import align
from bench.statistics import background
from commands import fasta
from readable import needs_program

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.cli.main import main
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.complement import reverse_complement_set
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics import low_complexity
from pairalign.statistics.low_complexity import (
    ResidueMasks,
    find_segments,
    mask_problem,
    mask_repeats,
    mask_residues,
    repeat_probabilities,
)
from pairalign.statistics.significance import find_significance

pandas = pytest.importorskip("pandas")

LETTERS = {"protein": list(PROTEIN.letters[:20]), "dna": list("ACGT")}
SHARES = {"protein": background(), "dna": np.full(4, 0.25)}
COMPLEMENT = str.maketrans("ACGT", "TGCA")
LOCAL = ("--mode", "local", "--gap-open", "12", "--device", "cpu", "-q")


def with_repeats(kind, count, length, seed):
    """Random sequences, each with a stretch of copies of a few residues, of which some differ."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(count):
        row = rng.choice(LETTERS[kind], length, p=SHARES[kind])
        unit = rng.choice(LETTERS[kind], int(rng.integers(1, 6)), p=SHARES[kind])
        start, stop = length // 4, length // 4 + int(rng.integers(8, length // 2))
        row[start:stop] = np.resize(unit, stop - start)
        others = rng.random(length) < 0.1
        row[others] = rng.choice(LETTERS[kind], int(others.sum()), p=SHARES[kind])
        found[f"s{k}"] = "".join(row)
    return found


def sets_of(kind, *arguments):
    return SequenceSet.from_strings(with_repeats(kind, *arguments), alphabet=kind)


def plainly(codes, ratios, periods):
    """The probabilities by whole matrices of the model, as it is defined."""
    start, end, decay = 0.005, 0.05, 0.9
    of_period = decay ** np.arange(periods)
    of_period /= of_period.sum()
    steps = np.zeros((periods + 1, periods + 1))  # from, to; the first state is the background
    steps[0, 0], steps[0, 1:] = 1 - start, start * of_period
    steps[1:, 0] = end
    steps[1:, 1:] = (1 - end) * np.eye(periods)
    emitted = np.zeros((len(codes), periods + 1))
    emitted[:, 0] = 1
    for k in range(len(codes)):
        for period in range(1, min(k, periods) + 1):
            emitted[k, period] = ratios[codes[k], codes[k - period]]
    forward, backward = np.zeros_like(emitted), np.zeros_like(emitted)
    state = np.eye(periods + 1)[0]
    for k in range(len(codes)):
        state = (state @ steps) * emitted[k]
        forward[k] = state
    state = steps[:, 0]  # after the last residue is background
    for k in reversed(range(len(codes))):
        backward[k] = state
        state = steps @ (state * emitted[k])
    return 1 - forward[:, 0] * backward[:, 0] / (forward[-1] @ backward[-1])


@pytest.mark.parametrize(("kind", "periods"), [("protein", 50), ("dna", 100)])
def test_probabilities_are_those_of_the_model(kind, periods):
    some = sets_of(kind, 4, 70, 1)
    ratios = low_complexity._likelihoods(some.alphabet)
    expected = [plainly(some.codes_of(k), ratios, periods) for k in range(len(some))]
    found = repeat_probabilities(some)
    assert found == pytest.approx(np.concatenate(expected), abs=1e-6)
    assert found.min() < 0.1
    assert found.max() > 0.9


@needs_program("tantan")
@pytest.mark.parametrize(("kind", "option"), [("protein", ["-p"]), ("dna", [])])
def test_probabilities_are_those_of_tantan(tmp_path, kind, option):
    texts = with_repeats(kind, 30, 400, 2)
    (tmp_path / "s.fa").write_text(fasta(texts))
    command = ["tantan", *option, "-f1", str(tmp_path / "s.fa")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = [float(line) for line in said.split() if line[0].isdigit()]
    found = repeat_probabilities(SequenceSet.from_strings(texts, alphabet=kind))
    assert found == pytest.approx(np.array(theirs), abs=2e-3)


def test_residues_without_a_score_repeat_nothing():
    some = SequenceSet.from_strings(["X" * 60, "M", "Q" * 60], alphabet="protein")
    masked = mask_repeats(some)
    assert not masked[:61].any()
    assert masked[65:].all()


def bits_of(window):
    known = [code for code in window if code < 20]
    if len(window) - len(known) > 2:
        return math.inf
    shares = [known.count(code) / len(known) for code in set(known)]
    return -sum(share * math.log2(share) for share in shares)


def chance_of(part):
    """ln P0 of the counts of residues, in any order of the kinds."""
    counts = [part.count(code) for code in range(20)]
    value = math.lgamma(len(part) + 1) + math.lgamma(21) - len(part) * math.log(20)
    value -= sum(math.lgamma(count + 1) for count in counts)
    return value - sum(math.lgamma(counts.count(count) + 1) for count in set(counts))


def segments_of(codes, window, low, high):
    """Where segments begin and end, as they are defined."""
    entropies = [bits_of(codes[k : k + window]) for k in range(len(codes) - window + 1)]
    found, begin, trigger = [], 0, 0
    while trigger < len(entropies):
        if entropies[trigger] <= low:
            left = right = trigger
            while left > begin and entropies[left - 1] <= high:
                left -= 1
            while right + 1 < len(entropies) and entropies[right + 1] <= high:
                right += 1
            stop = right + window
            parts = [
                (round(chance_of(codes[a:b]), 8), a - b, a, b)
                for a in range(left, stop)
                for b in range(a + 1, stop + 1)
                if b - a >= stop - left - 50
            ]
            *_, first, last = min(parts)
            if trigger + window <= first:
                inner = segments_of(codes[left:first], window, low, high)
                found += [(a + left, b + left) for a, b in inner]
            found.append((first, last))
            trigger = min(right, last - 1)
            begin = trigger + 1
        trigger += 1
    return found


@pytest.mark.parametrize("asked", [(12, 2.2, 2.5), (20, 2.6, 3.0), (5, 1.0, 1.9)])
def test_segments_are_those_of_the_definition(asked):
    texts = [*with_repeats("protein", 12, 90, 12).values(), "Q" * 11, "MXXQQXQQQQXQQQQXQQQQQMLK"]
    some = SequenceSet.from_strings(texts, alphabet="protein")
    expected = np.zeros(some.total_residues, bool)
    for k in range(len(some)):
        for first, stop in segments_of(some.codes_of(k).tolist(), *asked):
            expected[some.offsets[k] + first : some.offsets[k] + stop] = True
    assert find_segments(some, *asked).tolist() == expected.tolist()
    assert 0 < expected.mean() < 1


@needs_program("segmasker")
def test_segments_are_those_of_segmasker(tmp_path):
    texts = with_repeats("protein", 400, 300, 2)
    (tmp_path / "s.fa").write_text(fasta(texts))
    command = ["segmasker", "-in", str(tmp_path / "s.fa"), "-outfmt", "fasta"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = "".join(line for line in said.splitlines() if line[0] != ">")
    some = SequenceSet.from_strings(texts, alphabet="protein")
    found = find_segments(some)
    assert 0.1 < found.mean() < 0.9
    different = np.flatnonzero(found != [letter.islower() for letter in theirs])
    # It takes either of two parts of the same probability, that end in neighbouring residues.
    assert len(different) < 20
    for place in different.tolist():
        k = int(np.searchsorted(some.offsets, place, side="right")) - 1
        codes, at = some.codes_of(k).tolist(), place - int(some.offsets[k])
        spans = segments_of(codes, 12, 2.2, 2.5)
        chances = [
            (chance_of(codes[a:b]), chance_of(codes[a + (a == at) : b - (b - 1 == at)]))
            for a, b in spans
            if at in (a, b - 1)
        ]
        assert chances
        for ours, other in chances:
            assert ours == pytest.approx(other, abs=1e-6)


def best_stretch(one, masked):
    """The score of the best part of an alignment where masked residues earn nothing."""
    matrix, best, score = one.scoring.matrix, 0, 0
    places = [int(one.query_start[0]), int(one.target_start[0])]
    codes = one.queries.codes_of(one.query[0]), one.targets.codes_of(one.target[0])
    for run in one.cigar.tolist():
        length, operation = run >> 4, run & 15
        if operation in (1, 2):
            places[operation - 1] += length
            score -= one.scoring.gap_open + (length - 1) * one.scoring.gap_extend
        for _ in range(length if operation > 2 else 0):
            pair = int(matrix[codes[0][places[0]], codes[1][places[1]]])
            if masked[0][places[0]] or masked[1][places[1]]:
                pair = min(pair, 0)
            score += pair
            places = [place + 1 for place in places]
            best, score = max(best, score), max(score, 0)
        score = max(score, 0)
    return best


@pytest.mark.parametrize(
    ("kind", "mask"), [("protein", "tantan"), ("dna", "tantan"), ("protein", "seg")]
)
def test_masked_scores(kind, mask):
    queries, targets = sets_of(kind, 6, 90, 3), sets_of(kind, 7, 110, 4)
    scoring = make_scoring(kind, mode="local")
    found = pairalign.align(queries, targets, scoring=scoring, device="cpu")
    masks = ResidueMasks(queries, targets, mask)
    scores = masks.raw_scores(found)
    for k in range(len(found)):
        one = found.take(np.array([k]))
        sides = zip((queries, targets), masks.masked, (one.query[0], one.target[0]), strict=True)
        masked = [mask[of.offsets[i] : of.offsets[i + 1]] for of, mask, i in sides]
        assert scores[k] == best_stretch(one, masked)
    assert (scores <= found.raw_score).all()
    assert len(set((found.raw_score - scores).tolist())) > 3


def test_the_other_strand():
    queries, targets = sets_of("dna", 8, 120, 7), sets_of("dna", 8, 120, 8)
    turned = reverse_complement_set(queries)
    scoring = make_scoring("dna", mode="local")
    found = pairalign.align(turned, targets, scoring=scoring, device="cpu", strand="both")
    masks = ResidueMasks(turned, targets, "tantan")
    scores = masks.raw_scores(found)
    minus = np.flatnonzero(found.strand == -1)
    for k in minus:
        one = found.take(np.array([k]))
        length = len(queries.codes_of(one.query[0]))
        one = dataclasses.replace(
            one,
            queries=queries,
            query_start=length - one.query_end,
            query_end=length - one.query_start,
        )
        sides = zip((turned, targets), masks.masked, (one.query[0], one.target[0]), strict=True)
        masked = [mask[of.offsets[i] : of.offsets[i + 1]] for of, mask, i in sides]
        assert scores[k] == best_stretch(one, (masked[0][::-1], masked[1]))
    assert (scores[minus] < found.raw_score[minus]).sum() > 5


def test_the_filter_knows_strands(here):
    texts = with_repeats("dna", 14, 150, 9)
    texts |= {f"m{k}": one[::-1].translate(COMPLEMENT) for k, one in enumerate(texts.values())}
    texts |= {f"c{k}": texts[f"s{k}"] for k in range(4)}
    (here / "r.fa").write_text(fasta(texts))
    reads = SequenceSet.from_strings(texts, alphabet="dna")
    costs = {"match": 2, "mismatch": -3, "gap_open": 7, "gap_extend": 2}
    scoring = make_scoring("dna", mode="local", **costs)
    found = pairalign.align(reads, scoring=scoring, device="cpu", strand="both")
    evalues = find_significance(scoring, reads, mask="tantan").evalues(found)
    kept = found.take(np.flatnonzero(evalues <= 0.1))
    options = ("--match", "2", "--mismatch", "-3", "--gap-open", "7", "--gap-extend", "2")
    align("r.fa", *options, "--mode", "local", "--device", "cpu", "--strand", "both",
          "--mask", "tantan", "--max-evalue", "0.1", "-o", "few.paf")  # fmt: skip
    lines = [line.split("\t") for line in (here / "few.paf").read_text().splitlines()]
    shown = sorted((row[0], row[5], row[4]) for row in lines)
    signs = {1: "+", -1: "-"}
    ends = zip(kept.query, kept.target, kept.strand, strict=True)
    assert shown == sorted((reads.names[q], reads.names[t], signs[s]) for q, t, s in ends)
    assert {row[2] for row in shown} == {"+", "-"}
    assert len(shown) < (find_significance(scoring, reads).evalues(found) <= 0.1).sum()


def table(path):
    return pandas.read_csv(path, sep="\t")


def test_only_bits_and_evalues_change(here):
    (here / "p.fa").write_text(fasta(with_repeats("protein", 20, 150, 5)))
    shown = ("--columns", "query,target,score,cigar,bits,evalue")
    align("p.fa", *LOCAL, *shown, "-o", "plain.tsv")
    align("p.fa", *LOCAL, *shown, "-o", "masked.tsv", "--mask", "tantan")
    plain, masked = table("plain.tsv"), table("masked.tsv")
    same = ["query", "target", "score", "cigar"]
    assert masked[same].equals(plain[same])
    assert (masked.evalue >= plain.evalue).all()
    assert (masked.evalue > 100 * plain.evalue).sum() > 3
    assert (masked.bits < plain.bits - 5).sum() > 3
    # The filter drops by the E-values that are shown, whether or not alignments are.
    columns = ("--columns", "query,target,evalue", "--max-evalue", "1")
    align("p.fa", *LOCAL, *columns, "-o", "few.tsv", "--mask", "tantan")
    kept = masked[masked.evalue <= 1].reset_index(drop=True)
    assert 0 < len(kept) < (plain.evalue <= 1).sum()
    assert table("few.tsv").equals(kept[["query", "target", "evalue"]])


def test_in_python():
    texts = with_repeats("protein", 12, 150, 5)
    scoring = make_scoring("protein", mode="local", gap_open=12)
    asked = {"scoring": scoring, "device": "cpu"}
    plain = pairalign.align(texts, **asked)
    masked = pairalign.align(texts, **asked, mask="tantan", detail="score")
    assert (masked.raw_score == plain.raw_score).all()
    assert (masked.evalue > 100 * plain.evalue).sum() > 3
    kept = pairalign.align(texts, **asked, mask="tantan", max_evalue=1)
    assert 0 < len(kept) == (masked.evalue <= 1).sum() < (plain.evalue <= 1).sum()
    with pytest.raises(ValueError, match="mask 'dust': expected one of none, tantan, seg"):
        pairalign.align(texts, **asked, mask="dust")


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@pytest.mark.parametrize(
    ("kind", "mask", "strand"), [("protein", "seg", "plus"), ("dna", "tantan", "both")]
)
def test_masked_residues_score_as_unknown_ones(kind, mask, strand, mode):
    texts = with_repeats(kind, 9, 120, 13)
    texts |= {f"c{k}": one[5:] for k, one in enumerate(texts.values())}
    some = SequenceSet.from_strings(texts, alphabet=kind)
    unknown = np.where(mask_residues(some, mask), ord(some.alphabet.unknown), some.residues)
    bounds = itertools.pairwise(some.offsets.tolist())
    by_hand = [unknown[a:b].astype(np.uint8).tobytes().decode() for a, b in bounds]
    asked = {"scoring": make_scoring(kind, mode=mode), "device": "cpu", "strand": strand}
    found = pairalign.align(some, **asked, mask=mask, mask_scores=True)
    expected = pairalign.align(by_hand, **asked)
    assert found.raw_score.tolist() == expected.raw_score.tolist()
    assert found.cigar.tolist() == expected.cigar.tolist()
    assert found.queries[0].residues == by_hand[0]
    assert (found.raw_score != pairalign.align(some, **asked).raw_score).sum() > 4


def test_verify_masks_as_align_does(here, capfd):
    (here / "p.fa").write_text(fasta(with_repeats("protein", 9, 120, 13)))
    masks = ("--mask", "seg", "--mask-scores")
    for file in ("a.paf", "a.tsv", "a.srspair"):
        align("p.fa", "-o", file, *masks, "--mode", "local", "--device", "cpu")
        assert "Mask: seg makes " in capfd.readouterr().err
        command = ["verify", file, "p.fa", "-o", "checked.tsv", "--mode", "local"]
        assert main([*command, *masks, "--optimal"]) == 0
        assert main(command) == 1


def test_hits_of_masked_scores(here):
    (here / "p.fa").write_text(fasta(with_repeats("protein", 12, 150, 5)))
    shown = ("--columns", "query,target,score,evalue", "--max-hits", "2", "--rank", "evalue")
    align("p.fa", *LOCAL, *shown, "--mask", "seg", "--mask-scores", "-o", "a.tsv")
    some = mask_problem(
        Problem(pairalign.read_fasta(here / "p.fa"), None, make_scoring("protein")), "seg"
    )
    (here / "x.fa").write_text(fasta({one.name: one.residues for one in some.queries}))
    align("x.fa", *LOCAL, *shown, "-o", "b.tsv")
    assert (here / "a.tsv").read_bytes() == (here / "b.tsv").read_bytes()


def test_files_say_it(here):
    (here / "p.fa").write_text(fasta(with_repeats("protein", 4, 80, 6)))
    align("p.fa", *LOCAL, "-o", "a.b7", "--mask", "tantan")
    assert "residues that tantan masks add nothing (Frith 2011)" in (here / "a.b7").read_text()
    align("p.fa", *LOCAL, "-o", "b.b7", "--mask", "seg", "--mask-scores")
    assert "residues that seg masks are X" in (here / "b.b7").read_text()
