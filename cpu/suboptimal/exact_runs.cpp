// See exact_runs.h. Words of one sequence are looked up among some of the other by a rolling sum, in a table
// of chains; around what is found residues are compared one by one.

#include "exact_runs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "used_runs.h"

namespace pairalign {
namespace {

constexpr uint64_t FACTOR = 0x9E3779B97F4A7C15;  // odd, its bits well mixed
constexpr int64_t MOST_LOOKS_A_RESIDUE = 64;     // sequences of repeats: then let the alignment decide

// Calls take(sum, start) for each piece of `length` unambiguous residues; ends when it returns true.
template <typename Take>
bool for_each_piece(const uint8_t* codes, int32_t count, int32_t length, int32_t unambiguous, Take take) {
    uint64_t leaving = 1;  // FACTOR to the power of length
    for (int32_t k = 0; k < length; ++k) leaving *= FACTOR;
    uint64_t sum = 0;
    int32_t begin = 0;  // of the unambiguous residues that end here
    for (int32_t at = 0; at < count; ++at) {
        if (codes[at] >= unambiguous) {
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

std::vector<UsedRows> used_rows(const pairalign_suboptimal_pair& pair) {
    std::vector<UsedRows> used;
    for_each_used_run(pair, [&](int32_t row, int32_t column, int32_t residues) {
        used.push_back({row - column, row, row + residues});
    });
    std::sort(used.begin(), used.end());
    return used;
}

// The rows around a free cell of a diagonal that are free, too; none if the cell is used.
struct FreeRows {
    int32_t start, end;
};

FreeRows free_around(const std::vector<UsedRows>& used, int32_t diagonal, int32_t row) {
    FreeRows free{INT32_MIN, INT32_MAX};
    auto after = std::upper_bound(used.begin(), used.end(), UsedRows{diagonal, row, 0});
    if (after != used.end() && after->diagonal == diagonal) free.end = after->start;
    if (after != used.begin() && (--after)->diagonal == diagonal) free.start = after->end;
    return free.start <= row ? free : FreeRows{row, row};  // alignments share no cell
}

// Whether a cell lies in a run of `length` equal residues on free cells of its diagonal.
bool is_in_run(const pairalign_suboptimal_pair& pair, FreeRows free, int32_t row, int32_t column,
               int32_t length) {
    const int32_t shift = row - column;
    const int32_t first = std::max({free.start, 0, shift});
    const int32_t last = std::min({free.end, pair.row_count, pair.column_count + shift});
    const auto equal = [&](int32_t at) {
        return pair.rows[at] == pair.columns[at - shift] && pair.rows[at] < pair.unambiguous;
    };
    int32_t start = row, end = row;
    while (start > first && equal(start - 1)) --start;
    while (end < last && end - start < length && equal(end)) ++end;
    return end - start >= length;
}

// Words of a sequence that start at every `step`th residue, by their sums.
class Words {
public:
    Words(const uint8_t* codes, int32_t count, int32_t length, int32_t step, int32_t unambiguous) {
        const int64_t most = int64_t{count} / step + 1;
        while (int64_t{1} << bits_ < 4 * most) ++bits_;
        first_.assign(size_t{1} << bits_, -1);
        words_.reserve(static_cast<size_t>(most));
        for_each_piece(codes, count, length, unambiguous, [&](uint64_t sum, int32_t start) {
            if (start % step != 0) return false;
            int32_t& first = first_[place(sum)];
            words_.push_back({sum, start, first});
            first = static_cast<int32_t>(words_.size()) - 1;
            return false;
        });
    }

    // Calls take(start) for words that may have a sum, until it returns true.
    template <typename Take>
    bool any(uint64_t sum, Take take) const {
        for (int32_t k = first_[place(sum)]; k >= 0; k = words_[static_cast<size_t>(k)].next) {
            const Word& word = words_[static_cast<size_t>(k)];
            if (word.sum == sum && take(word.start)) return true;
        }
        return false;
    }

private:
    struct Word {
        uint64_t sum;
        int32_t start, next;
    };
    size_t place(uint64_t sum) const { return static_cast<size_t>(sum * FACTOR >> (64 - bits_)); }

    int bits_ = 8;
    std::vector<Word> words_;
    std::vector<int32_t> first_;
};

}  // namespace

bool may_have_free_run(const pairalign_suboptimal_pair& pair, int32_t length) {
    if (length > std::min(pair.row_count, pair.column_count)) return false;
    // A run holds a word of about half its length that starts at a multiple of the other half.
    const int32_t word = (length + 1) / 2, step = length - word + 1;
    const Words words(pair.columns, pair.column_count, word, step, pair.unambiguous);
    const std::vector<UsedRows> used = used_rows(pair);
    int64_t looks = MOST_LOOKS_A_RESIDUE * (int64_t{pair.row_count} + pair.column_count);
    return for_each_piece(pair.rows, pair.row_count, word, pair.unambiguous, [&](uint64_t sum, int32_t row) {
        return words.any(sum, [&](int32_t column) {
            if (--looks < 0) return true;
            const FreeRows free = free_around(used, row - column, row);
            return free.start < free.end && is_in_run(pair, free, row, column, length);
        });
    });
}

}  // namespace pairalign
