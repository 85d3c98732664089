// The cells of a tier of rows, local and in 8 bits, an antidiagonal at a time, which stays in registers.
// Included by kernel_ISA.cpp, once for each instruction set.
//
// Row i of a tier is lane i / VECTORS of vector i % VECTORS: what is above the rows of a vector is the vector
// before it, and only that of the first vector has its lanes moved.
//
// Lanes hold a score, and 0 for all that is less: no local alignment goes on from there. Between cells, E and
// F are those of the cell to the right and of the cell below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <int VECTORS>
class ByteTiers {
public:
    static constexpr int LANES = Bytes::LANES, ROWS = VECTORS * LANES;

    explicit ByteTiers(const SuboptimalJob& job)
        : job_(job),
          columns_(job.pair->column_count),
          size_(static_cast<size_t>(columns_) + 2 * PAD),
          every_(size_ / VECTORS + 2),
          memory_(new uint8_t[2 * size_ + VECTORS * every_]),
          h_(memory_.get()),
          f_(h_ + size_),
          residues_(f_ + size_) {
        for (size_t k = 0; k < size_; ++k) h_[k] = 0, f_[k] = 0;
        for (size_t k = 0; k < VECTORS * every_; ++k) residues_[k] = SUBOPTIMAL_NO_COLUMN;
        const uint8_t* const codes = job.column_codes.data();
        for (size_t k = 0; k < VECTORS; ++k) {
            uint8_t* const every = residues_ + k * every_;
            for (int32_t c = columns_ - static_cast<int32_t>(k); c > 0; c -= VECTORS)
                every[place(c) / VECTORS] = codes[c - 1];
        }
        for (uint8_t& one : keep_) one = 0xFF;
    }

protected:
    static constexpr int PAD = ROWS + 2 * LANES;  // a multiple of VECTORS
    static constexpr int32_t GROWTH = 64;         // that scores may have between two looks at them
    static constexpr int32_t LIMIT = 255 - GROWTH;

    // H, and E of the next column, of an antidiagonal.
    struct State {
        Bytes h[VECTORS], e[VECTORS];
    };

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
    // Of row i in what vectors of a tier store.
    static size_t slot(int32_t i) { return static_cast<size_t>(i % VECTORS * LANES + i / VECTORS); }

    // Columns stand from the last one to the first.
    size_t place(int32_t column) const { return static_cast<size_t>(PAD + columns_ - column); }

    // The antidiagonal of a used cell in a tier; of one below it none that there is.
    static int32_t used_in_tier(const SuboptimalCell& cell, int32_t row) {
        return cell.row > row + ROWS ? 1 << 30 : cell.row - row - 1 + cell.column;
    }

