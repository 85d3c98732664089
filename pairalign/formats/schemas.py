"""What files that are read back are like: a schema each, and what checks a file against it.

A manifest and the head of distances are JSON objects: `MANIFEST`, `DISTANCES_HEAD`, read by
`read_object`. A NumPy file has
a header (`check_npy`), a table of Parquet has columns and metadata (`check_parquet`). Whoever has
read a value through its schema may use it as it is: no number is outside of its bounds, nothing is
nested deeper than `_MOST_NESTED`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pairalign.base.arguments import MOST_SHARDS
from pairalign.base.choices import ALL_MODES, REGISTRY

if TYPE_CHECKING:
    import pyarrow as pa

DISTANCES, STEPS = "distances", "steps"
"""The formats of pieces that hold distances, and results of steps."""
PIECES = (*REGISTRY, DISTANCES, STEPS)
"""The formats of pieces."""
MOST_MANIFEST_BYTES = 256 << 20  # hits that a search has in hand are in it
MOST_NPY_HEADER_BYTES = 1 << 16
_MOST_NESTED = 32
_MOST = 2**62  # so that a sum of two is a 64-bit number
_MOST_SCALE_DIGITS = 18


class SchemaError(ValueError):
    """What a file holds is not as its schema says; the message says what was found."""


class Kind(NamedTuple):
    """What a value may be.

    Attributes
    ----------
    words : str
        For messages: ``expected a text``.
    """

    words: str
    fits: Callable[[Any], bool]


class Field(NamedTuple):
    """A value of an object; one that is not required may be left out."""

    kind: Kind
    required: bool = True


Schema = Mapping[str, Field]


def _whole(least: int, most: int) -> Kind:
    words = f"a whole number from {least} to {most}"
    return Kind(words, lambda value: type(value) is int and least <= value <= most)


def _list_of(kind: Kind) -> Kind:
    return Kind(
        f"a list, each {kind.words}",
        lambda value: isinstance(value, list) and all(map(kind.fits, value)),
    )


def _one_of(*values: str) -> Kind:
    return Kind(f"one of {', '.join(values)}", lambda value: value in values)


_TEXT = Kind("a text", lambda value: isinstance(value, str))
_OBJECT = Kind("an object", lambda value: isinstance(value, dict))
_COUNT = _whole(0, _MOST)
_CRC = Kind(
    "a CRC-32 of eight digits",
    lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{8}", value) is not None,
)

_PIECE = Kind(
    "numbers of pairs before and in it, its bytes and their CRC-32",
    lambda value: (
        isinstance(value, list)
        and len(value) == 4
        and all(map(_COUNT.fits, value[:3]))
        and _CRC.fits(value[3])
    ),
)

MANIFEST: Schema = {
    "pairalign": Field(Kind("2, as this version writes", lambda value: value == 2)),
    "run": Field(_OBJECT),
    "format": Field(_one_of(*PIECES)),
    "shard": Field(_whole(1, MOST_SHARDS)),
    "shards": Field(_whole(1, MOST_SHARDS)),
    "command": Field(_list_of(_TEXT)),
    "request": Field(_OBJECT),
    "pieces": Field(_list_of(_PIECE)),
    "job": Field(_OBJECT),
    "summary": Field(_OBJECT),
    "digest": Field(_CRC),
}
"""A part's manifest: `pairalign.formats.pieces.Part`, its version, and the CRC-32 of both."""

_POSTERIORS = {
    **{"queries": "int32", "targets": "int32", "offsets": "int64", "rows": "int32"},
    **{"columns": "int32", "values": "uint16", "arithmetic": "uint8"},
}

KEPT_RESULTS: Mapping[str, Mapping[str, str]] = {
    "posteriors": _POSTERIORS,
    "confidence": _POSTERIORS,
    "groups": {"node": "int64", "columns": "int32", "width": "int64"},
    "joins": {"node": "int64", "first": "int32", "second": "int32", "width": "int64"},
    "added": {"first": "int64", "fits": "int32"},
}
"""Arrays of the results that `pairalign.jobs.run.kept_results` keeps, by phase: their types."""

