// Which of several optimal alignments of a pair is taken, as docs/ties.md states it: the end cell.
#pragma once

#include <cstdint>

namespace pairalign {

// Of equal scores the smallest column wins, then the smallest row. Static: each instruction set has its own.
// Ties: the end cell.
[[maybe_unused]] static inline bool is_earlier_end(int32_t row, int32_t column, int32_t than_row,
                                                   int32_t than_column) {
    return column < than_column || (column == than_column && row < than_row);
}

}  // namespace pairalign
