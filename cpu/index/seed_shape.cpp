// How many residues seeds have, by a sample.

#include "seed_shape.h"

#include <algorithm>
#include <vector>

namespace pairalign {
namespace {

constexpr int RESIDUE_CHOICES[] = {4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 31};
constexpr int MOST_BITS_OF_WORD = 62;
constexpr int32_t SAMPLED_ROWS = 2000, SAMPLED_COLUMNS = 200, COUNTED_ROWS = 20000;
constexpr int64_t SAMPLED_RESIDUES = 400'000, COUNTED_RESIDUES = 4'000'000;

// The step between sequences of a sample.
int32_t step_for(const FilteredSet& set, int32_t sequences, int64_t residues) {
    int64_t all = 0;
    for (int32_t s = 0; s < set.given.count; s++) all += set.length(s);
    return static_cast<int32_t>(std::max({int64_t{1}, set.given.count / int64_t{sequences}, all / residues}));
}

void add_words(const FilteredSet& rows, const SeedShape& shape, int32_t step, WordCounts& counts) {
    for (int32_t s = 0; s < rows.given.count; s += step)
        for_each_word(rows.codes(s), rows.length(s), shape.residues, shape.bits, shape.unambiguous,
                      [&](uint64_t word, int32_t) { counts.add(word); });
}

// What an index of such seeds would cost for each pair, estimated from a sample.
double cost_of(const pairalign_filter& filter, const SeedShape& shape) {
    const FilteredSet &rows = filter.rows, &columns = filter.columns();
    WordCounts counts(bits_for(8 * SAMPLED_RESIDUES, 16, 22));
    const int32_t row_step = step_for(rows, SAMPLED_ROWS, SAMPLED_RESIDUES);
    add_words(rows, shape, row_step, counts);
    SeedChooser chooser(shape, counts);
    std::vector<Seed> seeds;
    const int32_t step = step_for(columns, SAMPLED_COLUMNS, SAMPLED_RESIDUES / 10);
    double found = 0, without = 0, looked_at = 0;
    for (int32_t s = 0; s < columns.given.count; s += step, looked_at++) {
        const WantedSeeds wanted(filter.thresholds, columns.length(s));
        if (chooser.choose(columns.codes(s), wanted.first, wanted.stop, wanted.seeds, seeds))
            found += chooser.sum();
        else without++;
    }
    const double sampled = (rows.given.count + row_step - 1) / row_step;
    return (found / sampled * (OF_SEED + OF_FOUND / 10) + without * OF_FOUND) / looked_at;
}

}  // namespace

int bits_for(int64_t entries, int least, int most) {
    int bits = least;
    while (bits < most && (int64_t{1} << bits) < entries) bits++;
    return bits;
}

WordCounts count_words(const FilteredSet& set, const SeedShape& shape) {
    WordCounts counts(bits_for(COUNTED_RESIDUES, 16, 22));
    add_words(set, shape, step_for(set, COUNTED_ROWS, COUNTED_RESIDUES), counts);
    return counts;
}

ChosenShape choose_shape(const pairalign_filter& filter) {
    ChosenShape best{{0, 0, 0}, 0};
    const int bits = filter.unambiguous <= 4 ? 2 : BITS_OF_RESIDUE;
    for (const int residues : RESIDUE_CHOICES) {
        if (residues * bits > MOST_BITS_OF_WORD) break;
        const SeedShape shape{residues, bits, filter.unambiguous};
        const double cost = cost_of(filter, shape);
        if (best.shape.residues == 0 || cost < best.cost) best = {shape, cost};
    }
    return best;
}

}  // namespace pairalign
