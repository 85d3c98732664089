// Squares of seeds, see seed_squares.h, that a read has with each of several others. Its seeds with all of
// them come by row, so that the cells of two rows of squares are all that is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "seed_squares.h"

namespace pairalign {

class SquaresOfReads {
public:
    // Takes squares with `least` points; of each other read only the one with most, if no more is asked for.
    SquaresOfReads(int32_t rows, int32_t least, bool only_most)
        : rows_(rows), least_(least), only_most_(only_most) {}

    // Takes others from the one before `stop` down to `first`, as far as there is room; returns the last of
    // these.
    template <typename Length>
    int32_t begin(int32_t first, int32_t stop, Length length) {
        others_.clear();
        size_t cells = 0;
        first_ = stop;
        while (first_ > first && (first_ == stop || cells < MOST_CELLS)) {
            const int32_t columns = length(--first_);
            others_.push_back({cells, columns, {0, 0}, {}});
            cells += across(others_.back());
        }
        std::reverse(others_.begin(), others_.end());
        const size_t blocks = (cells + AT_ONCE - 1) / AT_ONCE;
        here_.clear(blocks), before_.clear(blocks);
        band_ = 0;
        return first_;
    }
    // Seeds that come next are in this row, or below it.
    void go_to(int32_t row) {
        while (band_ < row >> ROW_BITS) finish_band();
        row_ = row;
    }
    void add(int32_t read, int32_t start, int32_t points) {
        Other& other = others_[static_cast<size_t>(read - first_)];
        other.points[1] += points;
        const int32_t across = ((row_ - start + other.columns) >> DIAGONAL_BITS) + 1;
        const size_t cell = other.cells + static_cast<size_t>(across);
        here_.points[cell] += static_cast<uint16_t>(points);
        here_.is_used[cell / AT_ONCE] = 1;
    }
    void finish() { finish_band(), finish_band(); }
    const std::vector<Square>& of(int32_t read) const {
        return others_[static_cast<size_t>(read - first_)].found;
    }

private:
    static constexpr size_t MOST_CELLS = 1 << 16, AT_ONCE = 32;
    static_assert(2 * NEW_SEED << (ROW_BITS + DIAGONAL_BITS) < 1 << 16, "points of two cells");

    struct Other {
        size_t cells;  // where they begin, the first and the last of which have no seeds
        int32_t columns;
        int32_t points[2];  // in the row of cells before, and here
        std::vector<Square> found;
    };
    // Of a row, in blocks. Two long reads have seeds in few of them.
    struct Cells {
        std::vector<uint16_t> points;
        std::vector<uint8_t> is_used;  // of each block

        void clear(size_t blocks) { points.assign(blocks * AT_ONCE, 0), is_used.assign(blocks, 0); }
        void clear_used() {
            for (size_t block = 0; block < is_used.size(); ++block) {
                if (is_used[block]) std::fill_n(points.data() + block * AT_ONCE, AT_ONCE, 0);
                is_used[block] = 0;
            }
        }
    };

    size_t across(const Other& other) const {
        return static_cast<size_t>((rows_ + other.columns) >> DIAGONAL_BITS) + 3;
    }
    void finish_band() {
        for (Other& other : others_) {
            if (other.points[0] + other.points[1] >= least_of(other)) look_at(other);
            other.points[0] = other.points[1], other.points[1] = 0;
        }
        before_.clear_used();
        std::swap(before_, here_);
        ++band_;
    }
    int32_t least_of(const Other& other) const {
        return only_most_ && !other.found.empty() ? other.found[0].points + 1 : least_;
    }
    bool is_used(size_t cell) const {
        return before_.is_used[cell / AT_ONCE] || here_.is_used[cell / AT_ONCE];
    }
    void look_at(Other& other) {
        const uint16_t* const above = before_.points.data();
        const uint16_t* const below = here_.points.data();
        const size_t corners_end = other.cells + across(other) - 1;
        const auto points = [=](size_t k) { return above[k] + below[k] + (above[k + 1] + below[k + 1]); };
        for (size_t from = other.cells, stop; from < corners_end; from = stop) {
            stop = std::min(corners_end, (from / AT_ONCE + 1) * AT_ONCE);
            if (!is_used(from) && !is_used(stop)) continue;
            int32_t most = 0;
            for (size_t k = from; k < stop; ++k) most = std::max(most, points(k));
            for (size_t k = from; most >= least_of(other) && k < stop; ++k)
                if (points(k) >= least_of(other))
                    take(other, points(k), static_cast<int32_t>(k - other.cells));
        }
    }
    void take(Other& other, int32_t points, int32_t corner) {
        const int32_t row = band_ << ROW_BITS, diagonal = corner << DIAGONAL_BITS;
        if (only_most_) other.found.clear();
        other.found.push_back({points, {row, row - diagonal + other.columns}});
    }

    const int32_t rows_, least_;
    const bool only_most_;
    int32_t first_ = 0, band_ = 0, row_ = 0;
    std::vector<Other> others_;
    Cells here_, before_;
};

}  // namespace pairalign
