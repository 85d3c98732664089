// Longest common subsequences of a text with eight patterns, in lanes, for one instruction set: included by
// kernel_*.cpp, which say which one. What they are for is in subsequences.h.
//
// A bit of x is a residue of the pattern, 63 of them a word; it is 0 where the longest common subsequence of
// the text so far with the pattern up to there is longer than with the pattern before (Hyyro 2004):
//
//     u = x & M[residue],   x = (x + u) | (x & ~M[residue])
//
// so that the zeros are its length. The sum carries from word to word through the bit that is left free,
// without a comparison, which AVX2 and SSE4.1 lack for these. There x keeps the carry, u has it as well, and
// what both add to it is carried away.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lanes.h"
#include "subsequences.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

constexpr uint64_t ALL = ~FREE_BIT;
constexpr int32_t LEAST_STEP = 8;  // residues of the text between two looks at what is left to be had
constexpr int32_t LEAST_LOOKS = 8;
constexpr int32_t STEP = 8;   // residues that a window stands still for
constexpr int32_t LOOK = 16;  // and between two looks there
constexpr int BASES = 4;

// Residues j to stop - 1 of the text with W words of x, or with `words` where W is 0. masks: those of the
// first of these words; a residue's are `stride` from those of the one before. One vector after the other:
// so that the words of all residues stay in registers.
template <int W>
static void advance(uint64_t* x, const uint64_t* masks, int64_t stride, int32_t words, const Text& text,
                    int32_t j, int32_t stop) {
    for (int part = 0; part < PARTS; part++, x += LANES / PARTS, masks += LANES / PARTS) {
        Part own[W ? W : 1];
#pragma GCC unroll 10
        for (int w = 0; w < W; w++) own[w] = load_part(x + w * LANES);
        for (int32_t k = j; k < stop; k++) {
            const int32_t code = text.codes[k];
            if (code >= text.unambiguous) continue;  // matches nothing
            const uint64_t* of_code = masks + code * stride;
            Part carry = {};
#pragma GCC unroll 10
            for (int32_t w = 0; w < (W ? W : words); w++) {
                const Part m = load_part(of_code + w * LANES), one = W ? own[w] : load_part(x + w * LANES);
                const Part sum = one + (one & m) + carry;
                carry = sum >> BITS_OF_WORD;
                if (W) own[w] = sum | (one & ~m);
                else store_part(x + w * LANES, sum | (one & ~m));
            }
        }
#pragma GCC unroll 10
        for (int w = 0; w < W; w++) store_part(x + w * LANES, own[w]);
    }
}

