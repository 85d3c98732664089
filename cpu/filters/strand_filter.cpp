// Which pairs of reads need their scores on the other strand, when those on the plus strand are known: those
// whose alignment there may pass, and those that may score more there than on the plus strand, where it may
// pass. Why the others do not matter is said in pairalign/engines/cpu/strand_filter.py, with the ctypes
// declarations.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "../core/sets.h"
#include "../export.h"
#include "../pairs/reaching.h"
#include "../threads.h"
#include "../words.h"
#include "common_bits.h"

namespace {

using namespace pairalign;

constexpr int WORD_RESIDUES = 11;  // the table of words has an entry for each: 16 MiB
constexpr int32_t ROWS = 128;      // of a window, that a thread takes at a time
constexpr int32_t PART = 256;      // reads that a thread takes at a time
constexpr int UNAMBIGUOUS = 4;     // codes of A, C, G and T
constexpr int BITS_A_RESIDUE = 8;  // of a set of q-grams
constexpr uint32_t WORDS = uint32_t{1} << (2 * WORD_RESIDUES);

// The q-grams of all sequences of a set.
struct Grams {
    std::vector<GramSet> sets;
    std::vector<uint64_t> bits;

    void read(const pairalign_set& of, int q, int32_t threads) {
        int64_t words = 0;
        for (int32_t read = 0; read < of.count; read++) {
            sets.push_back({words, words_for(of.lengths[read], BITS_A_RESIDUE), 0});
            words += sets.back().words;
        }
        bits.resize(static_cast<size_t>(words));
        on_threads((of.count + PART - 1) / PART, threads, [&](int32_t part) {
            std::vector<uint64_t> grams;
            for (int32_t read = part * PART; read < std::min(of.count, (part + 1) * PART); read++) {
                GramSet& set = sets[static_cast<size_t>(read)];
                read_grams(of.codes + of.starts[read], of.lengths[read], q, UNAMBIGUOUS, grams);
                write_bits(grams, bits.data() + set.start, set);
            }
        });
    }
};

// Calls use(word) for each word of unambiguous residues of a sequence.
template <class Use>
void each_word(const pairalign_set& set, int32_t position, const Use& use) {
    for_each_word(set.codes + set.starts[position], set.lengths[position], WORD_RESIDUES, 2, UNAMBIGUOUS,
                  [&](uint64_t word, int32_t) { use(static_cast<uint32_t>(word)); });
}

}  // namespace

struct pairalign_strand_filter {
    std::vector<uint32_t> first;               // [WORDS + 1] first holder of each word
    std::vector<int32_t> holders;              // sorted positions of the reads that have it, ascending
    std::vector<std::vector<uint32_t>> words;  // of each read's reverse complement, those that a read has
    Grams plus, minus;                         // of the reads, and of their reverse complements
    int q;
    int64_t a_match;  // the most that a residue scores
    int32_t threads;

    pairalign_strand_filter(const pairalign_set& reads, const pairalign_set& reversed, int grams,
                            int64_t match, int32_t most_threads)
        : first(WORDS + 1),
          words(static_cast<size_t>(reads.count)),
          q(grams),
          a_match(match),
          threads(most_threads) {
        find_holders(reads);
        on_threads((reads.count + PART - 1) / PART, threads, [&](int32_t part) {
            for (int32_t read = part * PART; read < std::min(reads.count, (part + 1) * PART); read++)
                each_word(reversed, read, [&](uint32_t word) {
                    if (first[word] < first[word + 1]) words[static_cast<size_t>(read)].push_back(word);
                });
        });
        plus.read(reads, q, threads);
        minus.read(reversed, q, threads);
    }

    void find_holders(const pairalign_set& reads) {
        for (int32_t read = 0; read < reads.count; read++)
            each_word(reads, read, [&](uint32_t word) { first[word + 1]++; });
        for (uint32_t word = 0; word < WORDS; word++) first[word + 1] += first[word];
        holders.resize(first[WORDS]);
        for (int32_t read = reads.count; read-- > 0;)  // from the end of a word's holders to the first
            each_word(reads, read, [&](uint32_t word) { holders[--first[word + 1]] = read; });
        for (uint32_t word = 0; word < WORDS; word++) first[word] = first[word + 1];
        first[WORDS] = static_cast<uint32_t>(holders.size());
    }

