// The most that a local alignment scores on the cells that a given one leaves free, or near a diagonal, in 8
// bits: tiers of rows, whose antidiagonals stay in registers. Included by kernel_ISA.cpp, once for each
// instruction set.
//
// Lanes hold a score, and 0 for all that is less: no local alignment goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_neighbours.h"
#include "suboptimal.h"
#include "rare_gaps.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <int VECTORS>
class FreeCells {
public:
    static constexpr int LANES = Bytes::LANES, ROWS = VECTORS * LANES;

    explicit FreeCells(const SuboptimalJob& job, const SuboptimalBorder* border = nullptr)
        : job_(job),
          border_(border),
          columns_(job.pair->column_count),
          size_(static_cast<size_t>(columns_) + 2 * PAD),
          memory_(new uint8_t[3 * size_]),
          residues_(memory_.get()),
          h_(residues_ + size_),
          f_(h_ + size_) {
        for (size_t k = 0; k < size_; ++k) residues_[k] = SUBOPTIMAL_NO_COLUMN, h_[k] = 0, f_[k] = 0;
        for (int32_t c = 1; c <= columns_; ++c)
            residues_[place(c)] = job.column_codes[static_cast<size_t>(c - 1)];
        for (int k = 0; k < 2 * ROWS; ++k) free_[k] = 0xFF;
        free_[ROWS] = 0;
    }

    // -1 where it is more than 8 bits hold, or when cancelled. No cells are made after one that scores
    // enough.
    int32_t most(const SuboptimalCell* used, size_t count, int32_t enough) {
        const SuboptimalCell* const end = used + count;
        for (int32_t row = 0; row < job_.pair->row_count && most_ < enough; row += ROWS) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return -1;
            if (!tier(row, 1, columns_, used, end)) return -1;
        }
        return most_;
    }

    // On cells no further from the diagonal of a cell than `width` columns, and `around` rows before it and
    // after it. `enough` where it is at least that, which has 8 bits.
    int32_t most_near(SuboptimalCell at, int32_t around, int32_t width, int32_t enough,
                      const SuboptimalCell* used, size_t count) {
        const int32_t end = smaller(at.row + around, job_.pair->row_count);
        const SuboptimalCell* const used_end = used + count;
        for (int32_t row = larger(0, at.row - around); row < end; row += ROWS) {
            const int32_t middle = at.column + row - at.row;
            const int32_t first = larger(1, middle - width), last = smaller(columns_, middle + ROWS + width);
            if (first > last) continue;
            while (used != used_end && (used->row <= row || used->row - row - 1 + used->column < first))
                ++used;
            const SuboptimalCell* stop = used;
            while (stop != used_end && used_in_tier(*stop, row) < last + ROWS) ++stop;
            if (!tier(row, first, last, used, stop) || most_ >= enough) return enough;
            // Of these columns the last row was not made.
            for (int32_t k = 1; k < LANES; ++k) h_[place(last + k)] = f_[place(last + k)] = 0;
        }
        return most_;
    }

    // See SuboptimalKernel.
    int32_t most_along(const SuboptimalCell* used, size_t count, int32_t around, int32_t width) {
        const SuboptimalCell first = used[0], last = used[count - 1], *const end = used + count;
        const SuboptimalCell *from = used, *to = used;  // the cells before the tier, and before the next
        const int32_t rows = smaller(last.row + around, job_.pair->row_count);
        for (int32_t row = larger(0, first.row - around); row < rows; row += ROWS) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return -1;
            while (from != end && from->row <= row) ++from;
            for (to = from; to != end && to->row <= row + ROWS;) ++to;
            const SuboptimalCell at = from == end ? last : *from, beyond = to == used ? first : *(to - 1);
            const int32_t low = smaller(at.column, at.column + row + 1 - at.row);
            const int32_t high = larger(beyond.column, beyond.column + row + ROWS - beyond.row);
            const int32_t beyond_ends = larger(0, larger(first.row - row, row - last.row));
            const int32_t beside = width + beyond_ends / SUBOPTIMAL_DRIFT;
            const int32_t left = larger(1, low - beside), right = smaller(columns_, high + beside);
            if (left > right) continue;
            if (!tier(row, left, right, from, end)) return -1;
            for (int32_t k = 1; k < LANES; ++k) h_[place(right + k)] = f_[place(right + k)] = 0;
        }
        return most_;
    }

