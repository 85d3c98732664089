// How many words of a sequence another one has in place, see common/words_in_place.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../../common/words_in_place.h"
#include "../export.h"

// Both sequences have RESIDUES residues or more.
PAIRALIGN_API int32_t pairalign_words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column,
                                               int32_t columns, int32_t near);

namespace pairalign {

// Whether residues from..to of the column sequence begin a word.
inline bool has_word(uint64_t word, const uint8_t* column, int32_t from, int32_t to) {
    uint64_t other;
    for (int32_t j = from; j <= to; j++) {
        std::memcpy(&other, column + j, sizeof other);
        if (word == other) return true;
    }
    return false;
}

// Stops where it is known that there are `few` and less than `many`. `one_gap`: words count as well that are
// in place before or after one gap as long as the sequences differ in length.
inline int32_t words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                              int32_t few = WordsInPlace::WORDS, int32_t many = WordsInPlace::WORDS,
                              int32_t near = WordsInPlace::NEAR, bool one_gap = false) {
    constexpr int32_t WORDS = WordsInPlace::WORDS, RESIDUES = WordsInPlace::RESIDUES;
    uint64_t word;
    static_assert(sizeof word == RESIDUES);
    int32_t found = 0;
    for (int32_t w = 0; w < WORDS && (found < few || found + WORDS - w >= many); w++) {
        const int32_t at = WordsInPlace::start(w, rows);
        const int32_t expected = WordsInPlace::expected(at, rows, columns);
        std::memcpy(&word, row + at, RESIDUES);
        const auto is_near = [&](int32_t place) {
            return has_word(word, column, std::max(0, place - near),
                            std::min(columns - RESIDUES, place + near));
        };
        found += is_near(expected) ||
                 (one_gap && rows - columns > near && (is_near(at) || is_near(at - (rows - columns))));
    }
    return found;
}

}  // namespace pairalign