static void advance_words(uint64_t* x, const uint64_t* masks, int64_t stride, int32_t words, const Text& text,
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

// Where the words of x are, and what has been found in them.
struct Found {
    Lanes* x;
    int32_t first, last;  // words of the window
    Lanes passed;         // zeros of those before
    Lanes common;         // of all
};

// What the best lane can have more than it needs at last, once j residues of the text have been used; less
// than 0 if none can have what it needs. Looks at each half of a word of which a path may be.
static int64_t find_slack(Found& found, const NeededMatches& needed, const Lanes& least, int32_t j,
                          int32_t left) {
    // Of paths that have used start <= i <= stop residues of the pattern.
    const auto most_after = [&](int32_t start, int32_t stop) {
        const int32_t strays = std::max({0, start - j - needed.highest, needed.lowest - (stop - j)});
        return static_cast<uint64_t>(int64_t{std::min(left, needed.longest - start)} -
                                     int64_t{strays} * needed.straying / 1024);
    };
    Lanes sum = found.passed;
    const int32_t begin = found.first * BITS_OF_WORD;
    Lanes most = sum + most_after(begin, begin);
    for (int32_t w = found.first; w < found.last; w++) {
        const Lanes halves = count_in_halves(~found.x[w] & ALL), low = sum + (halves & 0x3f);
        const int32_t start = w * BITS_OF_WORD;
        sum = low + (halves >> 32);
        most = larger(most, low + most_after(start, start + 32));
        most = larger(most, sum + most_after(start + 32, start + BITS_OF_WORD));
    }
    found.common = sum;
    return largest_lane(most - least);
}

// In the words that the window has reached and not left behind: matches elsewhere are not needed.
static int64_t run(const MaskGroup& group, const Text& text, const NeededMatches& needed, int32_t* common,
                   uint64_t* memory) {
    Found found{reinterpret_cast<Lanes*>(memory), 0, 0, all_lanes(0), all_lanes(0)};
    for (int32_t w = 0; w < group.words; w++) found.x[w] = all_lanes(ALL);
    uint64_t numbers[LANES];
    for (int lane = 0; lane < LANES; lane++) numbers[lane] = static_cast<uint64_t>(needed.least[lane]);
    const Lanes least = load(numbers);
    const int64_t stride = int64_t{group.words} * LANES;
    int64_t words = 0;
    int32_t ahead = needed.ahead;
    for (int32_t j = 0, look = 0;;) {
        if (j >= look) {
            const int64_t slack = find_slack(found, needed, least, j, text.length - j);
            if (slack < 0) found.common = all_lanes(0);
            if (slack < 0 || j == text.length) break;
            const int32_t most_step = std::max(LEAST_STEP, text.length / LEAST_LOOKS);
            look = j + static_cast<int32_t>(std::clamp<int64_t>(slack + 1, LEAST_STEP, most_step));
            look = std::min(look, text.length);
            // What is further ahead has fewer matches before it than these.
            const int64_t most = largest_lane(found.common - least) + text.length - j;
            ahead = std::min(ahead, needed.highest + most_straying(most, needed.straying));
        }
        const int32_t first = std::max(0, j - needed.behind) / BITS_OF_WORD;
        const int32_t reached = std::max((j + ahead) / BITS_OF_WORD + 1, found.last);
        for (; found.first < first && found.first < found.last; found.first++)
            found.passed = found.passed + count_bits(~found.x[found.first] & ALL);
        found.last = std::min(group.words, reached);
        // Until another word is reached, or left behind.
        const int32_t stop =
            std::min({look, reached * BITS_OF_WORD - ahead, (first + 1) * BITS_OF_WORD + needed.behind});
        if (found.first < found.last)
            advance_words(memory + found.first * LANES, group.masks + found.first * LANES, stride,
                          found.last - found.first, text, j, stop);
        words += int64_t{stop - j} * (found.last - found.first);
        j = stop;
    }
    store(numbers, found.common);
    for (int lane = 0; lane < LANES; lane++) common[lane] = static_cast<int32_t>(numbers[lane]);
    return words;
}

// As `run`, of one word of 64 bits that moves along the pattern with the text: from `behind` residues before
// the text's; for the lanes of one vector. FEW: there are at most FEW codes, so that their masks are made
// once for STEP residues of the text. Returns where in the text it is known that no lane has what it needs.
template <int FEW>
static int32_t run_in_window(const MaskGroup& group, const Text& text, const NeededMatches& needed, int part,
                             int32_t* common) {
    static_assert(STEP == 8, "count_low_bits");
    constexpr int WIDTH = LANES / PARTS;
    const Part none = {};
    Part x = ~none, passed = none;  // zeros that the window has left behind
    uint64_t numbers[WIDTH];
    for (int lane = 0; lane < WIDTH; lane++)
        numbers[lane] = static_cast<uint64_t>(needed.least[part * WIDTH + lane]);
    const Part least = load_part(numbers);
    for (int32_t j = 0, look = LOOK;;) {
        // The word before the first bit and that after it; before the pattern and after it bits are 0.
        const int32_t first = j - needed.behind, before = first >= 0 ? first / BITS_OF_WORD : -1;
        const int32_t shift = first - before * BITS_OF_WORD, back = BITS_OF_WORD - shift;
        const bool has_low = before >= 0 && before < group.words, has_high = before + 1 < group.words;
        const auto mask_of = [&](int32_t code) {
            const uint64_t* masks =
                group.masks + (static_cast<int64_t>(code) * group.words + before) * LANES + part * WIDTH;
            const Part low = has_low ? load_part(masks) & ALL : none;
            const Part high = has_high ? load_part(masks + LANES) : none;
            return (low >> shift) | (high << back);
        };
        Part made[FEW ? FEW : 1];
        for (int32_t code = 0; FEW && code < text.unambiguous; code++) made[code] = mask_of(code);
        const int32_t stop = text.length - j < STEP ? text.length : j + STEP;
        for (; j < stop; j++) {
            const int32_t code = text.codes[j];
            if (code >= text.unambiguous) continue;  // matches nothing
            const Part m = FEW ? made[code] : mask_of(code);
            x = (x + (x & m)) | (x & ~m);
        }
        if (j >= look || j == text.length) {
            const Part found = passed + count_bits(~x);
            // No lane can reach what it needs, or the text is at its end.
            if (j == text.length ||
                !is_any_positive(found + static_cast<uint64_t>(text.length - j) - least)) {
                store_part(numbers, found);
                for (int lane = 0; lane < WIDTH; lane++)
                    common[part * WIDTH + lane] = static_cast<int32_t>(numbers[lane]);
                return j;
            }
            look = j + LOOK;
        }
        passed = passed + count_low_bits(~x);
        x = (x >> STEP) | (~none << (64 - STEP));
    }
}

template <int FEW>
static int64_t run_in_windows(const MaskGroup& group, const Text& text, const NeededMatches& needed,
                              int32_t* common) {
    int32_t last = 0;
    for (int part = 0; part < PARTS; part++)
        last = std::max(last, run_in_window<FEW>(group, text, needed, part, common));
    return last;
}

static int64_t count_common(const MaskGroup& group, const Text& text, const NeededMatches& needed,
                            int32_t* common, uint64_t* memory) {
    if (group.words > 1 && needed.behind + needed.ahead + STEP <= 64)
        return text.unambiguous <= BASES ? run_in_windows<BASES>(group, text, needed, common)
                                         : run_in_windows<0>(group, text, needed, common);
    return run(group, text, needed, common, memory);
}

// How many residues a sequence shares with each of some others, in any order.
static void bound_by_residues(const uint16_t* counts, size_t stride, const uint16_t* own, int32_t codes,
                              uint16_t* bounds) {
    constexpr int PART = 32 / PARTS;
    typedef uint16_t Counts __attribute__((vector_size(2 * PART)));
    for (int k = 0; k < PARTS; k++) {
        Counts sum = {};
        for (int32_t code = 0; code < codes; code++) {
            Counts others, same = Counts{} + own[code];
            std::memcpy(&others, counts + static_cast<size_t>(code) * stride + k * PART, sizeof others);
            sum += same < others ? same : others;
        }
        std::memcpy(bounds + k * PART, &sum, sizeof sum);
    }
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
