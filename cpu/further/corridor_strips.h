// The best local alignment within a corridor: strips of rows, each between two columns. What is outside
// counts as a cell of score 0, at which an alignment may begin: no value is above that of the whole matrix.
// Included by kernel_ISA.cpp, once for each instruction set.
#pragma once

#include "further.h"
#include "strip_cells.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class CorridorStrips : StripCells<int16_t, CORRIDOR_STRIP> {
public:
    CorridorStrips(const FurtherJob& job, const FurtherCorridor& corridor)
        : StripCells(job), corridor_(corridor) {}

    bool fill(FurtherEnd& end) {
        clear(corridor_.edges[0], corridor_.low[0] - 1, corridor_.high[0] + ROWS);
        for (int32_t strip = 0; strip < corridor_.strips; ++strip) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return false;
            fill(strip, end);
        }
        return true;
    }

private:
    static void clear(int16_t* edge, int32_t low, int32_t high) {
        for (int32_t k = low; k <= high; ++k) edge[2 * k] = 0, edge[2 * k + 1] = LOWEST;
    }

    void fill(int32_t strip, FurtherEnd& end) {
        const int32_t row = corridor_.first_row + strip * ROWS, low = corridor_.low[strip],
                      high = corridor_.high[strip];
        const int16_t* const above = corridor_.edges[strip & 1];
        int16_t* const below = corridor_.edges[~strip & 1];
        uint8_t* flags = corridor_.flags + corridor_.flags_at[strip];
        const UsedCell* used = nullptr;
        if (strip + 1 < corridor_.strips) clear(below, low - 1, corridor_.high[strip + 1] + ROWS);
        begin(row);
        for (int32_t d = low; d < high + ROWS; ++d, flags += ROWS) {
            enter(row, d, above, used, nullptr);
            const int16_t best =
                diagonal<true>(corridor_.letters + (job_.pair->column_count + ROWS - d), flags);
            const int32_t column = d - ROWS + 1;
            if (column >= low) {
                below[2 * column] = here_->values[ROWS - 1];
                below[2 * column + 1] = f_here_->values[ROWS - 1];
                corridor_.last[corridor_.last_at[strip] + column - low] = here_->values[ROWS - 1];
            }
            if (d >= high) corridor_.right[strip * ROWS + d - high] = here_->values[d - high];
            if (best >= larger(1, end.score)) take_best(row, d, best, *here_, end);
            leave();
        }
    }

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

    const FurtherCorridor& corridor_;
};

inline bool further_corridor(const FurtherJob& job, const FurtherCorridor& corridor, FurtherEnd& end) {
    return CorridorStrips(job, corridor).fill(end);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
