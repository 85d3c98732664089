// Candidates of greedy clusters by common subsequences. The ctypes declarations are in
// pairalign/engines/cpu/representative_index.py.

#include "lane_index.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>

#include "../filters/chosen_steps.h"
#include "../filters/pair_filter.h"
#include "../threads.h"
#include "text_list.h"

namespace pairalign {
namespace {

struct alignas(64) Word {
    uint64_t lanes[LANES];
};

struct Common {
    int32_t lanes[LANES];
};

// Eight sequences, or fewer in the last group.
struct Group {
    size_t start;  // of its masks
    int32_t words, count;
    int32_t numbers[LANES];
};

// Sequences as patterns: neighbours in a group are of about the same length and begin alike.
class PatternGroups {
public:
    PatternGroups(const FilteredSet& set, std::vector<int32_t> numbers, int32_t unambiguous) {
        std::sort(numbers.begin(), numbers.end(), [&](int32_t a, int32_t b) {
            const int32_t one = set.length(a), other = set.length(b);
            if (one != other) return one > other;
            const int order = std::memcmp(set.codes(a), set.codes(b), static_cast<size_t>(one));
            return order != 0 ? order < 0 : a < b;
        });
        for (const int32_t number : numbers) put(set, number, unambiguous);
    }

    int32_t count() const { return static_cast<int32_t>(groups_.size()); }
    const Group& group(int32_t k) const { return groups_[static_cast<size_t>(k)]; }
    MaskGroup masks(int32_t k) const { return {masks_[group(k).start].lanes, group(k).words}; }

private:
    void put(const FilteredSet& set, int32_t number, int32_t unambiguous) {
        if (groups_.empty() || groups_.back().count == LANES) {
            const int32_t words = std::max(1, (set.length(number) + BITS_OF_WORD - 1) / BITS_OF_WORD);
            groups_.push_back({masks_.size(), words, 0, {}});
            Word none;
            std::fill_n(none.lanes, LANES, FREE_BIT);
            masks_.resize(masks_.size() + static_cast<size_t>(words) * static_cast<size_t>(unambiguous),
                          none);
        }
        Group& group = groups_.back();
        const int lane = group.count;
        group.numbers[group.count++] = number;
        const uint8_t* codes = set.codes(number);
        for (int32_t k = 0; k < set.length(number); k++)
            if (codes[k] < unambiguous)
                masks_[group.start + static_cast<size_t>(codes[k] * group.words + k / BITS_OF_WORD)]
                    .lanes[lane] |= uint64_t{1} << (k % BITS_OF_WORD);
    }

    std::vector<Word> masks_;
    std::vector<Group> groups_;
};

// Rows that were put in at once, ascending.
struct Batch {
    std::vector<int32_t> rows;
    std::unique_ptr<PatternGroups> patterns;
    std::unique_ptr<TextList> texts;  // null: not needed so far
    int32_t shortest;

    Batch(const FilteredSet& set, std::vector<int32_t> of, int32_t unambiguous)
        : rows(std::move(of)),
          patterns(std::make_unique<PatternGroups>(set, rows, unambiguous)),
          shortest(INT32_MAX) {
        for (const int32_t row : rows) shortest = std::min(shortest, set.length(row));
    }
};

// Texts that some groups of patterns are looked for in.
struct Task {
    const PatternGroups* patterns;
    const TextList* texts;
    bool are_rows_texts;
    bool are_before;      // whether all rows come before all columns
    int32_t first, stop;  // groups
};

class LaneIndex : public pairalign_representatives {
public:
    LaneIndex(const pairalign_filter& filter, const SubsequenceKernel& kernel)
        : filter_(filter), kernel_(kernel) {
        const pairalign_thresholds& t = filter.thresholds;
        const pairalign_column_scores& s = filter.scores;
        const bool is_match_best = t.coverage == 0 && t.ends_cost == 0 && s.least_match == s.most_match &&
                                   s.most_match > 0 && s.best_mismatch < s.most_match && s.gap_extend >= 0 &&
                                   s.gap_extend <= s.gap_open;
        knows_contained_ = is_match_best && (t.mode == 0 || t.identity_of != OF_COLUMNS);
    }

    void add(const int32_t* rows, int32_t count) override {
        constexpr size_t FEW = 3;  // batches are put together where they have a third of all rows
        size_t later = 0;
        for (size_t k = 1; k < batches_.size(); k++) later += batches_[k].rows.size();
        if (batches_.size() > 1 && FEW * later >= batches_[0].rows.size()) {
            std::vector<int32_t> all;
            for (const Batch& batch : batches_) all.insert(all.end(), batch.rows.begin(), batch.rows.end());
            batches_.clear();
            batches_.emplace_back(filter_.rows, std::move(all), filter_.unambiguous);
        }
        batches_.emplace_back(filter_.rows, std::vector<int32_t>(rows, rows + count), filter_.unambiguous);
    }

    // Drops rows of those that were put in last.
    void drop(const int32_t* rows, int32_t count) override {
        if (count == 0) return;
        std::vector<int32_t> left;
        const std::vector<int32_t>& last = batches_.back().rows;
        std::set_difference(last.begin(), last.end(), rows, rows + count, std::back_inserter(left));
        batches_.pop_back();
        batches_.emplace_back(filter_.rows, std::move(left), filter_.unambiguous);
    }

