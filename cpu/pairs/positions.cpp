// Which pairs of a part of the pair matrix some are: their rows and columns, from a mask or from their
// numbers; and taking some of many. The ctypes declarations are in pairalign/pairs/positions.py and
// pairalign/alignments/alignments.py.
//
// Pairs are numbered row by row, see pairalign/pairs/windows.py; `triangular`: only those with row < column.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "../export.h"

namespace {

struct Part {
    int32_t row_start, row_stop, column_start, column_stop;
    bool triangular;

    int32_t first_column(int32_t row) const {
        return triangular ? std::min(std::max(column_start, row + 1), column_stop) : column_start;
    }
};

constexpr int32_t BLOCK = 8;  // values of a mask that are looked at together

// Writes the columns of the values that are set, the first of which belongs to `column`; returns where they
// end. Room for BLOCK more is needed there.
int32_t* write_columns(const uint8_t* mask, int32_t column, int32_t column_stop, int32_t* columns) {
    for (; column + BLOCK <= column_stop; column += BLOCK, mask += BLOCK) {
        uint64_t values;
        std::memcpy(&values, mask, sizeof values);
        if (values == 0) continue;
        for (int32_t k = 0; k < BLOCK; k++) {
            *columns = column + k;
            columns += mask[k];
        }
    }
    for (; column < column_stop; column++, mask++) {
        *columns = column;
        columns += *mask;
    }
    return columns;
}

template <class Number>
void find_positions(const Part& part, int64_t count, const Number* numbers, int32_t* rows, int32_t* columns) {
    const auto row_count = static_cast<size_t>(part.row_stop - part.row_start);
    std::vector<int64_t> before(row_count + 1, 0);
    for (size_t row = 0; row < row_count; row++)
        before[row + 1] =
            before[row] + part.column_stop - part.first_column(part.row_start + static_cast<int32_t>(row));
    size_t row = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t number = numbers[k];
        if (number < before[row])  // they need not ascend
            row = static_cast<size_t>(std::upper_bound(before.begin(), before.end(), number) -
                                      before.begin() - 1);
        while (number >= before[row + 1]) row++;
        const int32_t at = part.row_start + static_cast<int32_t>(row);
        rows[k] = at;
        columns[k] = part.first_column(at) + static_cast<int32_t>(number - before[row]);
    }
}

}  // namespace

// Of the pairs that a mask names, uint8[pairs of the part], each 0 or 1; returns how many these are. rows[n],
// columns[n + 8]: what is beyond the n is written, too.
PAIRALIGN_API int64_t pairalign_positions_of_mask(int32_t row_start, int32_t row_stop, int32_t column_start,
                                                  int32_t column_stop, int32_t triangular,
                                                  const uint8_t* mask, int32_t* rows, int32_t* columns) {
    const Part part{row_start, row_stop, column_start, column_stop, triangular != 0};
    int32_t* const start = columns;
    for (int32_t row = row_start; row < row_stop; row++) {
        const int32_t first = part.first_column(row);
        int32_t* const end = write_columns(mask, first, column_stop, columns);
        std::fill_n(rows, end - columns, row);
        rows += end - columns;
        columns = end;
        mask += column_stop - first;
    }
    return columns - start;
}

// Of numbers[count], of 4 or 8 bytes each, all of pairs of the part. Returns 0, or 1 where there is no
// memory.
PAIRALIGN_API int32_t pairalign_positions_of_numbers(int32_t row_start, int32_t row_stop,
                                                     int32_t column_start, int32_t column_stop,
                                                     int32_t triangular, int64_t count, const void* numbers,
                                                     int32_t number_bytes, int32_t* rows, int32_t* columns) {
    const Part part{row_start, row_stop, column_start, column_stop, triangular != 0};
    try {
        if (number_bytes == 4)
            find_positions(part, count, static_cast<const int32_t*>(numbers), rows, columns);
        else find_positions(part, count, static_cast<const int64_t*>(numbers), rows, columns);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

// Copies the pairs numbers[count] of some fields, int32 each, and of the strands, which may be null.
PAIRALIGN_API void pairalign_take_fields(int64_t count, const int64_t* numbers, int32_t fields,
                                         const int32_t* const* from, int32_t* const* to, const int8_t* strand,
                                         int8_t* strand_to) {
    constexpr int64_t AT_A_TIME = 1024;  // so that their numbers stay near
    for (int64_t start = 0; start < count; start += AT_A_TIME) {
        const int64_t stop = std::min(count, start + AT_A_TIME);
        for (int32_t field = 0; field < fields; field++) {
            const int32_t* const source = from[field];
            int32_t* const target = to[field];
            for (int64_t k = start; k < stop; k++) target[k] = source[numbers[k]];
        }
        if (strand != nullptr)
            for (int64_t k = start; k < stop; k++) strand_to[k] = strand[numbers[k]];
    }
}
