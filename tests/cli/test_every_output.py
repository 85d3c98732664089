"""Every command, with every file that it writes: what stands beside them stays as it is."""

import re
from pathlib import Path

import pytest
from support.foreign import KINDS, put, seen

import pairalign
from pairalign.base.run_files import new_hidden_name
from pairalign.cli.main import main

FASTA = ">a\nACGTACGTACGTAACC\n>b\nACGTTCGTACGTTACC\n>c\nACGGTACGTTTAACCG\n>d\nTTTTACGTTTAACCGG\n"
FASTQ = "".join(f"@{r[0]}\n{r[2:]}\n+\n{'I' * len(r[2:])}\n" for r in FASTA[1:-1].split("\n>"))
FOLDS = "name,fold\na,1\nb,1\nc,2\nd,2\n"
DNA = ["--alphabet", "dna"]
RUNS = {
    "align": ["align", "in.fa", *DNA, "-o", "o.paf", "--report", "o.html"],
    "align joined": ["align", "in.fa", *DNA, "-o", "o.parquet"],
    "overlap": [
        *("overlap", "in.fq", "-o", "o.paf", "--report", "o.html", "--read-report", "o.tsv"),
        *("--min-overlap", "5"),
    ],
    "distance": ["distance", "in.fa", *DNA, "-o", "o.phy", "--plot", "o.svg"],
    "tree": ["tree", "in.fa", *DNA, "-o", "o.nwk"],
    "cluster": ["cluster", "in.fa", *DNA, "-o", "o.tsv", "--min-identity", "0.9"],
    "split": [
        *("split", "in.fa", *DNA, "-o", "o.csv", "--min-identity", "0.9", "--folds", "2"),
        *("--removed", "r.csv", "--report", "o.html"),
    ],
    "audit": ["audit", "folds.csv", "in.fa", *DNA, "-o", "o.csv", "--min-identity", "0.9"],
    "verify": ["verify", "in.paf", "in.fa", *DNA, "-o", "o.tsv"],
    "merge": ["merge", "parts", "-o", "o.paf"],
    "posterior": ["posterior", "in.fa", *DNA, "-o", "o.tsv"],
    "msa": ["msa", "in.fa", *DNA, "-o", "o.afa", "--tree-out", "o.nwk"],
}
WITH_RESUME = ("align", "align joined", "overlap", "distance", "tree")
NEEDS = {"align joined": "pyarrow", "distance": "matplotlib"}


def names_beside(output):
    """Names that a run might create, replace or remove, and some that look alike."""
    return [
        *(f"{output}.{end}" for end in ("part", "journal", "parts", "tmp")),
        *(f"{output}.distances.{end}" for end in ("part", "journal")),
        *(f".{output}.{digits}.part" for digits in ("0123abcd", "0123456789abcdef")),
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("in.fa", FASTA), ("in.fq", FASTQ), ("folds.csv", FOLDS)):
        Path(name).write_text(text)
    assert main(["align", "in.fa", *DNA, "-o", "in.paf", "--quiet"]) == 0
    for k in ("1/2", "2/2"):
        assert main(["align", "in.fa", *DNA, "-o", "parts", "--shard", k, "--quiet"]) == 0
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", RUNS)
def test_what_a_run_did_not_make_stays(run, kind, folder, capfd):
    if run in NEEDS:
        pytest.importorskip(NEEDS[run])
    command = RUNS[run]
    outputs = [word for word in command if re.fullmatch(r"[or]\.\w+", word)]
    strangers = [folder / name for output in outputs for name in names_beside(output)]
    if kind not in ("file", "dangling"):  # such a file of pairalign's own would be replaced
        strangers += [folder / new_hidden_name(output) for output in outputs]
    for path in strangers:
        put(path, kind)
    before = {path: seen(path) for path in [*strangers, folder / "in.fa", folder / "in.paf"]}
    assert main(command) in (0, 1), capfd.readouterr().err  # audit: 1 if it finds something
    assert all((folder / output).is_file() for output in outputs)
    assert {path: seen(path) for path in before} == before
    if run in WITH_RESUME:
        assert main([*command, "--resume"]) in (1, 2)
        assert {path: seen(path) for path in before} == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["align", "distance", "overlap"])
def test_a_part_without_a_manifest_is_a_strangers(command, kind, folder, capfd):
    ending = {"align": "paf", "distance": "distances", "overlap": "paf"}[command]
    path = folder / "mine" / f"part-1-of-2.{ending}"
    path.parent.mkdir()
    put(path, kind)
    before = seen(path)
    given = "in.fq" if command == "overlap" else "in.fa"
    assert main([command, given, "-o", "mine", "--shard", "1/2"]) == 1
    assert path.name in capfd.readouterr().err
    assert seen(path) == before
    assert not (path.parent / "part-1-of-2.json").exists()


def test_a_part_that_was_begun_and_killed_is_made_again(folder, capfd):
    part, manifest = folder / "parts" / "part-1-of-2.paf", folder / "parts" / "part-1-of-2.json"
    text = part.read_bytes()
    manifest.rename(folder / "parts" / ".part-1-of-2.begun")
    part.write_bytes(b"half a li")
    assert main(["merge", "parts", "-o", "o.paf"]) == 1
    assert "1 of 2 parts are missing: 1;" in capfd.readouterr().err
    assert main(["align", "in.fa", *DNA, "-o", "parts", "--shard", "1/2", "--quiet"]) == 0
    assert part.read_bytes() == text
    assert main(["merge", "parts", "-o", "o.paf"]) == 0
    assert len(list(part.parent.iterdir())) == 4


def test_a_part_that_fails_leaves_no_manifest(folder, monkeypatch):
    def fail(*_):
        raise pairalign.errors.DeviceError("failed")

    monkeypatch.setattr("pairalign.cli.align._write", fail)
    assert main(["align", "in.fa", *DNA, "-o", "other", "--shard", "1/2"]) == 1
    assert not list((folder / "other").iterdir())


def test_one_module_removes_and_renames():
    package = Path(pairalign.__file__).parent
    calls = re.compile(
        r"os\.(unlink|remove|removedirs|rmdir|rename|renames|replace)\b"
        r"|shutil\.(rmtree|move)\b|\.(unlink|rmdir)\("
    )
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if calls.search(path.read_text())
    }
    assert found == {"base/run_files.py"}
