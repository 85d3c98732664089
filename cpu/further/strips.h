// Where the best local alignment on free cells ends, and how much it scores: a strip of rows at a time, whose
// antidiagonals stay in the first cache. Plain loops of a fixed length, for the compiler to put into vectors.
// Included by kernel_ISA.cpp, once for each instruction set.
//
// Invariant: no cell before the first or after the last row or column scores as much as a cell of the matrix
// from which a path comes to it, so that strips are filled whole; that needs has_strips of further.cpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "further.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Fills strips in cells of one width.
template <typename Cell>
class Strips {
public:
    static constexpr int ROWS = FURTHER_STRIP;

    Strips(const FurtherJob& job, const FurtherGrid& grid)
        : job_(job),
          grid_(grid),
          columns_(job.pair->column_count),
          // Of 8 bits, as many that one more match finds room.
          limit_(sizeof(Cell) == 1 ? 127 - job.match : std::numeric_limits<int32_t>::max()),
          letters_(new Cell[static_cast<size_t>(columns_) + 2 * ROWS]) {
        // From the last column to the first, between others that match nothing.
        for (int32_t k = 0; k < columns_ + 2 * ROWS; ++k) letters_[k] = FURTHER_NO_COLUMN;
        for (int32_t k = 0; k < columns_; ++k)
            letters_[ROWS + k] = static_cast<Cell>(job.column_codes[static_cast<size_t>(columns_ - 1 - k)]);
    }

    // Whether the cells above a strip leave room.
    bool has_room(int32_t strip) const { return grid_.highest[strip] < limit_; }

    // Fills a strip, of whose used cells the first is given, and takes its best cell if that is better than
    // `end`. False where it has no room for a score.
    bool fill(int32_t strip, const UsedCell* used, const UsedCell* used_end, FurtherEnd& end) {
        const int32_t row = strip * ROWS;
        const int16_t* const above = grid_.above(strip);
        int16_t* const below = grid_.above(strip + 1);
        int32_t highest = 0;
        begin(row);
        for (int32_t d = 1; d < columns_ + ROWS; ++d) {
            enter(row, d, above, used, used_end);
            const int32_t best = diagonal<false>(letters(d), nullptr);
            if (best >= limit_) return false;
            if (d >= ROWS) {
                const int32_t h = here_->values[ROWS - 1];
                int16_t* const to = below + 2 * (d - ROWS + 1);
                to[0] = static_cast<int16_t>(h), to[1] = f_here_->values[ROWS - 1];
                highest = std::max(highest, h);
            }
            const int32_t i = d % ROWS;  // is in a column that is kept
            if (d <= columns_ + i) {
                int16_t* const kept = grid_.before(strip, d / ROWS) + 2 * i;
                kept[0] = here_->values[i], kept[1] = e_[i];
            }
            if (best >= std::max(job_.pair->least, end.score)) take_best(row, d, best, *here_, end);
            leave();
        }
        grid_.highest[strip + 1] = highest;
        return true;
    }

