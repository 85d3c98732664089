// See job.h.

#include "job.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../instruction_sets.h"
#include "used_runs.h"

#define PAIRALIGN_DECLARE(isa)                      \
    namespace pairalign {                           \
    extern const SuboptimalKernel suboptimal_##isa; \
    }
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace pairalign {
namespace {

#define PAIRALIGN_ADDRESS(isa) &suboptimal_##isa,
constexpr const SuboptimalKernel* ALL[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS

constexpr int32_t MOST_NARROW = 30000;

std::vector<UsedCell> used_cells(const pairalign_suboptimal_pair& pair) {
    std::vector<UsedCell> cells;
    for_each_used_run(pair, [&](int32_t row, int32_t column, int32_t residues) {
        for (int32_t k = 1; k <= residues; ++k) cells.push_back({row + column + 2 * k, row + k});
    });
    std::sort(cells.begin(), cells.end());
    return cells;
}

// Finds whether scores of the residues that there are say no more than equal or not, and renames those that
// never match.
void simplify(SuboptimalJob& job) {
    const pairalign_suboptimal_pair& pair = *job.pair;
    bool in_rows[SUBOPTIMAL_CODES] = {}, in_columns[SUBOPTIMAL_CODES] = {};
    for (const uint8_t code : job.row_codes) in_rows[code] = true;
    for (const uint8_t code : job.column_codes) in_columns[code] = true;
    bool has_match = false, has_mismatch = false, matching[SUBOPTIMAL_CODES] = {};
    for (int32_t code = 0; code < SUBOPTIMAL_CODES; ++code)
        matching[code] = in_rows[code] && in_columns[code] && pair.matrix[code * (SUBOPTIMAL_CODES + 1)] > 0;
    job.is_simple = true;
    job.match = job.mismatch = 0;
    for (int32_t row = 0; row < SUBOPTIMAL_CODES; ++row) {
        for (int32_t column = 0; column < SUBOPTIMAL_CODES; ++column) {
            if (!in_rows[row] || !in_columns[column]) continue;
            const int32_t score = pair.matrix[row * SUBOPTIMAL_CODES + column];
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
        if (!matching[code]) code = SUBOPTIMAL_NO_ROW;
    for (uint8_t& code : job.column_codes)
        if (!matching[code]) code = SUBOPTIMAL_NO_COLUMN;
}

}  // namespace

const SuboptimalKernel* suboptimal_kernel_of(const char* instruction_set) {
    for (const SuboptimalKernel* one : ALL)
        if (std::strcmp(one->name, instruction_set) == 0) return one;
    return nullptr;
}

bool is_narrow(const pairalign_suboptimal_pair& pair) {
    const auto [low, high] =
        std::minmax_element(pair.matrix, pair.matrix + SUBOPTIMAL_CODES * SUBOPTIMAL_CODES);
    const int64_t shorter = std::min(pair.row_count, pair.column_count);
    return pair.is_local && *high * shorter <= MOST_NARROW && *high <= SUBOPTIMAL_MOST_SHORT &&
           *low >= -SUBOPTIMAL_MOST_SHORT && pair.gap_open <= SUBOPTIMAL_MOST_SHORT &&
           pair.least <= MOST_NARROW;
}

bool has_strips(const SuboptimalJob& job) {
    const pairalign_suboptimal_pair& pair = *job.pair;
    return is_narrow(pair) && job.is_simple && job.match > 0 && job.mismatch < 0 && pair.gap_open > 0;
}

bool fits_bytes(const SuboptimalJob& job) {
    const int32_t gap = std::max(job.pair->gap_open, job.pair->gap_extend);
    return std::max({job.match, -job.mismatch, gap}) <= SUBOPTIMAL_MOST_BYTE;
}

SuboptimalJob make_job(const pairalign_suboptimal_pair& pair) {
    SuboptimalJob job;
    job.pair = &pair;
    job.used = used_cells(pair);
    job.used_by_strips = job.used;
    std::stable_sort(job.used_by_strips.begin(), job.used_by_strips.end(),
                     [](const UsedCell& a, const UsedCell& b) {
                         return (a.row - 1) / SUBOPTIMAL_STRIP < (b.row - 1) / SUBOPTIMAL_STRIP;
                     });
    job.row_codes.assign(pair.rows, pair.rows + pair.row_count);
    job.column_codes.assign(pair.columns, pair.columns + pair.column_count);
    simplify(job);
    const double diagonals = static_cast<double>(pair.row_count) + pair.column_count;
    job.step = std::max(16, static_cast<int32_t>(4 * std::sqrt(diagonals)));
    return job;
}

}  // namespace pairalign
