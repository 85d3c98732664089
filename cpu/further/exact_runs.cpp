// See exact_runs.h. Pieces of `length` letters of one sequence are looked up among those of the other by a
// rolling sum, in a table of chains; what is found is compared letter by letter.

#include "exact_runs.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "used_runs.h"

namespace pairalign {
namespace {

constexpr uint64_t FACTOR = 0x9E3779B97F4A7C15;  // odd, its bits well mixed
constexpr int64_t MOST_LOOKS_A_LETTER = 64;      // sequences of repeats: then let the alignment decide

// Calls take(sum, start) for each piece of `length` definite letters; ends when it returns true.
template <typename Take>
bool for_each_piece(const uint8_t* codes, int32_t count, int32_t length, int32_t definite, Take take) {
    uint64_t leaving = 1;  // FACTOR to the power of length
    for (int32_t k = 0; k < length; ++k) leaving *= FACTOR;
    uint64_t sum = 0;
    int32_t begin = 0;  // of the definite letters that end here
    for (int32_t at = 0; at < count; ++at) {
        if (codes[at] >= definite) {
            begin = at + 1;
            sum = 0;
            continue;
        }
        sum = sum * FACTOR + codes[at] + 1;
        if (at - begin >= length) sum -= leaving * (codes[at - length] + 1u);
        if (at - begin + 1 >= length && take(sum, at - length + 1)) return true;
    }
    return false;
}

// Cells of one diagonal that an alignment uses: rows from `start` to `end`.
struct UsedRows {
    int32_t diagonal, start, end;  // row less column
    bool operator<(const UsedRows& other) const {
        return diagonal != other.diagonal ? diagonal < other.diagonal : start < other.start;
    }
};

std::vector<UsedRows> used_rows(const pairalign_further_pair& pair) {
    std::vector<UsedRows> used;
    for_each_used_run(pair, [&](int32_t row, int32_t column, int32_t letters) {
        used.push_back({row - column, row, row + letters});
    });
    std::sort(used.begin(), used.end());
    return used;
}

// Whether rows from `row` to `row + length` of a diagonal are free; alignments share no cell.
bool is_free(const std::vector<UsedRows>& used, int32_t diagonal, int32_t row, int32_t length) {
    auto after = std::lower_bound(used.begin(), used.end(), UsedRows{diagonal, row + length, 0});
    if (after == used.begin()) return true;
    const UsedRows& before = *--after;
    return before.diagonal != diagonal || before.end <= row;
}

// Pieces of a sequence by their sums.
class Pieces {
public:
    Pieces(const uint8_t* codes, int32_t count, int32_t length, int32_t definite)
        : sums_(static_cast<size_t>(count)), next_(static_cast<size_t>(count)) {
        while (int64_t{1} << bits_ < 2 * int64_t{count}) ++bits_;
        first_.assign(size_t{1} << bits_, -1);
        for_each_piece(codes, count, length, definite, [&](uint64_t sum, int32_t start) {
            sums_[static_cast<size_t>(start)] = sum;
            int32_t& first = first_[place(sum)];
            next_[static_cast<size_t>(start)] = first;
            first = start;
            return false;
        });
    }

    // Calls take(start) for pieces that may have a sum, until it returns true.
    template <typename Take>
    bool any(uint64_t sum, Take take) const {
        for (int32_t start = first_[place(sum)]; start >= 0; start = next_[static_cast<size_t>(start)])
            if (sums_[static_cast<size_t>(start)] == sum && take(start)) return true;
        return false;
    }

private:
    size_t place(uint64_t sum) const { return static_cast<size_t>(sum * FACTOR >> (64 - bits_)); }

    int bits_ = 8;
    std::vector<uint64_t> sums_;
    std::vector<int32_t> next_, first_;
};

}  // namespace

bool may_have_free_run(const pairalign_further_pair& pair, int32_t length) {
    if (length > std::min(pair.row_count, pair.column_count)) return false;
    const Pieces pieces(pair.columns, pair.column_count, length, pair.definite);
    const std::vector<UsedRows> used = used_rows(pair);
    int64_t looks = MOST_LOOKS_A_LETTER * (int64_t{pair.row_count} + pair.column_count);
    return for_each_piece(pair.rows, pair.row_count, length, pair.definite, [&](uint64_t sum, int32_t row) {
        return pieces.any(sum, [&](int32_t column) {
            if (--looks < 0) return true;
            return is_free(used, row - column, row, length) &&
                   std::memcmp(pair.rows + row, pair.columns + column, static_cast<size_t>(length)) == 0;
        });
    });
}

}  // namespace pairalign
