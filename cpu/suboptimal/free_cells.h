// The most that a local alignment scores on the cells that a given one leaves free, or near a diagonal, in 8
// bits. Included by kernel_ISA.cpp, once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "byte_tiers.h"
#include "suboptimal.h"
#include "rare_gaps.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <int VECTORS>
class FreeCells : ByteTiers<VECTORS> {
    using Base = ByteTiers<VECTORS>;
    using Base::columns_, Base::f_, Base::h_, Base::job_, Base::larger, Base::place, Base::slot,
        Base::smaller, Base::used_in_tier;
    using typename Base::State;

public:
    using Base::LANES, Base::ROWS;

    explicit FreeCells(const SuboptimalJob& job, const SuboptimalBorder* border = nullptr)
        : Base(job), border_(border) {}

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
    bool tier(int32_t row, int32_t first, int32_t last, const SuboptimalCell*& used,
              const SuboptimalCell* used_end) {
        if (has_border(row)) {
            OnBorder watch(*border_, row);
            return Base::tier(row, first, last, used, used_end, watch, most_);
        }
        Nothing watch;
        return Base::tier(row, first, last, used, used_end, watch, most_);
    }

    bool has_border(int32_t row) const {
        return border_ != nullptr && border_->corner.row <= row + ROWS &&
               border_->corner.row + border_->size > row + 1;
    }
    struct Nothing {
        static int32_t next(int32_t) { return 1 << 30; }
        void leave(int32_t, Bytes) const {}
        void before(int32_t, const State&) const {}
        void after(int32_t, const State&) const {}
    };
    // Writes scores of antidiagonals that are on the border.
    struct OnBorder : Nothing {
        const SuboptimalBorder& border;
        const int32_t row;

        OnBorder(const SuboptimalBorder& of, int32_t at) : border(of), row(at) {}
        int32_t next(int32_t d) const {
            const int32_t first = border.corner.column;
            return d < first + border.size + ROWS ? larger(d, first) : 1 << 30;
        }
        void after(int32_t d, const State& state) const {
            const SuboptimalCell corner = border.corner;
            alignas(64) uint8_t scores[ROWS];
            for (int k = 0; k < VECTORS; ++k) state.h[k].store(scores + k * LANES);
            const int32_t in_row = corner.row - row - 1, in_column = d - corner.column;
            const int32_t across = d - in_row - corner.column, down = row + 1 + in_column - corner.row;
            if (in_row >= 0 && in_row < ROWS && across >= 0 && across < border.size)
                border.row[across] = scores[slot(in_row)];
            if (in_column >= 0 && in_column < ROWS && down >= 0 && down < border.size)
                border.column[down] = scores[slot(in_column)];
        }
    };

    const SuboptimalBorder* const border_;
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
