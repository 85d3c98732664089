// Which pairs of a window can reach thresholds: by their lengths and letters, then by the q-grams that they
// share. What is dropped cannot pass (docs/thresholds.md); what is left is to be aligned and looked at. The
// ctypes declarations are in pairalign/engines/cpu/pair_filter.py.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "../core/sets.h"
#include "../export.h"
#include "../threads.h"
#include "common_bits.h"
#include "pair_filter.h"

namespace {

using namespace pairalign;

constexpr int SAMPLED_PAIRS = 400, SAMPLED_LETTERS = 300000;
constexpr size_t NEARLY_PERCENT = 95;
constexpr int LEAST_DROPPED_PERCENT = 5;  // of the sample, for q-grams to be looked at at all

void add_best(FilteredSet& set, const int32_t* best_of_letter) {
    for (int32_t s = 0; s < set.given.count; s++) {
        int64_t best = 0;
        for (int32_t k = 0; k < set.length(s); k++) best += best_of_letter[set.codes(s)[k]];
        set.best.push_back(best);
    }
}

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
            read_grams(set.codes(s), set.length(s), filter.q, filter.definite, grams);
            GramSet& one = set.grams[static_cast<size_t>(s)];
            write_bits(grams, set.bits.data() + one.start, one);
        }
    });
}

// Pairs that lengths do not rule out, drawn at random; always the same ones.
std::vector<std::pair<int32_t, int32_t>> draw_pairs(const pairalign_filter& filter) {
    std::mt19937 random(1);
    std::vector<std::pair<int32_t, int32_t>> drawn;
    const auto rows = static_cast<uint32_t>(filter.rows.given.count);
    const auto columns = static_cast<uint32_t>(filter.columns().given.count);
    int64_t letters = 0;
    for (int tries = 0; tries < 50 * SAMPLED_PAIRS; tries++) {
        if (drawn.size() >= SAMPLED_PAIRS || letters >= SAMPLED_LETTERS) break;
        auto row = static_cast<int32_t>(random() % rows);
        // Half of them of like lengths, or none might be left.
        auto column = static_cast<int32_t>(random() % columns);
        if (tries % 2 == 1 && !filter.other) column = row + 1 + column % 64;
        if (column >= static_cast<int32_t>(columns) || (!filter.other && row == column)) continue;
        if (!filter.other && row > column) std::swap(row, column);
        if (!filter.bounds(row, column, filter.row_is_query(row, column), 0).is_possible ||
            !filter.can_score(row, column))
            continue;
        drawn.emplace_back(row, column);
        letters += filter.rows.length(row) + filter.columns().length(column);
    }
    return drawn;
}

// A pair of the sample and its q-grams, sorted.
struct Sampled {
    int64_t least;  // q-grams that it must share
    int32_t lengths[2];
    std::vector<uint64_t> grams[2];

    // At most so many are shared, by sets of bits of a density.
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

std::vector<Sampled> sample_grams(const pairalign_filter& filter,
                                  const std::vector<std::pair<int32_t, int32_t>>& drawn, int q) {
    std::vector<Sampled> sampled;
    for (const auto& [row, column] : drawn) {
        const int64_t least = filter.bounds(row, column, filter.row_is_query(row, column), q).grams;
        if (least == 0) continue;
        const FilteredSet &a = filter.rows, &b = filter.columns();
        sampled.push_back({least, {a.length(row), b.length(column)}, {}});
        read_grams(a.codes(row), a.length(row), q, filter.definite, sampled.back().grams[0]);
        read_grams(b.codes(column), b.length(column), q, filter.definite, sampled.back().grams[1]);
    }
    return sampled;
}

// Chooses the length of q-grams that drops most of a sample of pairs, or none where none drops much; and
// so many bits that they drop nearly as many.
void choose_grams(pairalign_filter& filter) {
    const auto drawn = draw_pairs(filter);
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
}

struct Counts {
    int64_t looked_at = 0, possible = 0, left = 0;
    int64_t least_score = std::numeric_limits<int64_t>::max();
};

// Looks at the pairs of one row; mask: [columns of the row], what it says is taken unless `all`.
struct RowFilter {
    const pairalign_filter& filter;
    bool all;
    int64_t (*common_bits)(const uint64_t*, int32_t, const uint64_t*, int32_t);

