"""What earlier runs have left in a folder of parts: other parts, and what a kill leaves."""

import os

import pytest
from commands import fasta
from verifying import align, family

from pairalign.base.run_files import new_hidden_name
from pairalign.cli.main import main


def test_parts_of_another_number_of_parts_are_named_and_left_out(here, capfd):
    (here / "p.fa").write_text(fasta(family("protein")))
    align("p.fa", "-o", "whole.paf")
    for shard in ("1/2", "1/3", "2/3"):
        align("p.fa", "-o", "parts", "--format", "paf", "--shard", shard)
    assert main(["merge", "parts", "-o", "x.paf"]) == 1  # neither is complete
    message = capfd.readouterr().err
    assert (
        "part-1-of-2.json and part-1-of-3.json are not of the same run; parts: 2 and 3" in message
    )
    align("p.fa", "-o", "parts", "--format", "paf", "--shard", "3/3")
    assert main(["merge", "parts", "-o", "x.paf"]) == 0
    message = capfd.readouterr().err
    assert "'parts': its 3 parts are taken; left over is what the same run" in message
    assert "part-1-of-2.json" in message
    assert (here / "x.paf").read_bytes() == (here / "whole.paf").read_bytes()
    # Parts of another run are no left-overs: which one is meant is for the user to say.
    align("p.fa", "-o", "parts", "--format", "paf", "--shard", "2/4", "--gap-open", "9")
    assert main(["merge", "parts", "-o", "y.paf"]) == 1
    assert "are not of the same run" in capfd.readouterr().err


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
    align("p.fa", "-o", "x.paf")
    assert sorted(os.listdir()) == ["p.fa", "x.paf"]


@pytest.mark.parametrize("again", [False, True])
def test_hidden_files_of_killed_runs_leave_a_shard(again, here):
    (here / "p.fa").write_text(fasta(family("protein")))
    command = ("p.fa", "-o", "parts", "--format", "paf", "--shard", "1/2")
    if again:  # the part is complete
        align(*command)
    else:
        (here / "parts").mkdir()
    strange = new_hidden_name("part-2-of-2.paf")
    for name in ("part-1-of-2.3.paf", "part-1-of-2.3.tsv", ".part-1-of-2.begun"):
        (here / "parts" / new_hidden_name(name)).write_text("")
    (here / "parts" / strange).write_text("another shard's")
    align(*command, "--resume")
    left = {path.name for path in (here / "parts").iterdir()}
    assert left == {"part-1-of-2.json", "part-1-of-2.paf", strange}
