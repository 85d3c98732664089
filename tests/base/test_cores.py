"""How many cores a process may use, as Linux shows it."""

import os

import pytest

from pairalign.base.limits import usable_cores

HAS = 16
SECOND = "sys/fs/cgroup"
FIRST = "sys/fs/cgroup/cpu,cpuacct"


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(HAS)), raising=False)


@pytest.mark.parametrize(
    ("group", "files", "expected"),
    [
        ("0::/\n", {f"{SECOND}/cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {f"{SECOND}/cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {f"{SECOND}/cpu.max": "10000 100000\n"}, 1),
        ("0::/\n", {f"{SECOND}/cpu.max": "max 100000\n"}, HAS),
        ("0::/\n", {f"{SECOND}/cpu.max": "9900000 100000\n"}, HAS),
        ("0::/a/b\n", {f"{SECOND}/a/cpu.max": "3 1\n", f"{SECOND}/a/b/cpu.max": "5 1\n"}, 3),
        ("0::/of/a/host\n", {f"{SECOND}/cpu.max": "4 1\n"}, 4),
        (
            "3:cpu,cpuacct:/x\n1:memory:/y\n",
            {f"{FIRST}/x/cpu.cfs_quota_us": "50000", f"{FIRST}/x/cpu.cfs_period_us": "10000"},
            5,
        ),
        (
            "3:cpuacct,cpu:/\n",
            {f"{SECOND}/cpu/cpu.cfs_quota_us": "2", f"{SECOND}/cpu/cpu.cfs_period_us": "1"},
            2,
        ),
        (
            "3:cpu,cpuacct:/x\n",
            {f"{FIRST}/x/cpu.cfs_quota_us": "-1", f"{FIRST}/x/cpu.cfs_period_us": "100000"},
            HAS,
        ),
        ("0::/\n", {f"{SECOND}/cpu.max": "nothing of this kind\n"}, HAS),
        ("0::/\n", {}, HAS),
    ],
)
def test_quotas_of_control_groups(tmp_path, group, files, expected):
    for name, text in {"proc/self/cgroup": group, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert usable_cores(tmp_path) == expected


def test_another_system(tmp_path, monkeypatch):
    assert usable_cores(tmp_path) == HAS
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores(tmp_path) == 1
