#include "chosen_steps.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "../threads.h"

namespace {

using namespace pairalign;

constexpr int SAMPLED_PAIRS = 400, SAMPLED_RESIDUES = 300000;
constexpr size_t NEARLY_PERCENT = 95;
constexpr int LEAST_DROPPED_PERCENT = 5;  // of the sample, for a filter to be looked at at all
constexpr double NEARLY_ALL = 0.99;
// Nanoseconds of a core: of a pair, of a word of a common subsequence, of a word of bits, of a residue's
// q-gram that is made. Between those of instruction sets, so that each makes the same choice.
constexpr double LOOK = 10, LOOK_AT_RESIDUES = 5, LOOK_AT_WORD = 0.15, LOOK_AT_BITS = 0.33, MAKE_GRAM = 30;

void add_grams(FilteredSet& set, const pairalign_filter& filter) {
    set.grams.resize(static_cast<size_t>(set.given.count));
    int64_t words = 0;
    for (int32_t s = 0; s < set.given.count; s++) {
        set.grams[static_cast<size_t>(s)] = {words, words_for(set.length(s), filter.density), 0};
        words += set.grams[static_cast<size_t>(s)].words;
    }
    set.bits.resize(static_cast<size_t>(words));
    constexpr int32_t PART = 64;
    on_threads((set.given.count + PART - 1) / PART, filter.threads, [&](int32_t part) {
        std::vector<uint64_t> grams;
        for (int32_t s = part * PART; s < std::min(set.given.count, (part + 1) * PART); s++) {
            read_grams(set.codes(s), set.length(s), filter.q, filter.unambiguous, grams);
            GramSet& one = set.grams[static_cast<size_t>(s)];
            write_bits(grams, set.bits.data() + one.start, one);
        }
    });
}

// How many of the following rows have the length of a row; 64 where these are fewer. Longest first.
int32_t span_of_like(const pairalign_filter& filter, const std::vector<int32_t>& rows, int32_t row) {
    const auto begin = rows.begin() + row;
    const auto next =
        std::upper_bound(begin, rows.end(), filter.rows.length(*begin),
                         [&](int32_t length, int32_t one) { return length > filter.rows.length(one); });
    return std::max<int32_t>(64, static_cast<int32_t>(next - begin) - 1);
}

}  // namespace

std::vector<std::pair<int32_t, int32_t>> pairalign::draw_pairs(const pairalign_filter& filter) {
    std::mt19937 random(1);
    std::vector<std::pair<int32_t, int32_t>> drawn;
    const auto rows = static_cast<uint32_t>(filter.rows.given.count);
    std::vector<int32_t> by_length(rows);
    std::iota(by_length.begin(), by_length.end(), 0);
    std::stable_sort(by_length.begin(), by_length.end(),
                     [&](int32_t a, int32_t b) { return filter.rows.length(a) > filter.rows.length(b); });
    const auto columns = static_cast<uint32_t>(filter.columns().given.count);
    int64_t residues = 0;
    for (int tries = 0; tries < 50 * SAMPLED_PAIRS; tries++) {
        if (drawn.size() >= SAMPLED_PAIRS || residues >= SAMPLED_RESIDUES) break;
        auto row = static_cast<int32_t>(random() % rows);
        // Half of them of like lengths, or none might be left; of equal ones any, as neighbours are alike.
        auto column = static_cast<int32_t>(random() % columns);
        if (tries % 2 == 1 && !filter.other) column = row + 1 + column % span_of_like(filter, by_length, row);
        if (column >= static_cast<int32_t>(columns) || (!filter.other && row == column)) continue;
        if (!filter.other) {
            const auto [longer, shorter] = std::minmax(row, column);
            const int32_t one = by_length[static_cast<size_t>(longer)];
            column = by_length[static_cast<size_t>(shorter)];
            row = one;
        }
        if (!filter.bounds(row, column, filter.is_row_first(row, column), 0).is_possible ||
            !filter.can_score(row, column))
            continue;
        drawn.emplace_back(row, column);
        residues += filter.rows.length(row) + filter.columns().length(column);
    }
    return drawn;
}

namespace {

// A pair of the sample and its q-grams, sorted.
struct Sampled {
    int64_t least;  // q-grams that it must share
    int32_t lengths[2];
    std::vector<uint64_t> grams[2];