private:
    static constexpr int PAD = ROWS + 2 * LANES;
    static constexpr int32_t GROWTH = 64;  // that scores may have between two looks at them

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

    // The antidiagonal of a used cell in a tier; of one below it none that there is.
    static int32_t used_in_tier(const SuboptimalCell& cell, int32_t row) {
        return cell.row > row + ROWS ? 1 << 30 : cell.row - row - 1 + cell.column;
    }

    // Columns stand from the last one to the first.
    size_t place(int32_t column) const { return static_cast<size_t>(PAD + columns_ - column); }

    // Makes the cells of a tier, in its first row from one column to another, in each other row from one
    // column less on.
    bool tier(int32_t row, int32_t first, int32_t last, const SuboptimalCell*& used,
              const SuboptimalCell* used_end) {
        alignas(64) uint8_t codes[ROWS];
        for (int i = 0; i < ROWS; ++i)
            codes[i] = row + i < job_.pair->row_count ? job_.row_codes[static_cast<size_t>(row + i)]
                                                      : static_cast<uint8_t>(SUBOPTIMAL_NO_ROW);
        const Bytes open = Bytes::set(job_.pair->gap_open), extend = Bytes::set(job_.pair->gap_extend);
        const Bytes match = Bytes::set(job_.match), loss = Bytes::set(job_.match - job_.mismatch);
        const Bytes zero = Bytes::set(0);
        Bytes residue[VECTORS], diagonal[VECTORS], h[VECTORS], e[VECTORS], f[VECTORS], best = zero;
        for (int k = 0; k < VECTORS; ++k) {
            residue[k] = Bytes::load(codes + k * LANES);
            diagonal[k] = h[k] = e[k] = f[k] = zero;
        }
        const auto step = [&](int32_t d, const uint8_t* keep) __attribute__((always_inline)) {
            const size_t at = place(d);
            const Bytes h_above = Bytes::load_any(h_ + at - (LANES - 1)),
                        f_above = Bytes::load_any(f_ + at - (LANES - 1));
            for (int k = VECTORS - 1; k >= 0; --k) {
                const Bytes h_up = from_below(h[k], k ? h[k - 1] : h_above);
                const Bytes f_up = from_below(f[k], k ? f[k - 1] : f_above);
                const auto equal = Bytes::eq(residue[k], Bytes::load_any(residues_ + at + k * LANES));
                Bytes aligned = lose_unless(equal, Bytes::add(diagonal[k], match), loss);
                if (keep != nullptr) aligned = Bytes::bit_and(aligned, Bytes::load_any(keep + k * LANES));
                h[k] = Bytes::max(aligned, Bytes::max(e[k], f_up));
                const Bytes opened = lose(h[k], open);
                e[k] = Bytes::max(lose(e[k], extend), opened);
                f[k] = Bytes::max(lose(f_up, extend), opened);
                diagonal[k] = h_up;
                best = Bytes::max(best, h[k]);
            }
            const size_t below = place(d - (ROWS - 1)) - (LANES - 1);
            store_any(h_ + below, h[VECTORS - 1]);
            store_any(f_ + below, f[VECTORS - 1]);
        };
        const int32_t steps = GROWTH / job_.match, stop = last + ROWS;
        const Bytes limit = Bytes::set(255 - GROWTH);
        const int32_t record = has_border(row) ? border_->corner.column : stop;
        const int32_t record_end = record == stop ? stop : record + border_->size + ROWS;
        for (int32_t d = first; d < stop;) {
            const int32_t end = smaller(d + steps, stop);
            while (d < end) {
                int32_t next = end;
                if (used != used_end && used->row <= row + ROWS)
                    next = smaller(end, used->row - row - 1 + used->column);
                for (; d < next; ++d) {
                    step(d, nullptr);
                    if (d >= record && d < record_end) note(row, d, h);
                }
                if (d == end) continue;
                step(d, free_ + ROWS - (used->row - row - 1)), ++used;
                if (d >= record && d < record_end) note(row, d, h);
                ++d;
            }
            if (Bytes::any(Bytes::ge(best, limit))) return false;
        }
        alignas(64) uint8_t found[LANES];
        best.store(found);
        for (const uint8_t one : found) most_ = larger(most_, one);
        return true;
    }

    bool has_border(int32_t row) const {
        return border_ != nullptr && border_->corner.row <= row + ROWS &&
               border_->corner.row + border_->size > row + 1;
    }
    // Writes scores of an antidiagonal that are on the border.
    void note(int32_t row, int32_t d, const Bytes* h) {
        alignas(64) uint8_t scores[ROWS];
        for (int k = 0; k < VECTORS; ++k) h[k].store(scores + k * LANES);
        const SuboptimalCell corner = border_->corner;
        const int32_t in_row = corner.row - row - 1, in_column = d - corner.column;
        const int32_t across = d - in_row - corner.column, down = row + 1 + in_column - corner.row;
        if (in_row >= 0 && in_row < ROWS && across >= 0 && across < border_->size)
            border_->row[across] = scores[in_row];
        if (in_column >= 0 && in_column < ROWS && down >= 0 && down < border_->size)
            border_->column[down] = scores[in_column];
    }

    const SuboptimalJob& job_;
    const SuboptimalBorder* const border_;
    const int32_t columns_;
    const size_t size_;
    std::unique_ptr<uint8_t[]> memory_;
    uint8_t *residues_, *h_, *f_;  // of the columns; the latter two in the last row of the tier above
    uint8_t free_[2 * ROWS];       // one cell in the middle is not
    int32_t most_ = 0;
};

inline int32_t suboptimal_most_free(const SuboptimalJob& job, const SuboptimalCell* used, size_t count,
                                    const SuboptimalBorder* border, int32_t enough) {
    const int32_t most = has_rare_gaps(job) ? RareGaps(job, used, count).most() : -1;
    return most >= 0 ? most : FreeCells<Bytes::LANES == 64 ? 4 : 2>(job, border).most(used, count, enough);
}

// As many rows for each instruction set, so that all look at the same cells.
constexpr int NEAR_ROWS = 128;

inline int32_t suboptimal_most_near(const SuboptimalJob& job, SuboptimalCell at, int32_t around,
                                    int32_t width, int32_t enough, const SuboptimalCell* used, size_t count) {
    return FreeCells<NEAR_ROWS / Bytes::LANES>(job).most_near(at, around, width, enough, used, count);
}

inline int32_t suboptimal_most_along(const SuboptimalJob& job, const SuboptimalCell* used, size_t count,
                                     const SuboptimalBorder* border, int32_t around, int32_t width) {
    return FreeCells<NEAR_ROWS / Bytes::LANES>(job, border).most_along(used, count, around, width);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
