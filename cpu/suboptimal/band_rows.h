// What is kept of a band's strips of rows, in lanes of any width. Included by kernel_ISA.cpp, once for each
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/ties.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class BandRows {
protected:
    static constexpr int16_t LOWEST = -16384;  // of gaps: see strip_cells.h

    BandRows(const SuboptimalJob& job, const SuboptimalBand& band)
        : job_(job), band_(band), columns_(job.pair->column_count) {}

    // Calls fill(strip) for each. False when cancelled.
    template <typename Fill>
    bool each_strip(Fill fill) {
        for (int32_t k = 0; k < columns_ + 2 * BAND_PAD; ++k) band_.h[k] = 0, band_.f[k] = LOWEST;
        for (int32_t strip = 0; strip < band_.strips; ++strip) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return false;
            fill(strip);
            leave(strip);
        }
        return true;
    }

    // Columns stand from the last one to the first.
    size_t place(int32_t column) const { return static_cast<size_t>(BAND_PAD + columns_ - column); }

    // Of row i of a strip, on antidiagonal d.
    // Ties: the end cell.
    static void take_end(int32_t row, int32_t d, int32_t i, int32_t score, SuboptimalEnd& end) {
        if (score < larger(1, end.score)) return;
        const int32_t column = d - i, at = row + i + 1;
        if (score > end.score || is_earlier_end(at, column, end.row, end.column)) end = {score, at, column};
    }

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

    const SuboptimalJob& job_;
    const SuboptimalBand& band_;
    const int32_t columns_;

private:
    // Keeps scores of the last row, and leaves those of columns of the strip alone.
    void leave(int32_t strip) {
        const int32_t low = band_.low[strip], high = band_.high[strip];
        const int16_t* const backwards = band_.h + place(high);
        int16_t* const last = band_.last + band_.last_at[strip];
        PAIRALIGN_NO_ALIAS
        for (ptrdiff_t k = 0; k <= high - low; ++k) last[k] = backwards[high - low - k];
        const auto clear = [&](int32_t column) {
            band_.h[place(column)] = 0, band_.f[place(column)] = LOWEST;
        };
        clear(low - 1);
        for (int32_t column = high + 1; column < high + BAND_STRIP; ++column) clear(column);
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
