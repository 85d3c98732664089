// How many residues two sequences can have matched at most: the length of their longest common subsequence.
//
// The matches of an alignment, one after the other, are a common subsequence of unambiguous residues of both
// sequences, whatever the mode. So an alignment that passes and must have K matches (least_matches in
// thresholds.h, every identity and mode) is one of sequences that have a common subsequence of K residues:
// what has none is dropped, and nothing is lost. Ambiguous residues match nothing, not even themselves, here
// as there.
//
// Sequences of the columns are put into groups of eight neighbours, of about the same length, whose bits
// stand in the lanes of vectors. Where few of a group are left to be looked at, eight of several groups are
// put together.
//
// A window is enough. Let K matches be needed of a pattern of P residues and a text of T. Before a match of
// the pattern's residue i with the text's residue j, i - j residues of the pattern at least have no match,
// and it has at most P - K such; the same of the text: so -(T - K) <= i - j <= P - K for each match of an
// alignment that has K. Where the others are left out, a common subsequence of K residues is still found, and
// nothing that is found is longer than the longest: P + T - 2K + 1 residues of the pattern are looked at for
// each of the text, which is few where K is nearly P, as of identity `shorter`.
//
// Straying. Where all columns count (`columns` in mode global, and `full`), an alignment of M matches, X
// mismatches and G residues in gaps, or aligned with nothing, has P + T = 2M + 2X + G and M >= p (M + X + G)
// = p (P + T + G) / 2. Where its path leaves the diagonals i - j between 0 and D = P - T by d, G is at least
// |D| + 2d. So M >= K + p d with K = p max(P, T), and M <= min(P, T) - d: hence d <= (min(P, T) - K) / (1 +
// p). With p = 0 that is the window above. Where K is rounded up, M >= K + p d rounded down, so that d (1 +
// p) is less than min(P, T) - K + 1 (most_straying).
//
// Giving up. A path that has used i residues of the pattern when it has used j of the text has at most L(i,
// j), the longest common subsequence of both, and min(P - i, T - j) matches more. Where that is less than K +
// p d for each i of the window, nothing that passes is left.
// A path that is on diagonal D + d > D after that has at most L(P, j) + T - j - d matches: so d is bounded as
// above, with L(P, j) + T - j in place of T, and the window becomes narrower.
//
// H. Hyyro: Bit-parallel LCS-length computation revisited. AWOCA 2004.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../align/engine.h"
#include "thresholds.h"

namespace pairalign {

constexpr int LANES = 8;
constexpr int BITS_OF_WORD = 63;
constexpr int32_t NEVER_NEEDED = INT32_MAX;  // of a lane that is not looked at

// The bit of a word that has no residue is 1 in all masks: so the carry that a sum leaves there is gone after
// the next one.
constexpr uint64_t FREE_BIT = uint64_t{1} << BITS_OF_WORD;

// Bits of eight sequences: masks[unambiguous][words][LANES]. A bit is 1 where the sequence has the residue.
struct MaskGroup {
    const uint64_t* masks;
    int32_t words;
};

struct Text {
    const uint8_t* codes;
    int32_t length, unambiguous;  // codes from `unambiguous` on match nothing
};

// Which share of a residue that a path strays is a match more that it needs, in 1024ths, rounded down.
int32_t share_of_straying(const pairalign_thresholds& thresholds);

// How many diagonals a path may stray that may leave `unmatched` residues of the shorter sequence alone.
inline int32_t most_straying(int64_t unmatched, int32_t share) {
    return static_cast<int32_t>((1024 * (unmatched + 1) - 1) / (1024 + share));
}

// What eight patterns need of a text, and where the paths are that have it.
struct NeededMatches {
    int32_t straying = 0;  // share_of_straying
    int32_t least[LANES];  // NEVER_NEEDED for those that are not looked at
    // Of those that are: the most residues of a pattern that a path may be ahead of the text, or behind;
    // diagonals where it does not stray; and how long the longest is.
    int32_t ahead = 0, behind = 0, lowest = 0, highest = 0, longest = 0;

    explicit NeededMatches(int32_t share) : straying(share) { std::fill_n(least, LANES, NEVER_NEEDED); }

    // A lane, its pattern's length and that of the text; `matches` is at most the shorter one.
    void set(int lane, int32_t matches, int32_t pattern, int32_t text) {
        least[lane] = matches;
        if (matches == NEVER_NEEDED) return;
        const int32_t more = pattern - text;
        const int32_t most = most_straying(std::min(pattern, text) - matches, straying);
        highest = std::max(highest, more);
        lowest = std::min(lowest, more);
        ahead = std::max(ahead, std::max(0, more) + most);
        behind = std::max(behind, std::max(0, -more) + most);
        longest = std::max(longest, pattern);
    }
};

// count_common writes how long the common subsequences are, as far as paths are not elsewhere; 0 where no
// lane can have what it needs. memory: words * LANES of room. Returns how many words it has looked at.
// bound_by_residues writes how many residues `own` shares with each of ResidueCounts::BLOCK sequences, in any
// order.
struct SubsequenceKernel {
    const char* name;
    int64_t (*count_common)(const MaskGroup& group, const Text& text, const NeededMatches& needed,
                            int32_t* common, uint64_t* memory);
    void (*bound_by_residues)(const uint16_t* counts, size_t stride, const uint16_t* own, int32_t codes,
                              uint16_t* bounds);
};

// How often each sequence of a set has each residue: a common subsequence has at most the smaller number.
class ResidueCounts {
public:
    static constexpr int32_t BLOCK = 32, MOST_CODES = 32;

