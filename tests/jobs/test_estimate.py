"""`pairalign estimate`: exact pairs and cells, measured rates, bytes near those written."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import DeviceError, UsageError
from pairalign.jobs.estimate.rates import GCUPS, parse_devices

MEASURED = Path(__file__).parents[2] / "docs" / "measured.md"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    with Path("in.fa").open("w") as file:
        for number in range(120):
            letters = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 30 + rng.integers(60))
            file.write(f">p{number}\n{''.join(letters)}\n")


def estimate(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, float]:
    capsys.readouterr()
    assert main(["estimate", "in.fa", "--summary", "json", *options]) == 0
    found: dict[str, float] = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
    return found


@pytest.mark.parametrize("format", ["paf", "tsv", "fasta"])
@pytest.mark.parametrize("least", [None, "-20"])
def test_bytes_are_about_those_of_the_run(
    format: str, least: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--format", format, *([] if least is None else [f"--min-score={least}"])]
    found = estimate(capsys, *options, "--sample", "3000")
    lengths = [len(line) for line in Path("in.fa").read_text().split("\n")[1::2]]
    cells = (sum(lengths) ** 2 - sum(one * one for one in lengths)) // 2
    assert (found["pairs"], found["cells"]) == (120 * 119 // 2, cells)
    assert main(["align", "in.fa", "-o", "out", "-q", *options]) == 0
    assert found["bytes"] == pytest.approx(Path("out").stat().st_size, rel=0.1)
    assert not [path for path in Path().iterdir() if path.name not in ("in.fa", "out")]


def test_hits_are_at_most_those_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    found = estimate(capsys, "--max-hits", "3", "--mode", "local")
    assert found["share"] * found["pairs"] <= 120 * 3 * 2


@pytest.mark.parametrize("options", [[], ["--mode", "local", "--min-coverage", "0.8"]])
def test_what_filters_leave_is_foretold(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The set is as small as its sample, so what is foretold is what the run has."""
    with Path("in.fa").open("a") as file:
        letters = Path("in.fa").read_text().split("\n")[1::2]
        file.writelines(f">again{k}\n{one}\n" for k, one in enumerate(letters[:30]))
    asked = [*options, "--min-identity", "0.5"]
    plain, found = estimate(capsys, *options[:2]), estimate(capsys, *asked)
    assert main(["align", "in.fa", "-o", "out.paf", "--device", "cpu", "--explain", *asked]) == 0
    said = capsys.readouterr().err
    (scores,) = (line for line in said.splitlines() if line.split()[:1] == ["scores"])
    of = int(scores.split(" of ")[1].split()[0].replace(",", ""))
    assert found["pairs_left"] == of < 0.5 * found["pairs"]
    assert 0 < found["cells_left"] < 0.5 * found["cells"]
    assert found["share"] * found["pairs"] == pytest.approx(Path("out.paf").read_text().count("\n"))
    assert found["bytes"] == pytest.approx(Path("out.paf").stat().st_size, rel=0.02)
    assert found["seconds"] <= plain["seconds"]
    assert "pairs_left" not in plain


def test_pairs_are_drawn_from_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"p{k}" for k in range(40)]
    with Path("in.fa").open("a") as file:
        letters = Path("in.fa").read_text().split("\n")[1::2]
        file.writelines(f">again{k}\n{one}\n" for k, one in enumerate(letters[:40]))
    Path("pairs.tsv").write_text("".join(f"{one}\tagain{k}\n" for k, one in enumerate(names)))
    found = estimate(capsys, "--pairs", "pairs.tsv", "--min-identity", "0.9")
    assert (found["pairs"], found["share"], found["pairs_left"]) == (40, 1, 40)


def test_where_none_passes_bytes_are_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "in.fa", "--min-score", "9999"]) == 0
    assert "not known: none of" in capsys.readouterr().err