    // Fills a tile of the grid once more: flags[(i + j) * ROWS + i] of its row i and column j, from 0 on.
    void tile(int32_t strip, int32_t across, const UsedCell* used, const UsedCell* used_end, uint8_t* flags) {
        const int32_t row = strip * ROWS, before = across * ROWS;
        const int16_t* const kept = grid_.before(strip, across);
        begin(row);
        if (before > 0) {
            last_->values[0] = static_cast<Cell>(kept[0]);
            e_[0] = static_cast<Cell>(kept[1]);
        }
        for (int32_t d = 1; d < 2 * ROWS && before + d < columns_ + ROWS; ++d) {
            enter(row, before + d, grid_.above(strip), used, used_end);
            diagonal<true>(letters(before + d), flags + static_cast<ptrdiff_t>(d - 1) * ROWS);
            if (before > 0 && d < ROWS) {
                here_->values[d] = static_cast<Cell>(kept[2 * d]);
                e_[d] = static_cast<Cell>(kept[2 * d + 1]);
            }
            leave();
        }
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
            row_letters_[i] = static_cast<Cell>(row + i < job_.pair->row_count
                                                    ? job_.row_codes[static_cast<size_t>(row + i)]
                                                    : FURTHER_NO_ROW);
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

    const Cell* letters(int32_t d) const { return letters_.get() + (columns_ + ROWS - d); }

    // FLAGS: also says where H came from, and whether gaps go on.
    template <bool FLAGS>
    Cell diagonal(const Cell* column_letters, uint8_t* __restrict flags) {
        const Cell open = static_cast<Cell>(job_.pair->gap_open);
        const Cell extend = static_cast<Cell>(job_.pair->gap_extend);
        const Cell match = static_cast<Cell>(job_.match), mismatch = static_cast<Cell>(job_.mismatch);
        const Cell* __restrict row_letter = row_letters_;
        const Cell* __restrict column_letter = column_letters;
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
            const Cell score = row_letter[i] == column_letter[i] ? match : mismatch;
            const Cell aligned = static_cast<Cell>(h_diagonal[i] + score);
            Cell value = e_here > f_here ? e_here : f_here;
            value = aligned > value ? aligned : value;
            value = value > 0 ? value : Cell{0};
            e[i] = e_here;
            f[i] = f_here;
            h[i] = value;
            best = best > value ? best : value;
            if (FLAGS)
                flags[i] = static_cast<uint8_t>(
                    (value == aligned ? FURTHER_DIAGONAL : 0) | (value == e_here ? FURTHER_E : 0) |
                    (e_here == e_on ? FURTHER_E_ON : 0) | (f_here == f_on ? FURTHER_F_ON : 0) |
                    (value == 0 ? FURTHER_STOP : 0));
        }
        return best;
    }

    // Of equal scores the smallest column, then the smallest row: on a diagonal the largest row comes first.
    void take_best(int32_t row, int32_t d, int32_t best, const State& h, FurtherEnd& end) const {
        for (int32_t i = ROWS - 1; i >= 0; --i) {
            if (h.values[i] != best) continue;
            const int32_t column = d - i, at = row + i + 1;
            if (best > end.score || column < end.column || (column == end.column && at < end.row))
                end = {best, at, column};
            return;
        }
    }

    const FurtherJob& job_;
    const FurtherGrid& grid_;
    const int32_t columns_, limit_;
    std::unique_ptr<Cell[]> letters_;
    State h_[3], f_[2];
    State *here_ = nullptr, *last_ = nullptr, *second_last_ = nullptr, *f_here_ = nullptr, *f_last_ = nullptr;
    alignas(64) Cell e_[ROWS], row_letters_[ROWS];
};

// The used cells of a strip.
struct UsedOfStrip {
    const UsedCell *first, *stop;

    UsedOfStrip(const FurtherJob& job, int32_t strip) {
        const UsedCell* const end = job.used_by_strips.data() + job.used_by_strips.size();
        first = job.used_by_strips.data();
        while (first != end && first->row <= strip * FURTHER_STRIP) ++first;
        stop = first;
        while (stop != end && stop->row <= (strip + 1) * FURTHER_STRIP) ++stop;
    }
};

inline bool further_ends(const FurtherJob& job, const FurtherGrid& grid, bool try_bytes, FurtherEnd& end) {
    Strips<int8_t> bytes(job, grid);
    Strips<int16_t> shorts(job, grid);
    for (int32_t strip = 0; strip * FURTHER_STRIP < job.pair->row_count; ++strip) {
        if (*const_cast<const volatile int32_t*>(job.pair->cancelled)) return false;
        const UsedOfStrip used(job, strip);
        FurtherEnd found = end;
        if (!try_bytes || !bytes.has_room(strip) || !bytes.fill(strip, used.first, used.stop, found)) {
            found = end;
            shorts.fill(strip, used.first, used.stop, found);
        }
        end = found;
    }
    return true;
}

inline void further_tile(const FurtherJob& job, const FurtherGrid& grid, int32_t strip, int32_t across,
                         uint8_t* flags) {
    const UsedOfStrip used(job, strip);
    Strips<int16_t>(job, grid).tile(strip, across, used.first, used.stop, flags);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
