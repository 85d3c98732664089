// What the host hands to the kernels of posteriors; pairalign/engines/cuda/cuda_posterior.py has the same
// layout.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

constexpr int POSTERIOR_CODES = 32;   // of an alphabet
constexpr int POSTERIOR_LANES = 32;   // of a warp: a y each, all with the same x
constexpr int MOST_MATCH_STATES = 4;  // a model has these, or one

// Bytes of a row's M, of as many columns as are in shared memory at a time.
constexpr int posterior_chunk_bytes(int match_states) { return match_states == 1 ? 32 : 24; }

// The models of cpu/posterior/model.h in the numbers of a kernel. Emissions [match state][code of x][code of
// y].
template <class T, int STATES>
struct PosteriorNumbers {
    T hmm_emission[STATES * POSTERIOR_CODES * POSTERIOR_CODES];
    T partition_emission[POSTERIOR_CODES * POSTERIOR_CODES];
    T start_match, start_short, start_long;
    T stay[STATES], leave[STATES], enter[STATES], open_short[STATES], open_long[STATES];
    T extend_short, extend_long, close_short, close_long;
    T gap_open, gap_extend;
    T threshold;  // of the sum of both models' squares
    T growth;     // bits that values of a row grow by in a group: common/posterior_scaling.h
};

// The pairs of one x that a warp computes at a time.
struct PosteriorTask {
    int32_t row;           // x: index of a sequence
    int32_t first, count;  // of its pairs in the arrays below
    int32_t longest;       // y
    int32_t block;         // strips between which the state is kept at a time
    int32_t unused;
};
static_assert(sizeof(PosteriorTask) == 24,
              "TASK in pairalign/engines/cuda/cuda_posterior.py has the same layout");

// A posterior that reaches the threshold, in the order of its pair's strip.
struct PosteriorFound {
    int32_t column;
    uint32_t row_and_value;  // row in the strip << 16 | 65535ths
};

struct PosteriorArguments {
    const uint8_t* codes;    // of the set
    const int64_t* starts;   // [sequences]: first code
    const int32_t* lengths;  // [sequences]
    const void* numbers;     // PosteriorNumbers of the kernel's type
    const PosteriorTask* tasks;
    const int32_t* columns;        // [pairs]: y, index of a sequence
    const int64_t* first_strips;   // [pairs]: where the strips of a pair begin: eight rows each
    unsigned long long* counters;  // [2]: tasks that were taken; entries of `found`, also beyond its end
    PosteriorFound* found;         // [found_size]
    int64_t* strip_starts;         // [strips]: first entry in `found`
    int32_t* strip_counts;         // [strips]
    int32_t* counts;               // [pairs]: entries
    uint8_t* too_wide;             // [pairs]: the range is more than the numbers hold; no entries count
    uint8_t* memory;               // of the warps, warp_bytes each; the following are offsets into it
    int64_t warp_bytes;
    int64_t exponents, backward, saved, between, sides, in_strip;
    int64_t found_size;
    int32_t task_count;
    int32_t strip_entries;  // room for those of a pair's strip
};
static_assert(sizeof(PosteriorArguments) == 184,
              "ARGUMENTS in pairalign/engines/cuda/cuda_posterior.py has the same layout");

struct ExpandArguments {
    const PosteriorFound* found;
    const int64_t* first_strips;  // [pairs]
    const int64_t* strip_starts;
    const int32_t* strip_counts;
    const int32_t* strips;   // [pairs]: how many
    const int64_t* offsets;  // [pairs]: where a pair's entries go
    int32_t* rows;
    int32_t* columns;
    uint16_t* values;
    int64_t pairs;
};
static_assert(sizeof(ExpandArguments) == 80,
              "EXPAND in pairalign/engines/cuda/cuda_posterior.py has the same layout");
