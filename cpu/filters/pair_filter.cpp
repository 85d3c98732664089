// Which pairs of a window can reach thresholds: by their lengths and residues, then by the q-grams that they
// share. What is dropped cannot pass (docs/filters.md); what is left is to be aligned and looked at. The
// ctypes declarations are in pairalign/engines/cpu/cpu_pair_filter.py.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "../core/sets.h"
#include "../export.h"
#include "../set_bytes.h"
#include "../threads.h"
#include "chosen_steps.h"
#include "common_bits.h"
#include "pair_filter.h"

namespace {

using namespace pairalign;

void add_best(FilteredSet& set, const int32_t* best_of_residue) {
    for (int32_t s = 0; s < set.given.count; s++) {
        int64_t best = 0;
        for (int32_t k = 0; k < set.length(s); k++) best += best_of_residue[set.codes(s)[k]];
        set.best.push_back(best);
    }
}

void find_copies(FilteredSet& set) {
    std::vector<uint8_t> found(static_cast<size_t>(set.given.count), 0);
    bool has_any = false;
    for (int32_t s = 1; s < set.given.count; s++) {
        const size_t length = static_cast<size_t>(set.length(s));
        const bool is_copy =
            set.length(s - 1) == set.length(s) && std::memcmp(set.codes(s - 1), set.codes(s), length) == 0;
        found[static_cast<size_t>(s)] = is_copy;
        has_any |= is_copy;
    }
    if (has_any) set.are_copies = std::move(found);
}

// The matches that pairs must have; sequences of equal lengths come one after the other.
struct Needed {
    const pairalign_filter& filter;
    const double* best;  // by column, what its identity must be more than, or null
    int32_t row_length = -1, column_length = -1, matches = 0;
    int64_t whole = 0;
    bool order = false;

    int32_t of(int32_t row, int32_t column) {
        const int32_t a = filter.rows.length(row), b = filter.columns().length(column);
        const bool row_first = filter.is_row_first(row, column);
        if (a != row_length || b != column_length || row_first != order) {
            row_length = a;
            column_length = b;
            order = row_first;
            matches = static_cast<int32_t>(filter.bounds(row, column, row_first, 0).matches);
            whole = least_whole(filter.thresholds, row_first ? a : b, row_first ? b : a);
        }
        if (!best || best[column] <= 0) return matches;
        // Matches are more than the best identity of the least whole; a little less, for it is rounded.
        const auto more = static_cast<int32_t>(best[column] * static_cast<double>(whole) * (1 - 1e-9)) + 1;
        return whole > 0 ? std::max(matches, more) : matches;
    }
};

struct Counts {
    int64_t looked_at = 0, wanted = 0, possible = 0, sharing = 0, left = 0;
    int64_t least_score = std::numeric_limits<int64_t>::max();
};

// Looks at the pairs of one row; mask: [columns of the row], what it says is taken unless `all`.
struct RowFilter {
    const pairalign_filter& filter;
    const pairalign_demand& demand;  // by place in the set, not in the window
    bool all;
    int64_t (*common_bits)(const uint64_t*, int32_t, const uint64_t*, int32_t);
    const uint8_t* copies;  // by column, of which `look` leaves the first; null: they are looked at

    bool is_copy(int32_t first, int32_t k) const { return copies && k > 0 && copies[first + k]; }

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
        bool was_possible = false, was_sharing = false;  // of the column before
        auto look_at = [&](int32_t k) {
            const int32_t column = first + k;
            counts.looked_at++;
            mask[k] = 0;
            if (is_copy(first, k)) {
                counts.wanted++;
                counts.possible += was_possible;
                counts.sharing += was_sharing;
                return;
            }
            was_possible = was_sharing = false;
            if (demand.row_groups && demand.row_groups[row] == demand.column_groups[column]) return;
            counts.wanted++;
            const bool row_first = filter.is_row_first(row, column);
            if (others.length(column) != known_length || row_first != known_order) {
                known_length = others.length(column);
                known_order = row_first;
                bounds = filter.bounds(row, column, row_first, filter.q);
            }
            if (!bounds.is_possible || !filter.can_score(row, column)) return;
            counts.possible++;
            was_possible = true;
            if (bounds.grams > 0 && !shares_enough(row, column, bounds.grams)) return;
            counts.sharing++;
            was_sharing = true;
            mask[k] = 1;
        };
        if (!all) for_each_set(mask, stop - first, look_at);
        else
            for (int32_t k = 0; k < stop - first; k++) look_at(k);
    }

