// What the host hands to the kernel of near pairs; pairalign/engines/cuda/cuda_near.py has the same layout.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

constexpr int NEAR_CODES = 32;    // of an alphabet
constexpr int NEAR_LONGEST = 64;  // residues of a sequence
// Of a block, of each kernel that finds pairs.
constexpr int COLUMNS = 128, ROWS = 64;

// Sequences by position: longest first, so that neighbours are alike.
struct NearSide {
    const uint8_t* codes;
    const int64_t* starts;
    const int32_t *lengths, *weights, *spares;  // see cpu/near/near.h
};

struct NearFound {
    int32_t row, column, value;
};

struct NearArguments {
    NearSide rows, columns;
    const int32_t* opposite;  // [NEAR_CODES][NEAR_CODES]: costs of a residue of the row and one of the column
    const int32_t* gaps;      // [NEAR_CODES]
    NearFound* found;         // [capacity]
    unsigned long long* count;  // of pairs that are near, also beyond the capacity
    int64_t capacity;
    int32_t row_start, row_stop, column_count;
    int32_t triangular;  // pairs of a set: those with row < column
    int32_t open, least_gap, limit, unused;
};
static_assert(sizeof(NearArguments) == 152,
              "ARGUMENTS in pairalign/engines/cuda/cuda_near.py has the same layout");