JOB_LEFT: Schema = {
    "block": Field(_COUNT),
    "ranked": Field(_COUNT),
    "written": Field(_COUNT),
    "queries": Field(_whole(1, 2**60)),
    "slice": Field(_whole(1, 2**60)),
    "hits": Field(_TEXT),
}
"""`Part.job`: how far a search for the best hits has come; of other jobs it is empty."""

_EXTREME = Kind(
    "two names, a score, and numbers of matches and columns",
    lambda value: (
        isinstance(value, list)
        and list(map(type, value)) == [str, str, int, int, int]
        and abs(value[2]) <= _MOST
        and 0 <= value[3] <= value[4] <= _MOST
    ),
)

SUMMARY_LEFT: Schema = {
    "kept": Field(_COUNT),
    "high": Field(_EXTREME, required=False),
    "low": Field(_EXTREME, required=False),
    "kinds": Field(_list_of(_COUNT), required=False),
}
"""`Part.summary`: pairs written, the extreme ones, overlaps by kind."""

DISTANCES_HEAD: Schema = {
    "names": Field(_list_of(_TEXT)),
    "order": Field(_list_of(_whole(0, 2**31 - 1))),
    "measure": Field(_TEXT),
    "window": Field(_whole(1, 2**31 - 1)),
    "target_names": Field(_list_of(_TEXT), required=False),
    "target_order": Field(_list_of(_whole(0, 2**31 - 1)), required=False),
}
"""The first line of distances: `pairalign.formats.distance_parts`."""


def read_object(text: bytes, schema: Schema) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    SchemaError
        It is none, or not as the schema says.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise SchemaError("it is nested too deeply") from None
    except ValueError as error:  # also UnicodeDecodeError, and numbers of thousands of digits
        raise SchemaError(f"it is no JSON: {error}") from None
    return check_object(value, schema)


def check_object(value: object, schema: Schema) -> dict[str, Any]:
    """Return a value that JSON has, if it is an object as the schema says; SchemaError if not."""
    if not isinstance(value, dict):
        raise SchemaError("it is no object")
    missing = [name for name, field in schema.items() if field.required and name not in value]
    if missing:
        raise SchemaError(f"'{missing[0]}' is missing")
    for name, member in value.items():
        if name not in schema:
            raise SchemaError(f"'{name}' is unknown")
        kind = schema[name].kind
        if not kind.fits(member):
            raise SchemaError(f"'{name}' is {_shown(member)}, expected {kind.words}")
    _check_depth(value)
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"found {name}")


def _check_depth(value: object) -> None:
    level: list[Any] = [value]
    for _ in range(_MOST_NESTED):
        inner = [node.values() if isinstance(node, dict) else node for node in level]
        level = [each for children in inner for each in children if isinstance(each, (dict, list))]
        if not level:
            return
    raise SchemaError("it is nested too deeply")


def _shown(value: object) -> str:
    kinds = {dict: "an object", list: "a list", type(None): "null", bool: str(value).lower()}
    return kinds.get(type(value)) or repr(value if isinstance(value, str) else str(value))[:40]


def check_npy(shape: object, kind: str) -> tuple[int, ...]:
    """Return the shape of an array of distances, of a NumPy file's header.

    Parameters
    ----------
    shape : object
        What the header says, whatever that is.
    kind : str
        Of its dtype: one residue.

    Raises
    ------
    SchemaError
        It is no array of numbers with one dimension, or square.
    """
    if kind not in "fiu" or not isinstance(shape, tuple) or len(shape) not in (1, 2):
        raise SchemaError("expected one array of numbers with one or two dimensions")
    if not all(_COUNT.fits(size) for size in shape):
        raise SchemaError(f"an array of shape {str(shape)[:60]}, expected {_COUNT.words} for each")
    if len(shape) == 2 and shape[0] != shape[1]:
        raise SchemaError(f"an array of shape {shape}, expected a square")
    return shape


