"""``--dask local:N``: processes on this machine, to which no other user can give work."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS, start, write_random_set

from pairalign.cli import dask_cluster, local_workers
from pairalign.cli.local_workers import LocalWorkers
from pairalign.cli.main import main
from pairalign.engines.selection import DeviceInfo
from pairalign.errors import DeviceError

NOBODY = 65534
LISTENING = "0A"
ACCEPTS = 1 << 16  # of a socket of this machine alone: it listens

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_random_set(Path("in.fa"), 120, 150)


def listening() -> dict[int, str]:
    """The sockets of this machine that listen, by inode: an address, or a name."""
    found = {}
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING:
                found[int(words[9])] = f"{kind} {words[1]}"
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[3], 16) & ACCEPTS:
            found[int(words[6])] = f"unix {words[7:]}"
    return found


def family(pid: int) -> list[int]:
    """A process and all that it and its children have started."""
    found = [pid]
    for one in found:
        with suppress(OSError):  # it, or one of its threads, has ended
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found


def sockets_of(pid: int) -> set[int]:
    """Inodes of the sockets that a process has open."""
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            place = os.readlink(f"/proc/{pid}/fd/{name}")
            if place.startswith("socket:["):
                found.add(int(place[8:-1]))
    except OSError:
        pass
    return found


def ports_of(pid: int) -> set[str]:
    """The ports at which a process listens, or one that it has started."""
    known = listening()
    inodes = {inode for one in family(pid) for inode in sockets_of(one)}
    found = [known[inode] for inode in inodes if inode in known]
    return {str(int(one.rpartition(":")[2], 16)) for one in found if one.startswith("tcp")}


def has_parts() -> bool:
    return os.path.isdir("all.paf.parts") and len(os.listdir("all.paf.parts")) > 1


def slow_start() -> subprocess.Popen[bytes]:
    command = ("align", "in.fa", "-o", "all.paf", "-q", "--dask", "local:2", "--device", "cpu")
    return start(*command, cwd=Path.cwd())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_listens() -> None:
    process = slow_start()
    seen, heard = set(), []
    while process.poll() is None:
        known = listening()
        for pid in family(process.pid):
            seen.add(pid)
            heard += [known[inode] for inode in sockets_of(pid) if inode in known]
        time.sleep(0.02)
    assert process.wait(TIMEOUT_SECONDS) == 0
    assert len(seen) > 3  # the command, and processes that make parts
    assert heard == []


OTHER_USER = """
    import os, sys
    import distributed.comm.tcp, distributed.protocol  # may not be readable later
    from distributed import Client
    os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
    for port in sys.argv[2:]:
        try:
            with Client(f"tcp://127.0.0.1:{{port}}", timeout=5) as client:
                print("ran as", client.submit(os.getuid).result(timeout=20))
        except Exception as error:
            print("refused:", type(error).__name__)
    print("tried", sys.argv[2:])
"""


@pytest.mark.slow
@needs_root
def test_another_user_cannot_run_anything() -> None:
    pytest.importorskip("distributed", reason="what another user would do it with")
    process = slow_start()
    ports: set[str] = set()
    try:
        while not has_parts() and process.poll() is None:
            ports |= ports_of(process.pid)
            time.sleep(0.05)
        script = textwrap.dedent(OTHER_USER).format(nobody=NOBODY)
        command = [sys.executable, "-c", script, "-", *ports]
        found = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, cwd="/"
        )
    finally:
        assert process.wait(TIMEOUT_SECONDS) == 0
    assert "tried" in found.stdout, found.stderr
    assert "ran as" not in found.stdout


@pytest.mark.slow
def test_modules_of_the_working_directory_are_not_loaded() -> None:
    """Others may write there, as into the folder for temporary files."""
    for name in ("numpy", "argparse", "pairalign"):
        Path(f"{name}.py").write_text("open('harmed', 'w')\n")
    command = ["align", "in.fa", "-o", "all.paf", "-q", "--dask", "local:1"]
    assert main([*command, "--device", "cpu"]) == 0
    assert not os.path.exists("harmed")


@pytest.mark.parametrize(("device", "seen"), [("cuda", ["0", "1"]), ("cuda:3", ["3"])])
def test_each_process_sees_one_gpu(
    device: str, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = [DeviceInfo(f"cuda:{k}", True, "") for k in (0, 1)]
    monkeypatch.setattr(dask_cluster, "list_devices", lambda: [DeviceInfo("cpu", True, ""), *gpus])
    asked = dask_cluster.WorkersRequest(dask="local:2", device=device)
    arguments = asked.resources_of_a_task
    assert arguments[:2] == ["--device", "cuda"]
    write = "import os; open(os.environ['CUDA_VISIBLE_DEVICES'] + '.' + str(os.getpid()), 'w')"
    replace_command(monkeypatch, [sys.executable, "-c", write])
    with dask_cluster._open_workers(asked) as workers:
        assert workers.count == 2
        assert sorted(workers.run([], [(k, 4) for k in range(1, 5)], ".")) == [
            (k, 4) for k in range(1, 5)
        ]
    assert sorted({path.name.split(".")[0] for path in Path().glob("?.*")}) == seen


def replace_command(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setattr(local_workers, "shard_command", lambda *_: command)


def test_a_part_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_twice = "echo . >> tries; echo no disk >&2; test $(wc -l < tries) -gt 2"
    replace_command(monkeypatch, ["sh", "-c", fail_twice])
    assert list(LocalWorkers(2, [], 2).run([], [(1, 1)], ".")) == [(1, 1)]
    Path("tries").unlink()
    with pytest.raises(DeviceError, match="shard 1/1: no disk"):
        list(LocalWorkers(2, [], 1).run([], [(1, 1)], "."))


def test_processes_end_with_who_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_command(monkeypatch, ["sh", "-c", "test -e first && exec sleep 600; touch first"])
    before = set(family(os.getpid()))
    with closing(LocalWorkers(2, [], 0).run([], [(k, 9) for k in range(1, 10)], ".")) as made:
        next(made)
        assert set(family(os.getpid())) > before
    assert set(family(os.getpid())) == before


@pytest.mark.parametrize(
    "asked", [["--strand", "both"], ["--free-ends", "query-start,target-start"]]
)
def test_distances_of_parts_have_the_scoring_and_the_strands(asked: list[str]) -> None:
    sequence = "ACGTACGTTTGACCAGTTGACACCA"
    other = "TGGTGTCTACTGGTCAAACGTAC"  # on the other strand it is alike
    Path("dna.fa").write_text(f">a\n{sequence}\n>b\n{other}\n>c\n{sequence[6:]}T\n")
    command = ["distance", "dna.fa", "--quiet", "--device", "cpu", *asked]
    assert main([*command, "-o", "whole.tsv"]) == 0
    assert main([*command, "-o", "parts.tsv", "--dask", "local:1"]) == 0
    assert Path("parts.tsv").read_bytes() == Path("whole.tsv").read_bytes()
