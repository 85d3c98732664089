// All cells of a pair, an antidiagonal at a time: plain loops, for the compiler to put into vectors. Included
// by kernel_ISA.cpp, once for each instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../core/ties.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <typename Cell>
class Diagonals {
public:
    Diagonals(const SuboptimalJob& job, std::vector<Cell>& checkpoints)
        : job_(job),
          pair_(*job.pair),
          checkpoints_(checkpoints),
          rows_(pair_.row_count),
          columns_(pair_.column_count),
          row_residues_(job.row_codes.begin(), job.row_codes.end()),
          column_residues_(job.column_codes.rbegin(), job.column_codes.rend()),
          scores_(size_t(rows_) + 1) {
        for (auto* one : {&h_, &before_, &two_before_, &e_, &f_, &f_before_})
            one->assign(size_t(rows_) + 1, MINUS);
    }

    bool fill(SuboptimalEnd& end) {
        checkpoints_.clear();
        before_[0] = 0;  // diagonals 0 and 1 are borders
        two_before_[0] = 0;
        before_[1] = 0;
        size_t used = 0;
        for (int32_t d = 2; d <= rows_ + columns_; ++d) {
            if ((d - 2) % job_.step == 0) keep();
            if (d % 256 == 0 && *const_cast<const volatile int32_t*>(pair_.cancelled)) return false;
            const int32_t first = std::max(1, d - columns_), last = std::min(rows_, d - 1);
            Cell best = cells(d, first, last);
            const size_t used_before = used;
            for (; used < job_.used.size() && job_.used[used].diagonal == d; ++used) {
                const int32_t row = job_.used[used].row;
                h_[row] = std::max(e_[row], f_[row]);
                if (pair_.is_local) h_[row] = std::max<Cell>(h_[row], 0);
            }
            if (used != used_before) best = most(first, last);
            take_border(d);
            if (pair_.is_local) {
                if (best >= std::max(pair_.least, end.score)) take_best(d, first, last, best, end);
            } else {
                if (d > columns_) take(d - columns_, columns_, h_[d - columns_], end);
                if (d > rows_) take(rows_, d - rows_, h_[rows_], end);
            }
            std::swap(two_before_, before_);
            std::swap(before_, h_);
            std::swap(f_before_, f_);
        }
        return true;
    }

private:
    static constexpr Cell MINUS = std::numeric_limits<Cell>::min() / 2;

    void keep() {
        for (const auto* one : {&before_, &two_before_, &e_, &f_before_})
            checkpoints_.insert(checkpoints_.end(), one->begin(), one->end());
    }

    Cell cells(int32_t d, int32_t first, int32_t last) {
        if (job_.is_simple)
            return pair_.is_local ? simple<true>(d, first, last) : simple<false>(d, first, last);
        const Cell* row = row_residues_.data() - 1;
        const Cell* column = column_residues_.data() + (columns_ - d);
        for (ptrdiff_t i = first; i <= last; ++i)
            scores_[i] = static_cast<Cell>(pair_.matrix[row[i] * 32 + column[i]]);
        const Cell* scores = scores_.data();
        const auto score = [scores](ptrdiff_t i) { return scores[i]; };
        return pair_.is_local ? diagonal<true>(first, last, score) : diagonal<false>(first, last, score);
    }

    template <bool LOCAL>
    Cell simple(int32_t d, int32_t first, int32_t last) {
        const Cell* __restrict row = row_residues_.data() - 1;
        const Cell* __restrict column = column_residues_.data() + (columns_ - d);
        const Cell match = static_cast<Cell>(job_.match), mismatch = static_cast<Cell>(job_.mismatch);
        return diagonal<LOCAL>(first, last,
                               [=](ptrdiff_t i) { return row[i] == column[i] ? match : mismatch; });
    }

    template <bool LOCAL, typename Score>
    Cell diagonal(int32_t first, int32_t last, Score score) {
        Cell* __restrict h = h_.data();
        Cell* __restrict e = e_.data();
        Cell* __restrict f = f_.data();
        const Cell* __restrict before = before_.data();
        const Cell* __restrict two_before = two_before_.data();
        const Cell* __restrict f_before = f_before_.data();
        const Cell open = static_cast<Cell>(pair_.gap_open), extend = static_cast<Cell>(pair_.gap_extend);
        Cell best = MINUS;
        PAIRALIGN_NO_ALIAS
        for (ptrdiff_t i = first; i <= last; ++i) {
            const Cell e_on = static_cast<Cell>(e[i] - extend), e_new = static_cast<Cell>(before[i] - open);
            const Cell f_on = static_cast<Cell>(f_before[i - 1] - extend),
                       f_new = static_cast<Cell>(before[i - 1] - open);
            const Cell e_here = e_on > e_new ? e_on : e_new, f_here = f_on > f_new ? f_on : f_new;
            const Cell gap = e_here > f_here ? e_here : f_here;
            const Cell aligned = static_cast<Cell>(two_before[i - 1] + score(i));
            Cell here = aligned > gap ? aligned : gap;
            if (LOCAL) here = here > 0 ? here : Cell{0};
            e[i] = e_here;
            f[i] = f_here;
            h[i] = here;
            best = best > here ? best : here;
        }
        return best;
    }

    Cell most(int32_t first, int32_t last) const {
        const Cell* h = h_.data();
        Cell best = MINUS;
        for (ptrdiff_t i = first; i <= last; ++i) best = std::max(best, h[i]);
        return best;
    }

    void take_border(int32_t d) {
        if (d <= columns_) h_[0] = 0, e_[0] = f_[0] = MINUS;
        if (d <= rows_) h_[d] = 0, e_[d] = f_[d] = MINUS;
    }

    // Of equal scores the smallest column, then the smallest row: on a diagonal the largest row comes first.
    void take_best(int32_t d, int32_t first, int32_t last, Cell best, SuboptimalEnd& end) const {
        for (int32_t i = last; i >= first; --i)
            if (h_[i] == best) return take(i, d - i, best, end);
    }

    // Ties: the end cell.
    void take(int32_t row, int32_t column, Cell score, SuboptimalEnd& end) const {
        if (score < pair_.least || score < end.score) return;
        if (score > end.score || is_earlier_end(row, column, end.row, end.column)) end = {score, row, column};
    }

    const SuboptimalJob& job_;
    const pairalign_suboptimal_pair& pair_;
    std::vector<Cell>& checkpoints_;
    const int32_t rows_, columns_;
    std::vector<Cell> row_residues_, column_residues_;  // columns from the last one to the first
    std::vector<Cell> h_, before_, two_before_, e_, f_, f_before_, scores_;
};

inline bool suboptimal_narrow(const SuboptimalJob& job, SuboptimalCheckpoints& checkpoints,
                              SuboptimalEnd& end) {
    return Diagonals<int16_t>(job, checkpoints.narrow).fill(end);
}

inline bool suboptimal_wide(const SuboptimalJob& job, SuboptimalCheckpoints& checkpoints,
                            SuboptimalEnd& end) {
    return Diagonals<int32_t>(job, checkpoints.wide).fill(end);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
