// What is done to the CIGAR runs of many alignments at a time: runs lie one after the other, those of
// alignment k from offsets[k] on. The ctypes declarations are in pairalign/runs.py.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../export.h"

// Reverses, in place, the runs of each of `pairs` alignments that is `turned`.
PAIRALIGN_API void pairalign_reverse_runs(int64_t pairs, const int64_t* offsets, const uint8_t* turned,
                                          uint32_t* runs) {
    for (int64_t k = 0; k < pairs; k++)
        if (turned[k]) std::reverse(runs + offsets[k], runs + offsets[k + 1]);
}

// Copies the runs of the alignments chosen[0 .. count) to `out`, one after the other.
PAIRALIGN_API void pairalign_gather_runs(int64_t count, const int64_t* chosen, const int64_t* offsets,
                                         const uint32_t* runs, uint32_t* out) {
    for (int64_t k = 0; k < count; k++) {
        const int64_t size = offsets[chosen[k] + 1] - offsets[chosen[k]];
        if (size > 0)
            std::memcpy(out, runs + offsets[chosen[k]], static_cast<size_t>(size) * sizeof(uint32_t));
        out += size;
    }
}
