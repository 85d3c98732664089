"""``--dry-run``: exact pairs and cells, what filters leave, bytes near those written, no file."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairalign.base.declaration import make, stored
from pairalign.base.dry_run import WorkBegins, dry_run
from pairalign.base.part_file import PartFile
from pairalign.cli.main import main
from pairalign.jobs.run.align import AlignmentJob
from pairalign.requests.align_request import AlignOptions


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    rng = np.random.default_rng(1)
    with Path("in.fa").open("w") as file:
        for number in range(120):
            residues = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 30 + rng.integers(60))
            file.write(f">p{number}\n{''.join(residues)}\n")


DNA = "reads.fa"
FORETOLD = {
    "align": ["align", "in.fa", "-o", "out.paf"],
    "best hits": ["align", "in.fa", "-o", "out.paf", "--max-hits", "2", "--mode", "local"],
    "hits": ["align", "in.fa", "some.fa", "-o", "out.paf", "--max-hits", "2"],
    "distance": ["distance", "in.fa", "-o", "out.phy"],
    "extended": ["distance", "in.fa", "-o", "out.npy", "--extend", "known.npy"],
    "two sets": ["distance", "in.fa", "some.fa", "-o", "out.tsv"],
    "identities": ["distance", "in.fa", "-o", "out.npy", "--similarity"],
    "near": ["distance", "in.fa", "-o", "out.tsv", "--max-edits", "60"],
    "groups": ["distance", "in.fa", "some.fa", "-o", "out.tsv", "--group-by", "file"],
    "circles": ["distance", "few.fa", "-o", "out.tsv", "--circular"],
    "tree": ["tree", "in.fa", "-o", "out.nwk"],
    "resumed": ["tree", "in.fa", "-o", "out.nwk", "--resume"],
    "overlap": ["overlap", DNA, "-o", "out.paf"],
    "candidates": ["overlap", DNA, "-o", "out.paf", "--candidates", "pairs.tsv"],
    "unitigs": ["overlap", DNA, "-o", "out.gfa", "--unitigs"],
    "greedy": ["cluster", "in.fa", "-o", "out.tsv", "--min-identity", "0.3"],
    "single": ["cluster", "in.fa", "-o", "out.tsv", "--min-identity", "0.3", "--linkage", "single"],
    "average": ["cluster", "in.fa", "-o", "o.tsv", "--min-identity", "0.3", "--linkage", "average"],
    "edges": ["cluster", "in.fa", "-o", "out.abc", "--min-identity", "0.3", "--linkage", "single"],
    "split": ["split", "in.fa", "-o", "out.csv", "--min-identity", "0.3", "--removed", "gone.csv"],
    "homologs": ["split", "in.fa", "-o", "out.csv", "--folds-dir", "folds"],
    "audit": ["audit", "folds.csv", "in.fa", "-o", "out.csv", "--min-identity", "0.3"],
    "sets": ["audit", "in.fa", "some.fa", "-o", "out.csv", "--min-identity", "0.3"],
    "msa": ["msa", "in.fa", "-o", "out.afa"],
    "families": ["msa", "in.fa", "some.fa", "-o", "families/"],
    "posterior": ["posterior", "few.fa", "-o", "out.tsv", "--resume"],
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Pairs and cells of jobs that were opened."""
    opened: list[tuple[int, int]] = []
    plain = AlignmentJob._open_engines

    def count(job: AlignmentJob) -> Any:
        engines = plain(job)
        opened.append((job.pairs, job.cells))
        return engines

    monkeypatch.setattr(AlignmentJob, "_open_engines", count)
    return opened


