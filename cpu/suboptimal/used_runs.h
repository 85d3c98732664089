// The residues that the known alignments of a pair put together. Not for kernels: what is compiled for an
// instruction set shares no inline code with the rest.
#pragma once

#include "../core/cigar.h"
#include "suboptimal.h"

namespace pairalign {

// Calls take(row, column, residues) for each run of residues that a known alignment puts together, from that
// row and column on.
template <typename Take>
void for_each_used_run(const pairalign_suboptimal_pair& pair, Take take) {
    for (int32_t k = 0; k < pair.used; ++k) {
        int32_t row = pair.used_starts[2 * k], column = pair.used_starts[2 * k + 1];
        for (int64_t r = pair.used_offsets[k]; r < pair.used_offsets[k + 1]; ++r) {
            const uint32_t operation = pair.used_runs[r] & 15;
            const int32_t residues = static_cast<int32_t>(pair.used_runs[r] >> 4);
            if (operation == EQUAL || operation == DIFFERENT) {
                take(row, column, residues);
                row += residues;
                column += residues;
            } else if ((operation == INSERTION) == (pair.query_is_row != 0)) {
                row += residues;
            } else {
                column += residues;
            }
        }
    }
}

}  // namespace pairalign
