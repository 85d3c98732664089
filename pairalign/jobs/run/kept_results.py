"""What decides the bytes of a result, and results of steps that are kept until a run has ended.

They are in pieces (see `pairalign.formats.pieces`): one after the other, each a NumPy archive after
its size in eight bytes, the lowest first.

`describe_run` takes every attribute of a job but those in `_ONLY_HOW`: one that is new counts
unless it is named there.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.choices import COMMIT_SECONDS
from pairalign.base.console import log
from pairalign.base.error_types import PartsError
from pairalign.formats.output import map_file
from pairalign.formats.part_output import ANEW, PartOutput, whole_part
from pairalign.formats.schemas import KEPT_RESULTS, STEPS, SchemaError, check_arrays
from pairalign.jobs.run.align import Job
from pairalign.requests.shared import OutputRules
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.native_arrays import digest_of
from pairalign.sequences.sets import SequenceSet

Arrays = dict[str, npt.NDArray[Any]]

_SIZE_BYTES = 8


class KeptResults(PartOutput):
    """Results that a run has kept, and those to come.

    Parameters
    ----------
    path : str
        Of the run's output.
    run : dict
        What decides the results, see `pairalign.jobs.run.kept_results.describe`.
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
        super().__init__(replace(whole_part(path), format=STEPS, run=run), resume=True)
        self._before = [piece for piece in self.part.pieces if piece.bytes]
        self.pairs = self._kept = self._pairs = self.part.pairs
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
        return PartsError(f"'{self.part.begun}': a piece is damaged ({reason}); {ANEW}")

    def add(self, phase: str, arrays: Arrays, pairs: int) -> None:
        """Keep a result of some pairs, and end a piece if it is time."""
        assert arrays.keys() == KEPT_RESULTS[phase].keys()
        archive = io.BytesIO()
        np.savez(archive, phase=np.array(phase), **arrays)  # type: ignore[arg-type]
        data = archive.getbuffer()
        self.write(len(data).to_bytes(_SIZE_BYTES, "little"))
        self.write(data)
        self._pairs += pairs
        if time.monotonic() - self._cut_at >= self._seconds:
            self.cut(self._kept, self._pairs - self._kept)
            self._kept, self._cut_at = self._pairs, time.monotonic()


@contextmanager
def kept_results(writing: OutputRules, job: str, **decided: object) -> Iterator[KeptResults | None]:
    """Keep results of steps beside the output with ``--resume``, until a block has written it.

    Parameters
    ----------
    **decided
        What decides the results, see `pairalign.jobs.run.kept_results.describe`.

    Yields
    ------
    KeptResults or None
        None without ``--resume``.
    """
    if not writing.resume:
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


_ONLY_FOR_MESSAGES = {"stand_ins", "source", "lines", "seconds"}

Description = dict[str, Any]
"""Strings, numbers, None, and lists and dictionaries of these, as in JSON."""

# How a job is done, or which part of it: every result has the same bytes.
_ONLY_HOW = {
    *("resources", "held_bytes", "shard"),
    "result_seconds",
    *("evalue_filter", "significance"),  # the command describes what they are made of
    *("procedure", "ranking"),  # the request has what decides; a filter loses nothing
}


def describe_run(job: Job, **more: object) -> Description:
    """Describe what decides the bytes of a job's results.

    Parameters
    ----------
    **more
        What else decides: the format, the measure of distances.

    Returns
    -------
    dict
        As JSON has it. Of sequences, a matrix and arrays it has a digest.

    Raises
    ------
    TypeError
        An attribute of the job is of a kind that cannot be described.
    """
    kept = {
        field.name: getattr(job, field.name)
        for field in fields(job)
        if field.init and field.name not in _ONLY_HOW
    }
    return describe(type(job).__name__, **kept, **more)


def describe(job: str, **what: object) -> Description:
    """Describe what decides results; see `describe_run`.

    Parameters
    ----------
    job : str
        What is done.
    **what
        All that decides, by name.
    """
    from pairalign.base.version import __version__

    described = {name: _describe(value) for name, value in what.items()}
    return {"version": __version__, "job": job, **described}


def _describe(value: object) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, SequenceSet):
        return _describe_set(value)
    if isinstance(value, Alphabet):
        return value.name
    if isinstance(value, np.ndarray):
        return digest_of(str(value.dtype).encode(), str(value.shape).encode(), value.tobytes())
    if is_dataclass(value):
        return {
            field.name: _describe(getattr(value, field.name))
            for field in fields(value)
            if field.name not in _ONLY_FOR_MESSAGES
        }
    if isinstance(value, Mapping):
        return {str(key): _describe(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_describe(item) for item in value]
    raise TypeError(f"cannot describe {value!r} of type {type(value).__name__}")


def _describe_set(sequences: SequenceSet) -> Description:
    return {
        "sequences": len(sequences),
        "letters": sequences.total_residues,
        "alphabet": sequences.alphabet.name,
        "digest": sequences.digest,
    }
