// TCRdist: the sum over regions of receptors (CDR1, CDR2, CDR2.5, CDR3) of what residues opposite one another
// cost, and residues in a gap. A region has one gap at most, all of which is in the shorter sequence, at a
// fixed place or at the one where the residues cost least. What tcrdist.cpp asks of the kernels, one for each
// instruction set, and the C ABI that pairalign/jobs/receptors/tcrdist.py declares with ctypes.
#pragma once

#include "../core/sets.h"
#include "../export.h"
#include "near.h"

// NativeRegion.
struct pairalign_region {
    const uint8_t *row_codes, *column_codes;    // below pairalign::TCR_CODES
    const int64_t *row_starts, *column_starts;  // [count + 1] by sorted position
    int32_t weight;                             // of what residues cost
    int32_t gap;                                // of a residue in the gap
    int32_t left_out_first, left_out_last;      // residues at the ends that cost nothing
    int32_t has_fixed_gap;
    int32_t padding;
};

// Distances of the pairs of a window, in their order. `costs`: [TCR_CODES][TCR_CODES] of two residues, 4 at
// most. Returns a pairalign_status.
PAIRALIGN_API int32_t pairalign_tcrdist(const pairalign_region* regions, int32_t count, const uint8_t* costs,
                                        const pairalign_window* window, int32_t threads,
                                        const char* instruction_set, int32_t* distances);
// The pairs of a window whose distance is at most `limit`, in any order. Null: out of memory.
PAIRALIGN_API pairalign_near_pairs* pairalign_near_tcrdist(const pairalign_region* regions, int32_t count,
                                                           const uint8_t* costs,
                                                           const pairalign_window* window, int32_t limit,
                                                           int32_t threads, const char* instruction_set);

namespace pairalign {

constexpr int32_t TCR_CODES = 21;
constexpr int32_t TCR_MOST_COST = 4;

// Columns of one length, a lane each.
struct TcrGroup {
    const void* costs;  // [codes][length][lanes]
    int32_t length;
};

struct TcrRow {
    const uint8_t* codes;
    int32_t length;
    const pairalign_region* region;
};

struct TcrLanes {
    int lanes;
    int32_t most;  // costs that lanes can hold
    // Adds the distances to sums[lanes].
    void (*add)(const TcrGroup& group, const TcrRow& row, int32_t* sums);
};

struct TcrKernel {
    const char* name;
    TcrLanes bytes, words;
};

}  // namespace pairalign
