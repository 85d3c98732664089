// Finding the candidates of greedy clusters. The ctypes declarations are in
// pairalign/engines/cpu/representative_index.py.

#include "representative_index.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "seed_shape.h"

namespace pairalign {
namespace {

constexpr double MOST_COST = 10;     // of a pair, in nanoseconds: other filters take about so long
constexpr int64_t MOST_ERRORS = 64;  // distances up to more take as long as other filters
constexpr int64_t NO_ROOM = INT32_MAX;
constexpr int64_t ERRORS_A_SEED_MORE = 10;  // more seeds to be shared, of shorter sequences rarer ones

bool is_unambiguous(const uint8_t* codes, int32_t length, int32_t unambiguous) {
    return std::all_of(codes, codes + length, [=](uint8_t code) { return code < unambiguous; });
}

}  // namespace

// Finds the candidates of one column after the other.
class GrowingFinder {
public:
    explicit GrowingFinder(const pairalign_representative_index& index)
        : index_(index),
          rule_(seed_rule(index.filter->thresholds)),
          bounds_(*index.filter, index.longest),
          counts_(index.starts.size()) {}

    // Adds the candidates of the columns first <= column < stop; returns how many pairs were possible.
    int64_t find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best,
                 std::vector<Candidate>& candidates) {
        best_ = best;
        least_row_ = least_row;
        found_ = 0;
        seen_in_.resize(index_.entries.size());
        for (int32_t column = first; column < stop; column++) find_of(column, candidates);
        return found_;
    }

private:
    void find_of(int32_t column, std::vector<Candidate>& candidates) {
        read(column);
        round_++;
        collect_hits(column);
        const auto begin = static_cast<std::ptrdiff_t>(candidates.size());
        found_ += static_cast<int64_t>(seen_.size());
        if (rule_ != SeedRule::INSIDE)
            for (const int32_t row : seen_)
                if (counts_[static_cast<size_t>(row)] > 0) look_at(row, column, 0, 0, candidates);
        for (size_t first = 0, stop; first < hits_.size(); first = stop) {
            for (stop = first + 1; stop < hits_.size() && hits_[stop].row == hits_[first].row;) stop++;
            if (counts_[static_cast<size_t>(hits_[first].row)] > 0)
                look_at(hits_[first].row, column, first, stop, candidates);
        }
        for (const int32_t row : seen_) counts_[static_cast<size_t>(row)] = 0;
        seen_.clear();
        for (const int32_t row : index_.without)
            if (row >= least_row_ && row < column && index_.starts[static_cast<size_t>(row)] >= 0 &&
                is_possible(row, column)) {
                found_++;
                add(row, column, 0, candidates);
            }
        sort_candidates(candidates.begin() + begin, candidates.end());
    }

    const FilteredSet& set() const { return index_.filter->rows; }
    const pairalign_thresholds& thresholds() const { return index_.filter->thresholds; }

    bool is_possible(int32_t row, int32_t column) {
        const Diagonals& diagonals = bounds_.of(column, row);
        return diagonals.first <= diagonals.last;
    }

    // The column's residues with margins, so that ambiguous ones equal nothing.
    void read(int32_t column) {
        const int32_t length = set().length(column);
        residues_.assign(static_cast<size_t>(length) + 2 * MARGIN, COLUMN_MARGIN);
        const uint8_t* codes = set().codes(column);
        for (int32_t k = 0; k < length; k++)
            if (codes[k] < index_.filter->unambiguous) residues_[static_cast<size_t>(k + MARGIN)] = codes[k];
        is_unambiguous_ = is_unambiguous(codes, length, index_.filter->unambiguous);
    }

    // The least number of seeds that a column has of a row: each error breaks at most one.
    int64_t least_seeds(int32_t row, int32_t column) {
        return std::max<int64_t>(1, index_.wanted[static_cast<size_t>(row)] - bounds_.errors_of(column, row));
    }

