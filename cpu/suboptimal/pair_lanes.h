// All cells of many pairs that have their column sequence in common, in 8 bits: a lane is a pair, and a
// column of the matrix comes after the other, from the first row down. Included by kernel_ISA.cpp, once for
// each instruction set.
//
// Lanes hold a score, and 0 for all that is less: no local alignment goes on from there. So flags say of a
// cell that is a stop nothing else of use, and of all others what they say elsewhere.
#pragma once

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
          keep_(residues_ + size()),
          h_(keep_ + size()),
          e_(h_ + size()) {
        for (int l = 0; l < LANES; ++l) {
            const int32_t rows = l < group.count ? group.pairs[l]->row_count : 0;
            for (int32_t i = 0; i < group.rows; ++i) {
                residues_[place(i, l)] = i < rows ? group.pairs[l]->rows[i] : 0;
                keep_[place(i, l)] = i < rows ? 255 : 0;
            }
        }
        for (size_t k = 0; k < size(); ++k) h_[k] = e_[k] = 0;
    }

    // See SuboptimalKernel.
    bool fill() {
        const SuboptimalBarred *barred = group_.barred, *const end = barred + group_.barred_count;
        const uint64_t lanes = group_.count == 64 ? ~uint64_t{0} : (uint64_t{1} << group_.count) - 1;
        uint8_t* flags = group_.flags;
        Bytes best = Bytes::set(0);
        for (int32_t column = 1; column <= first_.column_count; ++column, flags += size()) {
            if (*const_cast<const volatile int32_t*>(first_.cancelled)) return false;
            const SuboptimalBarred* const from = barred;
            for (; barred != end && barred->column == column; ++barred) bar(*barred, 0);
            const Bytes before = best;
            best = fill(first_.columns[column - 1], before, flags);
            for (const SuboptimalBarred* one = from; one != barred; ++one) bar(*one, 255);
            uint64_t raised = lanes & ~Bytes::bits(Bytes::eq(before, best));
            for (; raised != 0; raised &= raised - 1) group_.ends[__builtin_ctzll(raised)].column = column;
        }
        alignas(64) uint8_t scores[LANES];
        best.store(scores);
        for (int l = 0; l < group_.count; ++l) group_.ends[l].score = scores[l];
        return true;
    }

private:
    size_t size() const { return static_cast<size_t>(group_.rows) * LANES; }
    static size_t place(int32_t row, int32_t lane) {
        return static_cast<size_t>(row) * LANES + static_cast<size_t>(lane);
    }
    void bar(const SuboptimalBarred& one, uint8_t keep) { keep_[place(one.row - 1, one.lane)] = keep; }

    // The cells of a column, whose residue has this code. Returns the best scores so far.
    Bytes fill(uint8_t code, Bytes best, uint8_t* flags) {
        alignas(64) uint8_t scores[64];
        for (int k = 0; k < 64; ++k)
            scores[k] = static_cast<uint8_t>(first_.matrix[k % 32 * 32 + code] + group_.bias);
        const Bytes zero = Bytes::set(0), bias = Bytes::set(group_.bias);
        const Bytes open = Bytes::set(first_.gap_open), extend = Bytes::set(first_.gap_extend);
        Bytes diagonal = zero, f = zero;
        for (size_t at = 0; at < size(); at += LANES) {
            const Bytes score = Bytes::lookup(scores, Bytes::index(Bytes::load(residues_ + at)));
            const Bytes aligned =
                Bytes::bit_and(lose(Bytes::add_saturated(diagonal, score), bias), Bytes::load(keep_ + at));
            const Bytes e = Bytes::load(e_ + at), h = Bytes::max(aligned, Bytes::max(e, f));
            diagonal = Bytes::load(h_ + at);
            const Bytes opened = lose(h, open), e_on = lose(e, extend), f_on = lose(f, extend);
            const Bytes e_next = Bytes::max(e_on, opened), f_next = Bytes::max(f_on, opened);
            // Ties: the walk back.
            Bytes flag = Bytes::unless(Bytes::ge(best, h), Bytes::set(SUBOPTIMAL_RAISED));
            flag = Bytes::with(Bytes::eq(h, aligned), Bytes::set(SUBOPTIMAL_DIAGONAL), flag);
            flag = Bytes::with(Bytes::eq(h, e), Bytes::set(SUBOPTIMAL_E), flag);
            flag = Bytes::with(Bytes::eq(h, zero), Bytes::set(SUBOPTIMAL_STOP), flag);
            flag = Bytes::with(Bytes::eq(e_next, e_on), Bytes::set(SUBOPTIMAL_E_ON), flag);
            flag = Bytes::with(Bytes::eq(f_next, f_on), Bytes::set(SUBOPTIMAL_F_ON), flag);
            best = Bytes::max(best, h);
            h.store(h_ + at);
            e_next.store(e_ + at);
            flag.store(flags + at);
            f = f_next;
        }
        return best;
    }

    const SuboptimalGroup& group_;
    const pairalign_suboptimal_pair& first_;
    uint8_t *const residues_, *const keep_, *const h_, *const e_;  // [rows][LANES]
};

inline bool suboptimal_group(const SuboptimalGroup& group) { return PairLanes(group).fill(); }

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