    // Makes the cells of a tier, in its first row from one column to another, in each other row from one
    // column less on. Calls watch.leave(d, f) with F of the last row, and watch.before(d, state) and
    // watch.after(d, state) at the antidiagonals that watch.next(d) names: itself, or the first after it.
    // False where a score is beyond LIMIT; else `most` becomes the most of all cells if it is less.
    template <typename Watch>
    bool tier(int32_t row, int32_t first, int32_t last, const SuboptimalCell*& used,
              const SuboptimalCell* used_end, Watch& watch, int32_t& most) {
        const Bytes open = Bytes::set(job_.pair->gap_open), extend = Bytes::set(job_.pair->gap_extend);
        const Bytes match = Bytes::set(job_.match), loss = Bytes::set(job_.match - job_.mismatch);
        const Bytes zero = Bytes::set(0);
        State state;
        Bytes residue[VECTORS], diagonal[VECTORS], f[VECTORS], best = zero;
        Bytes *const h = state.h, *const e = state.e;
        for (int k = 0; k < VECTORS; ++k) diagonal[k] = h[k] = e[k] = f[k] = zero;
        load_rows(row, residue);
        // Stores of bytes may change all that is not a local variable.
        uint8_t *const h_row = h_ + place(0) - (LANES - 1), *const f_row = f_ + place(0) - (LANES - 1);
        const uint8_t* residues_of[2 * VECTORS];
        for (size_t k = 0; k < 2 * VECTORS; ++k) residues_of[k] = residues_ + residue_at(k);
        const size_t first_place = place(0);
        const auto step = [&](int32_t d, size_t phase, size_t residues,
                              const uint8_t* keep) __attribute__((always_inline)) {
            const uint8_t* const* const from = residues_of + phase;
            const Bytes h_in = from_below(h[VECTORS - 1], Bytes::load_any(h_row - d));
            const Bytes f_in = from_below(f[VECTORS - 1], Bytes::load_any(f_row - d));
            for (int k = VECTORS - 1; k >= 0; --k) {
                const Bytes h_up = k ? h[k - 1] : h_in, f_up = k ? f[k - 1] : f_in;
                const auto equal = Bytes::eq(residue[k], Bytes::load_any(from[k] + residues));
                Bytes aligned = lose_unless(equal, Bytes::add(diagonal[k], match), loss);
                if (keep != nullptr) aligned = Bytes::bit_and(aligned, Bytes::load(keep + k * LANES));
                h[k] = Bytes::max(aligned, Bytes::max(e[k], f_up));
                const Bytes opened = lose(h[k], open);
                e[k] = Bytes::max(lose(e[k], extend), opened);
                f[k] = Bytes::max(lose(f_up, extend), opened);
                diagonal[k] = h_up;
                best = Bytes::max(best, h[k]);
                if (k == VECTORS - 1) watch.leave(d, f_up);
            }
            store_any(h_row - d + (ROWS - 1), h[VECTORS - 1]);
            store_any(f_row - d + (ROWS - 1), f[VECTORS - 1]);
        };
        const int32_t steps = GROWTH / job_.match, stop = last + ROWS;
        const Bytes limit = Bytes::set(LIMIT);
        for (int32_t d = first; d < stop;) {
            const int32_t end = smaller(d + steps, stop);
            while (d < end) {
                const int32_t barred = used == used_end ? end : smaller(end, used_in_tier(*used, row));
                const int32_t watched = smaller(end, watch.next(d));
                const int32_t next = smaller(barred, watched);
                each_step(d, next, first_place, step);
                d = larger(d, next);
                if (d == end) continue;
                const SuboptimalCell* const here = used;
                if (d == watched) watch.before(d, state);
                for (; used != used_end && used_in_tier(*used, row) == d; ++used)
                    keep_[slot(used->row - row - 1)] = 0;
                const size_t at = first_place - static_cast<size_t>(d);
                step(d, at % VECTORS, at / VECTORS, keep_);
                for (const SuboptimalCell* one = here; one != used; ++one)
                    keep_[slot(one->row - row - 1)] = 0xFF;
                if (d == watched) watch.after(d, state);
                ++d;
            }
            if (Bytes::any(Bytes::ge(best, limit))) return false;
        }
        most = larger(most, most_of(best));
        return true;
    }

    const SuboptimalJob& job_;
    const int32_t columns_;

private:
    // Calls take(d, phase, residues, nullptr) for antidiagonals up to `stop`: the first vector has its
    // residues at `residues` of residues_of[phase]. As many in a row as there are vectors have the same
    // place.
    template <typename Take>
    static PAIRALIGN_INLINE void each_step(int32_t d, int32_t stop, size_t first_place, Take take) {
        const auto place_of = [=](int32_t one) { return first_place - static_cast<size_t>(one); };
        const auto single = [&]() __attribute__((always_inline)) {
            const size_t at = place_of(d);
            take(d++, at % VECTORS, at / VECTORS, nullptr);
        };
        while (d < stop && place_of(d) % VECTORS != VECTORS - 1) single();
        for (; d + VECTORS <= stop; d += VECTORS) {
            const size_t residues = place_of(d) / VECTORS;
            for (int k = 0; k < VECTORS; ++k)
                take(d + k, static_cast<size_t>(VECTORS - 1 - k), residues, nullptr);
        }
        while (d < stop) single();
    }

    void load_rows(int32_t row, Bytes* residue) const {
        alignas(64) uint8_t codes[ROWS];
        for (int i = 0; i < ROWS; ++i)
            codes[slot(i)] = row + i < job_.pair->row_count ? job_.row_codes[static_cast<size_t>(row + i)]
                                                            : static_cast<uint8_t>(SUBOPTIMAL_NO_ROW);
        for (int k = 0; k < VECTORS; ++k) residue[k] = Bytes::load(codes + k * LANES);
    }
    static int32_t most_of(Bytes lanes) {
        alignas(64) uint8_t all[LANES];
        lanes.store(all);
        int32_t most = 0;
        for (const uint8_t one : all) most = larger(most, one);
        return most;
    }
    // Vectors take every VECTORS-th column.
    size_t residue_at(size_t place) const { return place % VECTORS * every_ + place / VECTORS; }

    const size_t size_, every_;
    std::unique_ptr<uint8_t[]> memory_;

protected:
    uint8_t *const h_, *const f_;  // of the columns, in the last row of the tier above; F of the row below it

private:
    uint8_t* const residues_;
    alignas(64) uint8_t keep_[ROWS];  // 0 for cells that are used
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