    // The seeds that the column has, by row, diagonal and place; of other rules, the rows alone.
    void collect_hits(int32_t column) {
        hits_.clear();
        const uint64_t last = index_.heads.size() - 1, last_mark = index_.marks.size() * 64 - 1;
        const SeedShape& shape = index_.shape;
        for_each_word(set().codes(column), set().length(column), shape.residues, shape.bits,
                      shape.unambiguous, [&](uint64_t word, int32_t start) {
                          const uint64_t hash = hash_of(word), mark = hash & last_mark;
                          if (index_.marks[mark / 64] >> (mark % 64) & 1)
                              collect(column, static_cast<uint32_t>(hash >> 32), index_.heads[hash & last],
                                      start);
                      });
        for (const int32_t row : seen_)
            if (counts_[static_cast<size_t>(row)] < least_seeds(row, column))
                counts_[static_cast<size_t>(row)] = 0;
        if (rule_ != SeedRule::INSIDE) return;
        std::sort(hits_.begin(), hits_.end(), [](const SeedHit& a, const SeedHit& b) {
            if (a.row != b.row) return a.row < b.row;
            const int32_t one = a.row_start - a.column_start, other = b.row_start - b.column_start;
            return one != other ? one < other : a.row_start < b.row_start;
        });
    }

    void collect(int32_t column, uint32_t check, int32_t at, int32_t start) {
        for (; at >= 0; at = index_.entries[static_cast<size_t>(at)].next) {
            const auto& entry = index_.entries[static_cast<size_t>(at)];
            if (entry.row < least_row_) return;  // those before were put in before
            if (entry.check != check || entry.row >= column ||
                index_.starts[static_cast<size_t>(entry.row)] < 0)
                continue;
            // Bounds of columns of a length come again: their rows change.
            const Diagonals& diagonals = bounds_.of(column, entry.row);
            if (!Diagonals{-diagonals.last, -diagonals.first}.has(int64_t{entry.start} - start)) continue;
            int32_t& count = counts_[static_cast<size_t>(entry.row)];
            if (count == 0) seen_.push_back(entry.row);
            uint32_t& seen_in = seen_in_[static_cast<size_t>(at)];
            count += seen_in != round_;
            seen_in = round_;
            if (rule_ == SeedRule::INSIDE) hits_.push_back({entry.row, entry.start, start});
        }
    }

    ResiduePair pair_of(int32_t row, int32_t column) const {
        return {index_.residues.data() + index_.starts[static_cast<size_t>(row)], residues_.data() + MARGIN,
                set().length(row), set().length(column)};
    }

    // The hits first <= hit < stop are those of the row, where the rule looks at them.
    void look_at(int32_t row, int32_t column, size_t first, size_t stop, std::vector<Candidate>& candidates) {
        const int32_t n = set().length(column), m = set().length(row);
        const int64_t errors = bounds_.errors_of(column, row);
        int32_t distance = rule_ == SeedRule::INSIDE ? 0 : std::max(n, m) - std::min(n, m);
        if (errors <= MOST_ERRORS) {
            const ResiduePair pair = pair_of(row, column);
            const auto most = static_cast<int32_t>(errors);
            distance = rule_ == SeedRule::INSIDE ? distance_inside(pair, first, stop, most)
                                                 : distances_.of(pair, most);
        }
        if (distance <= errors) add(row, column, distance, candidates);
    }

    // The least sum of errors on both sides of a seed.
    int32_t distance_inside(const ResiduePair& pair, size_t first, size_t stop, int32_t most) {
        int32_t least = most + 1, diagonal = 0, run_stop = -1;
        for (size_t k = first; k < stop && least > 0; k++) {
            const int32_t i = hits_[k].row_start, j = hits_[k].column_start;
            if (k > first && i - j == diagonal && i < run_stop) continue;  // of one run of equal residues
            diagonal = i - j;
            run_stop = i + EditDistance::count_equal<1>(pair.a + i, pair.b + j);
            const int32_t before = distances_.to_an_end<-1>({pair.a + i, pair.b + j, i, j}, least - 1);
            if (before >= least) continue;
            const int32_t after = distances_.to_an_end<1>(
                {pair.a + i, pair.b + j, pair.a_length - i, pair.b_length - j}, least - 1 - before);
            least = std::min(least, before + after);
        }
        return least;
    }

