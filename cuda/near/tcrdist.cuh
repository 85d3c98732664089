// What the host hands to the kernel of TCRdist; pairalign/engines/cuda/cuda_tcrdist.py has the same layout.
#pragma once

#include "near.cuh"

constexpr int TCR_CODES = 21;
constexpr int TCR_LONGEST = 64;  // residues of a region

// A region of all receptors, by position: see cpu/near/tcrdist.h.
struct TcrRegion {
    const uint8_t *row_codes, *column_codes;
    const int64_t *row_starts, *column_starts;  // [count + 1]
    int32_t weight, gap, left_out_first, left_out_last, has_fixed_gap, padding;
};

struct TcrArguments {
    const TcrRegion* regions;
    const uint8_t* costs;       // [TCR_CODES][TCR_CODES], of two residues
    NearFound* found;           // [capacity]
    unsigned long long* count;  // of pairs that are near, also beyond the capacity
    int64_t capacity;
    int32_t row_start, row_stop, column_count;
    int32_t triangular;  // pairs of a set: those with row < column
    int32_t region_count, limit;
};
static_assert(sizeof(TcrArguments) == 64,
              "ARGUMENTS in pairalign/engines/cuda/cuda_tcrdist.py has the same layout");
