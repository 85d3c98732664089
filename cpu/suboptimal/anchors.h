// Where two sequences are probably aligned: words of one that are in the other, in one order in both.
#pragma once

#include <cstdint>
#include <vector>

#include "suboptimal.h"

namespace pairalign {

struct Anchor {
    int32_t row, column;  // before a word of equal residues
};

// All words that both have: by row, and of a row by falling column; of one that is frequent not all.
std::vector<Anchor> shared_words(const pairalign_suboptimal_pair& pair, int word);

// Words near the diagonal that has most of them, both numbers rising; none where few are.
std::vector<Anchor> find_anchors(const pairalign_suboptimal_pair& pair);

}  // namespace pairalign