@pytest.fixture
def inputs() -> None:
    add_copies(4)
    text = Path("in.fa").read_text()
    Path("some.fa").write_text(text[: text.index(">p20\n")].replace(">", ">other-"))
    Path("few.fa").write_text(text[: text.index(">p9\n")])
    assert main(["distance", "few.fa", "-o", "known.npy", "-q"]) == 0
    names = [line[1:] for line in text.split("\n")[::2] if line]
    Path("folds.csv").write_text(
        "name,fold\n" + "".join(f"{name},{k % 3}\n" for k, name in enumerate(names))
    )
    rng = np.random.default_rng(2)
    genome = "".join(rng.choice(list("ACGT"), 3000))
    places = range(0, 2500, 100)
    reads = "".join(f">r{at}\n{genome[at : at + 500]}\n" for at in places)
    Path(DNA).write_text(reads)
    Path("pairs.tsv").write_text("".join(f"r{at}\tr{at + 100}\n" for at in places[:-1]))


@pytest.mark.parametrize("command", FORETOLD)
def test_what_is_foretold_is_what_is_done(command, inputs, counted, capsys):
    line = [*FORETOLD[command], "--summary", "json"]
    before = {path: path.read_bytes() for path in Path().iterdir()}
    capsys.readouterr()
    assert main([*line, "--dry-run"]) == 0
    facts = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    if command == "extended":
        assert facts["pairs"] == 124 * 123 // 2 - 9 * 8 // 2
    counted.clear()
    assert main(line) in ((0, 1) if line[0] == "audit" else (0,))
    said = json.loads(
        [line for line in capsys.readouterr().err.splitlines() if line[:1] == "{"][-1]
    )
    if "pairs" in said:
        assert facts["pairs"] == said["pairs"]
    elif command == "families":
        trees = [job for job in counted if job[0] in (120 * 119 // 2, 20 * 19 // 2)]
        assert [facts["pairs"], facts["cells"]] == [
            sum(counts) for counts in zip(*trees, strict=True)
        ]
    else:
        assert (facts["pairs"], facts["cells"]) == counted[0]
    if "cells" in said:
        assert facts["cells"] == said["cells"]
    if "bytes" in facts:
        assert facts["bytes"] == pytest.approx(Path(line[line.index("-o") + 1]).stat().st_size, 0.1)


def add_copies(count: int) -> None:
    residues = Path("in.fa").read_text().split("\n")[1::2]
    with Path("in.fa").open("a") as file:
        file.writelines(f">again{k}\n{one}\n" for k, one in enumerate(residues[:count]))


def foretold(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, float]:
    capsys.readouterr()
    line = ["align", "in.fa", "--device", "cpu", "--dry-run", "--summary", "json", *options]
    assert main(line) == 0
    said = capsys.readouterr()
    assert said.out == ""
    facts: dict[str, float] = json.loads(said.err.strip().splitlines()[-1])
    assert facts["seconds"] > 0 or not facts["pairs"]
    return facts


@pytest.mark.parametrize("format", ["paf", "tsv", "fasta"])
@pytest.mark.parametrize("least", [None, "-20"])
def test_bytes_are_about_those_of_the_run(format, least, capsys):
    options = ["-o", "out", "--format", format]
    options += [] if least is None else [f"--min-score={least}"]
    facts = foretold(capsys, *options)
    lengths = [len(line) for line in Path("in.fa").read_text().split("\n")[1::2]]
    cells = (sum(lengths) ** 2 - sum(one * one for one in lengths)) // 2
    assert (facts["pairs"], facts["cells"]) == (120 * 119 // 2, cells)
    assert main(["align", "in.fa", "-q", *options]) == 0
    assert facts["bytes"] == pytest.approx(Path("out").stat().st_size, rel=0.1)


@pytest.mark.parametrize(
    "options",
    [
        ["-o", "out.paf"],
        ["-o", "out.paf", "--resume"],
        ["-o", "out.paf", "--dask", "localhost:1"],
        ["-o", "parts/", "--window", "40", "--shard", "2/3"],
        ["-o", "out.paf", "--report", "out.html"],
    ],
)
def test_nothing_is_written(options, capsys):
    Path("out.paf").write_text("before")
    facts = foretold(capsys, *options)
    assert sorted(path.name for path in Path().iterdir()) == ["in.fa", "out.paf"]
    assert Path("out.paf").read_text() == "before"
    assert (0 < facts["pairs"] < 120 * 119 // 2) == ("--shard" in options)


def test_hits_are_at_most_those_asked_for(capsys):
    facts = foretold(capsys, "--max-hits", "3", "--mode", "local")
    assert 0 < facts["share"] * facts["pairs"] <= 120 * 3
    assert (
        foretold(capsys, "--max-hits", "3", "--mode", "local", "--min-score", "200")["bytes"] == 0
    )


@pytest.mark.parametrize("options", [[], ["--mode", "local", "--min-coverage", "0.8"]])
def test_what_filters_leave_is_foretold(options, capsys):
    """The set is as small as its sample, so what is foretold is what the run has."""
    add_copies(30)
    options = [*options, "--min-identity", "0.5"]
    facts = foretold(capsys, *options)
    line = ["align", "in.fa", "-o", "out.paf", "--device", "cpu", "--explain", *options]
    assert main(line) == 0
    said = capsys.readouterr().err
    (scores,) = (line for line in said.splitlines() if line.split()[:1] == ["scores"])
    of = int(scores.split(" of ")[1].split()[0].replace(",", ""))
    assert facts["pairs_left"] == of < 0.5 * facts["pairs"]
    assert facts["share"] * facts["pairs"] == pytest.approx(Path("out.paf").read_text().count("\n"))
    assert facts["bytes"] == pytest.approx(Path("out.paf").stat().st_size, rel=0.02)
    assert "pairs_left" not in foretold(capsys, *options[:2] if len(options) > 2 else ())


def test_pairs_are_drawn_from_the_list(capsys):
    add_copies(40)
    Path("pairs.tsv").write_text("".join(f"p{k}\tagain{k}\n" for k in range(40)))
    facts = foretold(capsys, "--pairs", "pairs.tsv", "--min-identity", "0.9")
    assert (facts["pairs"], facts["sampled"], facts["share"]) == (40, 40, 1)


@pytest.mark.parametrize("least", ["9999", "200"])
def test_where_none_passes_bytes_are_not_known(least, capsys):
    assert main(["align", "in.fa", "--dry-run", "--min-score", least, "-o", "x.paf"]) == 0
    assert "not known: none of 7,140 pairs passed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [[], ["--min-identity", "0.5"], ["--mode", "local", "--max-hits", "2"]]
)
def test_a_shard_without_pairs_has_no_bytes(options, capsys):
    Path("in.fa").write_text(">a\nMKVL\n>b\nMKVLA\n")
    facts = foretold(capsys, "--shard", "3/3", "-o", "parts/", *options)
    assert (facts["pairs"], facts["bytes"]) == (0, 0)


@pytest.mark.parametrize("options", [[], ["--max-hits", "2"], ["--pairs", "pairs.tsv"]])
def test_the_sample_of_a_shard_is_no_larger_than_the_shard(options, capsys):
    names = [line[1:] for line in Path("in.fa").read_text().split("\n")[::2] if line]
    Path("pairs.tsv").write_text(
        "".join(f"{name}\tp{k % 5 + 1}9\n" for k, name in enumerate(names))
    )
    facts = foretold(capsys, "--shard", "2/8", "--window", "16", "-o", "parts/", *options)
    assert 0 < facts["sampled"] < 1.5 * facts["pairs"]
    assert (
        main(["align", "in.fa", "--shard", "2/8", "--window", "16", "-o", "parts/", *options]) == 0
    )
    size = sum(piece.stat().st_size for piece in Path("parts").glob("*.paf"))
    assert facts["bytes"] == pytest.approx(size, rel=0.2)


def test_a_thread_beside_it_writes(tmp_path):
    """As one that compiles kernels ahead and keeps them."""
    with dry_run():
        with pytest.raises(WorkBegins):
            PartFile("kept", None)
        with ThreadPoolExecutor() as threads:
            part = threads.submit(PartFile, str(tmp_path / "kept"), None).result()
    os.close(part.descriptor)
    part.publish()
    assert (tmp_path / "kept").exists()


def test_no_run_stores_it():
    assert stored(make(AlignOptions, {"input": "in.fa", "dry_run": True})) == {"input": "in.fa"}
