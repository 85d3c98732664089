// What is done to the CIGAR runs of many alignments at a time: runs lie one after the other, those of
// alignment k from offsets[k] on. The ctypes declarations are in pairalign/alignments/alignments.py.

#include <algorithm>
#include <cstdint>

#include "../export.h"

// Reverses, in place, the runs of each of `pairs` alignments that is `turned`.
PAIRALIGN_API void pairalign_reverse_runs(int64_t pairs, const int64_t* offsets, const uint8_t* turned,
                                          uint32_t* runs) {
    for (int64_t k = 0; k < pairs; k++)
        if (turned[k]) std::reverse(runs + offsets[k], runs + offsets[k + 1]);
}

// Where the runs of the alignments chosen[0 .. count) begin once they lie one after the other:
// new_offsets[count + 1].
PAIRALIGN_API void pairalign_offsets_of_runs(int64_t count, const int64_t* chosen, const int64_t* offsets,
                                             int64_t* new_offsets) {
    new_offsets[0] = 0;
    for (int64_t k = 0; k < count; k++)
        new_offsets[k + 1] = new_offsets[k] + offsets[chosen[k] + 1] - offsets[chosen[k]];
}

// Copies the runs of the alignments chosen[0 .. count) to `out`, one after the other.
PAIRALIGN_API void pairalign_gather_runs(int64_t count, const int64_t* chosen, const int64_t* offsets,
                                         const uint32_t* runs, uint32_t* out) {
    for (int64_t k = 0; k < count; k++) {
        const uint32_t* const end = runs + offsets[chosen[k] + 1];
        // Most have a few runs: a copy of them is not worth a call.
        for (const uint32_t* run = runs + offsets[chosen[k]]; run < end; run++) *out++ = *run;
    }
}