class ParquetFacts(NamedTuple):
    """What the metadata of a table of alignments says."""

    mode: str | None
    scale: int


_PARQUET_METADATA: Mapping[str, Kind] = {
    "mode": _one_of(*ALL_MODES),
    "scale": Kind(
        "a power of ten",
        lambda text: re.fullmatch(f"10{{0,{_MOST_SCALE_DIGITS}}}", text) is not None,
    ),
}


PARQUET: Mapping[str, str] = {
    **dict.fromkeys(("query", "target"), "names"),
    **dict.fromkeys(("query_start", "query_end", "target_start", "target_end"), "numbers"),
    "strand": "numbers",
    "cigar": "runs",
}
"""What columns of a table of alignments hold, but for those that only state numbers of them."""


def check_arrays(arrays: Mapping[str, Any], phase: str) -> None:
    """Check the arrays of a kept result against `KEPT_RESULTS`.

    Raises
    ------
    SchemaError
        There is no such phase, or an array is missing, strange or of another type.
    """
    if phase not in KEPT_RESULTS:
        raise SchemaError(f"a result of '{phase}'")
    types = {name: str(array.dtype) for name, array in arrays.items()}
    if types != KEPT_RESULTS[phase]:
        raise SchemaError(f"{phase} with arrays {types}, expected {KEPT_RESULTS[phase]}")


def check_parquet(schema: pa.Schema, kinds: Mapping[str, str] = PARQUET) -> ParquetFacts:
    """Check columns and metadata of a table of alignments; return what the metadata says.

    Parameters
    ----------
    schema : pyarrow.Schema
    kinds : mapping
        What columns that are read hold: ``"names"``, ``"numbers"`` or ``"runs"``, a list of whole
        numbers. Others may be anything.

    Raises
    ------
    SchemaError
        A column is missing or of another type, or there twice; metadata that makes no sense.
    """
    for name in ("query", "target"):
        if name not in schema.names:
            raise SchemaError(f"no column '{name}'")
    for field in schema:
        kind = kinds.get(field.name)
        if kind is None:
            continue
        if schema.names.count(field.name) > 1:
            raise SchemaError(f"two columns '{field.name}'")
        if not _holds(field.type, kind):
            raise SchemaError(f"column '{field.name}' is of type {field.type}, expected {kind}")
    return _parquet_facts(schema.metadata or {})


def _holds(type: pa.DataType, kind: str) -> bool:
    """Whether a column's type has values of a kind; one without a type has nothing but nulls."""
    import pyarrow as pa

    is_ = pa.types
    if kind == "names":
        value_type = type.value_type if is_.is_dictionary(type) else type
        return bool(
            is_.is_string(value_type) or is_.is_large_string(value_type) or is_.is_null(type)
        )
    if kind == "runs":
        is_list = is_.is_list(type) or is_.is_large_list(type)
        return bool(is_list and (is_.is_integer(type.value_type) or is_.is_null(type.value_type)))
    return bool(is_.is_integer(type) or is_.is_floating(type) or is_.is_null(type))


def _parquet_facts(metadata: Mapping[bytes, bytes]) -> ParquetFacts:
    facts: dict[str, str] = {}
    for name, kind in _PARQUET_METADATA.items():
        value = metadata.get(f"pairalign.{name}".encode())
        if value is None:
            continue
        text = value.decode(errors="replace")
        if not kind.fits(text):
            raise SchemaError(
                f"metadata 'pairalign.{name}' is {_shown(text)}, expected {kind.words}"
            )
        facts[name] = text
    return ParquetFacts(facts.get("mode"), int(facts.get("scale", "1000000")))
