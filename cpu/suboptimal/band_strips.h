// The best local alignment within a band: strips of rows, each between two columns. What is outside
// counts as a cell of score 0, at which an alignment may begin: no value is above that of the whole matrix.
// Included by kernel_ISA.cpp, once for each instruction set.
#pragma once

#include "suboptimal.h"
#include "strip_cells.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class BandStrips : StripCells<int16_t, BAND_STRIP> {
public:
    BandStrips(const SuboptimalJob& job, const SuboptimalBand& band) : StripCells(job), band_(band) {}

    bool fill(SuboptimalEnd& end) {
        clear(band_.edges[0], band_.low[0] - 1, band_.high[0] + ROWS);
        for (int32_t strip = 0; strip < band_.strips; ++strip) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return false;
            fill(strip, end);
        }
        return true;
    }

private:
    static void clear(int16_t* edge, int32_t low, int32_t high) {
        for (int32_t k = low; k <= high; ++k) edge[2 * k] = 0, edge[2 * k + 1] = LOWEST;
    }

    void fill(int32_t strip, SuboptimalEnd& end) {
        const int32_t row = band_.first_row + strip * ROWS, low = band_.low[strip], high = band_.high[strip];
        const int16_t* const above = band_.edges[strip & 1];
        int16_t* const below = band_.edges[~strip & 1];
        uint8_t* flags = band_.flags + band_.flags_at[strip];
        const UsedCell* used = nullptr;
        if (strip + 1 < band_.strips) clear(below, low - 1, band_.high[strip + 1] + ROWS);
        begin(row);
        for (int32_t d = low; d < high + ROWS; ++d, flags += ROWS) {
            enter(row, d, above, used, nullptr);
            const int16_t best = diagonal<true>(band_.residues + (job_.pair->column_count + ROWS - d), flags);
            const int32_t column = d - ROWS + 1;
            if (column >= low) {
                below[2 * column] = here_->values[ROWS - 1];
                below[2 * column + 1] = f_here_->values[ROWS - 1];
                band_.last[band_.last_at[strip] + column - low] = here_->values[ROWS - 1];
            }
            if (d >= high) band_.right[strip * ROWS + d - high] = here_->values[d - high];
            if (best >= larger(1, end.score)) take_best(row, d, best, *here_, end);
            leave();
        }
    }

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

    const SuboptimalBand& band_;
};

inline bool suboptimal_band(const SuboptimalJob& job, const SuboptimalBand& band, SuboptimalEnd& end) {
    return BandStrips(job, band).fill(end);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
