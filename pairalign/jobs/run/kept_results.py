"""Results of the steps of a run whose output appears at the end: kept until that is written.

They are in pieces (see `pairalign.formats.pieces`): one after the other, each a NumPy archive after
its size in eight bytes, the lowest first.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.choices import COMMIT_SECONDS
from pairalign.base.console import log
from pairalign.base.error_types import PartsError
from pairalign.base.spelling import left_out
from pairalign.formats.output import map_file
from pairalign.formats.part_output import PartOutput, replace_leftovers, whole_part
from pairalign.formats.schemas import KEPT_RESULTS, STEPS, SchemaError, check_arrays
from pairalign.jobs.run.run_identity import describe
from pairalign.requests.shared import OutputRules

Arrays = dict[str, npt.NDArray[Any]]

_SIZE_BYTES = 8


class KeptResults:
    """Results that a run has kept, and those to come.

    Parameters
    ----------
    path : str
        Of the run's output.
    run : dict
        What decides the results, see `pairalign.jobs.run.run_identity.describe`.
    seconds : float
        Interval of pieces, about.

    Attributes
    ----------
    pairs : int
        Of the results that were kept before.

    Raises
    ------
    PartsError
        The run that left them was another one, still goes on, or the files are damaged.
    OutputError
        The output is no file, or cannot be written.
    """

    def __init__(self, path: str, run: dict[str, Any], seconds: float = COMMIT_SECONDS) -> None:
        begun = replace(whole_part(path), format=STEPS, run=run)
        self._output = PartOutput(begun, resume=True, owns_folder=True)
        self._before = [piece for piece in self._output.part.pieces if piece.bytes]
        self.pairs = self._kept = self._output.part.pairs
        self._pairs = self.pairs
        self._seconds = seconds
        self._cut_at = time.monotonic()

    def before(self, phase: str) -> Iterator[Arrays]:
        """Read what was kept of a phase by the runs before, in order.

        Parameters
        ----------
        phase : str
            One of `pairalign.formats.schemas.KEPT_RESULTS`.
        """
        for piece in self._before:
            data, start = map_file(piece.path), 0
            while start < len(data):
                begin = start + _SIZE_BYTES
                start = begin + int.from_bytes(data[begin - _SIZE_BYTES : begin], "little")
                stored_phase, arrays = self._read(data[begin:start])
                if stored_phase == phase:
                    yield arrays

    def _read(self, data: memoryview) -> tuple[str, Arrays]:
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            phase = str(arrays.pop("phase"))
            check_arrays(arrays, phase)
        except (ValueError, KeyError, OSError, SchemaError) as error:
            raise self.damaged(str(error)) from error
        return phase, arrays

    def damaged(self, reason: str) -> PartsError:
        """Return the error to raise where what was kept does not fit the run."""
        folder = self._output.part.folder
        return PartsError(f"'{folder}': a piece is damaged ({reason}); {left_out('resume')}")

    def add(self, phase: str, arrays: Arrays, pairs: int) -> None:
        """Keep a result of some pairs, and end a piece if it is time."""
        assert arrays.keys() == KEPT_RESULTS[phase].keys()
        archive = io.BytesIO()
        np.savez(archive, phase=np.array(phase), **arrays)  # type: ignore[arg-type]
        data = archive.getbuffer()
        self._output.write(len(data).to_bytes(_SIZE_BYTES, "little"))
        self._output.write(data)
        self._pairs += pairs
        if time.monotonic() - self._cut_at >= self._seconds:
            self._output.cut(self._kept, self._pairs - self._kept)
            self._kept, self._cut_at = self._pairs, time.monotonic()

    def discard(self) -> None:
        """Remove what was kept: the output is there."""
        self._output.discard()

    def abort(self) -> None:
        """Let go of the files, which stay with what has been kept."""
        self._output.abort()


@contextmanager
def kept_results(writing: OutputRules, job: str, **decided: object) -> Iterator[KeptResults | None]:
    """Keep results of steps beside the output with ``--resume``, until a block has written it.

    Parameters
    ----------
    **decided
        What decides the results, see `pairalign.jobs.run.run_identity.describe`.

    Yields
    ------
    KeptResults or None
        None without ``--resume``.
    """
    if not writing.resume:
        replace_leftovers(writing.output)
        yield None
        return
    kept = KeptResults(writing.output, describe(job, **decided), writing.commit_every)
    if kept.pairs:
        log.warning("resumed: the posteriors of %s pairs were kept", f"{kept.pairs:,}")
    try:
        yield kept
    except BaseException:
        kept.abort()
        raise
    kept.discard()
