// See further.h: what is done around the kernels. The traceback computes a square of cells again for every
// block of antidiagonals, from the checkpoint before it.

#include "further.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "../instruction_sets.h"
#include "exact_runs.h"
#include "used_runs.h"

#define PAIRALIGN_DECLARE(isa)                \
    namespace pairalign {                     \
    extern const FurtherKernel further_##isa; \
    }
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace pairalign {
namespace {

#define PAIRALIGN_ADDRESS(isa) &further_##isa,
constexpr const FurtherKernel* ALL[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS

const FurtherKernel* kernel_of(const char* instruction_set) {
    for (const FurtherKernel* one : ALL)
        if (std::strcmp(one->name, instruction_set) == 0) return one;
    return nullptr;
}

constexpr int32_t CODES = 32;
constexpr int32_t MOST_NARROW = 30000, MOST_NARROW_STEP = 8000;
constexpr int32_t MINUS = -(1 << 30);

std::vector<UsedCell> used_cells(const pairalign_further_pair& pair) {
    std::vector<UsedCell> cells;
    for_each_used_run(pair, [&](int32_t row, int32_t column, int32_t letters) {
        for (int32_t k = 1; k <= letters; ++k) cells.push_back({row + column + 2 * k, row + k});
    });
    std::sort(cells.begin(), cells.end());
    return cells;
}

// Finds whether scores of the letters that there are say no more than equal or not, and renames those that
// never match.
void simplify(FurtherJob& job) {
    const pairalign_further_pair& pair = *job.pair;
    bool in_rows[CODES] = {}, in_columns[CODES] = {};
    for (const uint8_t code : job.row_codes) in_rows[code] = true;
    for (const uint8_t code : job.column_codes) in_columns[code] = true;
    bool has_match = false, has_mismatch = false, matching[CODES] = {};
    for (int32_t code = 0; code < CODES; ++code)
        matching[code] = in_rows[code] && in_columns[code] && pair.matrix[code * (CODES + 1)] > 0;
    job.is_simple = true;
    job.match = job.mismatch = 0;
    for (int32_t row = 0; row < CODES; ++row) {
        for (int32_t column = 0; column < CODES; ++column) {
            if (!in_rows[row] || !in_columns[column]) continue;
            const int32_t score = pair.matrix[row * CODES + column];
            const bool equal = row == column && matching[row];
            bool& has = equal ? has_match : has_mismatch;
            int32_t& known = equal ? job.match : job.mismatch;
            if (has && known != score) job.is_simple = false;
            known = score;
            has = true;
        }
    }
    if (!job.is_simple) return;
    for (uint8_t& code : job.row_codes)
        if (!matching[code]) code = FURTHER_NO_ROW;
    for (uint8_t& code : job.column_codes)
        if (!matching[code]) code = FURTHER_NO_COLUMN;
}

bool is_narrow(const pairalign_further_pair& pair) {
    const auto [low, high] = std::minmax_element(pair.matrix, pair.matrix + CODES * CODES);
    const int64_t shorter = std::min(pair.row_count, pair.column_count);
    return pair.is_local && *high * shorter <= MOST_NARROW && *low >= -MOST_NARROW_STEP &&
           pair.gap_open <= MOST_NARROW_STEP && pair.least <= MOST_NARROW;
}

// Whether strips can be filled: scores say whether letters are equal, and each other step costs something.
bool has_strips(const FurtherJob& job) {
    const pairalign_further_pair& pair = *job.pair;
    return is_narrow(pair) && job.is_simple && job.match > 0 && job.mismatch < 0 && pair.gap_open > 0;
}

constexpr int32_t MOST_BYTE_STEP = 60;  // of scores and costs: so that 8 bits hold all cells

// Looks whether any cell scores enough; in 8 bits first, if that will do. -2: cancelled.
int32_t find_end(const FurtherJob& job, const FurtherKernel& kernel, FurtherEnd& end) {
    const pairalign_further_pair& pair = *job.pair;
    const int32_t largest = std::max({job.match, -job.mismatch, pair.gap_open, pair.gap_extend});
    if (largest <= MOST_BYTE_STEP) {
        const int32_t least = std::min(pair.least, 127 - job.match);
        FurtherEnd some;
        if (!kernel.reaches(job, least, some)) return -2;
        if (some.score == 0) return 0;
    }
    return kernel.ends(job, end) ? end.score > 0 : -2;
}

// Leaves out what comes after the cell at which the best alignment ends.
void cut_at(FurtherJob& job, pairalign_further_pair& pair, const FurtherEnd& end) {
    pair = *job.pair;
    pair.row_count = end.row;
    pair.column_count = end.column;
    job.pair = &pair;
    job.row_codes.resize(static_cast<size_t>(end.row));
    job.column_codes.resize(static_cast<size_t>(end.column));
    const auto outside = [&end](const UsedCell& one) {
        return one.row > end.row || one.diagonal - one.row > end.column;
    };
    job.used.erase(std::remove_if(job.used.begin(), job.used.end(), outside), job.used.end());
}

// Flags of the cells of a block of antidiagonals that the path back from one cell can reach.
template <typename Cell>
class Block {
public:
    Block(const FurtherJob& job, const std::vector<Cell>& checkpoints)
        : job_(job), pair_(*job.pair), checkpoints_(checkpoints) {}

    // Makes the flags of diagonals from the checkpoint before `diagonal` up to it, and of rows up to `row`.
    void make(int32_t diagonal, int32_t row) {
        const int32_t number = (diagonal - 2) / job_.step;
        start_ = 2 + number * job_.step;
        const int32_t deep = diagonal - start_ + 1;
        low_ = std::max(0, row - deep);
        width_ = row - low_ + 1;
        flags_.assign(static_cast<size_t>(deep) * static_cast<size_t>(width_), 0);
        const size_t size = static_cast<size_t>(pair_.row_count) + 1;
        const Cell* state = checkpoints_.data() + static_cast<size_t>(number) * 4 * size;
        std::vector<int32_t>* arrays[4] = {&before_, &two_before_, &e_, &f_};
        for (int k = 0; k < 4; ++k)
            arrays[k]->assign(state + static_cast<size_t>(k) * size + low_,
                              state + static_cast<size_t>(k) * size + row + 1);
        h_.assign(static_cast<size_t>(width_), MINUS);
        for (int32_t d = start_; d <= diagonal; ++d) compute(d, row);
    }
    bool holds(int32_t diagonal) const { return diagonal >= start_; }
    uint8_t flag(int32_t row, int32_t column) const {
        return flags_[static_cast<size_t>(row + column - start_) * static_cast<size_t>(width_) +
                      static_cast<size_t>(row - low_)];
    }

private:
    void compute(int32_t d, int32_t row) {
        const int32_t first = std::max({1, d - pair_.column_count, low_ + 1}), last = std::min(row, d - 1);
        uint8_t* flags = flags_.data() + static_cast<size_t>(d - start_) * static_cast<size_t>(width_);
        const auto used = std::lower_bound(job_.used.begin(), job_.used.end(), UsedCell{d, 0});
        const auto used_end = std::lower_bound(used, job_.used.end(), UsedCell{d + 1, 0});
        // From below, so that F of the diagonal before is still there.
        for (int32_t i = last; i >= first; --i) {
            const int32_t k = i - low_;
            const int32_t e_on = e_[k] - pair_.gap_extend, e_new = before_[k] - pair_.gap_open;
            const int32_t f_on = f_[k - 1] - pair_.gap_extend, f_new = before_[k - 1] - pair_.gap_open;
            e_[k] = std::max(e_on, e_new);
            f_[k] = std::max(f_on, f_new);
            int32_t here = std::max(e_[k], f_[k]);
            const bool free = std::none_of(used, used_end, [i](const UsedCell& one) { return one.row == i; });
            const int32_t diagonal = two_before_[k - 1] + score(i, d - i);
            if (free) here = std::max(here, diagonal);
            if (pair_.is_local) here = std::max(here, 0);
            h_[k] = here;
            flags[k] = static_cast<uint8_t>(
                (free && here == diagonal ? FURTHER_DIAGONAL : 0) | (here == e_[k] ? FURTHER_E : 0) |
                (e_[k] == e_on ? FURTHER_E_ON : 0) | (f_[k] == f_on ? FURTHER_F_ON : 0) |
                (pair_.is_local && here == 0 ? FURTHER_STOP : 0));
        }
        if (low_ == 0 && d <= pair_.column_count) h_[0] = 0, e_[0] = f_[0] = MINUS;
        if (d <= row) h_[d - low_] = 0, e_[d - low_] = f_[d - low_] = MINUS;
        std::swap(two_before_, before_);
        std::swap(before_, h_);
    }
    int32_t score(int32_t row, int32_t column) const {
        return pair_.matrix[pair_.rows[row - 1] * CODES + pair_.columns[column - 1]];
    }

    const FurtherJob& job_;
    const pairalign_further_pair& pair_;
    const std::vector<Cell>& checkpoints_;
    int32_t start_ = 1 << 30, low_ = 0, width_ = 0;
    std::vector<uint8_t> flags_;
    std::vector<int32_t> h_, before_, two_before_, e_, f_;
};

// Writes the runs of a path from its end to its start, and counts.
class Runs {
public:
    Runs(const pairalign_further_pair& pair, pairalign_further_found& found, uint32_t* runs)
        : pair_(pair), found_(found), runs_(runs) {}

    void aligned(int32_t row, int32_t column) {
        const uint8_t code = pair_.rows[row - 1];
        const bool equal = code == pair_.columns[column - 1] && code < pair_.definite;
        (equal ? found_.matches : found_.mismatches) += 1;
        add(equal ? EQUAL : DIFFERENT);
    }
    void gap(bool of_rows) {
        ++found_.gap_letters;
        found_.gap_openings += add(of_rows == (pair_.query_is_row != 0) ? INSERTION : DELETION);
    }
    void finish() { std::reverse(runs_, runs_ + found_.run_count); }

private:
    bool add(uint32_t operation) {
        int32_t& count = found_.run_count;
        const bool is_new = count == 0 || (runs_[count - 1] & 15) != operation;
        if (is_new) runs_[count++] = operation;
        runs_[count - 1] += 16;
        return is_new;
    }
    const pairalign_further_pair& pair_;
    pairalign_further_found& found_;
    uint32_t* runs_;
};

// From H the diagonal, else E, else F; a gap goes on if it can: docs/conventions.md.
template <typename Cell>
void trace(const FurtherJob& job, const std::vector<Cell>& checkpoints, const FurtherEnd& end,
           pairalign_further_found& found, uint32_t* runs) {
    Block<Cell> block(job, checkpoints);
    Runs path(*job.pair, found, runs);
    int32_t row = end.row, column = end.column;
    enum { IN_H, IN_E, IN_F } state = IN_H;
    while (row > 0 && column > 0) {
        if (!block.holds(row + column)) block.make(row + column, row);
        const uint8_t flag = block.flag(row, column);
        if (state == IN_H) {
            if (flag & FURTHER_STOP) break;
            if (flag & FURTHER_DIAGONAL) {
                path.aligned(row--, column--);
                continue;
            }
            state = flag & FURTHER_E ? IN_E : IN_F;
        }
        path.gap(state == IN_F);
        const bool goes_on = flag & (state == IN_E ? FURTHER_E_ON : FURTHER_F_ON);
        (state == IN_E ? column : row) -= 1;
        if (!goes_on) state = IN_H;
    }
    path.finish();
    found.score = end.score;
    found.row_start = row, found.row_end = end.row;
    found.column_start = column, found.column_end = end.column;
}

int32_t align_further(const pairalign_further_pair& pair, const FurtherKernel& kernel,
                      pairalign_further_found& found, uint32_t* runs) {
    FurtherJob job;
    job.pair = &pair;
    job.used = used_cells(pair);
    job.row_codes.assign(pair.rows, pair.rows + pair.row_count);
    job.column_codes.assign(pair.columns, pair.columns + pair.column_count);
    simplify(job);
    pairalign_further_pair part;
    if (has_strips(job)) {
        FurtherEnd known;
        const int32_t status = find_end(job, kernel, known);
        if (status != 1) return status;
        cut_at(job, part, known);
    }
    const double diagonals = static_cast<double>(job.pair->row_count) + job.pair->column_count;
    job.step = std::max(16, static_cast<int32_t>(4 * std::sqrt(diagonals)));
    FurtherCheckpoints checkpoints;
    FurtherEnd end;
    const bool narrow = is_narrow(pair);  // that of the whole pair, as has_strips
    if (!(narrow ? kernel.narrow : kernel.wide)(job, checkpoints, end)) return -2;
    if (end.score == 0) return 0;
    found = {};
    if (narrow) trace(job, checkpoints.narrow, end, found, runs);
    else trace(job, checkpoints.wide, end, found, runs);
    return 1;
}

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_further_alignment(const pairalign_further_pair* pair,
                                                  const char* instruction_set, pairalign_further_found* found,
                                                  uint32_t* runs) {
    const pairalign::FurtherKernel* kernel = pairalign::kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        if (pair->least_run > 0 && !pairalign::may_have_free_run(*pair, pair->least_run)) return 0;
        return pairalign::align_further(*pair, *kernel, *found, runs);
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