    void add(int32_t row, int32_t column, int32_t distance, std::vector<Candidate>& candidates) {
        Candidate one = bound(row, column, distance);
        const auto at = static_cast<size_t>(column);
        if (Wide{one.part} * thresholds().identity_whole < Wide{thresholds().identity} * one.whole) return;
        if (best_.parts[at] > 0) {
            const int64_t own = one.part * best_.wholes[at], other = best_.parts[at] * one.whole;
            if (own < other || (own == other && row > best_.rows[at])) return;
        }
        candidates.push_back(one);
    }

    // What the identity is at most, or is.
    Candidate bound(int32_t row, int32_t column, int32_t distance) const {
        const int64_t n = set().length(column), m = set().length(row), shorter = std::min(n, m);
        const int32_t most = n == m ? index_.without_gaps.most(distance) : -1;
        if (distance <= most && is_unambiguous_ && index_.is_unambiguous[static_cast<size_t>(row)]) {
            const int64_t mismatches = count_mismatches(pair_of(row, column), most);
            if (mismatches <= most) return {row, column, n - mismatches, n, true};
        }
        const int64_t matches = std::min(shorter, (n + m - distance) / 2);
        switch (thresholds().identity_of) {
            case OF_LONGER:
                return {row, column, matches, std::max(n, m), false};
            case OF_MEAN:
                return {row, column, 2 * matches, n + m, false};
            default:
                if (rule_ == SeedRule::INSIDE) return {row, column, shorter, shorter + distance, false};
                return {row, column, n + m - distance, n + m + distance, false};
        }
    }

    static int64_t count_mismatches(const ResiduePair& pair, int32_t most) {
        int64_t mismatches = 0;
        for (int32_t k = 0; k < pair.a_length && mismatches <= most; k++)
            mismatches += pair.a[k] != pair.b[k];
        return mismatches;
    }

    const pairalign_representative_index& index_;
    pairalign_best_rows best_{};
    int32_t least_row_ = 0;
    SeedRule rule_;
    LengthBounds bounds_;
    EditDistance distances_;
    uint32_t round_ = 0;             // of columns, some of which come again
    std::vector<int32_t> counts_;    // by row, its seeds that the column has
    std::vector<int32_t> seen_;      // rows of which there are some
    std::vector<uint32_t> seen_in_;  // by entry, the last round whose column has that seed
    std::vector<SeedHit> hits_;
    std::vector<uint8_t> residues_;
    bool is_unambiguous_ = false;
    int64_t found_ = 0;
};

WithoutGaps::WithoutGaps(const pairalign_filter& filter) {
    const pairalign_column_scores& s = filter.scores;
    if (filter.thresholds.mode != 0 || s.least_match != s.most_match || s.best_mismatch > s.most_match ||
        s.gap_extend < 0 || s.gap_extend > s.gap_open)
        return;
    const int64_t lost = int64_t{s.most_match} - s.worst_mismatch;
    for (int64_t distance = 0; distance <= MOST_ERRORS && lost > 0; distance++) {
        int64_t least = NO_ROOM;
        for (int64_t g = 1; g <= distance / 2 + 1; g++)  // from there on it rises or falls with g alone
            least = std::min(least,
                             s.most_match * g + 2 * s.gap_open + 2 * (g - 1) * s.gap_extend +
                                 (s.most_match - s.best_mismatch) * std::max<int64_t>(0, distance - 2 * g));
        by_distance_.push_back(static_cast<int32_t>(least <= 0 ? -1 : (least - 1) / lost));
    }
}

}  // namespace pairalign

using namespace pairalign;

pairalign_representative_index::pairalign_representative_index(const pairalign_filter* of,
                                                               const SeedShape& seeds)
    : filter(of), shape(seeds), counts(count_words(of->rows, seeds)), without_gaps(*of) {
    const FilteredSet& set = filter->rows;
    int64_t entries_at_most = 0;
    for (int32_t s = 0; s < set.given.count; s++) {
        longest = std::max(longest, set.length(s));
        entries_at_most += WantedSeeds(filter->thresholds, set.length(s)).seeds;
    }
    bucket_bits = bits_for(entries_at_most, 8, 26);
    heads.assign(size_t{1} << bucket_bits, -1);
    marks.assign(size_t{1} << (bits_for(8 * entries_at_most, 10, 30) - 6), 0);
    starts.assign(static_cast<size_t>(set.given.count), -1);
    is_unambiguous.assign(static_cast<size_t>(set.given.count), 0);
    wanted.assign(static_cast<size_t>(set.given.count), 0);
    residues.assign(MARGIN, ROW_MARGIN);
}

