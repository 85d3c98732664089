"""JSON Lines: every value comes back by `json.loads`, as TSV has it; damaged lines are told."""

import json

import pandas as pd
import pytest
from test_names import KINDS
from verifying import align, family, verify

import pairalign
from pairalign.alignments.fields import FIELDS
from pairalign.cli.main import main
from pairalign.sequences.sets import SequenceSet

TEXTS = ("query", "target", "cigar", "query_aligned", "target_aligned", "confidence")
TEXTS += ("qseqid", "sseqid", "qseq", "sseq", "qaln", "taln", "strand", "sstrand", "btop")
TEXTS += ("stitle", "salltitles", "theader", "qtitle", "qheader")


@pytest.fixture(autouse=True)
def folder(here):
    for name, alphabet in (("p.fa", "protein"), ("d.fa", "dna")):
        records = family(alphabet).items()
        (here / name).write_text("".join(f">{key}\n{row}\n" for key, row in records))
    return here


def objects(path):
    """The lines, which no reader cuts anywhere else."""
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    lines = text.splitlines()
    assert text == "".join(f"{line}\n" for line in lines)
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


def compare_with_tsv(found, path):
    """Keys, their order and values are those of the table."""
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    assert len(found) == len(table)
    for one, (_, row) in zip(found, table.iterrows(), strict=True):
        assert list(one) == list(table.columns)
        for key, value in one.items():
            if value is None:
                assert row[key] == "nan"
            elif key in TEXTS:
                assert value == row[key]
            else:
                assert type(value) in (int, float)
                assert value == float(row[key])


@pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
@pytest.mark.parametrize("more", [(), ("--score-only",), ("--both-ways",), ("--max-hits", "2")])
def test_values_are_those_of_tsv(mode, more):
    for ending in ("tsv", "jsonl"):
        align("p.fa", "-o", f"x.{ending}", "--mode", mode, *more)
    compare_with_tsv(objects("x.jsonl"), "x.tsv")


@pytest.mark.parametrize("costs", [(), ("--gap-open", "10.25", "--gap-extend", "0.5")])
def test_every_column_can_be_chosen(costs):
    unknown = {"evalue", "bits", "bitscore"} if costs else set()  # an estimate takes seconds
    columns = ",".join(name for name in FIELDS if name not in unknown)
    chosen = ["--columns", columns, "--mode", "local", *costs]
    for ending in ("tsv", "jsonl"):
        align("p.fa", "-o", f"x.{ending}", *chosen)
    found = objects("x.jsonl")
    compare_with_tsv(found, "x.tsv")
    assert all(isinstance(one["confidence"], str) for one in found)


def test_statistics_that_are_not_known_are_null():
    align("p.fa", "-o", "x.jsonl", "--columns", "query,target,bits,evalue")
    assert {(one["bits"], one["evalue"]) for one in objects("x.jsonl")} == {(None, None)}


def test_names_are_one_line_for_any_reader():
    """Also where Unicode has line ends, at which some readers cut."""
    names = [*KINDS.values(), "a\u2029b"]
    sequences = SequenceSet.from_strings(["MKVLWACG"] * len(names), names=names)
    pairalign.align(sequences, device="cpu").write("x.jsonl")
    assert {one[key] for one in objects("x.jsonl") for key in ("query", "target")} == set(names)


def test_by_expected_accuracy_there_is_confidence():
    for ending in ("tsv", "jsonl"):
        align("p.fa", "-o", f"x.{ending}", "--objective", "mea")
    compare_with_tsv(objects("x.jsonl"), "x.tsv")
    assert all(set(one["confidence"]) <= set("0123456789*.") for one in objects("x.jsonl"))


# ---- read again ----------------------------------------------------------------------------------


def change(edit, line=1):
    """Write the file with one object changed, or another text in its place."""
    align("p.fa", "-o", "x.jsonl")
    with open("x.jsonl") as file:
        lines = file.read().splitlines()
    found = json.loads(lines[line])
    changed = edit(found)
    lines[line] = changed if isinstance(changed, str) else json.dumps(changed or found)
    with open("x.jsonl", "w") as file:
        file.write("\n".join(lines) + "\n")


DAMAGE = {
    "score": (lambda one: one.update(score=one["score"] + 1), "score"),
    "matches": (lambda one: one.update(matches=one["matches"] - 1), "matches"),
    "name": (lambda one: one.update(query="nobody"), "query"),
    "no name": (lambda one: one.update(query=None), "truncated"),
    "text": (lambda one: one.update(score=str(one["score"])), "truncated"),
    "flag": (lambda one: one.update(score=True), "truncated"),
    "nested": (lambda one: one.update(cigar=["8="]), "truncated"),
    "cigar": (lambda one: one.update(cigar="8="), "query_cigar,target_cigar"),
    "missing": (lambda one: one.pop("cigar") and None, "truncated"),
    "more": (lambda one: one.update(more=1), "truncated"),
    "tab": (lambda one: one.update(query="a\tb"), "truncated"),
    "surrogate": (lambda one: one.update(query="\ud800"), "query"),
    "no JSON": (lambda one: "{", "truncated"),
    "a list": (lambda one: '[["query", "a"]]', "truncated"),
    "deep": (lambda one: "[" * 100_000, "truncated"),
    "twice": (lambda one: json.dumps(one)[:-1] + ', "score": 1}', "truncated"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_lines(kind):
    edit, verdict = DAMAGE[kind]
    change(edit)
    found = verify("x.jsonl", "p.fa", "--mode", "global", code=1)
    assert [one["verdict"] for one in found].count("ok") == len(found) - 1
    assert (found[1]["line"], found[1]["verdict"]) == ("2", verdict)


def test_null_is_a_number_that_is_not_stated():
    change(lambda one: one.update(score=None))
    found = verify("x.jsonl", "p.fa", "--mode", "global")
    assert {one["verdict"] for one in found} == {"ok"}
    assert [one["file_score"] == "*" for one in found[:3]] == [False, True, False]


def test_other_writers_files_are_read():
    """Keys in another order, blanks, empty lines, escapes."""
    change(lambda one: json.dumps(dict(sorted(one.items())), indent=None) + "\n")
    found = verify("x.jsonl", "p.fa", "--mode", "global", "--optimal")
    assert {one["verdict"] for one in found} == {"ok"}
    assert [one["line"] for one in found[1:3]] == ["2", "4"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]\n", "line 1 is no JSON object with keys"),
        ("{}\n", "line 1 is no JSON object with keys"),
        ('{"query": "a"}\n', "no column of the targets' names"),
    ],
)
def test_files_that_are_none(folder, capfd, text, expected):
    (folder / "x.jsonl").write_text(text)
    assert main(["verify", "x.jsonl", "p.fa", "-o", "v.tsv", "-q"]) == 1
    assert expected in capfd.readouterr().err
