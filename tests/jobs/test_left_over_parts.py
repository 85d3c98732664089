"""What earlier runs have left in a folder of parts: other parts, and what a kill leaves."""

import os

import pytest
from commands import fasta
from verifying import align, family

from pairalign.base.run_files import new_hidden_name
from pairalign.cli.main import main


def test_parts_of_another_number_of_parts_are_refused(here, capfd):
    (here / "p.fa").write_text(fasta(family("protein")))
    for shard in ("1/2", "1/3", "2/3", "3/3"):
        align("p.fa", "-o", "parts", "--format", "paf", "--shard", shard)
    assert main(["merge", "parts", "-o", "x.paf"]) == 1
    said = "part-1-of-2.json and part-1-of-3.json are not of the same run; parts: 2 and 3"
    assert said in capfd.readouterr().err


def test_a_shard_in_another_format_leaves_no_piece_of_the_one_before(here):
    (here / "p.fa").write_text(fasta(family("protein")))
    for format in ("paf", "tsv"):
        align("p.fa", "-o", "parts", "--format", format, "--shard", "1/2")
        (here / "parts" / "part-2-of-2.paf").write_text("another shard's")
    assert sorted(path.name for path in (here / "parts").iterdir()) == [
        *("part-1-of-2.json", "part-1-of-2.tsv", "part-2-of-2.paf")
    ]


@pytest.mark.parametrize("name", [None, ".part-1-of-1.begun", "part-1-of-1.paf"])
def test_a_folder_of_a_run_that_was_killed_without_a_manifest_goes(name, here):
    """As a kill leaves it before the first manifest has its name, or after the last has gone."""
    (here / "p.fa").write_text(fasta(family("protein")))
    (here / "x.paf.parts").mkdir()
    if name is not None:
        (here / "x.paf.parts" / new_hidden_name(name)).write_text("")
    align("p.fa", "-o", "x.paf", "--resume")
    assert sorted(os.listdir()) == ["p.fa", "x.paf"]


def test_hidden_files_of_killed_runs_leave_a_shard(here):
    (here / "p.fa").write_text(fasta(family("protein")))
    command = ("p.fa", "-o", "parts", "--format", "paf", "--shard", "1/2")
    (here / "parts").mkdir()
    strange = new_hidden_name("part-2-of-2.paf")
    for name in ("part-1-of-2.3.paf", "part-1-of-2.3.tsv", ".part-1-of-2.begun"):
        (here / "parts" / new_hidden_name(name)).write_text("")
    (here / "parts" / strange).write_text("another shard's")
    align(*command, "--resume")
    left = {path.name for path in (here / "parts").iterdir()}
    assert left == {"part-1-of-2.json", "part-1-of-2.paf", strange}


def test_a_complete_shard_is_left_as_it_is(here):
    """Also what has the name of a piece, and is none of the run's."""
    (here / "p.fa").write_text(fasta(family("protein")))
    command = ("p.fa", "-o", "parts", "--format", "paf", "--shard", "1/2")
    align(*command)
    (here / "parts" / "part-1-of-2.9.paf").write_text("mine")
    before = {path: path.read_bytes() for path in (here / "parts").iterdir()}
    align(*command, "--resume")
    assert {path: path.read_bytes() for path in (here / "parts").iterdir()} == before
