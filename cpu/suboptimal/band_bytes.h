// The strips of band_strips.h in lanes of 8 bits: a score less a base, which follows the scores every few
// antidiagonals. Included by kernel_ISA.cpp, once for each instruction set.
//
// In a band H of two cells that are next to each other in a row or column differs by no more than a match and
// a gap, so the rows of an antidiagonal are in a range that lanes have room for (`fits`). As long as no score
// is near 127 the base is 128, and lanes end at -128 where scores end at 0. A higher base is only for
// antidiagonals whose cells all score more than 0. What is outside the band is then at the end of the range,
// or little above it: below all that cells have, so that none comes from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "band_rows.h"
#include "byte_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class BandBytes : BandRows {
public:
    BandBytes(const SuboptimalJob& job, const SuboptimalBand& band)
        : BandRows(job, band),
          size_(static_cast<size_t>(columns_) + 2 * BAND_PAD),
          residues_(new uint8_t[size_]) {
        for (size_t k = 0; k < size_; ++k) residues_[k] = static_cast<uint8_t>(band.residues[k]);
    }

    // Whether lanes have room for what a block of antidiagonals has: by how much cells are below the highest
    // one before it, and fall; and what is outside the band gains, while the base falls. `fits_bytes` is
    // true: a mismatch has room.
    static bool fits(const SuboptimalJob& job) {
        const int32_t open = job.pair->gap_open, extend = job.pair->gap_extend;
        const int32_t before = BAND_STRIP * job.match + 2 * (open + BAND_STRIP * extend);
        const int32_t falls = open + BLOCK * extend;
        const int32_t outside = BAND_STRIP / 2 * job.match + open + BAND_STRIP * extend;
        return LANES <= BAND_STRIP && growth(job) + before + falls + outside <= 250;
    }

    bool fill(SuboptimalEnd& end) {
        return each_strip([&](int32_t strip) { fill(strip, end); });
    }

