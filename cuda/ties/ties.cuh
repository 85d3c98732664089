// What the host hands to the kernels of ties; pairalign/engines/cuda/cuda_ties.py has the same layout.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

constexpr int TIE_CODES = 32;  // of an alphabet
constexpr int TIE_ROWS = 4;    // of a lane

// See pairalign_tie_pairs in cpu/ties/ties.h.
struct TiePair {
    int32_t row, column, best;
    int8_t row_set, turned, unused[2];
};

struct TieArguments {
    const uint8_t* codes[2];    // of each set
    const int64_t* offsets[2];  // [sequences + 1]
    const uint8_t* complement;  // [TIE_CODES]
    const int32_t* matrix;      // [TIE_CODES][TIE_CODES]
    const TiePair* pairs;       // [count]
    uint32_t* counts;           // [count]
    uint4* borders;             // [groups of lanes][border]: H of a row, F of the next one
    int32_t* next;              // the first pair that no warp has taken
    int32_t count, border, open, extend, whole, unused;
    int32_t end_costs[2][4][2];  // as in pairalign_tie_costs
};
static_assert(sizeof(TieArguments) == 168,
              "ARGUMENTS in pairalign/engines/cuda/cuda_ties.py has the same layout");