    // Marks the pairs of a row whose reads have a word in common on opposite strands. Returns how many steps
    // it took; after more than `most` it gives up. `mask`: of the pair with column 0.
    int64_t mark(int32_t row, int32_t start, int32_t stop, int64_t most, uint8_t* mask) const {
        int64_t steps = 0;
        for (const uint32_t word : words[static_cast<size_t>(row)]) {
            const int32_t* const end = holders.data() + first[word + 1];
            const int32_t* read = std::lower_bound(holders.data() + first[word], end, start);
            for (; read < end && *read < stop; read++, steps++) mask[*read] = 1;
            if (steps > most) break;
        }
        return steps;
    }

    // The most that two reads can score on opposite strands.
    template <class CommonBits>
    int64_t most_score(const CommonBits& common_bits, int32_t row, int32_t column) const {
        const GramSet &a = plus.sets[static_cast<size_t>(row)], &b = minus.sets[static_cast<size_t>(column)];
        const int64_t common =
            common_bits(plus.bits.data() + a.start, a.words, minus.bits.data() + b.start, b.words);
        return a_match * (common + lost_of(a, b) + q - 1);
    }
};

namespace {

// Rows of a window whose pairs are looked at.
struct Rows {
    const pairalign_strand_filter& filter;
    const pairalign_window& window;
    const pairalign_reaching& plus;
    const bool both;
    const decltype(choose_common_bits()) common_bits;
    uint8_t* const mask;

    int32_t first_column(int32_t row) const {
        return window.triangular ? std::max(window.column_start, row + 1) : window.column_start;
    }

    // Marks the pairs of rows that need their scores, and returns how many they are.
    int64_t look_at(int32_t row, int32_t stop, std::atomic<int64_t>& steps) const {
        int64_t before = 0;
        for (int32_t k = window.row_start; k < row; k++) before += columns_of(k);
        const uint8_t* const begin = mask + before;
        const int32_t* at = std::lower_bound(plus.numbers, plus.numbers + plus.count, before);
        for (; row < stop && steps >= 0; row++) {
            const int64_t after = before + columns_of(row);
            if (after > before) at = look_at_row(row, before, after, at, steps);
            before = after;
        }
        return std::count(begin, static_cast<const uint8_t*>(mask + before), uint8_t{1});
    }

private:
    int64_t columns_of(int32_t row) const { return std::max(0, window.column_stop - first_column(row)); }

    const int32_t* look_at_row(int32_t row, int64_t before, int64_t after, const int32_t* at,
                               std::atomic<int64_t>& steps) const {
        const int32_t start = first_column(row);
        uint8_t* const of_row = mask + before - start;
        steps -= filter.mark(row, start, window.column_stop, steps, of_row);
        for (; at < plus.numbers + plus.count && *at < after; at++) {
            const int64_t pair = at - plus.numbers;
            if (both || !plus.may_pass[pair]) continue;
            const auto column = static_cast<int32_t>(*at - before) + start;
            if (!of_row[column] && filter.most_score(common_bits, row, column) > plus.scores[pair])
                of_row[column] = 1;
        }
        return at;
    }
};

}  // namespace

// Of DNA, by sorted position, and their reverse complements. `q`: residues of q-grams; no alignment with b
// interruptions of its matches scores more than match (m - (q - 1) b) for m of them. Null where there is no
// memory.
PAIRALIGN_API pairalign_strand_filter* pairalign_open_strand_filter(const pairalign_set* reads,
                                                                    const pairalign_set* reversed, int32_t q,
                                                                    int32_t match, int32_t threads) {
    try {
        return new pairalign_strand_filter(*reads, *reversed, q, match, threads);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_strand_filter(pairalign_strand_filter* filter) { delete filter; }

// Writes which pairs of a window need their scores: mask[pairs]. `both`: it does not matter on which strand a
// pair scores more. Returns how many there are, or -1 for more than `most`, or where finding out takes too
// long.
PAIRALIGN_API int64_t pairalign_need_other_strand(const pairalign_strand_filter* filter,
                                                  const pairalign_window* window,
                                                  const pairalign_reaching* plus, int32_t both, int64_t pairs,
                                                  int64_t most, uint8_t* mask) {
    const Rows rows{*filter, *window, *plus, both != 0, choose_common_bits(), mask};
    std::atomic<int64_t> needed{0}, steps{2 * pairs};
    std::memset(mask, 0, static_cast<size_t>(pairs));
    const int32_t parts = (window->row_stop - window->row_start + ROWS - 1) / ROWS;
    on_threads(parts, filter->threads, [&](int32_t part) {
        const int32_t row = window->row_start + part * ROWS;
        if (steps >= 0) needed += rows.look_at(row, std::min(window->row_stop, row + ROWS), steps);
    });
    return steps < 0 || needed > most ? -1 : needed.load();
}
