// The most that a local alignment scores on the cells that a given one leaves free, in 8 bits: tiers of rows,
// whose antidiagonals stay in registers. Included by kernel_ISA.cpp, once for each instruction set.
//
// Lanes hold a score more than `zero`, which makes room for what gaps and mismatches cost: E, F and a barred
// diagonal are never below 0, and never above what a cell has by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_neighbours.h"
#include "suboptimal.h"
#include "rare_gaps.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class FreeCells {
public:
    static constexpr int LANES = Bytes::LANES, VECTORS = LANES == 64 ? 4 : 2, ROWS = VECTORS * LANES;

    explicit FreeCells(const SuboptimalJob& job)
        : job_(job),
          columns_(job.pair->column_count),
          zero_(larger(job.pair->gap_open + job.pair->gap_extend, job.match - job.mismatch)),
          size_(static_cast<size_t>(columns_) + 2 * PAD),
          memory_(new uint8_t[3 * size_]),
          residues_(memory_.get()),
          h_(residues_ + size_),
          f_(h_ + size_) {
        for (size_t k = 0; k < size_; ++k) {
            residues_[k] = SUBOPTIMAL_NO_COLUMN;
            h_[k] = static_cast<uint8_t>(zero_);
            f_[k] = static_cast<uint8_t>(zero_ - job.pair->gap_open);
        }
        for (int32_t c = 1; c <= columns_; ++c)
            residues_[place(c)] = job.column_codes[static_cast<size_t>(c - 1)];
        for (int k = 0; k < 2 * ROWS; ++k) free_[k] = 0xFF;
        free_[ROWS] = 0;
    }

    // -1 where it is more than 8 bits hold, or when cancelled.
    int32_t most(const SuboptimalCell* used, size_t count) {
        const SuboptimalCell* const end = used + count;
        for (int32_t row = 0; row < job_.pair->row_count; row += ROWS) {
            if (*const_cast<const volatile int32_t*>(job_.pair->cancelled)) return -1;
            if (!tier(row, used, end)) return -1;
        }
        return most_ - zero_;
    }

private:
    static constexpr int PAD = ROWS + 2 * LANES;
    static constexpr int32_t GROWTH = 64;  // that scores may have between two looks at them

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

    // Columns stand from the last one to the first.
    size_t place(int32_t column) const { return static_cast<size_t>(PAD + columns_ - column); }

    bool tier(int32_t row, const SuboptimalCell*& used, const SuboptimalCell* used_end) {
        alignas(64) uint8_t codes[ROWS];
        for (int i = 0; i < ROWS; ++i)
            codes[i] = row + i < job_.pair->row_count ? job_.row_codes[static_cast<size_t>(row + i)]
                                                      : static_cast<uint8_t>(SUBOPTIMAL_NO_ROW);
        const Bytes zero = Bytes::set(zero_), open = Bytes::set(job_.pair->gap_open);
        const Bytes extend = Bytes::set(job_.pair->gap_extend), match = Bytes::set(job_.match);
        const Bytes mismatch = Bytes::set(job_.mismatch), barred = Bytes::set(-job_.mismatch);
        Bytes residue[VECTORS], diagonal[VECTORS], h[VECTORS], e[VECTORS], f[VECTORS], best = zero;
        for (int k = 0; k < VECTORS; ++k) {
            residue[k] = Bytes::load(codes + k * LANES);
            diagonal[k] = h[k] = zero;
            e[k] = f[k] = Bytes::sub(zero, open);
        }
        const auto step = [&](int32_t d) __attribute__((always_inline)) {
            const size_t at = place(d);
            if (used != used_end && used->row <= row + ROWS && used->row - row - 1 + used->column == d) {
                const uint8_t* const keep = free_ + ROWS - (used->row - row - 1);
                for (int k = 0; k < VECTORS; ++k)
                    diagonal[k] =
                        Bytes::max(Bytes::bit_and(diagonal[k], Bytes::load_any(keep + k * LANES)), barred);
                ++used;
            }
            const Bytes h_above = Bytes::load_any(h_ + at - (LANES - 1)),
                        f_above = Bytes::load_any(f_ + at - (LANES - 1));
            for (int k = VECTORS - 1; k >= 0; --k) {
                const Bytes h_up = from_below(h[k], k ? h[k - 1] : h_above);
                const Bytes f_up = from_below(f[k], k ? f[k - 1] : f_above);
                const auto equal = Bytes::eq(residue[k], Bytes::load_any(residues_ + at + k * LANES));
                const Bytes aligned = Bytes::add(diagonal[k], Bytes::blend(equal, match, mismatch));
                h[k] = Bytes::max(Bytes::max(aligned, e[k]), Bytes::max(f_up, zero));
                const Bytes opened = Bytes::sub(h[k], open);
                e[k] = Bytes::max(Bytes::sub(e[k], extend), opened);
                f[k] = Bytes::max(Bytes::sub(f_up, extend), opened);
                diagonal[k] = h_up;
                best = Bytes::max(best, h[k]);
            }
            const size_t below = place(d - (ROWS - 1)) - (LANES - 1);
            store_any(h_ + below, h[VECTORS - 1]);
            store_any(f_ + below, f[VECTORS - 1]);
        };
        const int32_t steps = GROWTH / job_.match;
        const Bytes limit = Bytes::set(255 - GROWTH);
        for (int32_t d = 1; d < columns_ + ROWS;) {
            const int32_t end = d + steps < columns_ + ROWS ? d + steps : columns_ + ROWS;
            for (; d < end; ++d) step(d);
            if (Bytes::any(Bytes::ge(best, limit))) return false;
        }
        alignas(64) uint8_t found[LANES];
        best.store(found);
        for (const uint8_t one : found) most_ = larger(most_, one);
        return true;
    }

    const SuboptimalJob& job_;
    const int32_t columns_, zero_;
    const size_t size_;
    std::unique_ptr<uint8_t[]> memory_;
    uint8_t *residues_, *h_, *f_;  // of the columns; the latter two in the last row of the tier above
    uint8_t free_[2 * ROWS];       // one cell in the middle is not
    int32_t most_ = zero_;
};

inline int32_t suboptimal_most_free(const SuboptimalJob& job, const SuboptimalCell* used, size_t count) {
    const int32_t most = has_rare_gaps(job) ? RareGaps(job, used, count).most() : -1;
    return most >= 0 ? most : FreeCells(job).most(used, count);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
