// Candidates of greedy clusters by common subsequences. The ctypes declarations are in
// pairalign/engines/cpu/growing_index.py.

#include "lane_index.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>

#include "../filters/pair_filter.h"

namespace pairalign {
namespace {

struct alignas(64) Word {
    uint64_t lanes[LANES];
};

// Eight rows, or fewer in the last group.
struct Group {
    size_t start;  // of its masks
    int32_t words, count;
    int32_t rows[LANES];
};

class LaneIndex : public pairalign_representatives {
public:
    LaneIndex(const pairalign_filter& filter, const SubsequenceKernel& kernel)
        : filter_(filter), kernel_(kernel) {
        const pairalign_column_scores& s = filter.scores;
        knows_contained_ = filter.thresholds.mode == 0 && filter.thresholds.coverage == 0 &&
                           s.least_match == s.most_match && s.most_match > 0 &&
                           s.best_mismatch < s.most_match && s.gap_extend >= 0 && s.gap_extend <= s.gap_open;
    }

    void add(const int32_t* rows, int32_t count) override {
        added_ = groups_.size() - (!groups_.empty() && groups_.back().count < LANES);
        for (int32_t k = 0; k < count; k++) put(rows[k]);
    }

    // Drops rows of those that were put in last, and closes the gaps.
    void drop(const int32_t* rows, int32_t count) override {
        if (count == 0) return;
        std::vector<int32_t> left;
        for (size_t g = added_; g < groups_.size(); g++)
            std::set_difference(groups_[g].rows, groups_[g].rows + groups_[g].count, rows, rows + count,
                                std::back_inserter(left));
        if (added_ < groups_.size()) masks_.resize(groups_[added_].start);
        groups_.resize(added_);
        for (const int32_t row : left) put(row);
    }

    int64_t find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) override;

private:
    friend class LaneFinder;

    void put(int32_t row) {
        const FilteredSet& set = filter_.rows;
        if (groups_.empty() || groups_.back().count == LANES) {
            const int32_t words = std::max(1, (set.length(row) + BITS_OF_WORD - 1) / BITS_OF_WORD);
            groups_.push_back({masks_.size(), words, 0, {}});
            Word none;
            std::fill_n(none.lanes, LANES, FREE_BIT);
            masks_.resize(
                masks_.size() + static_cast<size_t>(words) * static_cast<size_t>(filter_.unambiguous), none);
        }
        Group& group = groups_.back();
        const int lane = group.count;
        group.rows[group.count++] = row;
        const uint8_t* codes = set.codes(row);
        for (int32_t k = 0; k < set.length(row); k++)
            if (codes[k] < filter_.unambiguous)
                masks_[group.start + static_cast<size_t>(codes[k] * group.words + k / BITS_OF_WORD)]
                    .lanes[lane] |= uint64_t{1} << (k % BITS_OF_WORD);
    }

    const pairalign_filter& filter_;
    const SubsequenceKernel& kernel_;
    bool knows_contained_;
    std::vector<Word> masks_;
    std::vector<Group> groups_;
    size_t added_ = 0;  // the first group with some of what was put in last
};

// Finds the candidates of one column after the other.
class LaneFinder {
public:
    LaneFinder(const LaneIndex& index, const pairalign_best_rows& best, int32_t least_row)
        : index_(index),
          filter_(index.filter_),
          best_(best),
          least_row_(least_row),
          straying_(share_of_straying(index.filter_.thresholds)) {}

    int64_t looked_at() const { return looked_at_; }

    void find(int32_t column, std::vector<Candidate>& candidates) {
        const auto begin = static_cast<std::ptrdiff_t>(candidates.size());
        column_ = column;
        known_length_ = -1;
        const FilteredSet& set = filter_.rows;
        const Text text{set.codes(column), set.length(column), filter_.unambiguous};
        for (const Group& group : index_.groups_) {
            if (group.rows[0] >= column) break;
            if (group.rows[group.count - 1] < least_row_) continue;
            int32_t wanted = 0;
            NeededMatches needed(straying_);
            for (int lane = 0; lane < group.count; lane++) {
                needed.set(lane, least_matches_of(group.rows[lane]), set.length(group.rows[lane]),
                           text.length);
                wanted += needed.least[lane] != NEVER_NEEDED;
            }
            if (wanted == 0) continue;
            looked_at_ += wanted;
            int32_t common[LANES];
            memory_.resize(static_cast<size_t>(group.words));
            index_.kernel_.count_common({index_.masks_[group.start].lanes, group.words}, text, needed, common,
                                        memory_.data()->lanes);
            for (int lane = 0; lane < group.count; lane++)
                if (needed.least[lane] != NEVER_NEEDED && common[lane] >= needed.least[lane])
                    candidates.push_back(bound(group.rows[lane], common[lane]));
        }
        sort_candidates(candidates.begin() + begin, candidates.end());
    }

private:
    // The matches that a pair must have to pass and to be better than the best; NEVER_NEEDED: it cannot.
    int32_t least_matches_of(int32_t row) {
        if (row >= column_ || row < least_row_) return NEVER_NEEDED;
        const int32_t length = filter_.rows.length(row);
        const bool is_query = filter_.row_is_query(row, column_);
        const auto at = static_cast<size_t>(column_);
        if (length != known_length_ || is_query != known_order_) {
            known_length_ = length;
            known_order_ = is_query;
            const Bounds bounds = filter_.bounds(row, column_, is_query, 0);
            least_before_ = least_after_ =
                bounds.is_possible ? static_cast<int32_t>(bounds.matches) : NEVER_NEEDED;
            if (bounds.is_possible && best_.parts[at] > 0) {
                const Wide part = Wide{best_.parts[at]} * whole_of(row);
                const Wide whole = Wide{best_.wholes[at]} * (is_mean() ? 2 : 1);
                const auto matches = static_cast<int32_t>(part / whole);
                least_before_ = std::max(least_before_, matches + (part % whole != 0));
                least_after_ = std::max(least_after_, matches + 1);
            }
        }
        const int32_t least = best_.parts[at] > 0 && row > best_.rows[at] ? least_after_ : least_before_;
        return least > std::min(length, filter_.rows.length(column_)) ? NEVER_NEEDED : least;
    }

