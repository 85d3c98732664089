// Longest common subsequences of a text with eight patterns, in lanes, for one instruction set: included by
// kernel_*.cpp, which say which one. What they are for is in subsequences.h.
//
// A bit of x is a residue of the pattern, 63 of them a word; it is 0 where the longest common subsequence of
// the text so far with the pattern up to there is longer than with the pattern before (Hyyro 2004):
//
//     u = x & M[residue],   x = (x + u) | (x & ~M[residue])
//
// so that the zeros are its length. The sum carries from word to word through the bit that is left free,
// without a comparison, which AVX2 and SSE4.1 lack for these.
#pragma once

#include <cstdint>
#include <cstring>

#include "subsequences.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

typedef uint64_t Lanes __attribute__((vector_size(64)));

constexpr uint64_t ALL = ~uint64_t(0) >> 1;
constexpr int32_t LEAST_STEP = 8;  // residues of the text between two looks at what is left to be had

static inline void load(Lanes& lanes, const uint64_t* from) { std::memcpy(&lanes, from, sizeof lanes); }

// x of W words, or of `words` in memory where W is 0.
template <int W>
static void run(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t* common,
                uint64_t* memory) {
    const int32_t words = W ? W : group.words;
    Lanes own[W ? W : 1];
    Lanes* x = W ? own : reinterpret_cast<Lanes*>(memory);
    for (int32_t w = 0; w < words; w++) x[w] = Lanes{} + ALL;
    int32_t j = 0, slack = 0;  // residues of the text that can go without a match until no lane can reach all
    for (int32_t lane = 0; lane < LANES; lane++)
        if (needed[lane] != NEVER_NEEDED && text.length - needed[lane] > slack)
            slack = text.length - needed[lane];
    while (j < text.length && slack >= 0) {
        const int32_t step = slack < LEAST_STEP ? LEAST_STEP : slack + 1;
        const int32_t stop = text.length - j < step ? text.length : j + step;
        for (; j < stop; j++) {
            const int32_t code = text.codes[j];
            if (code >= text.definite) continue;  // matches nothing
            const uint64_t* masks = group.masks + static_cast<int64_t>(code) * group.words * LANES;
            Lanes carry = {};
#pragma GCC unroll 10
            for (int32_t w = 0; w < words; w++) {
                Lanes m;
                load(m, masks + w * LANES);
                const Lanes sum = x[w] + (x[w] & m) + carry;
                carry = sum >> 63;
                x[w] = (sum | (x[w] & ~m)) & ALL;
            }
        }
        slack = -1;
        for (int lane = 0; lane < LANES; lane++) {
            int32_t zeros = BITS_OF_WORD * words;
            for (int32_t w = 0; w < words; w++) zeros -= __builtin_popcountll(x[w][lane]);
            common[lane] = zeros;
            if (needed[lane] != NEVER_NEEDED && zeros + text.length - j - needed[lane] > slack)
                slack = zeros + text.length - j - needed[lane];
        }
    }
}

// Writes how long the common subsequences are; less where a lane cannot reach what it needs.
static void count_common(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t* common,
                         uint64_t* memory) {
    switch (group.words) {
#define PAIRALIGN_WORDS(W) \
    case W:                \
        return run<W>(group, text, needed, common, memory);
        PAIRALIGN_WORDS(1)
        PAIRALIGN_WORDS(2)
        PAIRALIGN_WORDS(3)
        PAIRALIGN_WORDS(4)
        PAIRALIGN_WORDS(5)
        PAIRALIGN_WORDS(6)
        PAIRALIGN_WORDS(7)
        PAIRALIGN_WORDS(8)
        PAIRALIGN_WORDS(9)
        PAIRALIGN_WORDS(10)
#undef PAIRALIGN_WORDS
        default:
            return run<0>(group, text, needed, common, memory);
    }
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