    bool shares_enough(int32_t row, int32_t column, int64_t least) const {
        const FilteredSet& others = filter.columns();
        const GramSet& a = filter.rows.grams[static_cast<size_t>(row)];
        const GramSet& b = others.grams[static_cast<size_t>(column)];
        return lost_of(a, b) + common_bits(filter.rows.bits.data() + a.start, a.words,
                                           others.bits.data() + b.start, b.words) >=
               least;
    }

    void look(int32_t row, int32_t first, int32_t stop, uint8_t* mask, Counts& counts) const {
        const FilteredSet& others = filter.columns();
        int32_t known_length = -1;
        bool known_order = false;
        Bounds bounds{};
        for (int32_t column = first; column < stop; column++, mask++) {
            if (!all && !*mask) continue;
            counts.looked_at++;
            *mask = 0;
            const bool row_first = filter.row_is_query(row, column);
            if (others.length(column) != known_length || row_first != known_order) {
                known_length = others.length(column);
                known_order = row_first;
                bounds = filter.bounds(row, column, row_first, filter.q);
            }
            if (!bounds.is_possible || !filter.can_score(row, column)) continue;
            counts.possible++;
            if (bounds.grams > 0 && !shares_enough(row, column, bounds.grams)) continue;
            counts.left++;
            counts.least_score = std::min(counts.least_score, bounds.score);
            *mask = 1;
        }
    }
};

}  // namespace

