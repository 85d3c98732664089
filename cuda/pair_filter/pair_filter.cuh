// What the host hands to the kernels that drop pairs which cannot reach thresholds. The numbers come from the
// filter of the CPU (cpu/filters/), so that both drop the same pairs; docs/filters.md derives them.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

// The q-grams of a sequence as bits: where they begin, and how many have no bit of their own.
struct GramSet {
    int64_t start;  // first word
    int32_t words;  // a power of two, at least 8
    int32_t lost;
};
static_assert(sizeof(GramSet) == 16,
              "GRAM_SET in pairalign/engines/cpu/cpu_pair_filter.py has the same layout");

// What is known of pairs by their lengths. [0]: the column's sequence is the query, [1]: the row's.
struct LengthBound {
    int64_t least_best;  // what the residues of either sequence must be able to score
    int32_t grams[2];    // that they must share; -1: the pair cannot pass
    int32_t score[2];    // that a pair which passes has at least
    int32_t matches[2];  // of which it must have as many
};
static_assert(sizeof(LengthBound) == 32,
              "LENGTH_BOUND in pairalign/engines/cpu/cpu_pair_filter.py has the same layout");

struct FilterCounts {
    unsigned long long possible, sharing, left;  // pairs; `left` only where subsequences are looked at
    int32_t score;                               // the least LengthBound::score of those that are left
    int32_t unused;
};
static_assert(sizeof(FilterCounts) == 32,
              "COUNTS in pairalign/engines/cuda/cuda_pair_filter.py has the same layout");

struct FilterArguments {
    // Of the first and the second set, by sorted position. Null: q-grams, or residues, are not looked at.
    const uint64_t* bits[2];
    const GramSet* grams[2];
    const int64_t* best[2];     // the most that a sequence's residues can score
    const int32_t* order[2];    // input index
    const int32_t* classes[2];  // which lengths are the same
    const uint8_t* codes[2];    // residues, those of a sequence from a multiple of 16 on
    const int64_t* starts[2];   // of each sequence among them
    const int32_t* lengths[2];
    const LengthBound* bounds;   // [classes of the first set][column_classes]
    const int64_t* row_offsets;  // [rows]: pairs of the window before each row
    uint8_t* mask;               // [pairs]: 1 for those that are left; before, for those that are chosen
    FilterCounts* counts;        // 0, 0, 2^31 - 1 at first
    int32_t row_start, row_stop, column_start, column_stop;
    int32_t column_classes, triangular, one_set;
    int32_t looks;        // subsequences are looked at after this
    int32_t unambiguous;  // codes from it on match nothing
    int32_t table_words;  // of a warp's table of matches in shared memory
    int32_t has_chosen;   // else all pairs are
    int32_t unused;
};
static_assert(sizeof(FilterArguments) == 208,
              "ARGUMENTS in pairalign/engines/cuda/cuda_pair_filter.py has the same layout");

constexpr int NO_SCORE = 0x7fffffff;

__device__ __forceinline__ const LengthBound& bound_of(const FilterArguments& a, int32_t row,
                                                       int32_t column) {
    return a.bounds[(int64_t)a.classes[0][row] * a.column_classes + a.classes[1][column]];
}

__device__ __forceinline__ bool row_is_query(const FilterArguments& a, int32_t row, int32_t column) {
    return !a.one_set || a.order[0][row] < a.order[1][column];
}

__device__ __forceinline__ int32_t first_column(const FilterArguments& a, int32_t row) {
    return a.triangular ? max(a.column_start, row + 1) : a.column_start;
}