void pairalign_representative_index::add_one(int32_t row, SeedChooser& chooser) {
    const uint8_t* codes = filter->rows.codes(row);
    const int32_t length = filter->rows.length(row);
    starts[static_cast<size_t>(row)] = static_cast<int64_t>(residues.size());
    is_unambiguous[static_cast<size_t>(row)] = pairalign::is_unambiguous(codes, length, filter->unambiguous);
    residues.insert(residues.end(), codes, codes + length);
    residues.insert(residues.end(), MARGIN, ROW_MARGIN);
    const WantedSeeds from(filter->thresholds, length);
    std::vector<Seed> seeds;
    // Of k + x seeds that an alignment with k errors may break, it leaves x.
    int64_t chosen = from.seeds + (from.seeds - 1) / ERRORS_A_SEED_MORE;
    bool has_room = chooser.choose(codes, from.first, from.stop, chosen, seeds);
    if (!has_room && chosen > from.seeds) {
        chosen = from.seeds;
        has_room = chooser.choose(codes, from.first, from.stop, chosen, seeds);
    }
    wanted[static_cast<size_t>(row)] = static_cast<int32_t>(chosen);
    if (!has_room) {
        without.push_back(row);
        return;
    }
    const uint64_t last = heads.size() - 1, last_mark = marks.size() * 64 - 1;
    for (const Seed& seed : seeds) {
        const uint64_t hash = hash_of(seed.word), mark = hash & last_mark;
        marks[mark / 64] |= uint64_t{1} << (mark % 64);
        int32_t& head = heads[hash & last];
        entries.push_back({static_cast<uint32_t>(hash >> 32), row, seed.start, head});
        head = static_cast<int32_t>(entries.size()) - 1;
    }
}

void pairalign_representative_index::add(const int32_t* rows, int32_t count) {
    SeedChooser chooser(shape, counts);
    for (int32_t k = 0; k < count; k++) add_one(rows[k], chooser);
}

void pairalign_representative_index::drop(const int32_t* rows, int32_t count) {
    for (int32_t k = 0; k < count; k++) starts[static_cast<size_t>(rows[k])] = -1;
}

int64_t pairalign_representative_index::find(int32_t first, int32_t stop, int32_t least_row,
                                             const pairalign_best_rows& best) {
    const int32_t threads = std::max(1, std::min(filter->threads, (stop - first) / 16));
    auto finders = std::move(finders_);  // one that ran out of memory is not used again
    while (finders.size() < static_cast<size_t>(threads))
        finders.push_back(std::make_unique<GrowingFinder>(*this));
    const int64_t found =
        find_in_parts(first, stop, threads, threads,
                      [&](int32_t part, int32_t from, int32_t to, std::vector<Candidate>& own) {
                          return finders[static_cast<size_t>(part)]->find(from, to, least_row, best, own);
                      });
    finders_ = std::move(finders);
    return found;
}

pairalign_representative_index::~pairalign_representative_index() = default;

PAIRALIGN_API pairalign_representatives* pairalign_open_growing(const pairalign_filter* filter,
                                                                int32_t residues) {
    const SeedRule rule = seed_rule(filter->thresholds);
    if (rule == SeedRule::NONE || filter->other) return nullptr;
    if (rule == SeedRule::INSIDE && filter->thresholds.mode == 2) return nullptr;  // they end anywhere
    try {
        ChosenShape chosen = choose_shape(*filter);
        if (residues > 0) chosen.shape.residues = residues;
        else if (chosen.cost > MOST_COST) return nullptr;
        return std::make_unique<pairalign_representative_index>(filter, chosen.shape).release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API int32_t pairalign_growing_residues(const pairalign_representatives* index) {
    return static_cast<const pairalign_representative_index*>(index)->shape.residues;
}