// `second` is null for one set against itself; the sets and what they point to stay valid. Null where there
// is no memory.
PAIRALIGN_API pairalign_filter* pairalign_open_filter(const pairalign_set* first, const pairalign_set* second,
                                                      const pairalign_thresholds* thresholds,
                                                      const pairalign_column_scores* scores, int32_t definite,
                                                      int32_t threads) {
    try {
        auto filter = std::make_unique<pairalign_filter>();
        filter->rows.given = *first;
        if (second) {
            filter->other = std::make_unique<FilteredSet>();
            filter->other->given = *second;
        }
        filter->thresholds = *thresholds;
        filter->scores = *scores;
        filter->definite = definite;
        filter->threads = std::max(1, threads);
        if (scores->has_minimum) {
            add_best(filter->rows, scores->best_of_row);
            if (second) add_best(*filter->other, scores->best_of_column);
        }
        choose_grams(*filter);
        if (filter->q > 0) {
            add_grams(filter->rows, *filter);
            if (second) add_grams(*filter->other, *filter);
        }
        return filter.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_filter(pairalign_filter* filter) { delete filter; }

// Letters of a q-gram; 0: q-grams are not looked at.
PAIRALIGN_API int32_t pairalign_filter_gram(const pairalign_filter* filter) { return filter->q; }

// Looks at the pairs of a window that mask[pairs] names, or at all, and leaves those in it that may pass.
// Counts [4]: pairs looked at, left by lengths and letters, left by q-grams; and the least raw score of what
// is left that passes. May be called from several threads. Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_filter_window(const pairalign_filter* filter, const pairalign_window* window,
                                              int32_t all, uint8_t* mask, int64_t* counts) {
    const pairalign_window& w = *window;
    auto first_column = [&w](int32_t row) {
        return w.triangular ? std::min(std::max(w.column_start, row + 1), w.column_stop) : w.column_start;
    };
    try {
        constexpr int32_t PART = 16;  // rows
        const int32_t rows = w.row_stop - w.row_start, parts = (rows + PART - 1) / PART;
        std::vector<int64_t> before(static_cast<size_t>(rows) + 1, 0);
        for (int32_t r = 0; r < rows; r++)
            before[static_cast<size_t>(r) + 1] =
                before[static_cast<size_t>(r)] + w.column_stop - first_column(w.row_start + r);
        std::vector<Counts> found(static_cast<size_t>(parts));
        const RowFilter look{*filter, all != 0, choose_common_bits()};
        on_threads(parts, filter->threads, [&](int32_t part) {
            for (int32_t r = part * PART; r < std::min(rows, (part + 1) * PART); r++)
                look.look(w.row_start + r, first_column(w.row_start + r), w.column_stop,
                          mask + before[static_cast<size_t>(r)], found[static_cast<size_t>(part)]);
        });
        Counts sum;
        for (const Counts& one : found) {
            sum.looked_at += one.looked_at;
            sum.possible += one.possible;
            sum.left += one.left;
            sum.least_score = std::min(sum.least_score, one.least_score);
        }
        counts[0] = sum.looked_at;
        counts[1] = sum.possible;
        counts[2] = sum.left;
        counts[3] = sum.least_score;
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

// The pairs whose alignments pass: writes their numbers and returns how many. Fields of n pairs each; spans,
// counts and CIGARs as in pairalign_columns, lengths by input index. CIGARs are null unless identity_of is
// OF_INTERNAL.
struct pairalign_aligned {
    int64_t pairs;
    const int32_t *query, *target;
    const int32_t *query_start, *query_end, *target_start, *target_end;
    const int32_t *matches, *mismatches, *gap_openings, *gap_letters;
    const int32_t *query_lengths, *target_lengths;
    const uint32_t* cigar;
    const int64_t* cigar_offsets;
};

namespace {

// Letters in gaps at both ends of an alignment. Beside letters that spans leave out a gap is no end gap.
int64_t gaps_at_ends(const pairalign_aligned& a, int64_t pair, int32_t query, int32_t target) {
    constexpr uint32_t INSERTION = 1, DELETION = 2;
    const int64_t start = a.cigar_offsets[pair], stop = a.cigar_offsets[pair + 1];
    auto letters = [&a](int64_t run) {
        const uint32_t operation = a.cigar[run] & 15;
        return operation == INSERTION || operation == DELETION ? int64_t{a.cigar[run] >> 4} : 0;
    };
    if (stop <= start) return 0;
    const bool from_start = a.query_start[pair] == 0 && a.target_start[pair] == 0;
    const bool to_end = a.query_end[pair] == query && a.target_end[pair] == target;
    return (from_start ? letters(start) : 0) + (to_end && stop - 1 > start ? letters(stop - 1) : 0);
}

bool is_alike(const pairalign_aligned& a, const pairalign_thresholds& t, int64_t pair, int32_t query,
              int32_t target) {
    const int64_t matches = a.matches[pair], aligned = matches + a.mismatches[pair];
    const int64_t columns = aligned + a.gap_letters[pair];
    int64_t part = matches, whole = columns;
    switch (t.identity_of) {
        case OF_ALIGNED:
            whole = aligned;
            break;
        case OF_SHORTER:
            whole = std::min(query, target);
            break;
        case OF_INTERNAL:
            whole = columns - gaps_at_ends(a, pair, query, target);
            break;
        case OF_MBL:
            whole = std::max(query, target);
            part = whole - a.mismatches[pair] - a.gap_openings[pair];
            break;
        default:
            break;
    }
    return columns > 0 && whole > 0 && Wide{part} * t.identity_whole >= Wide{whole} * t.identity;
}

bool is_covered(const pairalign_aligned& a, const pairalign_thresholds& t, int64_t pair, int32_t query,
                int32_t target) {
    auto covered = [&t](int64_t letters, int32_t length) {
        return Wide{letters} * t.coverage_whole >= Wide{length} * t.coverage;
    };
    if (t.coverage_of == OF_ALIGNED_LETTERS)
        return covered(int64_t{a.matches[pair]} + a.mismatches[pair], std::max(query, target));
    return (!covers_query(t, query, target) || covered(a.query_end[pair] - a.query_start[pair], query)) &&
           (!covers_target(t, query, target) || covered(a.target_end[pair] - a.target_start[pair], target));
}

}  // namespace

PAIRALIGN_API int64_t pairalign_find_passing(const pairalign_aligned* aligned,
                                             const pairalign_thresholds* thresholds, int64_t* numbers) {
    const pairalign_aligned& a = *aligned;
    const pairalign_thresholds& t = *thresholds;
    int64_t passing = 0;
    for (int64_t k = 0; k < a.pairs; k++) {
        const int32_t query = a.query_lengths[a.query[k]], target = a.target_lengths[a.target[k]];
        if (t.identity > 0 && !is_alike(a, t, k, query, target)) continue;
        if (t.coverage > 0 && !is_covered(a, t, k, query, target)) continue;
        numbers[passing++] = k;
    }
    return passing;
}