def test_more_devices_take_less_and_cost_is_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    one = estimate(capsys, "--devices", "core", "--price", "3600")
    eight = estimate(capsys, "--devices", "core:8", "--price", "3600")
    assert eight["gcups"] == pytest.approx(8 * one["gcups"], rel=1e-3)
    assert one["cost"] == pytest.approx(one["seconds"], abs=0.1)
    assert eight["cost"] == pytest.approx(8 * eight["seconds"], abs=0.5)


@pytest.mark.parametrize(
    ("device", "question"), [("H200", "How fast is one GPU"), ("core", "How fast is a core")]
)
def test_rates_are_those_that_were_measured(device: str, question: str) -> None:
    table = MEASURED.read_text().partition(f"### {question}, by length?")[2].partition("###")[0]
    rows = [line[2:-2].split(" | ") for line in table.splitlines() if line.startswith("| ")]
    for (mode, cigars), known in GCUPS[device].items():
        column = rows[0].index(mode)
        assert [
            (float(row[0].replace(",", "")), figures(row[column])[cigars]) for row in rows[1:]
        ] == list(known)


def figures(cell: str) -> list[float]:
    """The rates of scores and of CIGARs: `7,256; 4,804` or `22.4, 9.3`."""
    return [float(one.replace(",", "")) for one in cell.split("; " if ";" in cell else ", ")]


def test_devices() -> None:
    assert str(parse_devices("h200:8")) == "8 H200s"
    rates = [parse_devices("H200").gcups("local", False, one) for one in (10, 51, 200, 257, 9999)]
    assert rates[0] == rates[1] == 1049
    assert 3743 < rates[2] < 4596 == rates[3]
    assert rates[4] == 4807
    for wrong in ("A100", "H200:0", "H200:x"):
        with pytest.raises(DeviceError):
            parse_devices(wrong)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (
            ["--score-only", "--matrix", "PAM250", "--format", "tsv"],
            {"detail": "score", "matrix": "PAM250", "format": "tsv"},
        ),
        (
            ["--format", "tsv", "--columns", "query,score", "--min-score=20", "--mode", "local"],
            {"format": "tsv", "columns": "query,score", "min_score": 20, "mode": "local"},
        ),
    ],
)
def test_python_estimates_as_the_command_does(
    options: list[str], arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*options, "--sample", "2000", "--devices", "H200:2", "--price", "1.5"]
    said = estimate(capsys, *options)
    found = pairalign.estimate("in.fa", sample=2000, devices="H200:2", price="1.5", **arguments)
    assert (found.pairs, found.cells, found.bytes) == (said["pairs"], said["cells"], said["bytes"])
    assert round(found.seconds, 1) == said["seconds"]
    assert found.cost is not None
    assert round(found.cost, 2) == said["cost"]
    assert pickle.loads(pickle.dumps(found)) == found


def test_python_refuses_devices_and_arguments_that_are_not_known() -> None:
    with pytest.raises(DeviceError, match="no rates of 'tpu' were measured"):
        pairalign.estimate("in.fa", devices="tpu")
    with pytest.raises(TypeError, match="unexpected keyword argument 'sharde'"):
        pairalign.estimate("in.fa", sharde=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="hsps needs mode='local', but the mode is global"):
        pairalign.estimate("in.fa", hsps=2)


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"sample": 0}, ValueError, "sample 0: expected at least 1"),
        ({"sample": "x"}, TypeError, "sample 'x': expected a whole number"),
        ({"price": "x"}, UsageError, "price 'x': expected a number"),
        ({"price": float("nan")}, UsageError, "price nan: expected a number"),
        ({"detail": "stats"}, UsageError, "detail 'stats': expected one of cigar, score"),
    ],
)
def test_wrong_values_are_named_in_python(
    asked: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        pairalign.estimate("in.fa", **asked)


def test_one_path_is_one_more_file() -> None:
    more = Path("more.fa")
    more.write_text(">more\nMKVLAT\n")
    for also in (more, str(more), [more]):
        assert pairalign.estimate("in.fa", also=also).pairs == 121 * 120 // 2
        assert len(pairalign.align("in.fa", also=also, detail="score").queries) == 121
