// All cells of many pairs that have their column sequence in common, in 8 bits: a lane is a pair. Some rows,
// which the nearest memory holds, are filled before those below them, a column after the other. Included by
// kernel_ISA.cpp, once for each instruction set.
//
// Lanes hold a score, and 0 for all that is less: no local alignment goes on from there. H of all cells is
// kept: where it is more than 0, it says what E and F were on the way back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "byte_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class PairLanes {
public:
    static constexpr int LANES = Bytes::LANES;

    explicit PairLanes(const SuboptimalGroup& group)
        : group_(group),
          first_(*group.pairs[0]),
          residues_(group.cells),
          keep_(residues_ + TIER),
          e_(keep_ + TIER),
          f_(e_ + TIER),
          barred_(group.barred) {
        for (int code = 0; code < 32; ++code)
            for (int k = 0; k < 64; ++k)
                scores_[code][k] = static_cast<uint8_t>(first_.matrix[k % 32 * 32 + code] + group_.bias);
        std::fill_n(f_, (static_cast<size_t>(first_.column_count) + 1) * LANES, uint8_t{0});
    }

    // See SuboptimalKernel.
    bool fill() {
        uint8_t* h = group_.h;
        for (int32_t row = 0; row < group_.rows; row += SUBOPTIMAL_TIER) {
            begin_tier(row, h);
            for (int32_t column = 1; column <= first_.column_count; ++column) {
                if (*const_cast<const volatile int32_t*>(first_.cancelled)) return false;
                const SuboptimalBarred* const from = barred_;
                while (is_in(row, column)) bar(*barred_++, 0);
                h += TIER;
                fill(row, column, h);
                for (const SuboptimalBarred* one = from; one != barred_; ++one) bar(*one, 255);
            }
            h += TIER;
            end_tier(row);
        }
        return true;
    }

private:
    static constexpr size_t TIER = static_cast<size_t>(SUBOPTIMAL_TIER) * LANES;

    static size_t place(int32_t row, int32_t lane) {
        return static_cast<size_t>(row) * LANES + static_cast<size_t>(lane);
    }
    bool is_in(int32_t row, int32_t column) const {
        return barred_ != group_.barred + group_.barred_count && barred_->column == column &&
               barred_->row <= row + SUBOPTIMAL_TIER;
    }
    void bar(const SuboptimalBarred& one, uint8_t keep) {
        keep_[place((one.row - 1) % SUBOPTIMAL_TIER, one.lane)] = keep;
    }

    // The rows after `row`, and the zeros before their first column.
    void begin_tier(int32_t row, uint8_t* h) {
        for (int l = 0; l < LANES; ++l) {
            const int32_t rows = l < group_.count ? group_.pairs[l]->row_count : 0;
            for (int32_t i = 0; i < SUBOPTIMAL_TIER; ++i) {
                residues_[place(i, l)] = row + i < rows ? group_.pairs[l]->rows[row + i] : 0;
                keep_[place(i, l)] = row + i < rows ? 255 : 0;
            }
        }
        std::fill_n(e_, TIER, uint8_t{0});
        std::fill_n(h, TIER, uint8_t{0});
        best_ = Bytes::set(0);
    }

    // The cells of a column after `row`, whose H goes to `h_here`.
    void fill(int32_t row, int32_t column, uint8_t* h_here) {
        const uint8_t* const scores = scores_[first_.columns[column - 1]];
        const Bytes bias = Bytes::set(group_.bias), open = Bytes::set(first_.gap_open),
                    extend = Bytes::set(first_.gap_extend);
        const size_t above = (static_cast<size_t>(first_.column_count) + 1) * TIER,
                     stop = place(std::min(SUBOPTIMAL_TIER, group_.rows - row), 0);
        const uint8_t* const h_before = h_here - TIER;
        Bytes diagonal = row == 0 ? Bytes::set(0) : Bytes::load(h_here - above - LANES);
        Bytes f = Bytes::load(f_ + place(column, 0)), best = best_;
        for (size_t at = 0; at < stop; at += LANES) {
            const Bytes score = Bytes::lookup(scores, Bytes::index(Bytes::load(residues_ + at)));
            const Bytes aligned =
                Bytes::bit_and(lose(Bytes::add_saturated(diagonal, score), bias), Bytes::load(keep_ + at));
            const Bytes e = Bytes::load(e_ + at), h = Bytes::max(Bytes::max(aligned, e), f);
            diagonal = Bytes::load(h_before + at);
            const Bytes opened = lose(h, open);
            f = Bytes::max(lose(f, extend), opened);
            best = Bytes::max(best, h);
            Bytes::max(lose(e, extend), opened).store(e_ + at);
            h.store(h_here + at);
        }
        f.store(f_ + place(column, 0));
        uint64_t raised = ~Bytes::bits(Bytes::eq(best_, best)) & ~uint64_t{0} >> (64 - group_.count);
        for (; raised != 0; raised &= raised - 1) columns_[__builtin_ctzll(raised)] = column;
        best_ = best;
    }

    // Ties: the end cell.
    void end_tier(int32_t row) {
        alignas(64) uint8_t scores[LANES];
        best_.store(scores);
        for (int l = 0; l < group_.count; ++l) {
            SuboptimalEnd& end = group_.ends[l];
            const bool is_before = scores[l] == end.score && columns_[l] < end.column;
            if (scores[l] > end.score || is_before) end = {scores[l], row + 1, columns_[l]};
        }
    }

    const SuboptimalGroup& group_;
    const pairalign_suboptimal_pair& first_;
    uint8_t *const residues_, *const keep_, *const e_;  // [SUBOPTIMAL_TIER][LANES]
    uint8_t* const f_;                                  // [columns + 1][LANES], below the tier
    alignas(64) uint8_t scores_[32][64];                // of each code of the columns, as lookup wants them
    const SuboptimalBarred* barred_;
    Bytes best_ = Bytes::set(0);  // scores so far, of the tier
    int32_t columns_[LANES] = {};
};

inline bool suboptimal_group(const SuboptimalGroup& group) { return PairLanes(group).fill(); }

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
