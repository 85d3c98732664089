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

#include <algorithm>
#include <cstdint>

#include "lanes.h"
#include "subsequences.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

constexpr uint64_t ALL = ~uint64_t(0) >> 1;
constexpr int32_t LEAST_STEP = 8;  // residues of the text between two looks at what is left to be had
constexpr int32_t STEP = 8;        // residues that a window stands still for
constexpr int32_t LOOK = 16;       // and between two looks there
constexpr int BASES = 4;

// Residues j to stop - 1 of the text with W words of x, or with `words` where W is 0. masks: those of the
// first of these words; a residue's are `stride` from those of the one before.
template <int W>
static void advance(Lanes* x, const uint64_t* masks, int64_t stride, int32_t words, const Text& text,
                    int32_t j, int32_t stop) {
    Lanes own[W ? W : 1];
#pragma GCC unroll 10
    for (int w = 0; w < W; w++) own[w] = x[w];
    for (; j < stop; j++) {
        const int32_t code = text.codes[j];
        if (code >= text.unambiguous) continue;  // matches nothing
        const uint64_t* of_code = masks + code * stride;
        Lanes carry = all_lanes(0);
#pragma GCC unroll 10
        for (int32_t w = 0; w < (W ? W : words); w++) {
            Lanes& own_word = W ? own[w] : x[w];
            const Lanes m = load(of_code + w * LANES), sum = own_word + (own_word & m) + carry;
            carry = sum >> 63;
            own_word = (sum | (own_word & ~m)) & ALL;
        }
    }
#pragma GCC unroll 10
    for (int w = 0; w < W; w++) x[w] = own[w];
}

static void advance_words(Lanes* x, const uint64_t* masks, int64_t stride, int32_t words, const Text& text,
                          int32_t j, int32_t stop) {
    switch (words) {
#define PAIRALIGN_WORDS(W) \
    case W:                \
        return advance<W>(x, masks, stride, words, text, j, stop);
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
            return advance<0>(x, masks, stride, words, text, j, stop);
    }
}

// In the words that the window has reached and not left behind: matches elsewhere are not needed.
static void run(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t behind,
                int32_t unmatched, int32_t* common, uint64_t* memory) {
    Lanes* x = reinterpret_cast<Lanes*>(memory);
    for (int32_t w = 0; w < group.words; w++) x[w] = all_lanes(ALL);
    const int64_t stride = int64_t{group.words} * LANES;
    int32_t last = 0;  // words that have been reached
    for (int32_t j = 0, look = 0;;) {
        if (j >= look) {
            Lanes found = all_lanes(0);
            for (int32_t w = 0; w < last; w++) found = found + count_bits(~x[w] & ALL);
            uint64_t zeros[LANES];
            store(zeros, found);
            int32_t slack = -1;  // residues of the text that can go without a match
            for (int lane = 0; lane < LANES; lane++) {
                common[lane] = static_cast<int32_t>(zeros[lane]);
                if (needed[lane] != NEVER_NEEDED)
                    slack = std::max(slack, common[lane] + text.length - j - needed[lane]);
            }
            if (slack < 0 || j == text.length) return;
            look = std::min(text.length, j + std::max(slack + 1, LEAST_STEP));
        }
        const int32_t stop = std::min(look, j + BITS_OF_WORD), first = std::max(0, j - behind) / BITS_OF_WORD;
        last = std::min(group.words, (stop - 1 + unmatched) / BITS_OF_WORD + 1);
        if (first < last)
            advance_words(x + first, group.masks + first * LANES, stride, last - first, text, j, stop);
        j = stop;
    }
}

// As `run`, of one word of 64 bits that moves along the pattern with the text: from `behind` residues before
// the text's. FEW: there are at most FEW codes, so that their masks are made once for STEP residues of the
// text.
template <int FEW>
static void run_in_window(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t behind,
                          int32_t* common) {
    static_assert(STEP == 8, "count_low_bits");
    const Lanes none = all_lanes(0);
    Lanes x = ~none, passed = none;  // zeros that the window has left behind
    uint64_t numbers[LANES];
    for (int lane = 0; lane < LANES; lane++) numbers[lane] = static_cast<uint64_t>(needed[lane]);
    const Lanes least = load(numbers);
    for (int32_t j = 0, look = LOOK;;) {
        // The word before the first bit and that after it; before the pattern and after it bits are 0.
        const int32_t first = j - behind, before = first >= 0 ? first / BITS_OF_WORD : -1;
        const int32_t shift = first - before * BITS_OF_WORD, back = BITS_OF_WORD - shift;
        const bool has_low = before >= 0 && before < group.words, has_high = before + 1 < group.words;
        const auto mask_of = [&](int32_t code) {
            const uint64_t* masks = group.masks + (static_cast<int64_t>(code) * group.words + before) * LANES;
            const Lanes low = has_low ? load(masks) : none, high = has_high ? load(masks + LANES) : none;
            return (low >> shift) | (high << back);
        };
        Lanes made[FEW ? FEW : 1];
        for (int32_t code = 0; FEW && code < text.unambiguous; code++) made[code] = mask_of(code);
        const int32_t stop = text.length - j < STEP ? text.length : j + STEP;
        for (; j < stop; j++) {
            const int32_t code = text.codes[j];
            if (code >= text.unambiguous) continue;  // matches nothing
            const Lanes m = FEW ? made[code] : mask_of(code);
            x = (x + (x & m)) | (x & ~m);
        }
        if (j >= look || j == text.length) {
            const Lanes found = passed + count_bits(~x);
            // No lane can reach what it needs, or the text is at its end.
            if (j == text.length ||
                !is_any_positive(found + static_cast<uint64_t>(text.length - j) - least)) {
                store(numbers, found);
                for (int lane = 0; lane < LANES; lane++) common[lane] = static_cast<int32_t>(numbers[lane]);
                return;
            }
            look = j + LOOK;
        }
        passed = passed + count_low_bits(~x);
        x = (x >> STEP) | (~none << (64 - STEP));
    }
}

// Writes how long the common subsequences are; less where a lane cannot reach what it needs.
static void count_common(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t unmatched,
                         int32_t* common, uint64_t* memory) {
    int32_t behind = 0;  // residues of the text that may have no match
    for (int lane = 0; lane < LANES; lane++)
        if (needed[lane] != NEVER_NEEDED && text.length - needed[lane] > behind)
            behind = text.length - needed[lane];
    if (group.words > 1 && behind + unmatched + STEP <= 64)
        return text.unambiguous <= BASES ? run_in_window<BASES>(group, text, needed, behind, common)
                                         : run_in_window<0>(group, text, needed, behind, common);
    run(group, text, needed, behind, unmatched, common, memory);
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
