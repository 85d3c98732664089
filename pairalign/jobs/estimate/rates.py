"""Measured rates of devices, in one place: those of the tables of docs/measured.md."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log

from pairalign.base.error_types import DeviceError
from pairalign.jobs.run.work_sample import CPU_COSTS, FilterCosts

_H200 = (51, 154, 257, 459, 604, 1098)
_CORE = (100, 257, 500, 1000, 2000, 4000, 8000, 16000)
_SCORES, _CIGARS = False, True

GCUPS: dict[str, dict[tuple[str, bool], tuple[tuple[float, float], ...]]] = {
    "H200": {
        ("global", _CIGARS): tuple(zip(_H200, (462, 2172, 3340, 4391, 4804, 4678), strict=True)),
        ("global", _SCORES): tuple(zip(_H200, (1481, 5433, 6482, 6992, 7256, 6927), strict=True)),
        ("semiglobal", _CIGARS): tuple(
            zip(_H200, (509, 2473, 3500, 4273, 4526, 4590), strict=True)
        ),
        ("semiglobal", _SCORES): tuple(
            zip(_H200, (1368, 5127, 5921, 6514, 6373, 6336), strict=True)
        ),
        ("local", _CIGARS): tuple(zip(_H200, (498, 2238, 3063, 3538, 3710, 3570), strict=True)),
        ("local", _SCORES): tuple(zip(_H200, (1049, 3743, 4596, 4898, 4980, 4807), strict=True)),
    },
    "core": {
        ("global", _CIGARS): tuple(
            zip(_CORE, (9.3, 14.6, 17.0, 19.4, 19.1, 13.4, 18.0, 14.2), strict=True)
        ),
        ("global", _SCORES): tuple(
            zip(_CORE, (22.4, 29.9, 30.6, 29.2, 31.5, 30.4, 30.0, 29.5), strict=True)
        ),
        ("semiglobal", _CIGARS): tuple(
            zip(_CORE, (10.5, 19.9, 22.1, 23.1, 25.5, 27.2, 26.4, 16.3), strict=True)
        ),
        ("semiglobal", _SCORES): tuple(
            zip(_CORE, (24.4, 29.0, 27.6, 28.3, 29.8, 28.3, 29.3, 28.5), strict=True)
        ),
        ("local", _CIGARS): tuple(
            zip(_CORE, (8.4, 15.4, 13.8, 16.9, 19.6, 16.4, 18.1, 11.7), strict=True)
        ),
        ("local", _SCORES): tuple(
            zip(_CORE, (23.3, 28.1, 28.2, 27.2, 27.9, 25.1, 27.6, 25.1), strict=True)
        ),
    },
}
"""10^9 cells a second of one device, by mode and whether CIGARs are made: pairs of mean length and
rate. ``H200``: one NVIDIA H200; ``core``: a core of a Xeon with AVX-512."""


FILTERS = {"H200": FilterCosts(700, 300, 50_000, 6), "core": CPU_COSTS}
"""What filters take, in cells that are scored meanwhile. An H100 looks at 4.2 G pairs of reads a
second, and at 0.25 G of human proteins, half of them for subsequences."""


@dataclass(frozen=True)
class Devices:
    """Devices of one kind.

    Attributes
    ----------
    kind : str
        One of `GCUPS`.
    count : int
    """

    kind: str
    count: int

    def __str__(self) -> str:
        return f"{self.count:,} {self.kind}{'s' if self.count > 1 else ''}"

    def gcups(self, mode: str, cigars: bool, length: float) -> float:
        """Return the rate of all of them together, by the mean length of the sequences.

        Between two measured lengths it is that on the line between them, over the logarithm of the
        length; beyond the first and the last it is theirs.
        """
        mode = mode if mode in ("local", "semiglobal") else "global"
        known = GCUPS[self.kind][mode, cigars]
        if length <= known[0][0]:
            return self.count * known[0][1]
        for (one, rate), (other, next_rate) in pairwise(known):
            if length <= other:
                share = (log(length) - log(one)) / (log(other) - log(one))
                return self.count * (rate + share * (next_rate - rate))
        return self.count * known[-1][1]


def parse_devices(text: str) -> Devices:
    """Read ``H200``, ``H200:8`` or ``core:16``.

    Raises
    ------
    DeviceError
        There are no measured rates of such a device, or the number is none.
    """
    kind, _, number = text.partition(":")
    found = next((one for one in GCUPS if one.lower() == kind.lower()), None)
    if found is None:
        raise DeviceError(f"no rates of '{kind}' were measured: expected {', '.join(GCUPS)}")
    if number and not (number.isdecimal() and int(number)):
        raise DeviceError(f"'{text}': expected a number of devices after the colon, such as H200:8")
    return Devices(found, int(number or 1))
