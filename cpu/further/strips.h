// Where the best local alignment on free cells ends, and how much it scores: a strip of rows at a time, whose
// antidiagonals stay in the first cache. Plain loops of a fixed length, for the compiler to put into vectors.
// Included by kernel_ISA.cpp, once for each instruction set.
//
// Invariant: no cell before the first or after the last row or column scores as much as a cell of the matrix
// from which a path comes to it, so that strips are filled whole; that needs has_strips of further.cpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "further.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <typename Cell, int ROWS>
class Strips {
public:
    // Looks for scores from `least` on; `stops` at the first one, of which then no more is known.
    Strips(const FurtherJob& job, int32_t least, bool stops)
        : job_(job),
          least_(least),
          stops_(stops),
          columns_(job.pair->column_count),
          // From the last column to the first, between others that match nothing.
          letters_(static_cast<size_t>(columns_) + 2 * ROWS, static_cast<Cell>(FURTHER_NO_COLUMN)),
          h_above_(static_cast<size_t>(columns_) + ROWS + 1, 0),
          f_above_(static_cast<size_t>(columns_) + ROWS + 1, LOWEST) {
        std::copy(job.column_codes.rbegin(), job.column_codes.rend(), letters_.begin() + ROWS);
    }

    // False when cancelled.
    bool fill(FurtherEnd& end) {
        std::vector<UsedCell> used = job_.used;
        std::sort(used.begin(), used.end(), [](const UsedCell& a, const UsedCell& b) {
            const int32_t of_a = (a.row - 1) / ROWS, of_b = (b.row - 1) / ROWS;
            return of_a != of_b ? of_a < of_b : a.diagonal < b.diagonal;
        });
        const UsedCell* next = used.data();
        const UsedCell* const stop = next + used.size();
        for (int32_t row = 0; row < job_.pair->row_count; row += ROWS) {
            const UsedCell* const first = next;
            while (next != stop && next->row <= row + ROWS) ++next;
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return false;
            strip(row, first, next, end);
            if (stops_ && end.score > 0) return true;
        }
        return true;
    }

private:
    static constexpr Cell LOWEST = std::numeric_limits<Cell>::min() / 2;
    static constexpr int FRONT = 64;  // bytes before row 0 of a strip, the last of which are row -1

    // H or F of an antidiagonal, by row of the strip; values[-1] is of the row before.
    struct alignas(64) State {
        Cell before[FRONT / sizeof(Cell)];
        Cell values[ROWS];
        Cell& above() { return before[FRONT / sizeof(Cell) - 1]; }
        void fill(Cell value) {
            std::fill(std::begin(before), std::end(before), value);
            std::fill(std::begin(values), std::end(values), value);
        }
    };

    void strip(int32_t row, const UsedCell* used, const UsedCell* used_end, FurtherEnd& end) {
        State *here = &h_[0], *last = &h_[1], *second_last = &h_[2], *f = &f_[0], *f_last = &f_[1];
        for (State& one : h_) one.fill(0);
        for (State& one : f_) one.fill(LOWEST);
        std::fill(std::begin(e_), std::end(e_), LOWEST);
        for (int i = 0; i < ROWS; ++i)
            row_letters_[i] = static_cast<Cell>(row + i < job_.pair->row_count
                                                    ? job_.row_codes[static_cast<size_t>(row + i)]
                                                    : FURTHER_NO_ROW);
        // Row i of antidiagonal d is in column d - i, columns counted from 1.
        for (int32_t d = 1; d < columns_ + ROWS; ++d) {
            last->above() = h_above_[static_cast<size_t>(d)];
            second_last->above() = h_above_[static_cast<size_t>(d - 1)];
            f_last->above() = f_above_[static_cast<size_t>(d)];
            for (; used != used_end && used->diagonal - row == d + 1; ++used) {
                const int32_t before = used->row - row - 2;
                (before < 0 ? second_last->above() : second_last->values[before]) = LOWEST;
            }
            const Cell* letters = letters_.data() + (columns_ + ROWS - d);
            const Cell best = diagonal(letters, *here, *last, *second_last, *f, *f_last);
            if (d >= ROWS) {
                h_above_[static_cast<size_t>(d - ROWS + 1)] = here->values[ROWS - 1];
                f_above_[static_cast<size_t>(d - ROWS + 1)] = f->values[ROWS - 1];
            }
            if (best >= std::max(least_, end.score)) {
                take_best(row, d, best, *here, end);
                if (stops_) return;
            }
            State* const free = second_last;
            second_last = last, last = here, here = free;
            std::swap(f, f_last);
        }
    }

    Cell diagonal(const Cell* column_letters, State& here, const State& last, const State& second_last,
                  State& f_here, const State& f_last) {
        const Cell open = static_cast<Cell>(job_.pair->gap_open);
        const Cell extend = static_cast<Cell>(job_.pair->gap_extend);
        const Cell match = static_cast<Cell>(job_.match), mismatch = static_cast<Cell>(job_.mismatch);
        const Cell* __restrict row_letter = row_letters_;
        const Cell* __restrict column_letter = column_letters;
        const Cell* __restrict h_last = last.values;
        const Cell* __restrict h_last_up = last.before + FRONT / sizeof(Cell) - 1;
        const Cell* __restrict h_diagonal = second_last.before + FRONT / sizeof(Cell) - 1;
        const Cell* __restrict f_up = f_last.before + FRONT / sizeof(Cell) - 1;
        Cell* __restrict h = here.values;
        Cell* __restrict f = f_here.values;
        Cell* __restrict e = e_;
        Cell best = 0;
        PAIRALIGN_NO_ALIAS
        for (int i = 0; i < ROWS; ++i) {
            const Cell e_on = static_cast<Cell>(e[i] - extend), e_new = static_cast<Cell>(h_last[i] - open);
            const Cell f_on = static_cast<Cell>(f_up[i] - extend);
            const Cell f_new = static_cast<Cell>(h_last_up[i] - open);
            const Cell e_here = e_on > e_new ? e_on : e_new, f_here_ = f_on > f_new ? f_on : f_new;
            const Cell score = row_letter[i] == column_letter[i] ? match : mismatch;
            const Cell aligned = static_cast<Cell>(h_diagonal[i] + score);
            Cell value = e_here > f_here_ ? e_here : f_here_;
            value = aligned > value ? aligned : value;
            value = value > 0 ? value : Cell{0};
            e[i] = e_here;
            f[i] = f_here_;
            h[i] = value;
            best = best > value ? best : value;
        }
        return best;
    }

    // Of equal scores the smallest column, then the smallest row: on a diagonal the largest row comes first.
    void take_best(int32_t row, int32_t d, Cell best, const State& h, FurtherEnd& end) const {
        for (int32_t i = ROWS - 1; i >= 0; --i) {
            if (h.values[i] != best) continue;
            const int32_t column = d - i, at = row + i + 1;
            if (best > end.score || column < end.column || (column == end.column && at < end.row))
                end = {best, at, column};
            return;
        }
    }

    const FurtherJob& job_;
    const int32_t least_;
    const bool stops_;
    const int32_t columns_;
    std::vector<Cell> letters_, h_above_, f_above_;  // the latter of the strip before, by column
    State h_[3], f_[2];
    alignas(64) Cell e_[ROWS], row_letters_[ROWS];
};

inline bool further_reaches(const FurtherJob& job, int32_t least, FurtherEnd& end) {
    return Strips<int8_t, 512>(job, least, true).fill(end);
}

inline bool further_ends(const FurtherJob& job, FurtherEnd& end) {
    return Strips<int16_t, 256>(job, job.pair->least, false).fill(end);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
