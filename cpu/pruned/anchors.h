// The score of an alignment that goes through words which both sequences have: a bound for wavefronts and
// bands, found in time that is linear in their lengths.
//
// An anchor is a stretch of equal residues that begins with a word of WORD residues, one of every few of the
// column sequence that it has once among them. The anchors of most residues that follow one another in both
// sequences make runs, each on one diagonal. Between two runs the alignment has one gap, where that costs
// least. Any alignment's score is a bound, so that what is left out costs time alone.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/batch.h"

namespace pairalign {

constexpr int64_t NO_SCORE = INT64_MIN;

class Anchors {
public:
    // Of a global alignment; NO_SCORE where the sequences have too few words in common.
    int64_t find_score(const Scheme& scheme, const uint8_t* row, int32_t rows, const uint8_t* column,
                       int32_t columns);

private:
    struct Anchor {
        int32_t i, j, length;
        int32_t before;  // in a chain: the one before, or -1
        int32_t best;    // residues of the chain up to this one
    };
    // Equal residues, not all of them anchors', from (i, j) on, on one diagonal.
    struct Run {
        int32_t i, j, length;
        int32_t anchored;
        int32_t diagonal() const { return i - j; }
    };
    void index_words(const uint8_t* column, int32_t columns);
    void find_anchors(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns);
    void chain(int32_t columns);
    void take_runs();

    std::vector<uint32_t> table_;  // by a word's hash: which of the column's words, from 1 on
    int shift_ = 0;
    int32_t every_ = 0;
    std::vector<Anchor> anchors_;
    std::vector<int32_t> best_;  // a Fenwick tree of chains, by where they end in the column sequence
    std::vector<Run> runs_, kept_;
};

}  // namespace pairalign
