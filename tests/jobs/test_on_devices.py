"""Commands on devices: the bytes of the CPU, and the device has done the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import fasta
from opencl_engines import opencl_device
from relatives import LETTERS

from pairalign.cli.main import main
from pairalign.engines.cuda import cuda_selection
from pairalign.engines.device.device_engine import DeviceEngine

GROUPS = ("--group-by", "file", "--mode", "local")
LISTED = ("align", "long.fa", "--pairs", "pairs.tsv")

COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "two sets": (17 * 12, ("distance", "a.fa", "b.fa", "-o", "out.tsv")),
    "two sets, CIGARs": (
        5 * 6,
        ("distance", "x.fa", "y.fa", "--measure", "kimura-2p", "-o", "out.npy"),
    ),
    "groups of proteins": (
        17 * (12 + 9) + 12 * 9,
        ("distance", "a.fa", "b.fa", "c.fa", *GROUPS, "--measure", "identity", "-o", "out.phy"),
    ),
    "groups of DNA": (
        5 * 6 + 5 * 4 + 6 * 4,
        ("distance", "x.fa", "y.fa", "z.fa", *GROUPS, "--measure", "ani", "-o", "out.phy"),
    ),
    "ties": (17 * 16 // 2, ("align", "a.fa", "--columns", "query,target,ties", "-o", "out.tsv")),
    "list in windows": (6000, (*LISTED, "--window", "64", "-o", "out.paf")),
    "list in little memory": (6000, (*LISTED, "--memory", "8M", "-o", "out.paf")),
    "copies": (17 * 16 // 2 + 17, ("align", "copies.fa", "-o", "out.paf")),
    "copies, filtered": (
        17 * 16 // 2 + 17,
        ("align", "copies.fa", "--min-identity", "0.3", "-o", "out.paf"),
    ),
    "copies, filtered, both strands": (
        5 * 4 // 2 + 5,
        ("align", "turned.fa", "--strand", "both", "--min-identity", "0.6", "-o", "out.paf"),
    ),
}
"""Different pairs that a device aligns, and the command."""


@pytest.fixture
def inputs(here: Path) -> None:
    rng = np.random.default_rng(4)

    def related(kind: str, name: str, count: int, length: int) -> dict[str, str]:
        letters = list(LETTERS[kind])
        parent = np.random.default_rng(length).choice(letters, length)
        made = {}
        for k in range(count):
            child = np.where(rng.random(length) < 0.25, rng.choice(letters, length), parent)
            made[f"{name}{k}"] = "".join(child[: length - k % 7])
        return made

    for name, count in (("a", 17), ("b", 12), ("c", 9)):
        Path(f"{name}.fa").write_text(fasta(related("protein", name, count, 60)))
    for name, count in (("x", 5), ("y", 6), ("z", 4)):
        Path(f"{name}.fa").write_text(fasta(related("dna", name, count, 150)))
    for name, source, times in (("copies", "a", 6), ("turned", "x", 8)):
        text = Path(f"{source}.fa").read_text()
        Path(f"{name}.fa").write_text("".join(text.replace(">", f">{k}") for k in range(times)))
    Path("long.fa").write_text(fasta(related("protein", "l", 200, 20)))
    first, second = np.triu_indices(200, 1)
    chosen = np.sort(rng.choice(len(first), 6000, replace=False))
    lines = [f"l{first[k]}\tl{second[k]}\n" for k in chosen.tolist()]
    Path("pairs.tsv").write_text("".join(lines))


@pytest.fixture
def aligned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the pairs that devices align, call by call."""
    counts: list[int] = []
    align = DeviceEngine.align

    def counted(engine: Any, *arguments: Any) -> Any:
        alignments = align(engine, *arguments)
        counts.append(len(alignments))
        return alignments

    monkeypatch.setattr(DeviceEngine, "align", counted)
    return counts


def check(name: str, device: str, aligned: list[int]) -> None:
    pairs, command = COMMANDS[name]
    written = []
    for one in ("cpu", device):
        assert main([*command, "--device", one, "-q"]) == 0
        written.append(Path(command[-1]).read_bytes())
        assert bool(aligned) == (one == device)
    assert written[0] == written[1]
    assert pairs <= sum(aligned) <= 3 * pairs  # those that pass are aligned after they are scored
    if "list" in name:
        assert len(aligned) > 1


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("inputs")
def test_cuda(device, name, aligned, monkeypatch):
    monkeypatch.setattr(cuda_selection, "find_devices", lambda: [device])
    check(name, "cuda", aligned)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("inputs")
def test_opencl(name, aligned):
    opencl_device()
    check(name, "opencl", aligned)
