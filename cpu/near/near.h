// Pairs of sequences whose global distance is within a limit: what near.cpp asks of the kernels, one for each
// instruction set, and the C ABI that pairalign/engines/cpu/near_pairs.py declares with ctypes.
//
// A distance is the least cost of a global alignment: what residues opposite one another cost, what a residue
// in a gap costs, and `open` more for each gap. No cost is below 0, so costs do not fall along a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/sets.h"
#include "../export.h"
#include "../filters/thresholds.h"

// NativeCosts.
struct pairalign_costs {
    const int32_t* opposite;  // [codes][codes] of a residue of the row and one of the column
    const int32_t* gaps;      // [codes] of a residue in a gap
    int32_t open;
    int32_t codes;  // at most 32
};

// NativeNear. A pair is near where its distance is at most
//     limit + the spares of both + |weight of one - weight of the other|.
struct pairalign_near {
    int32_t limit;
    int32_t triangular;                           // pairs of a set: those with row < column
    const int32_t *row_weights, *column_weights;  // [count] by position
    const int32_t *row_spares, *column_spares;    // likewise
    const pairalign_thresholds* lengths;  // pairs that it says are too different in length may be left out
};

namespace pairalign {
struct NearPair {
    int32_t row, column, value;
};
}  // namespace pairalign

struct pairalign_near_pairs {
    std::vector<std::vector<pairalign::NearPair>> parts;
};

// The near pairs of the rows from row_start to row_stop with all columns, row by row, columns in order. Null:
// out of memory.
PAIRALIGN_API pairalign_near_pairs* pairalign_find_near(const pairalign_set* rows,
                                                        const pairalign_set* columns,
                                                        const pairalign_costs* costs,
                                                        const pairalign_near* near, int32_t row_start,
                                                        int32_t row_stop, int32_t threads,
                                                        const char* instruction_set);
PAIRALIGN_API int64_t pairalign_count_near(const pairalign_near_pairs* found);
// Copies rows, columns and distances less spares and difference of weights; frees `found`. Null arrays: it
// only does that.
PAIRALIGN_API void pairalign_take_near(pairalign_near_pairs* found, int32_t* rows, int32_t* columns,
                                       int32_t* values);

namespace pairalign {

constexpr int NEAR_LANES = 64;  // of a group, at most

// Sequences of a group that have one length, a bit a lane.
struct NearLength {
    int32_t length;
    uint64_t lanes;
};

// Neighbouring columns, a lane each. Arrays of lanes are aligned, and bytes or 32-bit numbers as the
// kernel's.
struct NearGroup {
    int32_t longest;
    const void* opposite;             // [codes][longest][lanes]
    const void* gaps;                 // [longest][lanes] of the column's residues
    const void* border;               // [longest + 1][lanes] row 0 of H
    void *h, *f;                      // [longest + 1][lanes] room for a row of the matrix
    const int32_t *weights, *spares;  // [lanes]
    const NearLength* lengths;
    size_t length_count;
};

struct NearRow {
    const uint8_t* codes;
    int32_t length;
    int32_t low, high;  // diagonals (column - row) that can be on an alignment within the limit
    int32_t limit, weight, spare;
    const int32_t* gaps;  // [codes]
    int32_t open;
};

struct NearLanes {
    int lanes;
    int32_t most;  // limits that lanes can hold
    // A bit for each lane that is near; values[lane] is written for these.
    uint64_t (*compare)(const NearGroup& group, const NearRow& row, int32_t* values);
};

struct NearKernel {
    const char* name;
    NearLanes bytes, numbers;
};

}  // namespace pairalign
