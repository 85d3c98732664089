// The best local alignment within a band: strips of rows, each between two columns, whose antidiagonals stay
// in registers. What is outside counts as a cell of score 0, at which an alignment may begin: no value is
// above that of the whole matrix. Included by kernel_ISA.cpp, once for each instruction set.
#pragma once

#include "../core/ties.h"
#include "band_bytes.h"
#include "band_rows.h"
#include "short_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class BandStrips : BandRows {
public:
    BandStrips(const SuboptimalJob& job, const SuboptimalBand& band) : BandRows(job, band) {}

    bool fill(SuboptimalEnd& end) {
        return each_strip([&](int32_t strip) { fill(strip, end); });
    }

private:
    static constexpr int LANES = Narrow::LANES, VECTORS = BAND_STRIP / LANES;
    static_assert(BAND_PAD >= BAND_STRIP + LANES, "columns that vectors reach");

    void fill(int32_t strip, SuboptimalEnd& end) {
        const int32_t row = band_.first_row + strip * BAND_STRIP;
        const int32_t low = band_.low[strip], high = band_.high[strip];
        const Narrow open = Narrow::set(static_cast<int16_t>(job_.pair->gap_open)),
                     extend = Narrow::set(static_cast<int16_t>(job_.pair->gap_extend)),
                     match = Narrow::set(static_cast<int16_t>(job_.match)),
                     mismatch = Narrow::set(static_cast<int16_t>(job_.mismatch)), zero = Narrow::set(0);
        alignas(64) int16_t values[BAND_STRIP];
        for (int i = 0; i < BAND_STRIP; ++i)
            values[i] = row + i < job_.pair->row_count ? job_.row_codes[static_cast<size_t>(row + i)]
                                                       : static_cast<int16_t>(SUBOPTIMAL_NO_ROW);
        Narrow residue[VECTORS], diagonal[VECTORS], h[VECTORS], e[VECTORS], f[VECTORS];
        for (int k = 0; k < VECTORS; ++k) {
            residue[k] = Narrow::load(values + k * LANES);
            diagonal[k] = h[k] = zero;
            e[k] = f[k] = Narrow::set(LOWEST);
        }
        diagonal[0] = from_below(zero, load_any(band_.h + place(low - 1) - (LANES - 1)));
        const int16_t* const residues = band_.residues;
        int16_t *const edge_h = band_.h, *const edge_f = band_.f;
        int16_t* cells = band_.shorts + band_.cells_at[strip];
        Narrow enough = Narrow::set(static_cast<int16_t>(larger(1, end.score)));
        for (int32_t d = low; d < high + BAND_STRIP; ++d, cells += BAND_STRIP) {
            const size_t at = place(d), below = at + BAND_STRIP - LANES;
            const Narrow h_above = load_any(edge_h + at - (LANES - 1)),
                         f_above = load_any(edge_f + at - (LANES - 1));
            Narrow most = zero;
            for (int k = VECTORS - 1; k >= 0; --k) {
                const Narrow h_up = from_below(h[k], k ? h[k - 1] : h_above);
                const Narrow f_on = Narrow::sub(from_below(f[k], k ? f[k - 1] : f_above), extend);
                const Narrow e_on = Narrow::sub(e[k], extend);
                e[k] = Narrow::max(e_on, Narrow::sub(h[k], open));
                f[k] = Narrow::max(f_on, Narrow::sub(h_up, open));
                const auto equal = Narrow::eq(residue[k], load_any(residues + at + k * LANES));
                const Narrow aligned = Narrow::add(diagonal[k], Narrow::blend(equal, match, mismatch));
                h[k] = Narrow::max(Narrow::max(aligned, zero), Narrow::max(e[k], f[k]));
                diagonal[k] = h_up;
                most = Narrow::max(most, h[k]);
                store_any(cells + k * LANES, h[k]);
            }
            store_any(edge_h + below, h[VECTORS - 1]);
            store_any(edge_f + below, f[VECTORS - 1]);
            const bool is_best = Narrow::any(Narrow::ge(most, enough));
            if (!is_best && d < high) continue;
            for (int k = 0; k < VECTORS; ++k) h[k].store(values + k * LANES);
            if (d >= high) band_.right[strip * BAND_STRIP + d - high] = values[d - high];
            if (!is_best) continue;
            for (int i = BAND_STRIP - 1; i >= 0; --i) take_end(row, d, i, values[i], end);
            enough = Narrow::set(static_cast<int16_t>(end.score));
        }
    }
};

inline bool suboptimal_band_has_bytes(const SuboptimalJob& job) { return BandBytes::fits(job); }

inline bool suboptimal_band(const SuboptimalJob& job, const SuboptimalBand& band, SuboptimalEnd& end) {
    return BandBytes::fits(job) ? BandBytes(job, band).fill(end) : BandStrips(job, band).fill(end);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
