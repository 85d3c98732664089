"""End gaps as other programs count them: vsearch and EMBOSS needle."""

import re
import subprocess

import numpy as np
import pytest
from readable import needs_program
from strategies import random_sequences
from vsearch_alignments import compare, run_vsearch, vsearch_scoring

from pairalign import align, make_scoring, read_fasta
from pairalign.sequences.sets import SequenceSet


@needs_program("vsearch")
@pytest.mark.parametrize("letters", ["ACGT", "ACGTRYN"])
def test_raw_scores_and_identities_of_vsearch(tmp_path, letters):
    """Every raw score; and what vsearch's own alignments are worth, and how identical they are."""
    rng = np.random.default_rng(17)
    strings = [one for one in random_sequences(rng, letters, 40, 300, "mixed") if len(one) > 30]
    sequences = SequenceSet.from_strings(strings, alphabet="dna")
    found = align(sequences, scoring=vsearch_scoring(tmp_path), device="cpu")
    counts = compare(found, run_vsearch(tmp_path, sequences))
    assert counts.pairs == len(strings) * (len(strings) - 1) // 2 > 300
    assert counts.scores == counts.worth == counts.pairs
    if letters == "ACGT":  # vsearch counts ambiguous letters as matches
        assert counts.of_paths == counts.pairs
        assert counts.identities > 0.5 * counts.pairs  # of equally good paths it may show another


@needs_program("vsearch")
@pytest.mark.parametrize("seed", [17, 19])
def test_alignments_of_vsearch(tmp_path, seed):
    """With its ties every alignment is vsearch's, and so is every identity."""
    rng = np.random.default_rng(seed)
    strings = [one for one in random_sequences(rng, "ACGT", 40, 300, "mixed") if len(one) > 30]
    sequences = SequenceSet.from_strings(strings, alphabet="dna")
    found = align(sequences, scoring=vsearch_scoring(tmp_path, ties="vsearch"), device="cpu")
    counts = compare(found, run_vsearch(tmp_path, sequences))
    assert counts.paths == counts.identities == counts.scores == counts.pairs > 300


@needs_program("vsearch")
def test_other_costs_of_vsearch(tmp_path):
    rng = np.random.default_rng(18)
    sequences = SequenceSet.from_strings(random_sequences(rng, "ACGT", 25, 200, "near"))
    costs = {"gap_open": "9", "gap_extend": "3", "end_gap_open": "4", "end_gap_extend": "0"}
    found = align(sequences, scoring=vsearch_scoring(tmp_path, **costs), device="cpu")
    options = ["--gapopen", "9I/4E", "--gapext", "3I/0E"]
    counts = compare(found, run_vsearch(tmp_path, sequences, *options))
    assert counts.scores == counts.worth == counts.pairs


@needs_program("needle")
@pytest.mark.parametrize("costs", [("10", "0.5"), ("4", "0.5"), ("1.5", "0.1"), ("0.5", "0.5")])
def test_scores_of_needle_with_weighted_ends(tmp_path, family, costs):
    opening, extension = costs
    proteins = [one.residues for one in read_fasta(family)][:9]
    first, others = proteins[0], proteins[1:]
    (tmp_path / "a").write_text(f">q\n{first}\n")
    (tmp_path / "b").write_text("".join(f">t{k}\n{one}\n" for k, one in enumerate(others)))
    command = ["needle", "-asequence", "a", "-bsequence", "b", "-outfile", "out", "-gapopen", "10"]
    command += ["-gapextend", "0.5", "-endweight", "-endopen", opening, "-endextend", extension]
    command += ["-datafile", "EBLOSUM62"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    theirs = [float(one) for one in re.findall(r"# Score: (\S+)", (tmp_path / "out").read_text())]
    scoring = make_scoring(
        "protein", gap_open="10", gap_extend="0.5", end_gap_open=opening, end_gap_extend=extension
    )
    found = align([first], others, scoring=scoring, device="cpu")
    ours = {one.target_index: one.score for one in found}
    assert [ours[k] for k in range(len(others))] == pytest.approx(theirs, abs=1e-6)
