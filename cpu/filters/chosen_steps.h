// Which steps of the filter of pairs are taken for two sets: a sample of their pairs says so.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pair_filter.h"

namespace pairalign {

// Pairs that lengths do not rule out, drawn at random; always the same ones. Of one set the row comes first.
std::vector<std::pair<int32_t, int32_t>> draw_pairs(const pairalign_filter& filter);

// Whether q-grams are looked at: where they drop pairs, or only where cores are faster with them.
enum class GramUse { NONE = 0, ANY = 1, WHERE_FASTER = 2 };

// Chooses what is looked at, and makes what that takes.
void choose_steps(pairalign_filter& filter, GramUse grams);

}  // namespace pairalign
