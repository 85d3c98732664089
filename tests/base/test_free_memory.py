"""How much memory is free, and sizes that people state."""

from pathlib import Path

import pytest

from pairalign.base.arguments import parse_size
from pairalign.base.limits import default_bytes, free_bytes

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 512 * MIB),
        ("512m", 512 * MIB),
        ("512MB", 512 * MIB),
        ("512MiB", 512 * MIB),
        ("512 MiB", 512 * MIB),
        (" 1.5 GiB ", 3 * GIB // 2),
        ("0.5K", 512),
        ("4G", 4 * GIB),
        ("2T", 2048 * GIB),
        ("123", 123),
        ("123B", 123),
        ("1", 1),
        ("9" * 400, 1 << 60),  # as much as any machine has
        ("99999999T", 1 << 60),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "0", "0G", "-1G", "1e9", "much", "G", "1.G", "1,5G", "1 0G", "0.1", "1P", "nan"]
)
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="expected a number with K, M, G or T, such as 512M"):
        parse_size(text)


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files as Linux shows them."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MACHINE = {"proc/meminfo": f"MemTotal: {16 * GIB // KIB} kB\nMemAvailable: {8 * GIB // KIB} kB\n"}
# A container's processes see their own group as the root of all.
CONTAINER = {
    **MACHINE,
    "proc/self/cgroup": "0::/\n",
    "sys/fs/cgroup/memory.max": f"{2 * GIB}\n",
    "sys/fs/cgroup/memory.current": f"{GIB}\n",
    "sys/fs/cgroup/memory.stat": "anon 5\nfile 7\ninactive_file 0\n",
}


def test_a_machine(tmp_path):
    assert free_bytes(write(tmp_path, MACHINE)) == 8 * GIB


def test_a_container(tmp_path):
    assert free_bytes(write(tmp_path, CONTAINER)) == GIB


def test_files_that_were_read_take_no_memory(tmp_path):
    """The kernel drops the pages of files when a program wants memory."""
    cached = {
        "sys/fs/cgroup/memory.current": f"{2 * GIB}\n",
        "sys/fs/cgroup/memory.stat": f"anon 5\ninactive_file {3 * GIB // 2}\nactive_file 9\n",
    }
    assert free_bytes(write(tmp_path, CONTAINER | cached)) == 3 * GIB // 2


def test_a_container_without_a_limit(tmp_path):
    assert free_bytes(write(tmp_path, CONTAINER | {"sys/fs/cgroup/memory.max": "max\n"})) == 8 * GIB


def test_a_group_within_groups(tmp_path):
    """A job of a cluster's scheduler: the smallest of what is left on the way up."""
    groups = {
        "proc/self/cgroup": "0::/slurm/job7/step0\n",
        "sys/fs/cgroup/slurm/memory.max": "max\n",
        "sys/fs/cgroup/slurm/memory.current": f"{8 * GIB}\n",
        "sys/fs/cgroup/slurm/memory.stat": "inactive_file 0\n",
        "sys/fs/cgroup/slurm/job7/memory.max": f"{3 * GIB}\n",
        "sys/fs/cgroup/slurm/job7/memory.current": f"{GIB // 2}\n",
        "sys/fs/cgroup/slurm/job7/memory.stat": "inactive_file 0\n",
        "sys/fs/cgroup/slurm/job7/step0/memory.max": f"{4 * GIB}\n",
        "sys/fs/cgroup/slurm/job7/step0/memory.current": f"{GIB // 4}\n",
        "sys/fs/cgroup/slurm/job7/step0/memory.stat": "inactive_file 0\n",
    }
    assert free_bytes(write(tmp_path, MACHINE | groups)) == 5 * GIB // 2


def test_groups_of_the_first_version(tmp_path):
    groups = {
        "proc/self/cgroup": "12:cpu,cpuacct:/x\n7:memory:/docker/abc\n1:name=systemd:/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{6 * GIB}\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{3 * GIB}\n",
        "sys/fs/cgroup/memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}\n",
    }
    assert free_bytes(write(tmp_path, MACHINE | groups)) == 4 * GIB


def test_a_group_that_is_full(tmp_path):
    full = CONTAINER | {"sys/fs/cgroup/memory.current": f"{3 * GIB}\n"}
    assert free_bytes(write(tmp_path, full)) == 0


@pytest.mark.parametrize("name", [name for name in CONTAINER if name != "proc/meminfo"])
@pytest.mark.parametrize("text", ["", "?", "\n\n", "inactive_file\n", None])
def test_files_that_make_no_sense_do_not_count(tmp_path, name, text):
    write(tmp_path, CONTAINER | {name: text or ""})
    if text is None:
        (tmp_path / name).unlink()
    expected = {"proc/self/cgroup": (GIB, 8 * GIB), "sys/fs/cgroup/memory.stat": (GIB,)}
    assert free_bytes(tmp_path) in expected.get(name, (8 * GIB,))


def test_another_system(tmp_path):
    assert free_bytes(tmp_path) > 0


def test_here():
    assert free_bytes() > 0
    assert default_bytes() >= 64 * MIB


def test_there_is_a_least_default(monkeypatch):
    monkeypatch.setattr("pairalign.base.limits.free_bytes", lambda: 0)
    assert default_bytes() == 64 * MIB
    monkeypatch.setattr("pairalign.base.limits.free_bytes", lambda: GIB)
    assert default_bytes() == GIB // 2