    int64_t find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) override;

private:
    friend class LaneFinder;

    const pairalign_filter& filter_;
    const SubsequenceKernel& kernel_;
    bool knows_contained_;
    std::vector<Batch> batches_;
};

// Finds candidates of one task after the other.
class LaneFinder {
public:
    LaneFinder(const LaneIndex& index, const pairalign_best_rows& best, int32_t least_row)
        : index_(index),
          filter_(index.filter_),
          best_(best),
          least_row_(least_row),
          straying_(share_of_straying(index.filter_.thresholds)),
          known_(KNOWN) {}

    int64_t looked_at() const { return looked_at_; }

    void find(const Task& task, std::vector<Candidate>& candidates) {
        for (int32_t k = task.first; k < task.stop; k++)
            for (const TextBin& bin : task.texts->bins()) find_in(task, k, bin, candidates);
    }

private:
    static constexpr size_t KNOWN = 4096;

    // Of sequences of two lengths, one of which may be the row: the matches that they need.
    struct Known {
        int32_t row_length = -1, column_length = -1, matches = 0;
    };

    void find_in(const Task& task, int32_t number, const TextBin& bin, std::vector<Candidate>& candidates) {
        const Group& group = task.patterns->group(number);
        NeededMatches needed(straying_);
        bool is_any = false;
        for (int lane = 0; lane < group.count; lane++) {
            const int32_t pattern = filter_.rows.length(group.numbers[lane]);
            for (const auto& [text, count] : bin.lengths) {
                if (pattern < text + task.are_rows_texts) continue;
                const int32_t least = least_by_lengths(pattern, text);
                if (least == NEVER_NEEDED) continue;
                needed.add(lane, least, pattern, text);
                if (task.are_before) looked_at_ += count;
                is_any = true;
            }
        }
        if (!is_any) return;
        if (!task.are_before) count_pairs(task, group, bin);
        const MaskGroup masks = task.patterns->masks(number);
        const auto texts = static_cast<size_t>(bin.texts.count);
        memory_.resize(memory_of(masks) / LANES);
        numbers_.resize(texts);
        common_.resize(texts);
        FoundTexts found{numbers_.data(), reinterpret_cast<int32_t (*)[LANES]>(common_.data()), 0, 0};
        index_.kernel_.count_common(masks, bin.texts, needed, memory_.data()->lanes, found);
        for (int32_t k = 0; k < found.count; k++) {
            const int32_t text = bin.numbers[found.texts[k]], length = filter_.rows.length(text);
            for (int lane = 0; lane < group.count; lane++)
                if (length - found.common[k][lane] <= needed.spare[lane] &&
                    filter_.rows.length(group.numbers[lane]) >= length + task.are_rows_texts)
                    look_at(task.are_rows_texts ? text : group.numbers[lane],
                            task.are_rows_texts ? group.numbers[lane] : text, found.common[k][lane],
                            candidates);
        }
    }

    // Counts pairs that lengths leave, of rows some of which come after columns.
    void count_pairs(const Task& task, const Group& group, const TextBin& bin) {
        for (int32_t k = 0; k < bin.texts.count; k++)
            for (int lane = 0; lane < group.count; lane++) {
                const int32_t text = bin.numbers[k], pattern = group.numbers[lane];
                const int32_t row = task.are_rows_texts ? text : pattern;
                const int32_t column = task.are_rows_texts ? pattern : text;
                const int32_t longer = filter_.rows.length(pattern), shorter = bin.texts.lengths[k];
                looked_at_ += row < column && row >= least_row_ && longer >= shorter + task.are_rows_texts &&
                              least_by_lengths(longer, shorter) != NEVER_NEEDED;
            }
    }

    // The least matches of sequences of such lengths that may pass; NEVER_NEEDED: they cannot.
    int32_t least_by_lengths(int32_t longer, int32_t shorter) {
        Known& known = known_[(static_cast<size_t>(longer) * 67 + static_cast<size_t>(shorter)) % KNOWN];
        if (known.row_length != longer || known.column_length != shorter) {
            known = {longer, shorter, NEVER_NEEDED};
            for (const bool is_query : {true, false}) {
                const Bounds bounds = filter_.bounds_of(longer, shorter, is_query, 0);
                if (bounds.is_possible && bounds.matches <= shorter)
                    known.matches = std::min(known.matches, static_cast<int32_t>(bounds.matches));
            }
        }
        return known.matches;
    }

    void look_at(int32_t row, int32_t column, int32_t common, std::vector<Candidate>& candidates) {
        if (row >= column || row < least_row_) return;
        const bool is_query = filter_.row_is_query(row, column);
        const Bounds bounds = filter_.bounds(row, column, is_query, 0);
        if (!bounds.is_possible || common < bounds.matches) return;
        Candidate one{row, column, int64_t{common} * (is_mean() ? 2 : 1), whole_of(row, column, is_query),
                      false};
        const auto at = static_cast<size_t>(column);
        if (best_.parts[at] > 0) {
            const Wide own = Wide{one.part} * best_.wholes[at], other = Wide{best_.parts[at]} * one.whole;
            if (own < other || (own == other && row > best_.rows[at])) return;
        }
        one.is_known = is_contained(row, column, common);
        candidates.push_back(one);
    }

