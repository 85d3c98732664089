// Counting the common bits of two sets of q-grams with the instruction for it, where there is one.
#pragma once

#include <cstdint>

#include "../processor.h"
#include "grams.h"

namespace pairalign {

#if defined(__x86_64__)
__attribute__((target("popcnt"))) inline int64_t common_bits_popcnt(const uint64_t* a, int32_t a_words,
                                                                    const uint64_t* b, int32_t b_words) {
    if (a_words != b_words) return count_common_bits(a, a_words, b, b_words);
    int64_t common = 0;
    for (int32_t k = 0; k < a_words; k += 4)
        common += __builtin_popcountll(a[k] & b[k]) + __builtin_popcountll(a[k + 1] & b[k + 1]) +
                  __builtin_popcountll(a[k + 2] & b[k + 2]) + __builtin_popcountll(a[k + 3] & b[k + 3]);
    return common;
}
#endif

// What counts the bits that two sets have in common, on this processor.
inline auto choose_common_bits() {
#if defined(__x86_64__)
    if (this_processor().popcnt) return common_bits_popcnt;
#endif
    return count_common_bits;
}

}  // namespace pairalign
