// Words of a sequence: so many unambiguous residues in a row.
#pragma once

#include <cstdint>

namespace pairalign {

// Calls take(word, start) for each word of `size` residues whose codes are below `unambiguous`; a residue
// takes `bits` of `word`, its last one the lowest.
template <typename Take>
inline void for_each_word(const uint8_t* codes, int32_t count, int size, int bits, int unambiguous,
                          Take take) {
    const uint64_t of_word = (uint64_t{1} << (bits * size)) - 1, of_residue = (uint64_t{1} << bits) - 1;
    uint64_t word = 0;
    int residues = 0;
    for (int32_t k = 0; k < count; k++) {
        residues = codes[k] < unambiguous ? residues + 1 : 0;
        word = (word << bits | (codes[k] & of_residue)) & of_word;
        if (residues >= size) take(word, k + 1 - size);
    }
}

}  // namespace pairalign
