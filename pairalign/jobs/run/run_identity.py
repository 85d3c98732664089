"""What decides the bytes of a result: how parts of a run know that they belong together.

`describe_run` takes every attribute of a job but those in `_ONLY_HOW`: one that is new counts
unless it is named there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from pairalign.jobs.run.align import AlignmentJob
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.native_arrays import digest_of
from pairalign.sequences.sets import SequenceSet

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


def describe_run(job: AlignmentJob, **more: object) -> Description:
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
