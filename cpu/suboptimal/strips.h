// Where the best local alignment on free cells ends, and how much it scores: a strip of rows at a time, whose
// antidiagonals stay in the first cache. Plain loops of a fixed length, for the compiler to put into vectors.
// Included by kernel_ISA.cpp, once for each instruction set.
//
// Invariant: no cell before the first or after the last row or column scores as much as a cell of the matrix
// from which a path comes to it, so that strips are filled whole; that needs has_strips of job.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_strips.h"
#include "strip_cells.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Fills strips in cells of 16 bits.
class Strips : StripCells {
public:
    Strips(const SuboptimalJob& job, const SuboptimalGrid& grid)
        : StripCells(job),
          grid_(grid),
          columns_(job.pair->column_count),
          residues_(new Cell[static_cast<size_t>(columns_) + 2 * ROWS]) {
        // From the last column to the first, between others that match nothing.
        for (int32_t k = 0; k < columns_ + 2 * ROWS; ++k) residues_[k] = SUBOPTIMAL_NO_COLUMN;
        for (int32_t k = 0; k < columns_; ++k)
            residues_[ROWS + k] = static_cast<Cell>(job.column_codes[static_cast<size_t>(columns_ - 1 - k)]);
    }

    // Fills a strip, of whose used cells the first is given, and takes its best cell if that is better than
    // `end`.
    void fill(int32_t strip, const UsedCell* used, const UsedCell* used_end, SuboptimalEnd& end) {
        const int32_t row = strip * ROWS;
        const int16_t* const above = grid_.above(strip);
        int16_t* const below = grid_.above(strip + 1);
        int32_t highest = 0;
        begin(row);
        for (int32_t d = 1; d < columns_ + ROWS; ++d) {
            enter(row, d, above, used, used_end);
            const int32_t best = diagonal<false>(residues(d), nullptr);
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
            diagonal<true>(residues(before + d), flags + static_cast<ptrdiff_t>(d - 1) * ROWS);
            if (before > 0 && d < ROWS) {
                here_->values[d] = static_cast<Cell>(kept[2 * d]);
                e_[d] = static_cast<Cell>(kept[2 * d + 1]);
            }
            leave();
        }
    }

private:
    const Cell* residues(int32_t d) const { return residues_.get() + (columns_ + ROWS - d); }

    const SuboptimalGrid& grid_;
    const int32_t columns_;
    std::unique_ptr<Cell[]> residues_;
};

// The used cells of a strip.
struct UsedOfStrip {
    const UsedCell *first, *stop;

    UsedOfStrip(const SuboptimalJob& job, int32_t strip) {
        const UsedCell* const end = job.used_by_strips.data() + job.used_by_strips.size();
        first = job.used_by_strips.data();
        while (first != end && first->row <= strip * SUBOPTIMAL_STRIP) ++first;
        stop = first;
        while (stop != end && stop->row <= (strip + 1) * SUBOPTIMAL_STRIP) ++stop;
    }
};

inline bool suboptimal_ends(const SuboptimalJob& job, const SuboptimalGrid& grid, bool try_bytes,
                            SuboptimalEnd& end) {
    ByteStrips bytes(job, grid);
    Strips shorts(job, grid);
    const int32_t strips = (job.pair->row_count + SUBOPTIMAL_STRIP - 1) / SUBOPTIMAL_STRIP;
    const std::unique_ptr<int32_t[]> scores(new int32_t[static_cast<size_t>(strips)]);  // in bytes
    int32_t most = job.pair->least;
    for (int32_t strip = 0; strip < strips; ++strip) {
        if (*const_cast<const volatile int32_t*>(job.pair->cancelled)) return false;
        const UsedOfStrip used(job, strip);
        const bool has_bytes =
            try_bytes && bytes.has_room(strip) && bytes.fill(strip, used.first, used.stop, scores[strip]);
        grid.has_columns[strip] = !has_bytes;
        if (!has_bytes) {
            scores[strip] = 0;
            shorts.fill(strip, used.first, used.stop, end);
        }
        most = std::max({most, scores[strip], end.score});
    }
    for (int32_t strip = 0; strip < strips; ++strip) {
        if (scores[strip] < most) continue;
        const UsedOfStrip used(job, strip);
        bytes.find(strip, used.first, used.stop, most, end);
    }
    return true;
}

inline void suboptimal_columns(const SuboptimalJob& job, const SuboptimalGrid& grid, int32_t strip) {
    const UsedOfStrip used(job, strip);
    ByteStrips(job, grid).keep_columns(strip, used.first, used.stop);
}

inline void suboptimal_tile(const SuboptimalJob& job, const SuboptimalGrid& grid, int32_t strip,
                            int32_t across, uint8_t* flags) {
    const UsedOfStrip used(job, strip);
    Strips(job, grid).tile(strip, across, used.first, used.stop, flags);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
