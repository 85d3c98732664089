"""``--dask local:N``: a command's shards as processes on this machine, N at a time.

Nothing listens. A process gets its shard by its arguments and says by its exit code how that went,
so no other user of this machine has a way to give it work.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Generator
from typing import IO

from pairalign.base.arguments import Shard
from pairalign.base.dataclass import dataclass
from pairalign.base.error_types import DeviceError

_SHOWN_BYTES = 2000
_READ_BYTES = 1 << 16


def shard_command(command: list[str], shard: Shard, folder: str) -> list[str]:
    """Return the program and its arguments that make one part, in a process of its own.

    It looks for modules where this process does: ``-m`` would look in the working directory first,
    into which others may be able to write.
    """
    run = (
        f"import sys; sys.path[:] = {sys.path!r}; from pairalign.cli.main import program; "
        "sys.exit(program())"
    )
    arguments = [*command, "--output", folder, "--shard", "{}/{}".format(*shard)]
    return [sys.executable, "-c", run, *arguments]


def failed_shard(shard: Shard, said: bytes) -> str:
    """Describe a shard whose process has failed, by the end of what that said."""
    return "shard {}/{}: ".format(*shard) + said.decode(errors="replace").strip()[-_SHOWN_BYTES:]


@dataclass
class _Process:
    """A process that makes a part; `place` is which of the workers it is."""

    shard: Shard
    place: int
    process: subprocess.Popen[bytes]
    said: bytes = b""

    @property
    def stderr(self) -> IO[bytes]:
        """What it says; the end of that is the end of the process."""
        assert self.process.stderr is not None
        return self.process.stderr


class LocalWorkers:
    """Makes parts in processes on this machine.

    Parameters
    ----------
    count : int
        Processes at a time.
    gpus : list of str
        Numbers of GPUs: each process sees one of them. None: it sees what this one does.
    retries : int
        How often a part that has failed is made again.
    """

    def __init__(self, count: int, gpus: list[str], retries: int) -> None:
        self.count = count
        self._gpus = gpus
        self._retries = retries

    def run(
        self, command: list[str], shards: list[Shard], folder: str
    ) -> Generator[Shard, None, None]:
        """Make parts; yield each shard when its part is there.

        Parameters
        ----------
        command : list of str
            Arguments of the program, less ``--output`` and ``--shard``.
        shards : list of Shard
        folder : str

        Raises
        ------
        DeviceError
            A part failed again and again; the message has what its process said last. All other
            processes are ended, as they are when the caller stops iterating.
        """
        waiting, failures = deque(shards), dict.fromkeys(shards, 0)
        idle = list(reversed(range(self.count)))
        selector = selectors.DefaultSelector()
        running: list[_Process] = []
        try:
            while waiting or running:
                while waiting and idle:
                    running.append(self._start(command, waiting.popleft(), folder, idle.pop()))
                    selector.register(running[-1].stderr, selectors.EVENT_READ, running[-1])
                for key, _ in selector.select():
                    one: _Process = key.data
                    if data := os.read(one.stderr.fileno(), _READ_BYTES):
                        one.said = (one.said + data)[-2 * _SHOWN_BYTES :]
                        continue
                    selector.unregister(one.stderr)
                    code = one.process.wait()
                    one.stderr.close()
                    running.remove(one)
                    idle.append(one.place)
                    if not code:
                        yield one.shard
                    elif failures[one.shard] < self._retries:
                        failures[one.shard] += 1
                        waiting.append(one.shard)
                    else:
                        raise DeviceError(failed_shard(one.shard, one.said))
        finally:
            selector.close()
            _end(running)

    def _start(self, command: list[str], shard: Shard, folder: str, place: int) -> _Process:
        environment = dict(os.environ)
        if self._gpus:
            environment["CUDA_VISIBLE_DEVICES"] = self._gpus[place % len(self._gpus)]
        process = subprocess.Popen(
            shard_command(command, shard, folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
        )
        return _Process(shard, place, process)


def _end(running: list[_Process]) -> None:
    """End processes that nobody waits for any more; they leave nothing half-written."""
    for one in running:
        one.process.terminate()
    for one in running:
        one.stderr.close()
        one.process.wait()
