// The bounds of the index of seeds, for tests that hold them against all alignments of short sequences.
#include "../../../cpu/filters/thresholds.h"
#include "../../../cpu/index/edit_distance.h"
#include "../../../cpu/index/seeds.h"

using namespace pairalign;

extern "C" {

int64_t most_errors_of_pair(const pairalign_thresholds* t, int32_t shorter, int32_t longer) {
    return most_errors(*t, shorter, longer);
}

int64_t most_errors_of_one(const pairalign_thresholds* t, int32_t length) {
    return most_errors_of(*t, length);
}

int64_t most_residues_outside(const pairalign_thresholds* t, int32_t length, int32_t longer) {
    return most_outside(*t, length, longer);
}

int64_t least_matches_of(const pairalign_thresholds* t, int32_t query, int32_t target) {
    return least_matches(*t, query, target);
}

void diagonals_of(const pairalign_thresholds* t, int32_t row, int32_t column, int64_t* found) {
    const Diagonals diagonals = seed_diagonals(*t, row, column);
    found[0] = diagonals.first;
    found[1] = diagonals.last;
}

int32_t has_seeds(const pairalign_thresholds* t) { return seed_rule(*t) != SeedRule::NONE; }

// The residues have their margins. way: 0 from end to end, 1 to an end of either, -1 the same backwards.
int32_t edit_distance(const uint8_t* a, int32_t a_length, const uint8_t* b, int32_t b_length, int32_t most,
                      int32_t way) {
    EditDistance distances;
    const ResiduePair pair{way < 0 ? a + a_length : a, way < 0 ? b + b_length : b, a_length, b_length};
    if (way == 0) return distances.of(pair, most);
    return way > 0 ? distances.to_an_end<1>(pair, most) : distances.to_an_end<-1>(pair, most);
}
}
