// Words of the packed GPU kernels: one column of the pair matrix, or two neighbours that are narrow.
#pragma once

#include <cstdint>

namespace pairalign {

constexpr int GROUPS = 3;  // numbers of lanes that share a row sequence: 8, 16, 32

struct Word {
    int32_t column, columns, first_place, last_place;  // one or two columns; half-open
};

// What the columns of a kind have in common.
struct Kind {
    int32_t group;       // number of its lanes' prefix sums in tiers_before
    int32_t groups;      // that a block of the filling kernel has
    int32_t width;       // columns of a strip
    int32_t tier_units;  // size of a tier in 16 bytes
    int32_t traceback_threads;
    int32_t far;  // whether its columns take several strips
};

// How many columns the word has that begins at a column; `wide`: from that column on.
inline int32_t columns_of_word(const uint8_t* wide, int32_t column, int32_t column_stop) {
    return column + 1 < column_stop && !wide[0] && !wide[1] ? 2 : 1;
}

// Words of 8 bytes that the moves of a pair take at most: see cuda/packed/moves.cuh.
inline int64_t move_words(int64_t row_residues, int64_t column_residues) {
    return ((row_residues + column_residues + 31) >> 5) + 1;
}

}  // namespace pairalign
