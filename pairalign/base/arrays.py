"""Names of the types of arrays that most modules use."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Structs = npt.NDArray[np.void]
