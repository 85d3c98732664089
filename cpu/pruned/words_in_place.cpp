#include "words_in_place.h"

int32_t pairalign_words_in_place(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                                 int32_t near) {
    constexpr int32_t ALL = WordsInPlace::WORDS;
    return pairalign::words_in_place(row, rows, column, columns, ALL, ALL, near);
}
