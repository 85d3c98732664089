// The q-grams of sequences as sets of bits: how many two sequences share at most.
//
// The k-th occurrence of a q-gram in a sequence is an element of its own, so that two sets share as many
// elements as the sequences share q-grams, each counted as often as both have it. An element's bit is
// a hash of it. Elements of one sequence that have the same bit are counted as lost: two sets
// share at most their common bits and the lost elements of either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../words.h"

namespace pairalign {

constexpr int BITS_OF_RESIDUE = 5;
constexpr int MOST_GRAM = 12;     // residues
constexpr int BITS_OF_COUNT = 4;  // of a number up to that
constexpr int64_t LEAST_BITS = 512, MOST_BITS = 65536;
constexpr int LEAST_DENSITY = 8, MOST_DENSITY = 32;  // bits a residue

struct GramSet {
    int64_t start;  // first word
    int32_t words;  // a power of two
    int32_t lost;
};

inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// The q-grams of unambiguous residues of a sequence, sorted.
inline void read_grams(const uint8_t* codes, int32_t length, int q, int unambiguous,
                       std::vector<uint64_t>& grams) {
    grams.clear();
    for_each_word(codes, length, q, BITS_OF_RESIDUE, unambiguous,
                  [&](uint64_t gram, int32_t) { grams.push_back(gram); });
    std::sort(grams.begin(), grams.end());
}

// What is read from each unambiguous residue of a sequence on, sorted: as many unambiguous residues as
// follow, at most MOST_GRAM, the first one the highest, and below them their number.
inline std::vector<uint64_t> sorted_suffixes(const uint8_t* codes, int32_t length, int unambiguous) {
    std::vector<uint64_t> suffixes;
    uint64_t word = 0, residues = 0;
    for (int32_t k = length; k-- > 0;) {
        const bool is_unambiguous = codes[k] < unambiguous;
        residues = is_unambiguous ? std::min<uint64_t>(residues + 1, MOST_GRAM) : 0;
        word = is_unambiguous
                   ? word >> BITS_OF_RESIDUE | uint64_t{codes[k]} << BITS_OF_RESIDUE * (MOST_GRAM - 1)
                   : 0;
        if (is_unambiguous) suffixes.push_back(word << BITS_OF_COUNT | residues);
    }
    std::sort(suffixes.begin(), suffixes.end());
    return suffixes;
}

// The same q-grams as read_grams: the beginnings of sorted suffixes are sorted.
inline void take_grams(const std::vector<uint64_t>& suffixes, int q, std::vector<uint64_t>& grams) {
    const int unread = BITS_OF_COUNT + BITS_OF_RESIDUE * (MOST_GRAM - q);
    for (const uint64_t one : suffixes)
        if (static_cast<int>(one & ((1 << BITS_OF_COUNT) - 1)) >= q) grams.push_back(one >> unread);
}

inline int32_t words_for(int32_t length, int density) {
    int64_t bits = LEAST_BITS;
    while (bits < MOST_BITS && bits < int64_t{density} * length) bits *= 2;
    return static_cast<int32_t>(bits / 64);
}

// Sets the bits of sorted q-grams and counts what is lost.
inline void write_bits(const std::vector<uint64_t>& grams, uint64_t* bits, GramSet& set) {
    uint64_t occurrence = 0;
    const uint64_t last = static_cast<uint64_t>(set.words) * 64 - 1;
    for (size_t k = 0; k < grams.size(); k++) {
        occurrence = k > 0 && grams[k] == grams[k - 1] ? occurrence + 1 : 0;
        const uint64_t bit = mix(grams[k] + (occurrence << 60) + occurrence * 0x9e3779b97f4a7c15u) & last;
        set.lost += static_cast<int32_t>(bits[bit / 64] >> (bit % 64) & 1);
        bits[bit / 64] |= uint64_t{1} << (bit % 64);
    }
}

// How many elements of two sets may be lost in what their common bits count.
inline int32_t lost_of(const GramSet& a, const GramSet& b) {
    if (a.words != b.words) return a.words < b.words ? a.lost : b.lost;
    return std::min(a.lost, b.lost);
}

// How many q-grams two sorted lists have in common.
inline int64_t count_common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    int64_t common = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j]) {
            common++;
            i++;
            j++;
        } else if (a[i] < b[j]) {
            i++;
        } else {
            j++;
        }
    }
    return common;
}

// Bits that both sets have; those of the larger one are folded to the size of the other.
inline int64_t count_common_bits(const uint64_t* a, int32_t a_words, const uint64_t* b, int32_t b_words) {
    if (a_words > b_words) {
        std::swap(a, b);
        std::swap(a_words, b_words);
    }
    int64_t common = 0;
    if (a_words == b_words) {
        for (int32_t k = 0; k < a_words; k++) common += __builtin_popcountll(a[k] & b[k]);
        return common;
    }
    for (int32_t k = 0; k < a_words; k++) {
        uint64_t folded = 0;
        for (int32_t j = k; j < b_words; j += a_words) folded |= b[j];
        common += __builtin_popcountll(a[k] & folded);
    }
    return common;
}

}  // namespace pairalign
