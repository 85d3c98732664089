"""`scripts/benchmark.py statistics --programs`: hits of each pair are counted once, by its best."""

import argparse
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
PROTEIN = "MKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACWHHEIPVYFNKDMRTLAQGS"


@pytest.fixture
def chance(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from bench import chance

    monkeypatch.setattr(
        chance, "PROGRAMS", {"pairalign": chance.PROGRAMS["pairalign, default"], "none": ["none"]}
    )
    yield chance
    for name in [one for one in sys.modules if one == "bench" or one.startswith("bench.")]:
        del sys.modules[name]


@pytest.mark.parametrize("real", [True, False])
def test_hits_are_counted(tmp_path, capsys, chance, real):
    half = PROTEIN[:40] + PROTEIN[:25][::-1]
    (tmp_path / "x.fa").write_text(f">a\n{PROTEIN}\n>b\n{PROTEIN}\n>c\n{half}\n")
    options = argparse.Namespace(
        data=tmp_path / "x.fa", sequences=3, longest=100, seed=[1], real=real, reversed=False
    )
    chance.compare_programs(options)
    lines = capsys.readouterr().out.splitlines()
    ours = lines[3].split(" | ")
    # a and b, a and c, b and c, each with either as the query
    assert ours[5] == ("6" if real else "0.00")
    assert ours[6] == ("6" if real else "0")
    assert lines[4] == "| none | not installed |"


def test_reversed_queries(tmp_path, chance):
    (tmp_path / "x.fa").write_text(f">a\n{PROTEIN}\n")
    options = argparse.Namespace(
        data=tmp_path / "x.fa", sequences=1, longest=100, seed=[1], real=False, reversed=True
    )
    assert chance._write_sets(tmp_path, options) == 1
    assert (tmp_path / "q.fa").read_text() == f">q0\n{PROTEIN[::-1]}\n"
    assert (tmp_path / "t.fa").read_text() == f">t0\n{PROTEIN}\n"


@pytest.mark.parametrize(
    "text", ["q1\tt2\t1e-5\n", "q1\tt2\t90\t50\t5\t0\t1\t50\t1\t50\t1e-5\t80\n"]
)
def test_columns_of_evalues(chance, text):
    assert list(chance._rows(f"# comment\n{text}")) == [("q1", "t2", 1e-5)]
