"""The registry of kernels: it says what is there, refuses the rest, and ``--kernel`` obeys it."""

from pathlib import Path
from typing import Any

import pytest
from commands import PROTEINS, fasta
from cuda_engines import host_device
from strategies import MODES, make_scoring, match_matrix

from pairalign.cli import main as cli
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda import cuda_devices
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.kernels import (
    AUTO,
    FRAMEWORKS,
    KERNELS,
    Kernel,
    check_kernel,
    find_kernel,
    kernel_names,
    kernel_table,
    kernels_of,
)
from pairalign.engines.opencl.opencl_engine import OPENCL_FAMILIES
from pairalign.errors import DeviceError
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN

IDS = [f"{kernel.framework}-{kernel.name}" for kernel in KERNELS]
CAPABILITY = (9, 0)


def scoring_for(kernel: Kernel, mode: str | None = None) -> Scoring:
    """Costs that a kernel can do."""
    alphabet = DNA if "dna" in kernel.alphabets else PROTEIN
    gap_open = 3 if kernel.gap_model == "affine" else 1
    return make_scoring(alphabet, mode or kernel.modes[0], gap_open, 1, match_matrix(DNA, 2, -1))


def test_every_kernel_is_there_and_is_registered():
    for framework, families in (("cuda", FAMILIES), ("opencl", OPENCL_FAMILIES)):
        assert [kernel.name for kernel in kernels_of(framework)] == list(families)
        for name, family in families.items():
            assert family().name == name
    assert {kernel.framework for kernel in KERNELS} <= set(FRAMEWORKS)
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("kernel", kernels_of("cuda"), ids=lambda kernel: kernel.name)
def test_families_can_do_what_the_registry_says(kernel):
    family = FAMILIES[kernel.name]()
    for mode in MODES:
        for detail in Detail:
            scoring = scoring_for(kernel, mode)
            registered = kernel.why_not(scoring, detail) is None
            assert (family.supports(scoring, detail, CAPABILITY) is None) == registered


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_reasons(kernel):
    able = scoring_for(kernel)
    assert kernel.why_not(able, kernel.detail) is None
    if kernel.detail == Detail.SCORE:
        assert "scores only (detail='score'), not alignments" in kernel.why_not(able, Detail.CIGAR)
        assert "not identities or spans" in kernel.why_not(able, Detail.STATS)
    for mode in set(MODES) - set(kernel.modes):
        assert f"mode {mode}, does " in kernel.why_not(scoring_for(kernel, mode), Detail.SCORE)
    if kernel.gap_model == "linear":
        affine = make_scoring(DNA, kernel.modes[0], 3, 1, match_matrix(DNA, 2, -1))
        assert "affine gaps" in kernel.why_not(affine, Detail.SCORE)
    if "protein" not in kernel.alphabets:
        protein = make_scoring(PROTEIN, kernel.modes[0], 1, 1, match_matrix(DNA, 2, -1))
        assert "alphabet protein" in kernel.why_not(protein, Detail.SCORE)


def test_names_are_looked_up_on_a_framework_or_on_the_first():
    assert find_kernel("striped").framework == "cuda"
    assert find_kernel("striped", "opencl").framework == "opencl"
    assert find_kernel("lanes").framework == "cpu"
    with pytest.raises(DeviceError, match="kernel 'fastest' is not known, expected packed or"):
        find_kernel("fastest")
    with pytest.raises(DeviceError, match="'packed' runs on a CUDA GPU, found device 'cpu'"):
        find_kernel("packed", "cpu")
    assert kernel_names()[0] == AUTO
    scoring = scoring_for(find_kernel("packed"))
    for name in (None, AUTO):
        assert check_kernel(name, None, scoring, Detail.CIGAR) is None


def test_the_table_has_a_line_for_each_kernel(capsys):
    assert cli.main(["devices", "--kernels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == list(kernel_table())
    assert len(lines) == 1 + len(KERNELS)
    assert lines[0].split()[:4] == ["KERNEL", "ON", "MODES", "GAPS"]
    for line, kernel in zip(lines[1:], KERNELS, strict=True):
        assert line.split()[:2] == [kernel.name, kernel.framework]
        assert ("alignments" in line) == (kernel.detail > Detail.SCORE)
    assert max(map(len, lines)) < 160


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Two GPUs that are this CPU."""
    devices = [host_device(), host_device()]
    devices[1].index, devices[1].name = 1, "cuda:1"
    monkeypatch.setattr(cuda_devices, "_devices", devices)
    monkeypatch.setattr(cuda_build, "find_nvcc", lambda: "/usr/bin/nvcc")
    return devices


@pytest.mark.parametrize("kernel", ["pair-per-warp", "striped"])
def test_scores_through_the_whole_command(tmp_path, two_devices, kernel):
    """The same bytes as the CPU's, from two devices, one set and two, windows smaller than sets."""
    first, second = tmp_path / "a.fa", tmp_path / "b.fa"
    first.write_text(fasta(PROTEINS))
    second.write_text(fasta({"t1": "MKVLAAGG", "t2": "WTREHCMKVLL"}))
    for inputs in ([first], [first, second]):
        arguments = ["align", *map(str, inputs), "--score-only", "--window", "2", "--quiet"]
        arguments += ["--mode", "local", "--min-score", "3", "-o"]
        outputs = []
        for k, more in enumerate((["--device", "cpu"], ["--device", "cuda", "--kernel", kernel])):
            outputs.append(tmp_path / f"{k}.tsv")
            assert cli.main([*arguments, str(outputs[-1]), *more]) == 0
        assert outputs[0].read_bytes() == outputs[1].read_bytes()
        assert len(outputs[0].read_text().splitlines()) > 3


def test_the_page_about_kernels_shows_this_table():
    page = Path(__file__).parents[2] / "docs" / "kernels.md"
    shown = [line[4:].rstrip() for line in page.read_text().splitlines() if line.startswith("    ")]
    assert shown[: 1 + len(KERNELS)] == list(kernel_table())
