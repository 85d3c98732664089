// Where two sequences are probably aligned: words of one that are in the other, in one order in both.
#pragma once

#include <cstdint>
#include <vector>

#include "suboptimal.h"

namespace pairalign {

struct Anchor {
    int32_t row, column;  // before a word of equal residues
};

// Words near the diagonal that has most of them, both numbers rising; none where few are.
std::vector<Anchor> find_anchors(const pairalign_suboptimal_pair& pair);

}  // namespace pairalign
