// Linear-gap local scores of many pairs at a time, one pair in each bit of a word: what bitwise.cpp asks of
// the kernels, one for each instruction set, and the C ABI that pairalign/engines/cpu/cpu_bitwise.py declares
// with ctypes.
//
// After T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
// bitwise parallel bulk computation technique on GPU (IPDPS Workshops 2017). The circuit is that of
// common/bitwise_cell.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/sets.h"
#include "../export.h"

// Costs as in pairalign/engines/bitwise_scoring.py: all but `match` are costs, without a common factor but
// `factor`.
struct pairalign_linear {
    int32_t match, mismatch, gap, factor;
    int32_t low_bits;  // on which cells are compared
};

// Raw scores of the pairs of a window in its order, those with pair_mask[pair] = 0 left as they are;
// pair_mask may be null. window->strand -1: columns are reverse-complemented here. *cancelled may become 1
// while it runs. Codes 0 to 3 are A, C, G, T.
PAIRALIGN_API int32_t pairalign_bitwise_scores(const pairalign_set* first, const pairalign_set* second,
                                               const pairalign_window* window, const pairalign_linear* costs,
                                               const uint8_t* pair_mask, int32_t threads,
                                               const char* instruction_set, const int32_t* cancelled,
                                               int32_t* scores);

namespace pairalign {

constexpr int BITWISE_STRIP = 32;  // columns whose scores stay in the first-level cache
constexpr int BITWISE_MOST_BITS = 32;

// A word of pairs. Planes are [residue][3][words of 64 pairs]: three bits of a residue, so that a row's and a
// column's agree only where the residues match:   A 0, C 1, G 2, T 3 on both sides; none: rows 7, columns 4
struct BitwiseJob {
    int32_t rows, columns;  // of the longest
    const uint64_t *row_planes, *column_planes;
    uint64_t* border;  // [rows][bits] words: the last column of the strip before
    uint64_t* strip;   // [BITWISE_STRIP][bits] words
    uint64_t* best;    // [bits] words; out
    pairalign_linear costs;
    int32_t bits;  // of a score
    const volatile int32_t* cancelled;
};

struct BitwiseKernel {
    const char* name;                     // of the instruction set
    int quads;                            // words of 64 pairs
    int (*bits)(int low_bits, int bits);  // what scores of so many bits are kept in
    void (*score)(const BitwiseJob& job);
};

}  // namespace pairalign
