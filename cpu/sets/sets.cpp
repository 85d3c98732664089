// Single passes over the residues of a set, outside the interpreter's lock. n = sequences; order[n] is the
// input index at each sorted position, offsets[n + 1] where each sequence of the input begins in codes. The
// ctypes declarations are in pairalign/sequences/residues.py.

#include <cstdint>

#include "../export.h"

// Copies each sequence, in sorted order, to residues + starts[position]: code c becomes letter_of_code[c].
PAIRALIGN_API void pairalign_lay_out_residues(int64_t n, const int32_t* order, const int64_t* offsets,
                                              const uint8_t* codes, const uint8_t* letter_of_code,
                                              const int64_t* starts, uint8_t* residues) {
    for (int64_t position = 0; position < n; ++position) {
        const int64_t index = order[position];
        uint8_t* to = residues + starts[position];
        for (int64_t k = offsets[index]; k < offsets[index + 1]; ++k) *to++ = letter_of_code[codes[k]];
    }
}

// Sums worth_of_code over each sequence: sums[n], in sorted order.
PAIRALIGN_API void pairalign_sum_worth(int64_t n, const int32_t* order, const int64_t* offsets,
                                       const uint8_t* codes, const int64_t* worth_of_code, int64_t* sums) {
    for (int64_t position = 0; position < n; ++position) {
        const int64_t index = order[position];
        int64_t sum = 0;
        for (int64_t k = offsets[index]; k < offsets[index + 1]; ++k) sum += worth_of_code[codes[k]];
        sums[position] = sum;
    }
}
