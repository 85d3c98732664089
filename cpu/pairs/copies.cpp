// Pairs of copies: of pairs whose two sequences are the same, one is aligned, and all are given its result.
// The ctypes declarations are in pairalign/pairs/copies.py.
//
// A part of the pair matrix is as in positions.cpp. Its rows and its columns belong to groups, numbered from
// 0 on without gaps and ascending; sequences of a group are the same. row_groups[rows],
// column_groups[columns], pair_mask[pairs] or null: all. table[groups of rows][groups of columns] has a
// number for each block, that is the pairs of two groups; with `sides` two numbers: of pairs whose query is
// that of the row, and of the column. row_inputs[rows], column_inputs[columns]: input indices; of one set the
// query is the one with the smaller index, of two that of the row.

#include <algorithm>
#include <cstdint>

#include "../export.h"
#include "../set_bytes.h"

namespace {

int32_t first_column(int32_t row, int32_t column_start, int32_t column_stop, bool triangular) {
    return triangular ? std::min(std::max(column_start, row + 1), column_stop) : column_start;
}

// Calls use(k) for those of `count` pairs of a row that its part of a mask names; null: for all.
template <class Use>
void for_each_pair(const uint8_t* row_mask, int32_t count, const Use& use) {
    if (row_mask) pairalign::for_each_set(row_mask, count, use);
    else
        for (int32_t k = 0; k < count; k++) use(k);
}

}  // namespace

// Marks the first pair of each block in chosen[pairs], which is 0, and returns how many they are; table is
// -1, and 0 after that where there is a pair.
PAIRALIGN_API int64_t pairalign_choose_copies(int32_t row_start, int32_t row_stop, int32_t column_start,
                                              int32_t column_stop, int32_t triangular,
                                              const int32_t* row_groups, const int32_t* column_groups,
                                              int64_t groups, const uint8_t* pair_mask, int32_t sides,
                                              const int32_t* row_inputs, const int32_t* column_inputs,
                                              int32_t* table, uint8_t* chosen) {
    int64_t found = 0, at = 0;
    for (int32_t row = row_start; row < row_stop; row++) {
        const int32_t group = row_groups[row - row_start];
        const int32_t first = first_column(row, column_start, column_stop, triangular != 0);
        int32_t* blocks = table + group * groups * (sides ? 2 : 1);
        // Without a mask the first row of a group has a pair of each block that has any.
        const bool is_known =
            !pair_mask && !sides && row > row_start && row_groups[row - row_start - 1] == group;
        const auto choose = [&](int32_t k) {
            const int32_t column = first + k;
            const bool turned =
                triangular && column_inputs[column - column_start] < row_inputs[row - row_start];
            const int32_t place = column_groups[column - column_start];
            int32_t& block = blocks[sides ? 2 * place + turned : place];
            if (block == 0) return;
            block = 0;
            chosen[at + k] = 1;
            found++;
        };
        if (!is_known) for_each_pair(pair_mask ? pair_mask + at : nullptr, column_stop - first, choose);
        at += column_stop - first;
    }
    return found;
}

// Writes the pairs of all blocks that have a number, in their order, and returns how many they are.
// numbers[pairs]: that of the block, and `reversed` more where the column sequence is the query;
// query[pairs], target[pairs]: input indices.
PAIRALIGN_API int64_t pairalign_spread_copies(int32_t row_start, int32_t row_stop, int32_t column_start,
                                              int32_t column_stop, int32_t triangular,
                                              const int32_t* row_groups, const int32_t* column_groups,
                                              int64_t groups, const uint8_t* pair_mask, int32_t sides,
                                              const int32_t* row_inputs, const int32_t* column_inputs,
                                              const int32_t* table, int32_t reversed, int64_t* numbers,
                                              int32_t* query, int32_t* target) {
    int64_t written = 0, at = 0;
    for (int32_t row = row_start; row < row_stop; row++) {
        const int32_t own = row_inputs[row - row_start];
        const int32_t first = first_column(row, column_start, column_stop, triangular != 0);
        const int32_t* blocks = table + row_groups[row - row_start] * groups * (sides ? 2 : 1);
        for_each_pair(pair_mask ? pair_mask + at : nullptr, column_stop - first, [&](int32_t k) {
            const int32_t column = first + k;
            const int32_t other = column_inputs[column - column_start];
            const bool turned = triangular && other < own;
            const int32_t place = column_groups[column - column_start];
            const int32_t number = blocks[sides ? 2 * place + turned : place];
            if (number < 0) return;
            numbers[written] = number + (turned ? reversed : 0);
            query[written] = turned ? other : own;
            target[written] = turned ? own : other;
            written++;
        });
        at += column_stop - first;
    }
    return written;
}
