"""Parts of the same run in another number of parts: `merge` names them and goes on."""

from commands import fasta
from verifying import align, family

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
