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

// What is known of texts that share a beginning, after `used` residues: the words of x that paths reach.
struct Progress {
    int32_t used, first, last, ahead;  // words from `first` to `last` - 1 are in the window
    Lanes passed;                      // zeros of words before
};

// Looks at texts that begin alike with one group of patterns.
class TextsOfGroup {
public:
    TextsOfGroup(const MaskGroup& group, const SortedTexts& texts, const NeededMatches& needed,
                 uint64_t* memory)
        : group_(group), texts_(texts), needed_(needed), x_(reinterpret_cast<Lanes*>(memory)) {
        uint64_t numbers[LANES];
        for (int lane = 0; lane < LANES; lane++) numbers[lane] = static_cast<uint64_t>(needed.spare[lane]);
        spare_ = load(numbers);
        more_ = needed.more();
        most_spare_ = *std::max_element(needed.spare, needed.spare + LANES);
        int32_t longest = 0;
        for (int32_t k = 0; k < texts.count; k++) longest = std::max(longest, texts.lengths[k]);
        apart_ = std::max(LEAST_STEP, longest / (MOST_KEPT - 1) + 1);
        for (int32_t w = 0; w < group.words; w++) x_[w] = all_lanes(ALL);
        kept_[0] = {0, 0, 0, needed.ahead, all_lanes(0)};
    }

    void find(FoundTexts& found) {
        found.count = 0;
        int32_t lost_at = INT32_MAX;  // of the text that was looked at last
        for (int32_t k = 0, kept = 1; k < texts_.count; k++) {
            if (k > 0 && texts_.shared[k] >= lost_at) continue;
            while (k > 0 && kept_[kept - 1].used > texts_.shared[k]) kept--;
            const int32_t shared = k + 1 < texts_.count ? texts_.shared[k + 1] : 0;
            lost_at = look(k, shared, kept, found.common[found.count]);
            if (lost_at != INT32_MAX) continue;
            found.texts[found.count++] = k;
        }
        found.words = words_;
    }

private:
    // The words of x of what is kept.
    Lanes* words_of(int32_t kept) { return x_ + kept * group_.words; }

    // Zeros of the words of the window, up to the pattern's residue `stop`.
    Lanes count_up_to(const Progress& at, const Lanes* x, int32_t stop) const {
        Lanes sum = at.passed;
        for (int32_t w = at.first; w < at.last && w * BITS_OF_WORD < stop; w++) {
            const int32_t bits = stop - w * BITS_OF_WORD;
            const uint64_t some = bits < BITS_OF_WORD ? (uint64_t{1} << bits) - 1 : ALL;
            sum = sum + count_bits(~x[w] & some);
        }
        return sum;
    }

    static void store_counts(const Lanes& counts, int32_t* common) {
        uint64_t numbers[LANES];
        store(numbers, counts);
        for (int lane = 0; lane < LANES; lane++) common[lane] = static_cast<int32_t>(numbers[lane]);
    }

    // Looks at a text from what is kept last. Keeps what the next one begins with. Returns how many residues
    // show that nothing is left, or INT32_MAX and what is common.
    int32_t look(int32_t number, int32_t shared, int32_t& kept, int32_t* common) {
        const Text text{texts_.codes[number], texts_.lengths[number], texts_.unambiguous};
        Progress at = kept_[kept - 1];
        Lanes* x = words_of(MOST_KEPT);
        std::memcpy(x, words_of(kept - 1), static_cast<size_t>(group_.words) * sizeof(Lanes));
        int32_t look = at.used;
        for (;;) {
            if (at.used >= look) {
                const Lanes left = spare_ - static_cast<uint64_t>(at.used);
                const int32_t stop = at.used + more_;
                int64_t slack = LEAST_STEP;
                if (stop >= 0) {
                    const Lanes most = count_up_to(at, x, stop) + left;
                    if (!is_any_positive(most)) return at.used;
                    if (most_spare_ >= LEAST_STEP) slack = largest_lane(most);
                }
                if (at.used == text.length) {
                    store_counts(count_up_to(at, x, INT32_MAX), common);
                    return INT32_MAX;
                }
                // What is further ahead has fewer matches before it than these.
                if (most_spare_ >= LEAST_STEP) {
                    const int64_t most = largest_lane(count_up_to(at, x, INT32_MAX) + left);
                    const int32_t strays = most_straying(most, needed_.straying);
                    at.ahead = std::min(at.ahead, std::max(0, more_) + strays);
                }
                if (at.used <= shared && kept < MOST_KEPT && at.used >= kept_[kept - 1].used + apart_) {
                    std::memcpy(words_of(kept), x, static_cast<size_t>(group_.words) * sizeof(Lanes));
                    kept_[kept++] = at;
                }
                const int32_t most_step = std::max(LEAST_STEP, text.length / LEAST_LOOKS);
                look = at.used + static_cast<int32_t>(std::clamp<int64_t>(slack + 1, LEAST_STEP, most_step));
                look = std::min(look, text.length);
            }
            advance_to(at, x, text, look);
        }
    }

    // Until another word is reached, or left behind: matches in other words are not needed.
    void advance_to(Progress& at, Lanes* x, const Text& text, int32_t look) {
        const int32_t j = at.used, first = std::max(0, j - needed_.behind) / BITS_OF_WORD;
        const int32_t reached = std::max((j + at.ahead) / BITS_OF_WORD + 1, at.last);
        for (; at.first < first && at.first < at.last; at.first++)
            at.passed = at.passed + count_bits(~x[at.first] & ALL);
        at.last = std::min(group_.words, reached);
        const int32_t stop =
            std::min({look, reached * BITS_OF_WORD - at.ahead, (first + 1) * BITS_OF_WORD + needed_.behind});
        if (at.first < at.last)
            advance_words(reinterpret_cast<uint64_t*>(x + at.first), group_.masks + at.first * LANES,
                          int64_t{group_.words} * LANES, at.last - at.first, text, j, stop);
        words_ += int64_t{stop - j} * (at.last - at.first);
        at.used = stop;
    }

    const MaskGroup& group_;
    const SortedTexts& texts_;
    const NeededMatches& needed_;
    Lanes* x_;  // [MOST_KEPT + 1][words]: what is kept, and of the text that is looked at
    Lanes spare_;
    int32_t more_, apart_, most_spare_;
    Progress kept_[MOST_KEPT];
    int64_t words_ = 0;
};

static void count_common(const MaskGroup& group, const SortedTexts& texts, const NeededMatches& needed,
                         uint64_t* memory, FoundTexts& found) {
    TextsOfGroup(group, texts, needed, memory).find(found);
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