    // Takes those out of what `look` has left of a row that share too few residues; returns how many are
    // left.
    int64_t look_at_residues(int32_t row, int32_t first, int32_t stop, uint8_t* mask) const {
        constexpr int32_t BLOCK = ResidueCounts::BLOCK;
        uint16_t own[ResidueCounts::MOST_CODES], bounds[BLOCK];
        ResidueCounts::count(filter.rows.codes(row), filter.rows.length(row), filter.unambiguous, own);
        Needed needed{filter, demand.best};
        int32_t known = -1;  // the block whose bounds these are
        int64_t left = 0;
        for_each_set(mask, stop - first, [&](int32_t k) {
            const int32_t column = first + k;
            if (column / BLOCK != known) {
                known = column / BLOCK;
                filter.residues->bound(*filter.kernel, own, known, bounds);
            }
            mask[k] = bounds[column % BLOCK] >= needed.of(row, column);
            left += mask[k];
        });
        return left;
    }

    // Takes those out of what `look` has left of a row whose longest common subsequence is too short.
    void look_at_subsequences(int32_t row, int32_t first, int32_t stop, uint8_t* mask,
                              SubsequenceLooker& looker) const {
        const Text text{filter.rows.codes(row), filter.rows.length(row), filter.unambiguous};
        Needed needed{filter, demand.best};
        looker.look(text, first, stop, mask, [&](int32_t column) { return needed.of(row, column); });
    }

    // Counts what is left, and the least score that it has if it passes; copies are left as the first is.
    void count(int32_t row, int32_t first, int32_t stop, uint8_t* mask, Counts& counts) const {
        for (int32_t k = 1; copies && k < stop - first; k++)
            if (copies[first + k]) mask[k] = mask[k - 1];
        for_each_set(mask, stop - first, [&](int32_t k) {
            mask[k] = 1;
            counts.left++;
            if (is_copy(first, k)) return;
            const bool row_first = filter.is_row_first(row, first + k);
            counts.least_score =
                std::min(counts.least_score, filter.bounds(row, first + k, row_first, 0).score);
        });
    }
};

// What a window's demand says, by places in the sets.
pairalign_demand of_places(const pairalign_demand* demand, const pairalign_window& window) {
    if (!demand) return {nullptr, nullptr, nullptr, nullptr};
    auto of_rows = [&](auto* values) { return values ? values - window.row_start : nullptr; };
    auto of_columns = [&](auto* values) { return values ? values - window.column_start : nullptr; };
    return {of_rows(demand->rows_left), of_columns(demand->best), of_rows(demand->row_groups),
            of_columns(demand->column_groups)};
}

// Rows of a window, and where the mask of each begins.
struct WindowRows {
    const pairalign_window& window;
    uint8_t* mask;
    std::vector<int64_t> before;

    WindowRows(const pairalign_window& of, uint8_t* all) : window(of), mask(all), before(1, 0) {
        for (int32_t row = of.row_start; row < of.row_stop; row++)
            before.push_back(before.back() + of.column_stop - first(row));
    }
    int32_t first(int32_t row) const {
        return window.triangular ? std::min(std::max(window.column_start, row + 1), window.column_stop)
                                 : window.column_start;
    }
    uint8_t* of(int32_t row) const { return mask + before[static_cast<size_t>(row - window.row_start)]; }
};

// Looks at the columns of which most of a group of rows are left, row_start <= row < row_stop.
void look_at_group(const pairalign_filter& filter, const WindowRows& rows, int32_t group, int32_t row_start,
                   int32_t row_stop, const double* best, SubsequenceLooker& looker) {
    const int32_t begin = std::max(row_start, group * LANES);
    const int32_t end = std::min(row_stop, (group + 1) * LANES);
    std::vector<Needed> needed(LANES, Needed{filter, best});
    for (int32_t column = rows.first(begin); column < rows.window.column_stop; column++) {
        uint8_t* own[LANES] = {};
        int left = 0;
        for (int32_t row = begin; row < end && rows.first(row) <= column; row++) {
            uint8_t* at = rows.of(row) + (column - rows.first(row));
            if (*at) own[row - group * LANES] = at, left++;
        }
        if (left < LANES / 2) continue;
        int32_t least[LANES];
        for (int lane = 0; lane < LANES; lane++)
            least[lane] =
                own[lane] ? needed[static_cast<size_t>(lane)].of(group * LANES + lane, column) : NEVER_NEEDED;
        const FilteredSet& columns = filter.columns();
        looker.look_at_group(group, {columns.codes(column), columns.length(column), filter.unambiguous},
                             least, [&](int lane, bool has) { *own[lane] = has ? LOOKED_AT : 0; });
    }
}

}  // namespace