    bool is_mean() const { return filter_.thresholds.identity_of == OF_MEAN; }

    // The least whole of which matches (for `mean`, twice the matches) are a share.
    int64_t whole_of(int32_t row, int32_t column, bool is_query) const {
        const int32_t m = filter_.rows.length(row), n = filter_.rows.length(column);
        if (is_mean()) return int64_t{n} + m;
        return is_query ? least_whole(filter_.thresholds, m, n) : least_whole(filter_.thresholds, n, m);
    }

    // Whether the shorter sequence is in the longer one so that the identity is known (lane_index.h).
    bool is_contained(int32_t row, int32_t column, int32_t common) const {
        const bool is_row_longer = filter_.rows.length(row) >= filter_.rows.length(column);
        const int32_t longer = is_row_longer ? row : column, shorter = is_row_longer ? column : row;
        const int32_t m = filter_.rows.length(longer), n = filter_.rows.length(shorter);
        if (!index_.knows_contained_ || common != n) return false;
        const uint8_t *a = filter_.rows.codes(longer), *b = filter_.rows.codes(shorter);
        if (filter_.thresholds.mode != 0) return std::search(a, a + m, b, b + n) != a + m;
        const auto start = static_cast<int32_t>(std::mismatch(b, b + n, a).first - b);
        return std::equal(b + start, b + n, a + (m - n) + start);
    }

    const LaneIndex& index_;
    const pairalign_filter& filter_;
    const pairalign_best_rows& best_;
    int32_t least_row_, straying_;
    std::vector<Known> known_;
    std::vector<Word> memory_;
    std::vector<int32_t> numbers_;
    std::vector<Common> common_;
    int64_t looked_at_ = 0;
};

int64_t LaneIndex::find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) {
    constexpr int32_t PART = 16;  // groups
    std::vector<int32_t> columns;
    int32_t longest = 0;
    for (int32_t column = first; column < stop; column++) {
        const auto at = static_cast<size_t>(column);
        const bool is_best = best.parts[at] == best.wholes[at] && best.rows[at] < least_row;
        if (is_best) continue;
        columns.push_back(column);
        longest = std::max(longest, filter_.rows.length(column));
    }
    const TextList texts(filter_.rows, columns, filter_.unambiguous);
    std::unique_ptr<PatternGroups> patterns;
    std::vector<Task> tasks;
    const auto put = [&](const PatternGroups& of, const TextList& in, bool are_rows_texts, bool are_before) {
        for (int32_t k = 0; k < of.count(); k += PART)
            tasks.push_back({&of, &in, are_rows_texts, are_before, k, std::min(of.count(), k + PART)});
    };
    for (Batch& batch : batches_) {
        if (batch.rows.empty() || batch.rows.back() < least_row) continue;
        const bool are_before = least_row <= batch.rows.front() && batch.rows.back() < first;
        put(*batch.patterns, texts, false, are_before);
        if (batch.shortest >= longest) continue;
        if (!batch.texts)
            batch.texts = std::make_unique<TextList>(filter_.rows, batch.rows, filter_.unambiguous);
        if (!patterns) patterns = std::make_unique<PatternGroups>(filter_.rows, columns, filter_.unambiguous);
        put(*patterns, *batch.texts, true, are_before);
    }
    std::vector<std::vector<Candidate>> found(tasks.size());
    std::vector<int64_t> counts(tasks.size());
    on_threads(static_cast<int32_t>(tasks.size()), filter_.threads, [&](int32_t k) {
        const auto own = static_cast<size_t>(k);
        LaneFinder finder(*this, best, least_row);
        finder.find(tasks[own], found[own]);
        counts[own] = finder.looked_at();
    });
    candidates.clear();
    for (const auto& part : found) candidates.insert(candidates.end(), part.begin(), part.end());
    sort_candidates(candidates.begin(), candidates.end());
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// Whether common subsequences drop enough of a sample of the pairs that lengths leave.
bool drops_enough(const pairalign_filter& filter, const SubsequenceKernel& kernel, int32_t percent) {
    const std::vector<int64_t> none(static_cast<size_t>(filter.rows.given.count));
    const pairalign_best_rows best{none.data(), none.data(), nullptr};
    const auto drawn = draw_pairs(filter);
    const LaneIndex index(filter, kernel);
    LaneFinder finder(index, best, 0);
    std::vector<Candidate> left;
    for (const auto& pair : drawn) {
        const auto [row, column] = std::minmax(pair.first, pair.second);
        const bool is_row_longer = filter.rows.length(row) >= filter.rows.length(column);
        const PatternGroups pattern(filter.rows, {is_row_longer ? row : column}, filter.unambiguous);
        const TextList text(filter.rows, {is_row_longer ? column : row}, filter.unambiguous);
        finder.find({&pattern, &text, !is_row_longer, true, 0, 1}, left);
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
