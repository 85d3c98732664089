// The cells of a strip of rows, an antidiagonal at a time. Plain loops of a fixed length, for the compiler to
// put into vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../core/ties.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class StripCells {
public:
    static constexpr int ROWS = SUBOPTIMAL_STRIP;

protected:
    using Cell = int16_t;

    explicit StripCells(const SuboptimalJob& job) : job_(job) {}

    // No path may come from a used cell, or from E or F before the matrix: these are LOWEST. With M the
    // largest score of residues or cost of a gap (`is_narrow`) and m the least value of a cell:
    // - LOWEST + M < 0: what comes from a masked cell is negative, and a local H is at least 0, so no flag of
    //   a cell that is not a stop says that it came from there.
    // - H >= 0 elsewhere, so E, F >= -M from the second column or row on, and all sums are at least LOWEST -
    //   M >= m: nothing wraps and becomes positive.
    static constexpr Cell LOWEST = std::numeric_limits<Cell>::min() / 2;
    static constexpr int MOST = SUBOPTIMAL_MOST_SHORT;
    static_assert(LOWEST + MOST < 0 && LOWEST - MOST >= std::numeric_limits<Cell>::min());
    static constexpr int FRONT = 64;  // bytes before row 0 of a strip, the last of which are row -1

    // H or F of an antidiagonal, by row of the strip; values[-1] is of the row before.
    struct alignas(64) State {
        Cell before[FRONT / sizeof(Cell)];
        Cell values[ROWS];
        Cell& above() { return before[FRONT / sizeof(Cell) - 1]; }
        void fill(Cell value) {
            for (Cell& one : before) one = value;
            for (Cell& one : values) one = value;
        }
    };

    void begin(int32_t row) {
        for (State& one : h_) one.fill(0);
        for (State& one : f_) one.fill(LOWEST);
        for (Cell& one : e_) one = LOWEST;
        here_ = &h_[0], last_ = &h_[1], second_last_ = &h_[2];
        f_here_ = &f_[0], f_last_ = &f_[1];
        for (int i = 0; i < ROWS; ++i)
            row_residues_[i] = static_cast<Cell>(row + i < job_.pair->row_count
                                                     ? job_.row_codes[static_cast<size_t>(row + i)]
                                                     : SUBOPTIMAL_NO_ROW);
    }

    // Row i of antidiagonal d is in column d - i, columns counted from 1. Takes what it needs of the strip
    // above, and bars the used cells of this antidiagonal. F below LOWEST is as good as LOWEST.
    void enter(int32_t row, int32_t d, const int16_t* above, const UsedCell*& used,
               const UsedCell* used_end) {
        last_->above() = static_cast<Cell>(above[2 * d]);
        second_last_->above() = static_cast<Cell>(above[2 * (d - 1)]);
        f_last_->above() = static_cast<Cell>(std::max<int>(above[2 * d + 1], LOWEST));
        for (; used != used_end && used->diagonal - row <= d + 1; ++used) {
            if (used->diagonal - row < d + 1) continue;
            const int32_t before = used->row - row - 2;
            (before < 0 ? second_last_->above() : second_last_->values[before]) = LOWEST;
        }
    }

    void leave() {
        State* const free = second_last_;
        second_last_ = last_, last_ = here_, here_ = free;
        std::swap(f_here_, f_last_);
    }

    // FLAGS: also says where H came from, and whether gaps go on.
    template <bool FLAGS>
    Cell diagonal(const Cell* column_residues, uint8_t* __restrict flags) {
        const Cell open = static_cast<Cell>(job_.pair->gap_open);
        const Cell extend = static_cast<Cell>(job_.pair->gap_extend);
        const Cell match = static_cast<Cell>(job_.match), mismatch = static_cast<Cell>(job_.mismatch);
        const Cell* __restrict row_residue = row_residues_;
        const Cell* __restrict column_residue = column_residues;
        const Cell* __restrict h_last = last_->values;
        const Cell* __restrict h_last_up = last_->before + FRONT / sizeof(Cell) - 1;
        const Cell* __restrict h_diagonal = second_last_->before + FRONT / sizeof(Cell) - 1;
        const Cell* __restrict f_up = f_last_->before + FRONT / sizeof(Cell) - 1;
        Cell* __restrict h = here_->values;
        Cell* __restrict f = f_here_->values;
        Cell* __restrict e = e_;
        Cell best = 0;
        PAIRALIGN_NO_ALIAS
        for (int i = 0; i < ROWS; ++i) {
            const Cell e_on = static_cast<Cell>(e[i] - extend), e_new = static_cast<Cell>(h_last[i] - open);
            const Cell f_on = static_cast<Cell>(f_up[i] - extend);
            const Cell f_new = static_cast<Cell>(h_last_up[i] - open);
            const Cell e_here = e_on > e_new ? e_on : e_new, f_here = f_on > f_new ? f_on : f_new;
            const Cell score = row_residue[i] == column_residue[i] ? match : mismatch;
            const Cell aligned = static_cast<Cell>(h_diagonal[i] + score);
            Cell value = e_here > f_here ? e_here : f_here;
            value = aligned > value ? aligned : value;
            value = value > 0 ? value : Cell{0};
            e[i] = e_here;
            f[i] = f_here;
            h[i] = value;
            best = best > value ? best : value;
            // Ties: the walk back.
            if (FLAGS)
                flags[i] = static_cast<uint8_t>(
                    (value == aligned ? SUBOPTIMAL_DIAGONAL : 0) | (value == e_here ? SUBOPTIMAL_E : 0) |
                    (e_here == e_on ? SUBOPTIMAL_E_ON : 0) | (f_here == f_on ? SUBOPTIMAL_F_ON : 0) |
                    (value == 0 ? SUBOPTIMAL_STOP : 0));
        }
        return best;
    }

    // Of equal scores the smallest column, then the smallest row: on a diagonal the largest row comes first.
    // Ties: the end cell.
    void take_best(int32_t row, int32_t d, int32_t best, const State& h, SuboptimalEnd& end) const {
        for (int32_t i = ROWS - 1; i >= 0; --i) {
            if (h.values[i] != best) continue;
            const int32_t column = d - i, at = row + i + 1;
            if (best > end.score || is_earlier_end(at, column, end.row, end.column)) end = {best, at, column};
            return;
        }
    }

    const SuboptimalJob& job_;
    State h_[3], f_[2];
    State *here_ = nullptr, *last_ = nullptr, *second_last_ = nullptr, *f_here_ = nullptr, *f_last_ = nullptr;
    alignas(64) Cell e_[ROWS], row_residues_[ROWS];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
