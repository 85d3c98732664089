// Where two reads have seeds near each other, and what an alignment near these scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "anchors.h"
#include "job.h"

namespace pairalign {

constexpr int32_t NEW_SEED = 3, SAME_SEED = 1;  // points
constexpr int ROW_BITS = 8, DIAGONAL_BITS = 5;  // of a cell
constexpr int64_t MOST_CELLS = 1 << 24;         // of a pair: in longer ones they have more rows
constexpr int32_t AROUND = 1024, WIDTH = 96;    // rows and columns that are looked at
constexpr int32_t MOST_SCORE = 150;             // that is looked for

// A square of cells that two reads have seeds in.
struct Square {
    int32_t points;
    SuboptimalCell middle;
    bool operator<(const Square& other) const {
        if (points != other.points) return points > other.points;
        return middle.row != other.middle.row ? middle.row < other.middle.row
                                              : middle.column < other.middle.column;
    }
    int32_t diagonal() const { return middle.row - middle.column; }
    bool has(const Anchor& hit) const {
        return std::abs(hit.row - middle.row) <= 1 << ROW_BITS &&
               std::abs(hit.row - hit.column - diagonal()) <= 1 << DIAGONAL_BITS;
    }
    // Whether what is looked at near another one is mostly the same.
    bool is_near(const Square& other) const {
        return std::abs(middle.row - other.middle.row) < AROUND * 3 / 4 &&
               std::abs(diagonal() - other.diagonal()) < WIDTH * 2 / 3;
    }
};

// The `count` with most points that are not near each other, of those that skip() does not leave out.
template <typename Skip>
std::vector<Square> squares_apart(const std::vector<Square>& squares, size_t count, Skip skip) {
    std::vector<Square> left, chosen;
    std::remove_copy_if(squares.begin(), squares.end(), std::back_inserter(left), skip);
    while (!left.empty() && chosen.size() < count) {
        const Square most = *std::min_element(left.begin(), left.end());
        chosen.push_back(most);
        left.erase(
            std::remove_if(left.begin(), left.end(), [&](const Square& one) { return one.is_near(most); }),
            left.end());
    }
    return chosen;
}

// Those of a pair.
class Squares {
public:
    // Takes those with enough points. `hits`: by row.
    void find(const Anchor* begin, const Anchor* end, int32_t rows, int32_t columns, int32_t least) {
        lay(rows, columns);
        squares_.clear();
        for (const Anchor* hit = begin; hit != end; ++hit) {
            const int32_t diagonal = hit->row - hit->column + columns;
            int32_t& row_before = rows_before_[static_cast<size_t>(diagonal)];
            cells_[cell_of(*hit, columns)] += row_before == hit->row - 1 ? SAME_SEED : NEW_SEED;
            row_before = hit->row;
        }
        for (const Anchor* hit = begin; hit != end; ++hit) {
            const size_t at = cell_of(*hit, columns);
            if (4 * cells_[at] < least) continue;  // one of a square's cells has a quarter of its points
            for (const size_t corner : {at, at - 1, at - across_, at - across_ - 1}) {
                const int32_t points = cells_[corner] + cells_[corner + 1] + cells_[corner + across_] +
                                       cells_[corner + across_ + 1];
                if (points >= least) squares_.push_back({points, middle_of(corner, columns)});
            }
        }
        for (const Anchor* hit = begin; hit != end; ++hit) {
            cells_[cell_of(*hit, columns)] = 0;
            rows_before_[static_cast<size_t>(hit->row - hit->column + columns)] = -2;
        }
    }
    bool empty() const { return squares_.empty(); }
    // The one with most points, of some.
    const Square& most() const { return *std::min_element(squares_.begin(), squares_.end()); }
    const std::vector<Square>& all() const { return squares_; }

private:
    // With a border of cells that no hit is in.
    void lay(int32_t rows, int32_t columns) {
        const int64_t diagonals = int64_t{rows} + columns;
        across_ = static_cast<size_t>(diagonals >> DIAGONAL_BITS) + 3;
        for (row_bits_ = ROW_BITS; down(rows) * static_cast<int64_t>(across_) > MOST_CELLS && row_bits_ < 30;)
            ++row_bits_;
        const size_t cells = static_cast<size_t>(down(rows)) * across_;
        if (cells > cells_.size()) cells_.resize(cells, 0);
        if (static_cast<size_t>(diagonals) >= rows_before_.size())
            rows_before_.resize(static_cast<size_t>(diagonals) + 1, -2);
    }
    int64_t down(int32_t rows) const { return (rows >> row_bits_) + 3; }
    size_t cell_of(const Anchor& hit, int32_t columns) const {
        const size_t diagonal = static_cast<size_t>(hit.row - hit.column + columns);
        return (static_cast<size_t>(hit.row >> row_bits_) + 1) * across_ + (diagonal >> DIAGONAL_BITS) + 1;
    }
    SuboptimalCell middle_of(size_t corner, int32_t columns) const {
        const int32_t row = static_cast<int32_t>(corner / across_) << row_bits_;
        const int32_t diagonal = static_cast<int32_t>(corner % across_) << DIAGONAL_BITS;
        return {row, row - diagonal + columns};
    }

    size_t across_ = 0;
    int row_bits_ = ROW_BITS;
    std::vector<int32_t> cells_, rows_before_;
    std::vector<Square> squares_;
};

// Whether a local alignment near a cell scores enough, as far as 8 bits can tell, and uses none of some
// cells, which are sorted.
inline bool scores_near(const pairalign_suboptimal_pair& whole, const SuboptimalKernel& kernel,
                        SuboptimalCell near, int32_t least, const SuboptimalCell* used = nullptr,
                        size_t used_count = 0) {
    const int32_t first_row = std::max(0, near.row - AROUND),
                  first_column = std::max(0, near.column - AROUND - WIDTH);
    pairalign_suboptimal_pair pair = whole;
    pair.used = 0;
    pair.rows += first_row, pair.columns += first_column;
    pair.row_count = std::min(near.row + AROUND, whole.row_count) - first_row;
    pair.column_count = std::min(near.column + AROUND + 2 * WIDTH, whole.column_count) - first_column;
    if (pair.row_count <= 0 || pair.column_count <= 0) return false;
    const SuboptimalJob job = make_job(pair);
    if (!job.is_simple || job.match <= 0 || job.mismatch >= 0 || !fits_bytes(job)) return true;
    const int32_t enough = std::min(least, MOST_SCORE);
    std::vector<SuboptimalCell> barred;
    for (size_t k = 0; k < used_count; ++k)
        if (used[k].row > first_row && used[k].column > first_column)
            barred.push_back({used[k].row - first_row, used[k].column - first_column});
    return kernel.most_near(job, {near.row - first_row, near.column - first_column}, AROUND, WIDTH, enough,
                            barred.data(), barred.size()) >= enough;
}

}  // namespace pairalign
