"""Random pairs against an oracle that shares no code with pairalign (scripts/fuzz_pairs.py)."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import fuzz_pairs
import pytest

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fuzz_pairs.compile_oracle(tmp_path_factory.mktemp("oracle"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz_pairs.KINDS)
def test_no_pair_differs(kind, oracle):
    pairs, fault = fuzz_pairs.compare(oracle, 7, kind)
    assert pairs > 10_000
    assert fault is None


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[tuple[int, int], list[fuzz_pairs.Expected]]]:
    """What is right, of each kind of problem, once it has been found."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["score", "spans", "runs", "missing"])
@pytest.mark.parametrize("kind", ["end-gaps", "hsps", "thresholds"])
def test_a_wrong_alignment_is_found(kind, changed, oracle, answers, monkeypatch):
    """One alignment of one pair is not what it was."""
    right = fuzz_pairs.ours

    def wrong(*given: Any, **options: Any) -> dict[tuple[int, int], list[fuzz_pairs.Expected]]:
        if kind not in answers:
            answers[kind] = right(*given, **options)
        found = {pair: list(of_pair) for pair, of_pair in answers[kind].items()}
        pair = next(pair for pair, of_pair in found.items() if of_pair[-1].runs)
        one = found[pair].pop()
        if changed != "missing":
            values = {"score": one.score + 1, "spans": one.spans[::-1], "runs": one.runs[1:]}
            if changed == "spans" and values["spans"] == one.spans:
                values["spans"] = (*one.spans[:3], one.spans[3] + 1)
            found[pair].append(replace(one, **{changed: values[changed]}))
        return found

    monkeypatch.setattr(fuzz_pairs, "ours", wrong)
    assert fuzz_pairs.compare(oracle, 7, kind)[1] is not None


@pytest.mark.slow
def test_a_hundred_thousand_pairs(capsys):
    assert fuzz_pairs.main(["--pairs", "100000", "--seed", "50000"]) == 0
    assert "no difference" in capsys.readouterr().out
