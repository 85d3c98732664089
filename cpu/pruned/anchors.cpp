#include "anchors.h"

#include <algorithm>
#include <cstring>

namespace pairalign {
namespace {

constexpr int32_t WORD = 16;
// Words of the column sequence that are indexed: one of so many, and of a long sequence.
constexpr int32_t EVERY = 8, EVERY_OF_LONG = 16, LONG = 50'000;
// Anchors of a run have so many residues: shorter ones are there by chance, and cost two gaps.
constexpr int32_t LEAST_RUN = 32;
constexpr uint32_t FREE = 0, TWICE = UINT32_MAX;

inline uint64_t eight(const uint8_t* at) {
    uint64_t residues;
    std::memcpy(&residues, at, 8);
    return residues;
}

inline bool same_word(const uint8_t* a, const uint8_t* b) {
    return eight(a) == eight(b) && eight(a + 8) == eight(b + 8);
}

inline uint64_t hash_of(const uint8_t* word) {
    return (eight(word) * 0x9e3779b97f4a7c15 ^ eight(word + 8)) * 0xd6e8feb86659fd93;
}

int32_t equal_residues(const uint8_t* a, const uint8_t* b, int32_t most) {
    int32_t length = 0;
    while (length + 8 <= most && eight(a + length) == eight(b + length)) length += 8;
    while (length < most && a[length] == b[length]) length++;
    return length;
}

int64_t score_diagonal(const Scheme& s, const uint8_t* a, const uint8_t* b, int32_t length) {
    int64_t score = 0;
    for (int32_t k = 0; k < length; k++) score += s.matrix[a[k]][b[k]];
    return score;
}

int64_t score_gap(const Scheme& s, int32_t residues) {
    return residues ? -s.gap_open - int64_t{residues - 1} * s.gap_extend : 0;
}

// A score from corner to corner of a rectangle: with one gap at most, where it costs least, or of gaps alone.
int64_t score_with_gap(const Scheme& s, const uint8_t* a, int32_t rows, const uint8_t* b, int32_t columns) {
    const int32_t gap = std::abs(rows - columns), length = std::min(rows, columns);
    if (gap == 0) return score_diagonal(s, a, b, length);
    const uint8_t *const c = a + (rows - length), *const d = b + (columns - length);
    int64_t score = score_diagonal(s, c, d, length), best = score;  // the gap comes first
    for (int32_t k = 0; k < length; k++) {
        score += s.matrix[a[k]][b[k]] - s.matrix[c[k]][d[k]];
        best = std::max(best, score);
    }
    return std::max(best + score_gap(s, gap), score_gap(s, rows) + score_gap(s, columns));
}

}  // namespace

void Anchors::index_words(const uint8_t* column, int32_t columns) {
    every_ = columns < LONG ? EVERY : EVERY_OF_LONG;
    const int32_t words = (columns - WORD) / every_ + 1;
    int bits = 8;
    while ((int64_t{1} << bits) < 2 * int64_t{words}) bits++;
    shift_ = 64 - bits;
    table_.assign(size_t{1} << bits, FREE);
    for (int32_t w = 0; w < words; w++) {
        const uint8_t* const word = column + int64_t{w} * every_;
        uint32_t& slot = table_[hash_of(word) >> shift_];
        if (slot == FREE) slot = static_cast<uint32_t>(w) + 1;
        else if (slot != TWICE && same_word(column + int64_t{slot - 1} * every_, word)) slot = TWICE;
    }
}

void Anchors::find_anchors(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns) {
    anchors_.clear();
    for (int32_t i = 0; i + WORD <= rows;) {
        const uint32_t slot = table_[hash_of(row + i) >> shift_];
        const int32_t j = slot == FREE || slot == TWICE ? 0 : static_cast<int32_t>(slot - 1) * every_;
        if (slot == FREE || slot == TWICE || !same_word(row + i, column + j)) {
            i++;
            continue;
        }
        const int32_t length = equal_residues(row + i, column + j, std::min(rows - i, columns - j));
        anchors_.push_back({i, j, length, -1, length});
        i += length;
    }
}

// Finds for each anchor the best chain that it ends, of anchors that begin before it in both sequences.
void Anchors::chain(int32_t columns) {
    best_.assign(static_cast<size_t>(columns / every_) + 2, -1);
    for (size_t a = 0; a < anchors_.size(); a++) {
        Anchor& one = anchors_[a];
        for (size_t at = static_cast<size_t>(one.j / every_); at > 0; at &= at - 1) {
            const int32_t other = best_[at];
            if (other < 0 || anchors_[static_cast<size_t>(other)].best + one.length <= one.best) continue;
            one.before = other;
            one.best = anchors_[static_cast<size_t>(other)].best + one.length;
        }
        for (size_t at = static_cast<size_t>(one.j / every_) + 1; at < best_.size(); at += at & -at)
            if (best_[at] < 0 || anchors_[static_cast<size_t>(best_[at])].best < one.best)
                best_[at] = static_cast<int32_t>(a);
    }
}

// The runs of the best chain, from the first to the last.
void Anchors::take_runs() {
    runs_.clear();
    const auto last = std::max_element(anchors_.begin(), anchors_.end(),
                                       [](const Anchor& a, const Anchor& b) { return a.best < b.best; });
    const auto join = [](std::vector<Run>& runs, const Run& run) {  // with one that comes after it
        if (runs.empty() || runs.back().diagonal() != run.diagonal()) return runs.push_back(run);
        Run& after = runs.back();
        after = {run.i, run.j, after.i + after.length - run.i, after.anchored + run.anchored};
    };
    for (int32_t a = static_cast<int32_t>(last - anchors_.begin()); a >= 0;) {
        const Anchor& one = anchors_[static_cast<size_t>(a)];
        join(runs_, {one.i, one.j, one.length, one.length});
        a = one.before;
    }
    kept_.clear();
    for (const Run& run : runs_)
        if (run.anchored >= LEAST_RUN) join(kept_, run);
    std::reverse(kept_.begin(), kept_.end());
}

int64_t Anchors::find_score(const Scheme& scheme, const uint8_t* row, int32_t rows, const uint8_t* column,
                            int32_t columns) {
    if (rows < WORD || columns < WORD) return NO_SCORE;
    index_words(column, columns);
    find_anchors(row, rows, column, columns);
    if (anchors_.empty()) return NO_SCORE;
    chain(columns);
    take_runs();
    if (kept_.empty()) return NO_SCORE;
    int64_t score = 0;
    int32_t i = 0, j = 0;
    for (Run run : kept_) {
        const int32_t passed = std::max({0, i - run.i, j - run.j});  // runs may overlap
        if (passed >= run.length) continue;
        run = {run.i + passed, run.j + passed, run.length - passed, 0};
        score += score_with_gap(scheme, row + i, run.i - i, column + j, run.j - j);
        score += score_diagonal(scheme, row + run.i, column + run.j, run.length);
        i = run.i + run.length;
        j = run.j + run.length;
    }
    return score + score_with_gap(scheme, row + i, rows - i, column + j, columns - j);
}

}  // namespace pairalign