    // The most q-grams that the two can share, as sets of bits of a density tell.
    int64_t count_by_bits(int density) const {
        GramSet sets[2];
        std::vector<uint64_t> bits[2];
        for (int side = 0; side < 2; side++) {
            sets[side] = {0, words_for(lengths[side], density), 0};
            bits[side].resize(static_cast<size_t>(sets[side].words));
            write_bits(grams[side], bits[side].data(), sets[side]);
        }
        return lost_of(sets[0], sets[1]) +
               count_common_bits(bits[0].data(), sets[0].words, bits[1].data(), sets[1].words);
    }
};

// A drawn pair, and its suffixes as soon as they are needed.
struct Drawn {
    int32_t row, column;
    std::vector<uint64_t> suffixes[2];
};

std::vector<Sampled> sample_grams(const pairalign_filter& filter, std::vector<Drawn>& drawn, int q) {
    std::vector<Sampled> sampled;
    for (auto& [row, column, suffixes] : drawn) {
        const int64_t least = filter.bounds(row, column, filter.is_row_first(row, column), q).grams;
        if (least == 0) continue;
        const FilteredSet &a = filter.rows, &b = filter.columns();
        sampled.push_back({least, {a.length(row), b.length(column)}, {}});
        if (suffixes[0].empty() && suffixes[1].empty()) {
            suffixes[0] = sorted_suffixes(a.codes(row), a.length(row), filter.unambiguous);
            suffixes[1] = sorted_suffixes(b.codes(column), b.length(column), filter.unambiguous);
        }
        for (int side = 0; side < 2; side++) take_grams(suffixes[side], q, sampled.back().grams[side]);
    }
    return sampled;
}

// The part of a sample of pairs that q-grams drop, and how many words of bits of a pair are looked at.
struct ChosenGrams {
    double dropped, words;
};

// Chooses the length of q-grams that drops most of a sample of pairs, or none where none drops much; and
// so many bits that they drop nearly as many.
ChosenGrams choose_grams(pairalign_filter& filter) {
    std::vector<Drawn> drawn;
    for (const auto& [row, column] : draw_pairs(filter)) drawn.push_back({row, column, {}});
    size_t most = drawn.size() * LEAST_DROPPED_PERCENT / 100;
    std::vector<Sampled> best;
    for (int q = 1; q <= MOST_GRAM; q++) {
        std::vector<Sampled> sampled = sample_grams(filter, drawn, q);
        size_t dropped = 0;
        for (const Sampled& one : sampled) dropped += count_common(one.grams[0], one.grams[1]) < one.least;
        if (dropped <= most) continue;
        most = dropped;
        filter.q = q;
        best = std::move(sampled);
    }
    for (; filter.density < MOST_DENSITY; filter.density *= 2) {
        size_t dropped = 0;
        for (const Sampled& one : best) dropped += one.count_by_bits(filter.density) < one.least;
        if (100 * dropped >= NEARLY_PERCENT * most) break;
    }
    if (best.empty()) return {0, 0};
    double words = 0;
    for (const Sampled& one : best)
        words += words_for(std::min(one.lengths[0], one.lengths[1]), filter.density);
    return {static_cast<double>(most) / static_cast<double>(drawn.size()),
            words / static_cast<double>(best.size())};
}

// What common subsequences say of a sample of the pairs that q-grams leave.
struct SubsequenceSample {
    size_t left = 0, dropped = 0, by_residues = 0;  // pairs; the last ones without a look at the order
    double time = 0;                                // nanoseconds of a core
    bool is_possible = true;                        // whether a number of matches is asked for

    SubsequenceSample(const pairalign_filter& filter, const MatchMasks& masks) {
        const bool counts =
            ResidueCounts::fit(filter.rows.given) && ResidueCounts::fit(filter.columns().given);
        SubsequenceLooker looker(masks, *filter.kernel, share_of_straying(filter.thresholds));
        for (const auto& [row, column] : draw_pairs(filter)) {
            const Bounds bounds = filter.bounds(row, column, filter.is_row_first(row, column), filter.q);
            is_possible = is_possible && bounds.matches > 0;
            if (!is_possible) return;
            const FilteredSet &a = filter.rows, &b = filter.columns();
            if (bounds.grams > 0) {
                const GramSet& own = a.grams[static_cast<size_t>(row)];
                const GramSet& other = b.grams[static_cast<size_t>(column)];
                if (lost_of(own, other) + count_common_bits(a.bits.data() + own.start, own.words,
                                                            b.bits.data() + other.start, other.words) <
                    bounds.grams)
                    continue;
            }
            uint8_t mask = 1;
            const int64_t before = looker.words();
            looker.look({a.codes(row), a.length(row), filter.unambiguous}, column, column + 1, &mask,
                        [&](int32_t) { return static_cast<int32_t>(bounds.matches); });
            const bool too_few = counts && count_residues(filter, row, column) < bounds.matches;
            left++;
            dropped += mask == 0;
            by_residues += too_few;
            time += too_few ? LOOK_AT_RESIDUES
                            : LOOK + LOOK_AT_WORD * static_cast<double>(looker.words() - before);
        }
    }

