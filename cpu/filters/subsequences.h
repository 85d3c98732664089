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
// H. Hyyro: Bit-parallel LCS-length computation revisited. AWOCA 2004.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../align/engine.h"

namespace pairalign {

constexpr int LANES = 8;
constexpr int BITS_OF_WORD = 63;
constexpr int32_t NEVER_NEEDED = INT32_MAX;  // of a lane that is not looked at

// Bits of eight sequences: masks[unambiguous][words][LANES]. A bit is 1 where the sequence has the residue.
struct MaskGroup {
    const uint64_t* masks;
    int32_t words;
};

struct Text {
    const uint8_t* codes;
    int32_t length, unambiguous;  // codes from `unambiguous` on match nothing
};

// memory: words * LANES of room. unmatched: the most residues that a pattern which is looked at may have
// without a match.
struct SubsequenceKernel {
    const char* name;
    void (*count_common)(const MaskGroup& group, const Text& text, const int32_t* needed, int32_t unmatched,
                         int32_t* common, uint64_t* memory);
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
    SubsequenceLooker(const MatchMasks& masks, const SubsequenceKernel& kernel)
        : masks_(masks), kernel_(kernel) {}

    // Looks at a text with all sequences of a group. least[LANES]: the matches that they must have,
    // NEVER_NEEDED for those that are not looked at. Calls tell(lane, has as many) for each of the others.
    template <class Tell>
    void look_at_group(int32_t group, const Text& text, const int32_t* least, const Tell& tell) {
        int32_t unmatched = 0;
        for (int lane = 0; lane < LANES; lane++)
            if (least[lane] != NEVER_NEEDED)
                unmatched = std::max(unmatched, masks_.length(group * LANES + lane) - least[lane]);
        run(masks_.group(group), text, least, unmatched, tell);
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
    void run(const MaskGroup& group, const Text& text, const int32_t* least, int32_t unmatched,
             const Tell& tell) {
        int32_t common[LANES];
        state_.resize(static_cast<size_t>(group.words) * LANES + LANES);
        kernel_.count_common(group, text, least, unmatched, common, aligned(state_));
        for (int lane = 0; lane < LANES; lane++)
            if (least[lane] != NEVER_NEEDED) tell(lane, common[lane] >= least[lane]);
    }
    void run_waiting(const Text& text, int32_t first, uint8_t* mask);
    static uint64_t* aligned(std::vector<uint64_t>& memory) {
        const uintptr_t at = reinterpret_cast<uintptr_t>(memory.data());
        return reinterpret_cast<uint64_t*>((at + 63) / 64 * 64);
    }

    const MatchMasks& masks_;
    const SubsequenceKernel& kernel_;
    std::vector<uint64_t> state_, gathered_;
    int32_t positions_[LANES], least_[LANES];
    int waiting_ = 0;
};

}  // namespace pairalign
