// How many words of a sequence another one has in place, see common/words_in_place.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../../common/words_in_place.h"
#include "../export.h"

// Both sequences have LETTERS letters or more.
PAIRALIGN_API int32_t pairalign_words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column,
                                               int32_t columns, int32_t near);

namespace pairalign {

// Stops where it is known that there are `few` and less than `many`.
inline int32_t words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                              int32_t few = WordsInPlace::WORDS, int32_t many = WordsInPlace::WORDS,
                              int32_t near = WordsInPlace::NEAR) {
    constexpr int32_t WORDS = WordsInPlace::WORDS, LETTERS = WordsInPlace::LETTERS;
    uint64_t word, other;
    static_assert(sizeof word == LETTERS);
    int32_t found = 0;
    for (int32_t w = 0; w < WORDS && (found < few || found + WORDS - w >= many); w++) {
        const int32_t at = WordsInPlace::start(w, rows);
        const int32_t expected = WordsInPlace::expected(at, rows, columns);
        const int32_t last = std::min(columns - LETTERS, expected + near);
        std::memcpy(&word, row + at, LETTERS);
        for (int32_t j = std::max(0, expected - near); j <= last; j++) {
            std::memcpy(&other, column + j, LETTERS);
            if (word != other) continue;
            found++;
            break;
        }
    }
    return found;
}

}  // namespace pairalign