private:
    static constexpr int LANES = Bytes::LANES, VECTORS = LANES < BAND_STRIP ? BAND_STRIP / LANES : 1;
    static constexpr int ROWS = VECTORS * LANES, BLOCK = 24, EDGE = LANES + BAND_STRIP;
    static constexpr int32_t LOWEST_BASE = 128;

    // The most by which scores of a block are above those before it, and no more: what is less cuts scores.
    static int32_t growth(const SuboptimalJob& job) {
        return (BLOCK + 1) * job.match + job.pair->gap_open + BLOCK * job.pair->gap_extend;
    }

    struct State {
        Bytes diagonal[VECTORS], h[VECTORS], e[VECTORS], f[VECTORS];
        int32_t base;

        void set_base(int32_t to) {
            for (; base < to; base += smaller(to - base, 127)) add(-smaller(to - base, 127));
            for (; base > to; base -= smaller(base - to, 127)) add(smaller(base - to, 127));
        }
        int32_t most() const {
            Bytes most = h[0];
            for (int k = 1; k < VECTORS; ++k) most = Bytes::max_signed(most, h[k]);
            return base + most_signed(most);
        }

    private:
        void add(int32_t more) {
            const Bytes all = Bytes::set(more);
            for (int k = 0; k < VECTORS; ++k) {
                diagonal[k] = add_signed(diagonal[k], all), h[k] = add_signed(h[k], all);
                e[k] = add_signed(e[k], all), f[k] = add_signed(f[k], all);
            }
        }
    };

    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
    static int16_t score_of(uint8_t value, int32_t base) {
        return static_cast<int16_t>(base + static_cast<int8_t>(value));
    }
    static uint8_t byte_of(int32_t score, int32_t base) {
        return static_cast<uint8_t>(smaller(127, larger(-128, score - base)));
    }

    void fill(int32_t strip, SuboptimalEnd& end) {
        const int32_t row = band_.first_row + strip * BAND_STRIP;
        const int32_t low = band_.low[strip], stop = band_.high[strip] + BAND_STRIP;
        alignas(64) uint8_t codes[ROWS], first[LANES];
        for (int i = 0; i < ROWS; ++i)
            codes[i] = row + i < job_.pair->row_count ? job_.row_codes[static_cast<size_t>(row + i)]
                                                      : static_cast<uint8_t>(SUBOPTIMAL_NO_ROW);
        Bytes residue[VECTORS];
        State state;
        const int32_t before = band_.h[place(low - 1)];
        state.base = base_for(before);
        for (int k = 0; k < VECTORS; ++k) {
            residue[k] = Bytes::load(codes + k * LANES);
            state.diagonal[k] = state.h[k] = state.e[k] = state.f[k] = Bytes::set(-128);
        }
        for (int i = 0; i < LANES; ++i) first[i] = 128;
        first[0] = byte_of(before, state.base);
        state.diagonal[0] = Bytes::load_any(first);
        for (int32_t d = low; d < stop; d += BLOCK) {
            const int32_t highest = larger(state.most(), band_.h[place(d)]);
            state.set_base(base_for(d == low ? larger(highest, before) : highest));
            block(strip, d, smaller(BLOCK, stop - d), residue, state, end);
        }
    }

    // The base of a block before which no more is scored.
    int32_t base_for(int32_t most) const { return larger(LOWEST_BASE, most + growth(job_) - 127); }

    // Makes some antidiagonals.
    void block(int32_t strip, int32_t from, int32_t count, const Bytes* residue, State& state,
               SuboptimalEnd& end) {
        const int32_t row = band_.first_row + strip * BAND_STRIP, high = band_.high[strip];
        const int32_t base = state.base;
        const Bytes opens = Bytes::set(-job_.pair->gap_open), extends = Bytes::set(-job_.pair->gap_extend);
        const Bytes match = Bytes::set(job_.match), mismatch = Bytes::set(job_.mismatch);
        const Bytes zero = Bytes::set(-128);
        Edge above, below;
        for (int k = 0; k < EDGE; k += LANES) store_any(below.h + k, zero), store_any(below.f + k, zero);
        take_above(from, base, above);
        Best best(row, base, end);
        const size_t first =
            band_.cells_at[strip] + static_cast<size_t>(from - band_.low[strip]) * BAND_STRIP;
        uint8_t* cells = band_.bytes + first;
        for (int32_t k = 0; k < count; ++k)
            band_.bases[first / BAND_STRIP + static_cast<size_t>(k)] = static_cast<int16_t>(base);
        Bytes diagonal[VECTORS], h[VECTORS], e[VECTORS], f[VECTORS];
        for (int k = 0; k < VECTORS; ++k)
            diagonal[k] = state.diagonal[k], h[k] = state.h[k], e[k] = state.e[k], f[k] = state.f[k];
        for (int32_t d = from; d < from + count; ++d, cells += BAND_STRIP) {
            const int32_t edge = from + BAND_STRIP - 1 - d;
            const uint8_t* const residues = residues_.get() + place(d);
            const Bytes h_in = Bytes::load_any(above.h + edge), f_in = Bytes::load_any(above.f + edge);
            Bytes most = zero;
            for (int k = VECTORS - 1; k >= 0; --k) {
                const Bytes h_up = from_below(h[k], k ? h[k - 1] : h_in);
                const Bytes f_on = add_signed(from_below(f[k], k ? f[k - 1] : f_in), extends);
                const Bytes e_on = add_signed(e[k], extends);
                e[k] = Bytes::max_signed(e_on, add_signed(h[k], opens));
                f[k] = Bytes::max_signed(f_on, add_signed(h_up, opens));
                const auto equal = Bytes::eq(residue[k], Bytes::load_any(residues + k * LANES));
                const Bytes aligned = add_signed(diagonal[k], Bytes::blend(equal, match, mismatch));
                h[k] = Bytes::max_signed(aligned, Bytes::max_signed(e[k], f[k]));
                diagonal[k] = h_up;
                most = Bytes::max_signed(most, h[k]);
                store_any(cells + k * LANES, h[k]);
            }
            store_any(below.h + edge, h[VECTORS - 1]);
            store_any(below.f + edge, f[VECTORS - 1]);
            if (d >= high)
                band_.right[strip * BAND_STRIP + d - high] = static_cast<int16_t>(base + lane(h, d - high));
            if (best.is_reached(most)) best.take(h, d, end);
        }
        for (int k = 0; k < VECTORS; ++k)
            state.diagonal[k] = diagonal[k], state.h[k] = h[k], state.e[k] = e[k], state.f[k] = f[k];
        leave_below(from, base, below);
    }

    // H and F of a block's columns in one row, from the last column to the first, after what vectors reach.
    struct Edge {
        uint8_t h[EDGE], f[EDGE];
    };
    static_assert(BLOCK <= BAND_STRIP && BAND_PAD >= 2 * BAND_STRIP, "columns that edges reach");
    // Of the last row above the strip.
    void take_above(int32_t from, int32_t base, Edge& edge) const {
        const size_t at = place(from + BAND_STRIP - 1);
        for (int32_t k = 0; k < BAND_STRIP; ++k) {
            edge.h[LANES - 1 + k] = byte_of(band_.h[at + static_cast<size_t>(k)], base);
            edge.f[LANES - 1 + k] = byte_of(band_.f[at + static_cast<size_t>(k)], base);
        }
    }
    // Of the strip's last row; what is not made yet comes later, or is left alone.
    void leave_below(int32_t from, int32_t base, const Edge& edge) const {
        const size_t at = place(from);
        for (int32_t k = 0; k < BAND_STRIP; ++k) {
            band_.h[at + static_cast<size_t>(k)] = score_of(edge.h[LANES - 1 + k], base);
            band_.f[at + static_cast<size_t>(k)] = score_of(edge.f[LANES - 1 + k], base);
        }
    }

    // What cells of a block must have to be the end cell, less the base.
    class Best {
    public:
        Best(int32_t row, int32_t base, const SuboptimalEnd& end) : row_(row), base_(base) { follow(end); }
        bool is_reached(Bytes most) const { return least_ <= 127 && Bytes::any(is_at_least(most, enough_)); }
        void take(const Bytes* h, int32_t d, SuboptimalEnd& end) {
            for (int k = VECTORS - 1; k >= 0; --k) {
                uint64_t lanes = Bytes::bits(is_at_least(h[k], enough_));
                while (lanes != 0) {
                    const int last = 63 - __builtin_clzll(lanes), i = k * LANES + last;
                    lanes ^= uint64_t{1} << last;
                    take_end(row_, d, i, base_ + lane(h, i), end);
                }
            }
            follow(end);
        }

    private:
        void follow(const SuboptimalEnd& end) {
            least_ = larger(1, end.score) - base_;
            enough_ = Bytes::set(smaller(127, larger(-128, least_)));
        }

        const int32_t row_, base_;
        int32_t least_;
        Bytes enough_;
    };

    static int32_t lane(const Bytes* rows, int32_t i) {
        alignas(64) uint8_t values[LANES];
        rows[i / LANES].store(values);
        return static_cast<int8_t>(values[i % LANES]);
    }
    static Bytes::Mask is_at_least(Bytes a, Bytes b) { return Bytes::eq(Bytes::max_signed(a, b), a); }

    const size_t size_;
    std::unique_ptr<uint8_t[]> residues_;  // of the columns, as the band has them
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
