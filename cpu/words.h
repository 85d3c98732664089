// Words of a sequence: so many unambiguous letters in a row.
#pragma once

#include <cstdint>

namespace pairalign {

// Calls take(word, start) for each word of `size` letters whose codes are below `unambiguous`; a letter takes
// `bits` of `word`, its last one the lowest.
template <typename Take>
inline void for_each_word(const uint8_t* codes, int32_t count, int size, int bits, int unambiguous,
                          Take take) {
    const uint64_t of_word = (uint64_t{1} << (bits * size)) - 1, of_letter = (uint64_t{1} << bits) - 1;
    uint64_t word = 0;
    int letters = 0;
    for (int32_t k = 0; k < count; k++) {
        letters = codes[k] < unambiguous ? letters + 1 : 0;
        word = (word << bits | (codes[k] & of_letter)) & of_word;
        if (letters >= size) take(word, k + 1 - size);
    }
}

}  // namespace pairalign
