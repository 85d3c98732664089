// Parts of a pair of similar DNA sequences, see cuts.cpp.
#pragma once

#include <cstdint>

extern "C" {

// PART in pairalign/engines/cpu/cpu_posterior.py: a part of a pair, from where in both sequences to where;
// and which of it counts. From what counts of a part to that of the next residues are aligned one by one.
struct pairalign_posterior_cut {
    int32_t x, y, x_end, y_end;
    int32_t x_core, y_core, x_core_end, y_core_end;
};

// NativeCutEntries in Python: the entries of parts that were computed, those of a part in ascending order.
struct pairalign_posterior_cut_entries {
    const int64_t* places;   // of each part: which of those that were computed it is; -1: none yet
    const int64_t* offsets;  // where the entries of each of those begin
    const int32_t* rows;
    const int32_t* columns;
    const uint16_t* values;
};
}

namespace pairalign {

using Cut = pairalign_posterior_cut;

// The part of a pair of such lengths of which the core of another one counts.
Cut with_core_of(const Cut& core, int32_t x_length, int32_t y_length);

// Whether parts of so many cells are worth it.
bool are_worth(int64_t cells, int32_t x_length, int32_t y_length);

inline int64_t cells_of(const Cut& part) { return int64_t{part.x_end - part.x} * (part.y_end - part.y); }

}  // namespace pairalign
