// CIGAR runs of alignments that are turned to the other strand. The ctypes declaration is in
// pairalign/strands.py.

#include <algorithm>
#include <cstdint>

// Reverses, in place, the runs cigar[offsets[k] .. offsets[k + 1]) of each of `pairs` alignments that is `turned`.
extern "C" __attribute__((visibility("default"))) void pairalign_reverse_runs(
    int64_t pairs, const int64_t* offsets, const uint8_t* turned, uint32_t* cigar) {
    for (int64_t k = 0; k < pairs; k++)
        if (turned[k]) std::reverse(cigar + offsets[k], cigar + offsets[k + 1]);
}
