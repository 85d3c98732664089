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
// j), the longest common subsequence of both, and min(P - i, T - j) matches more. Let i' = j + P - T: up to
// there the text has fewer residues left, and L rises with i; from there on the pattern has one less with
// each i, and L rises by one at most. So what is had at last is at most L(i', j) + T - j: where that is less
// than K nothing that passes is left. Where diagonals cost matches, i' has the least of them.
// A path that is on diagonal P - T + d after that has at most L(P, j) + T - j - d matches: so d is bounded as
// above, with L(P, j) + T - j in place of T, and the window becomes narrower.
//
// Several texts, whose spare residues T - K and whose patterns' P - K are at most such numbers: these say the
// same of all of them. Sorted texts begin alike: what is known after the residues that a text shares with the
// one before is not computed again, and where nothing is left after these the text is not looked at.
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

// Texts in the order of their codes: each shares so many residues with the one before.
struct SortedTexts {
    const uint8_t* const* codes;
    const int32_t *lengths, *shared;
    int32_t count, unambiguous;  // codes from `unambiguous` on match nothing
};

// What eight patterns need of some texts, and where the paths are that have it.
struct NeededMatches {
    int32_t straying;  // share_of_straying
    // The most residues of a text, and of a pattern, that may have no match; NEVER of lanes that are not
    // looked at.
    int32_t spare[LANES], spare_of_pattern[LANES];
    // The most residues of a pattern that a path may be ahead of a text, or behind.
    int32_t ahead = 0, behind = 0;

    static constexpr int32_t NEVER = -(1 << 30);

    explicit NeededMatches(int32_t share) : straying(share) {
        std::fill_n(spare, LANES, NEVER);
        std::fill_n(spare_of_pattern, LANES, NEVER);
    }

    // A lane, its pattern's length and that of a text; `matches` is at most the shorter one.
    void add(int lane, int32_t matches, int32_t pattern, int32_t text) {
        const int32_t more = pattern - text;
        const int32_t most = most_straying(std::min(pattern, text) - matches, straying);
        spare[lane] = std::max(spare[lane], text - matches);
        spare_of_pattern[lane] = std::max(spare_of_pattern[lane], pattern - matches);
        ahead = std::max(ahead, std::max(0, more) + most);
        behind = std::max(behind, std::max(0, -more) + most);
    }

    // The most that the patterns are longer: how far i' is before j.
    int32_t more() const {
        int32_t most = NEVER;
        for (int lane = 0; lane < LANES; lane++)
            if (spare[lane] != NEVER) most = std::max(most, spare_of_pattern[lane] - spare[lane]);
        return most;
    }
};

constexpr int32_t MOST_KEPT = 24;  // places of a text whose words of x are kept for the next ones

// Words of memory that count_common needs.
inline size_t memory_of(const MaskGroup& group) {
    return static_cast<size_t>(MOST_KEPT + 1) * static_cast<size_t>(group.words) * LANES;
}

// What is left of texts: which of them, and how long the common subsequences with each pattern are, as far as
// paths are not elsewhere: of lanes that may have what they need.
struct FoundTexts {
    int32_t* texts;            // [count]
    int32_t (*common)[LANES];  // [count]
    int32_t count;
    int64_t words;  // that have been looked at
};

// count_common finds the texts of which a lane may have what it needs. memory: memory_of(group) words,
// aligned.
// bound_by_residues writes how many residues `own` shares with each of ResidueCounts::BLOCK sequences, in any
// order.
struct SubsequenceKernel {
    const char* name;
    void (*count_common)(const MaskGroup& group, const SortedTexts& texts, const NeededMatches& needed,
                         uint64_t* memory, FoundTexts& found);
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
                needed.add(lane, least[lane], masks_.length(group * LANES + lane), text.length);
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
        int32_t common[1][LANES], number, none = 0;
        state_.resize(memory_of(group) + LANES);
        FoundTexts found{&number, common, 0, 0};
        kernel_.count_common(group, {&text.codes, &text.length, &none, 1, text.unambiguous}, needed,
                             aligned(state_), found);
        words_ += found.words;
        for (int lane = 0; lane < LANES; lane++)
            if (needed.spare[lane] != NeededMatches::NEVER)
                tell(lane, found.count > 0 && text.length - common[0][lane] <= needed.spare[lane]);
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
