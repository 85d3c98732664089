"""`audit` and `merge` in Python do what the commands do."""

from pathlib import Path

import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FormatError, PartsError

GLOBINS = Path(__file__).parents[1] / "data" / "globins.fasta"


def test_audit_of_folds_is_that_of_the_command(tmp_path):
    folds = tmp_path / "folds.csv"
    pairalign.split(GLOBINS, min_identity=0.9, folds=3).write(folds)
    assert len(pairalign.audit(folds, GLOBINS, min_identity=0.9)) == 0
    found = pairalign.audit(folds, GLOBINS, min_identity=0.3)
    assert 0 < len(found) == len(list(found))
    assert "Violations" in found._repr_html_()
    words = ["audit", str(folds), str(GLOBINS), "-o", str(tmp_path / "a.csv"), "--quiet"]
    assert main([*words, "--min-identity", "0.3"]) == 1
    found.write(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with pytest.raises(FormatError, match=r"or \.csv"):
        found.write(tmp_path / "b.json")


def test_audit_of_two_sets_names_their_pairs():
    train, test = {"a": "MKTAYIAKQR", "b": "WWWWHHHHCC"}, {"c": "MKTAYIAKQL"}
    (row,) = pairalign.audit(train, test, min_identity=0.5)
    assert row == ("across", "a", "train", "c", "test", "0.900000")
    with pytest.raises(FormatError, match="across='none'"):
        pairalign.audit(train, test, min_identity=0.5, across="none")


@pytest.mark.parametrize(("command", "ending"), [("align", "tsv"), ("distance", "phy")])
def test_merged_parts_are_the_whole(command, ending, tmp_path):
    parts, whole = tmp_path / "parts", tmp_path / f"whole.{ending}"
    words = [command, str(GLOBINS), "--quiet", "--device", "cpu"]
    assert main([*words, "-o", str(whole)]) == 0
    for shard in ("1/2", "2/2"):
        if shard == "2/2":
            with pytest.raises(PartsError, match="missing"):
                pairalign.merge(parts, tmp_path / f"early.{ending}")
        format = ["--format", "tsv"] if command == "align" else []
        assert main([*words, "-o", str(parts), "--shard", shard, *format]) == 0
    pairalign.merge(parts, tmp_path / f"merged.{ending}")
    assert (tmp_path / f"merged.{ending}").read_bytes() == whole.read_bytes()
    with pytest.raises(FormatError):
        pairalign.merge(parts, tmp_path / "merged.nwk")
    assert not list(tmp_path.glob("early*"))