    ResidueCounts(const pairalign_set& set, int32_t unambiguous);

    // Whether there is room for the numbers; else nothing is known.
    static bool fit(const pairalign_set& set);

    // The most residues that a sequence shares with those of block `number`.
    void bound(const SubsequenceKernel& kernel, const uint16_t* own, int32_t number, uint16_t* bounds) const {
        kernel.bound_by_residues(counts_.data() + size_t{BLOCK} * static_cast<size_t>(number), stride_, own,
                                 unambiguous_, bounds);
    }
    // Counts the residues of one sequence.
    static void count(const uint8_t* codes, int32_t length, int32_t unambiguous, uint16_t* own);

private:
    int32_t unambiguous_;
    size_t stride_;
    std::vector<uint16_t> counts_;  // [unambiguous][stride]
};

// The kernel of an instruction set; the best there is if the name is null or empty. Null: there is none.
const SubsequenceKernel* choose_subsequences(const char* name);

// The groups of a set, by sorted position.
class MatchMasks {
public:
    MatchMasks(const pairalign_set& set, int32_t unambiguous, int32_t threads);

    int32_t unambiguous() const { return unambiguous_; }
    MaskGroup group(int32_t number) const {
        const size_t k = static_cast<size_t>(number);
        return {masks_.data() + starts_[k], words_[k]};
    }
    int32_t length(int32_t position) const { return lengths_[position]; }
    // Copies the bits of a sequence into a lane of a group of so many words.
    void copy(int32_t position, uint64_t* masks, int32_t words, int lane) const;

private:
    int32_t unambiguous_;
    const int32_t* lengths_;
    std::vector<size_t> starts_;
    std::vector<int32_t> words_;
    std::vector<uint64_t> masks_;
};

// What a pair's mask is once its subsequence has been looked at, until `settle`.
constexpr uint8_t LOOKED_AT = 2;

// Looks at pairs of texts with sequences of a set, eight at a time.
class SubsequenceLooker {
public:
    SubsequenceLooker(const MatchMasks& masks, const SubsequenceKernel& kernel, int32_t straying)
        : masks_(masks), kernel_(kernel), straying_(straying) {}

    // Words that have been looked at, of all lanes.
    int64_t words() const { return words_; }

    // Looks at a text with all sequences of a group. least[LANES]: the matches that they must have,
    // NEVER_NEEDED for those that are not looked at. Calls tell(lane, has as many) for each of the others.
    template <class Tell>
    void look_at_group(int32_t group, const Text& text, const int32_t* least, const Tell& tell) {
        NeededMatches needed(straying_);
        for (int lane = 0; lane < LANES; lane++)
            if (least[lane] != NEVER_NEEDED)
                needed.set(lane, least[lane], masks_.length(group * LANES + lane), text.length);
        run(masks_.group(group), text, needed, tell);
    }

    // Of the sequences first <= position < stop that mask[position - first] names, needed says how many
    // matches they must have: those that cannot are taken out.
    template <class Needed>
    void look(const Text& text, int32_t first, int32_t stop, uint8_t* mask, const Needed& needed) {
        waiting_ = 0;
        for (int32_t position = first; position < stop; position++) {
            const void* next =
                std::memchr(mask + (position - first), 1, static_cast<size_t>(stop - position));
            if (!next) break;
            position = first + static_cast<int32_t>(static_cast<const uint8_t*>(next) - mask);
            positions_[waiting_] = position;
            least_[waiting_++] = needed(position);
            if (waiting_ == LANES) run_waiting(text, first, mask);
        }
        if (waiting_ > 0) run_waiting(text, first, mask);
    }

private:
    template <class Tell>
    void run(const MaskGroup& group, const Text& text, const NeededMatches& needed, const Tell& tell) {
        int32_t common[LANES];
        state_.resize(static_cast<size_t>(group.words) * LANES + LANES);
        words_ += kernel_.count_common(group, text, needed, common, aligned(state_));
        for (int lane = 0; lane < LANES; lane++)
            if (needed.least[lane] != NEVER_NEEDED) tell(lane, common[lane] >= needed.least[lane]);
    }
    void run_waiting(const Text& text, int32_t first, uint8_t* mask);
    static uint64_t* aligned(std::vector<uint64_t>& memory) {
        const uintptr_t at = reinterpret_cast<uintptr_t>(memory.data());
        return reinterpret_cast<uint64_t*>((at + 63) / 64 * 64);
    }

    const MatchMasks& masks_;
    const SubsequenceKernel& kernel_;
    int32_t straying_;
    std::vector<uint64_t> state_, gathered_;
    int32_t positions_[LANES], least_[LANES];
    int waiting_ = 0;
    int64_t words_ = 0;
};

}  // namespace pairalign