    double dropped_part() const { return static_cast<double>(dropped) / static_cast<double>(left); }

private:
    static int64_t count_residues(const pairalign_filter& filter, int32_t row, int32_t column) {
        const FilteredSet &a = filter.rows, &b = filter.columns();
        uint16_t own[ResidueCounts::MOST_CODES], other[ResidueCounts::MOST_CODES];
        ResidueCounts::count(a.codes(row), a.length(row), filter.unambiguous, own);
        ResidueCounts::count(b.codes(column), b.length(column), filter.unambiguous, other);
        int64_t common = 0;
        for (int32_t code = 0; code < filter.unambiguous; code++) common += std::min(own[code], other[code]);
        return common;
    }
};

// The part of all pairs that lengths do not rule out, about.
double share_of_possible(const pairalign_filter& filter) {
    constexpr int32_t SIDE = 64;
    const int32_t rows = filter.rows.given.count, columns = filter.columns().given.count;
    int possible = 0;
    for (int32_t r = 0; r < SIDE; r++)
        for (int32_t c = 0; c < SIDE; c++)
            possible += filter
                            .bounds(static_cast<int32_t>(int64_t{rows} * r / SIDE),
                                    static_cast<int32_t>(int64_t{columns} * c / SIDE), true, 0)
                            .is_possible;
    return std::max(possible, 1) / (1.0 * SIDE * SIDE);
}

// Whether cores take less time without q-grams than with them, if subsequences are looked at in any case.
bool is_faster_without_grams(const pairalign_filter& filter, const SubsequenceSample& sample,
                             const ChosenGrams& chosen) {
    const double rows = filter.rows.given.count, columns = filter.columns().given.count;
    const auto residues_of = [](const FilteredSet& set) {
        return std::accumulate(set.given.lengths, set.given.lengths + set.given.count, 0.0);
    };
    const double residues = residues_of(filter.rows) + (filter.other ? residues_of(*filter.other) : 0);
    const double pairs = (filter.other ? rows * columns : rows * columns / 2) * share_of_possible(filter);
    const double grams = LOOK_AT_BITS * chosen.words + MAKE_GRAM * residues / pairs;
    return grams > chosen.dropped * sample.time / static_cast<double>(sample.left);
}

// Chooses q-grams, unless cores are faster without them since common subsequences drop as many pairs.
void choose_grams_beside(pairalign_filter& filter, const MatchMasks& masks) {
    const SubsequenceSample sample(filter, masks);
    const bool drops_all = sample.left > 0 && sample.dropped_part() >= NEARLY_ALL;
    if (drops_all && is_faster_without_grams(filter, sample, {1, LEAST_BITS / 64})) return;
    const ChosenGrams grams = choose_grams(filter);
    if (grams.dropped <= sample.dropped_part() && is_faster_without_grams(filter, sample, grams))
        filter.q = 0;
}

}  // namespace

void pairalign::choose_steps(pairalign_filter& filter, GramUse grams) {
    std::unique_ptr<MatchMasks> masks;
    if (filter.kernel)
        masks = std::make_unique<MatchMasks>(filter.columns().given, filter.unambiguous, filter.threads);
    if (masks && grams == GramUse::WHERE_FASTER) choose_grams_beside(filter, *masks);
    else if (grams != GramUse::NONE) choose_grams(filter);
    if (filter.q > 0) {
        add_grams(filter.rows, filter);
        if (filter.other) add_grams(*filter.other, filter);
    }
    if (!masks) return;
    const SubsequenceSample sample(filter, *masks);
    if (!sample.is_possible || 100 * sample.dropped < LEAST_DROPPED_PERCENT * sample.left) return;
    if (sample.by_residues > 0 && 100 * sample.by_residues >= LEAST_DROPPED_PERCENT * sample.left)
        filter.residues = std::make_unique<ResidueCounts>(filter.columns().given, filter.unambiguous);
    if (filter.other) {
        filter.other_masks = std::move(masks);
        masks = std::make_unique<MatchMasks>(filter.rows.given, filter.unambiguous, filter.threads);
    }
    filter.row_masks = std::move(masks);
}
