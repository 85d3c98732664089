"""How a confidence is shown: as HMMER's PP.

0 for less than 0.05, 1 up to 0.15, ..., 9 up to 0.95, ``*`` for more; ``.`` where there is none:
gaps, and residues that are alone in their column.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment

_PP = np.frombuffer(b"0123456789*", np.uint8)


def residue_marks(alignment: MultipleAlignment, index: int) -> str:
    """Return the confidence of the residues of a sequence, a mark for each column."""
    part = slice(*alignment.sequences.offsets[index : index + 2].tolist())
    confidence = np.full(alignment.width, np.nan)
    confidence[alignment.columns[part]] = alignment.confidence_of(index)
    return confidence_marks(confidence).tobytes().decode()


def confidence_marks(confidence: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Return a mark for each confidence: digits and ``*``; ``.`` where there is none."""
    mask = ~np.isnan(confidence)
    marks = np.full(len(confidence), ord("."), np.uint8)
    marks[mask] = _PP[np.floor(confidence[mask] * 10 + 0.5).astype(np.int64)]
    return marks