// The instruction set is that of the kernel of common subsequences; null: these are not looked at. Nor are
// q-grams where `grams` is 0; of 2 they are where cores save time by them.
// `second` is null for one set against itself; the sets and what they point to stay valid. Null where there
// is no memory.
PAIRALIGN_API pairalign_filter* pairalign_open_filter(const pairalign_set* first, const pairalign_set* second,
                                                      const pairalign_thresholds* thresholds,
                                                      const pairalign_column_scores* scores,
                                                      int32_t unambiguous, int32_t grams,
                                                      const char* instruction_set, int32_t threads) {
    try {
        auto filter = std::make_unique<pairalign_filter>();
        filter->rows.given = *first;
        if (second) {
            filter->other = std::make_unique<FilteredSet>();
            filter->other->given = *second;
        }
        filter->thresholds = *thresholds;
        filter->scores = *scores;
        filter->unambiguous = unambiguous;
        filter->threads = std::max(1, threads);
        if (scores->has_minimum) {
            add_best(filter->rows, scores->best_of_row);
            if (second) add_best(*filter->other, scores->best_of_column);
        }
        find_copies(second ? *filter->other : filter->rows);
        if (instruction_set) filter->kernel = choose_subsequences(instruction_set);
        choose_steps(*filter, static_cast<GramUse>(grams));
        return filter.release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_filter(pairalign_filter* filter) { delete filter; }

// Residues of a q-gram; 0: q-grams are not looked at.
PAIRALIGN_API int32_t pairalign_filter_gram(const pairalign_filter* filter) { return filter->q; }

// Looks at the pairs of a window that mask[pairs] names, or at all, and leaves those in it that may pass and
// that there is a demand for (null: for all). Counts [6]: pairs looked at, wanted, left by lengths and
// residues, by q-grams, by subsequences; and the least raw score of what is left that passes. May be called
// from several threads. Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_filter_window(const pairalign_filter* filter, const pairalign_window* window,
                                              int32_t all, const pairalign_demand* demand, uint8_t* mask,
                                              int64_t* counts) {
    try {
        constexpr int32_t PART = 2 * LANES;  // rows
        const WindowRows rows(*window, mask);
        const int32_t first_part = window->row_start / PART;  // groups of rows stay whole
        const int32_t parts = (window->row_stop + PART - 1) / PART - first_part;
        std::vector<Counts> found(static_cast<size_t>(std::max(parts, 0)));
        const pairalign_demand wanted = of_places(demand, *window);
        const bool are_alike = all && !wanted.best && !wanted.row_groups && !filter->is_one_way();
        const std::vector<uint8_t>& copies = filter->columns().are_copies;
        const RowFilter look{*filter, wanted, all != 0, choose_common_bits(),
                             are_alike && !copies.empty() ? copies.data() : nullptr};
        on_threads(parts, filter->threads, [&](int32_t part) {
            const int32_t start = std::max((first_part + part) * PART, window->row_start);
            const int32_t stop = std::min((first_part + part + 1) * PART, window->row_stop);
            Counts& sum = found[static_cast<size_t>(part)];
            const int64_t sharing_before = sum.sharing;
            int64_t pairs = 0;
            for (int32_t row = start; row < stop; row++) {
                pairs += window->column_stop - rows.first(row);
                if (!wanted.rows_left || wanted.rows_left[row])
                    look.look(row, rows.first(row), window->column_stop, rows.of(row), sum);
                else std::fill(rows.of(row), rows.of(row) + (window->column_stop - rows.first(row)), 0);
            }
            int64_t left = sum.sharing - sharing_before;
            if (filter->residues && left > 0) {
                left = 0;
                for (int32_t row = start; row < stop; row++)
                    left += look.look_at_residues(row, rows.first(row), window->column_stop, rows.of(row));
            }
            if (filter->row_masks && left > 0) {
                const int32_t straying = share_of_straying(filter->thresholds);
                SubsequenceLooker by_rows(*filter->row_masks, *filter->kernel, straying);
                const bool are_many = left > pairs / LANES;
                for (int32_t group = start / LANES; are_many && group * LANES < stop; group++)
                    look_at_group(*filter, rows, group, start, stop, wanted.best, by_rows);
                SubsequenceLooker by_columns(filter->column_masks(), *filter->kernel, straying);
                for (int32_t row = start; row < stop; row++)
                    look.look_at_subsequences(row, rows.first(row), window->column_stop, rows.of(row),
                                              by_columns);
            }
            for (int32_t row = start; row < stop && left > 0; row++)
                look.count(row, rows.first(row), window->column_stop, rows.of(row), sum);
        });
        Counts sum;
        for (const Counts& one : found) {
            sum.looked_at += one.looked_at;
            sum.wanted += one.wanted;
            sum.possible += one.possible;
            sum.sharing += one.sharing;
            sum.left += one.left;
            sum.least_score = std::min(sum.least_score, one.least_score);
        }
        const int64_t all_counts[] = {sum.looked_at, sum.wanted, sum.possible,
                                      sum.sharing,   sum.left,   sum.least_score};
        std::copy(std::begin(all_counts), std::end(all_counts), counts);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
