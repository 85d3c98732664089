"""The summary of each command: lines for a person, a JSON object for programs."""

import json
from pathlib import Path

import pytest
from commands import fasta, run

PROTEINS = {
    "a": "MKVLAAGIVGLLLAQWERTYMKVLAAGIVGLLLAQWERTY",
    "b": "MKVLAAGIVGLILAQWERTYMKVLAAGIVGLLLAQWER",
    "c": "MKVLSSGIVGLLLAQWDRTYWWPHCMKVLAAGIVG",
}
READS = {
    "r1": "ACGTTGCAACGGATTACAGGCATGCCTAGGTTAACCGGTACCATGCA",
    "r2": "GGATTACAGGCATGCCTAGGTTAACCGGTACCATGCATTTGACGTCA",
}
COMMANDS = {
    "align": (["in.fa", "-o", "out.tsv"], {"pairs": 3, "kept": 3}),
    "distance": (["in.fa", "-o", "out.phy"], {"pairs": 3, "measure": "identity-aligned"}),
    "tree": (["in.fa", "-o", "out.nwk"], {"method": "upgma", "measure": "identity-aligned"}),
    "cluster": (["in.fa", "--min-identity", "0.9", "-o", "out.uc"], {"clusters": 2, "largest": 2}),
    "split": (["in.fa", "--min-identity", "0.9", "--folds", "2", "-o", "out.csv"], {"removed": 0}),
    "msa": (["in.fa", "-o", "out.afa"], {}),
    "posterior": (["in.fa", "-o", "out.npz"], {"pairs": 3, "threshold": 0.05}),
    "overlap": (["reads.fa", "-o", "out.paf", "--min-overlap", "20"], {"overlaps": 1}),
    "verify": (["given.paf", "in.fa", "-o", "out.tsv"], {"records": 3, "legal": 3, "faults": {}}),
    "audit": (["given.uc", "in.fa", "--min-identity", "0.9", "-o", "out.csv"], {"groups": 2}),
    "merge": (["parts", "-o", "out.tsv"], {"parts": 2, "pairs": 3}),
}


@pytest.fixture(name="inputs")
def _inputs(tmp_path: Path) -> Path:
    (tmp_path / "in.fa").write_text(fasta(PROTEINS))
    (tmp_path / "reads.fa").write_text(fasta(READS))
    return tmp_path


def done(folder: Path, *arguments: str) -> str:
    found = run(*arguments, cwd=folder)
    assert found.returncode == 0, found.stderr
    return found.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_json_has_the_numbers(command, inputs):
    arguments, expected = COMMANDS[command]
    if command == "verify":
        done(inputs, "align", "in.fa", "-o", "given.paf")
    if command == "audit":
        done(inputs, "cluster", "in.fa", "--min-identity", "0.9", "-o", "given.uc")
    if command == "merge":
        for shard in ("1/2", "2/2"):
            parts = ["-o", "parts", "--format", "tsv", "--shard", shard]
            done(inputs, "align", "in.fa", *parts)
    said = done(inputs, command, *arguments, "--summary", "json")
    (line,) = [line for line in said.splitlines() if not line.startswith("pairalign: ")]
    facts = json.loads(line)
    assert facts["command"] == command
    assert {name: facts[name] for name in expected} == expected
    assert facts["written_to"] == [arguments[arguments.index("-o") + 1]]
    if command != "merge":
        assert facts["seconds"] >= 0
        assert facts["sets"][0]["sequences"] == (2 if command == "overlap" else 3)


def test_both_are_said_of_pairs(inputs):
    options = ["align", "in.fa", "-o", "out.tsv"]
    facts = json.loads(done(inputs, *options, "--summary", "json"))
    assert facts["closest"]["query"] == "a"
    assert facts["closest"]["target"] == "b"
    assert facts["closest"]["identity"] == round(37 / 40, 6)
    assert "a and b: 37 of 40 columns identical (92.5%)" in done(inputs, *options)
    assert done(inputs, *options, "--summary", "json", "--quiet") == ""


def test_pairs_that_pass_are_counted(inputs):
    local = ["align", "in.fa", "-o", "out.tsv", "--mode", "local"]
    assert "3, of which 3 have an E-value of at most 0.001\n" in done(
        inputs, *local, "--max-evalue", "1e-3"
    )
    limits = ["--max-evalue", "1e-60", "--min-score", "50", "--min-identity", "0.5"]
    assert (
        "3, of which 0 reach the thresholds and score at least 50 and have an E-value of at most "
        "1e-60\n"
    ) in done(inputs, *local, *limits)


@pytest.mark.parametrize("command", ["align", "distance", "tree", "overlap"])
def test_no_rate_of_zero(command, inputs):
    arguments, _ = COMMANDS[command]
    assert "GCUPS" not in done(inputs, command, *arguments)


@pytest.mark.parametrize("mode", ["global", "local"])
def test_a_pair_that_is_alone_is_said_once(inputs, mode):
    (inputs / "two.fa").write_text(fasta(dict(list(PROTEINS.items())[:2])))
    command = ("align", "two.fa", "-o", "out.tsv", "--mode", mode)
    said = done(inputs, *command)
    assert said.count("columns identical") == 1
    assert "the pair  a and b: 37 of" in said
    facts = json.loads(done(inputs, *command, "--summary", "json"))
    names = ("closest", "most_distant") if mode == "global" else ("highest_score", "lowest_score")
    assert facts[names[0]] == facts[names[1]]


def test_reads_have_bases(inputs):
    said = done(inputs, "overlap", "reads.fa", "-o", "out.paf", "--min-overlap", "20", "-v")
    assert "2 DNA sequences of 47 bases" in said
    assert "residues" not in said


def test_numbers_for_multiqc(inputs):
    """A row of the command's table, named for the input, even where nothing is said."""
    command = ("align", "in.fa", "-o", "out.tsv", "--quiet", "--multiqc")
    assert done(inputs, *command, "one_mqc.json") == ""
    content = json.loads((inputs / "one_mqc.json").read_text())
    assert (content["id"], content["plot_type"]) == ("pairalign_align", "table")
    row = content["data"]["in"]
    assert (row["sequences"], row["pairs"], row["kept"]) == (3, 3, 3)
    assert all(isinstance(value, int | float) for value in row.values())
    refused = run(*command, "one.json", cwd=inputs)
    assert (refused.returncode, refused.stderr.count(b"_mqc.json")) == (2, 1)
    assert not (inputs / "one.json").exists()
