// See anchors.h.

#include "anchors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../words.h"

namespace pairalign {
namespace {

constexpr int WORD = 11;              // residues: random ones share few of them, and similar ones many
constexpr int BITS = 5;               // of a residue
constexpr int TABLE_BITS = 14;        // of the table of words
constexpr int32_t MOST_SAME = 16;     // places at which a word is looked at
constexpr int32_t BIN = 256;          // diagonals that are counted together
constexpr size_t LEAST = 12;          // anchors
constexpr int64_t ROWS_OF_ONE = 256;  // more without an anchor, and it is worth less than none

size_t place_of(uint64_t word) { return static_cast<size_t>(word * 0x9E3779B97F4A7C15 >> (64 - TABLE_BITS)); }

// The middle of the diagonals, row less column, that have most of the words.
int32_t best_diagonal(const std::vector<Anchor>& shared, const pairalign_suboptimal_pair& pair) {
    std::vector<int32_t> counts(static_cast<size_t>((pair.row_count + pair.column_count) / BIN + 2), 0);
    for (const Anchor& one : shared)
        ++counts[static_cast<size_t>((one.row - one.column + pair.column_count) / BIN)];
    size_t best = 0;
    for (size_t k = 0; k + 1 < counts.size(); ++k)
        if (counts[k] + counts[k + 1] > counts[best] + counts[best + 1]) best = k;
    return static_cast<int32_t>(best + 1) * BIN - pair.column_count;
}

// The longest part of the words in which both numbers rise.
std::vector<Anchor> longest_rising(const std::vector<Anchor>& shared) {
    std::vector<size_t> ends;  // of the parts of each length, that which ends in the smallest column
    std::vector<size_t> before(shared.size());
    for (size_t k = 0; k < shared.size(); ++k) {
        const auto at =
            std::lower_bound(ends.begin(), ends.end(), shared[k].column,
                             [&](size_t one, int32_t column) { return shared[one].column < column; });
        before[k] = at == ends.begin() ? k : *(at - 1);
        if (at == ends.end()) ends.push_back(k);
        else *at = k;
    }
    std::vector<Anchor> rising(ends.size());
    for (size_t k = ends.size(), at = k ? ends.back() : 0; k-- > 0; at = before[at]) rising[k] = shared[at];
    return rising;
}

// The part with most anchors for its length: random ones before an alignment or after it are left out.
std::vector<Anchor> densest(const std::vector<Anchor>& all) {
    int64_t sum = 0, most = 0;
    size_t start = 0, best_start = 0, best_end = 0;
    for (size_t k = 0; k < all.size(); ++k) {
        if (k > 0) sum -= all[k].row - all[k - 1].row;
        if (sum <= 0) sum = 0, start = k;
        sum += ROWS_OF_ONE;
        if (sum > most) most = sum, best_start = start, best_end = k + 1;
    }
    return {all.begin() + static_cast<ptrdiff_t>(best_start), all.begin() + static_cast<ptrdiff_t>(best_end)};
}

}  // namespace

std::vector<Anchor> shared_words(const pairalign_suboptimal_pair& pair, int size) {
    struct Word {
        uint64_t word;
        int32_t start, next;
    };
    std::vector<Word> words;
    words.reserve(static_cast<size_t>(pair.column_count));
    std::vector<int32_t> first(size_t{1} << TABLE_BITS, -1);
    for_each_word(pair.columns, pair.column_count, size, BITS, pair.unambiguous,
                  [&](uint64_t word, int32_t start) {
                      int32_t& head = first[place_of(word)];
                      words.push_back({word, start, head});
                      head = static_cast<int32_t>(words.size()) - 1;
                  });
    std::vector<Anchor> shared;
    for_each_word(pair.rows, pair.row_count, size, BITS, pair.unambiguous, [&](uint64_t word, int32_t start) {
        int32_t left = MOST_SAME;
        for (int32_t k = first[place_of(word)]; k >= 0 && left > 0; --left) {
            const Word& one = words[static_cast<size_t>(k)];
            if (one.word == word) shared.push_back({start, one.start});
            k = one.next;
        }
    });
    return shared;
}

std::vector<Anchor> find_anchors(const pairalign_suboptimal_pair& pair) {
    std::vector<Anchor> shared = shared_words(pair, WORD);
    const int32_t middle = best_diagonal(shared, pair);
    const int32_t away = BIN + std::min(pair.row_count, pair.column_count) / 32;
    shared.erase(
        std::remove_if(shared.begin(), shared.end(),
                       [&](const Anchor& one) { return std::abs(one.row - one.column - middle) > away; }),
        shared.end());
    std::vector<Anchor> rising = densest(longest_rising(shared));
    if (rising.size() < LEAST) rising.clear();
    return rising;
}

}  // namespace pairalign
