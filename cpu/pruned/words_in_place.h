// Whether two sequences look similar, at a glance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pairalign {

constexpr int32_t WORDS = 32;

// Of WORDS words of eight letters of the row sequence, how many are in the column sequence, some letters at
// most from where they are expected. Both have eight letters or more. Stops where it is known that there are
// `few` and less than `many`.
inline int32_t words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                              int32_t few = WORDS, int32_t many = WORDS) {
    constexpr int32_t NEAR = 48;
    int32_t found = 0;
    for (int32_t w = 0; w < WORDS && (found < few || found + WORDS - w >= many); w++) {
        const int32_t at = static_cast<int32_t>(int64_t{rows - 8} * w / WORDS);
        const int32_t expected = static_cast<int32_t>(int64_t{at} * columns / rows);
        uint64_t word, other;
        std::memcpy(&word, row + at, 8);
        for (int32_t j = std::max(0, expected - NEAR); j <= std::min(columns - 8, expected + NEAR); j++) {
            std::memcpy(&other, column + j, 8);
            if (word != other) continue;
            found++;
            break;
        }
    }
    return found;
}

}  // namespace pairalign