    bool is_mean() const { return filter_.thresholds.identity_of == OF_MEAN; }

    // The least whole of which matches (for `mean`, twice the matches) are a share.
    int64_t whole_of(int32_t row) const {
        const int32_t n = filter_.rows.length(row), m = filter_.rows.length(column_);
        if (is_mean()) return int64_t{n} + m;
        return filter_.row_is_query(row, column_) ? least_whole(filter_.thresholds, n, m)
                                                  : least_whole(filter_.thresholds, m, n);
    }

    Candidate bound(int32_t row, int32_t common) const {
        const bool is_known =
            index_.knows_contained_ && common == filter_.rows.length(column_) && is_contained(row);
        return {row, column_, int64_t{common} * (is_mean() ? 2 : 1), whole_of(row), is_known};
    }

    // Whether the column's residues are a start and an end of the row's.
    bool is_contained(int32_t row) const {
        const uint8_t *a = filter_.rows.codes(row), *b = filter_.rows.codes(column_);
        const int32_t m = filter_.rows.length(row), n = filter_.rows.length(column_);
        if (m < n) return false;
        const auto start = static_cast<int32_t>(std::mismatch(b, b + n, a).first - b);
        return std::equal(b + start, b + n, a + (m - n) + start);
    }

    const LaneIndex& index_;
    const pairalign_filter& filter_;
    const pairalign_best_rows& best_;
    int32_t least_row_, straying_, column_ = 0;
    int32_t known_length_ = -1, least_before_ = 0, least_after_ = 0;  // of rows of that length
    bool known_order_ = false;
    std::vector<Word> memory_;
    int64_t looked_at_ = 0;
};

int64_t LaneIndex::find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) {
    constexpr int32_t PART = 16;  // columns
    const int32_t count = (stop - first + PART - 1) / PART;
    return find_in_parts(first, stop, count, filter_.threads,
                         [&](int32_t, int32_t from, int32_t to, std::vector<Candidate>& found) {
                             LaneFinder finder(*this, best, least_row);
                             for (int32_t column = from; column < to; column++) finder.find(column, found);
                             return finder.looked_at();
                         });
}

// Whether common subsequences drop enough of a sample of the pairs that lengths leave.
bool drops_enough(const pairalign_filter& filter, const SubsequenceKernel& kernel, int32_t percent) {
    const std::vector<int64_t> none(static_cast<size_t>(filter.rows.given.count));
    const pairalign_best_rows best{none.data(), none.data(), nullptr};
    const auto drawn = draw_pairs(filter);
    std::vector<Candidate> left;
    for (const auto& [row, column] : drawn) {
        LaneIndex index(filter, kernel);
        index.add(&row, 1);
        LaneFinder(index, best, 0).find(column, left);
    }
    return 100 * left.size() <= static_cast<size_t>(100 - percent) * drawn.size();
}

}  // namespace
}  // namespace pairalign

using namespace pairalign;

PAIRALIGN_API pairalign_representatives* pairalign_open_lanes(const pairalign_filter* filter,
                                                              const char* instruction_set,
                                                              int32_t least_dropped) {
    if (filter->other || (!bounds_matches(filter->thresholds) && least_whole(filter->thresholds, 1, 1) == 0))
        return nullptr;
    try {
        const SubsequenceKernel* kernel = choose_subsequences(instruction_set);
        if (!kernel || !drops_enough(*filter, *kernel, least_dropped)) return nullptr;
        return std::make_unique<LaneIndex>(*filter, *kernel).release();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
