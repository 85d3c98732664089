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

// How many bits of each lane's lowest eight are set.
static inline Lanes count_low_bits(const Lanes& lanes) {
    Lanes bits = lanes & 0xff;
    bits -= (bits >> 1) & 0x55;
    bits = (bits & 0x33) + ((bits >> 2) & 0x33);
    return (bits + (bits >> 4)) & 0xf;
}

// As `run`, of one word that moves along the pattern with the text: from `behind` residues before the text's.
static void run_in_window(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t behind,
                          int32_t* common) {
    static_assert(LEAST_STEP == 8, "count_low_bits");
    const Lanes none = {};
    Lanes x = Lanes{} + ALL, passed = {};  // zeros that the window has left behind
    for (int32_t j = 0, look = behind;;) {
        // The word before the first bit and that after it; before the pattern and after it bits are 0.
        const int32_t first = j - behind, before = first >= 0 ? first / BITS_OF_WORD : -1;
        const int32_t shift = first - before * BITS_OF_WORD, back = BITS_OF_WORD - shift;
        const bool has_low = before >= 0 && before < group.words, has_high = before + 1 < group.words;
        const int32_t stop = text.length - j < LEAST_STEP ? text.length : j + LEAST_STEP;
        for (; j < stop; j++) {
            const int32_t code = text.codes[j];
            if (code >= text.definite) continue;  // matches nothing
            const uint64_t* masks = group.masks + (static_cast<int64_t>(code) * group.words + before) * LANES;
            Lanes low = none, high = none;
            if (has_low) load(low, masks);
            if (has_high) load(high, masks + LANES);
            const Lanes m = ((low >> shift) | (high << back)) & ALL;
            const Lanes sum = x + (x & m);
            x = (sum | (x & ~m)) & ALL;
        }
        if (j >= look || j == text.length) {
            int32_t slack = -1;  // residues of the text that can go without a match
            for (int lane = 0; lane < LANES; lane++) {
                common[lane] =
                    static_cast<int32_t>(passed[lane]) + BITS_OF_WORD - __builtin_popcountll(x[lane]);
                if (needed[lane] != NEVER_NEEDED && common[lane] + text.length - j - needed[lane] > slack)
                    slack = common[lane] + text.length - j - needed[lane];
            }
            if (slack < 0 || j == text.length) return;
            look = j + slack + 1;
        }
        passed += count_low_bits(~x);
        x = (x >> LEAST_STEP) | (ALL ^ (ALL >> LEAST_STEP));
    }
}

// Writes how long the common subsequences are; less where a lane cannot reach what it needs.
static void count_common(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t unmatched,
                         int32_t* common, uint64_t* memory) {
    int32_t behind = 0;  // residues of the text that may have no match
    for (int lane = 0; lane < LANES; lane++)
        if (needed[lane] != NEVER_NEEDED && text.length - needed[lane] > behind)
            behind = text.length - needed[lane];
    if (group.words > 1 && behind + unmatched + LEAST_STEP <= BITS_OF_WORD)
        return run_in_window(group, text, needed, behind, common);
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
