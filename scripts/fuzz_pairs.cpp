// The oracle of fuzz_pairs.py: alignments of pairs by their definition, and by nothing else of pairalign.
//
// Gaps are tried in every length (Waterman, Smith and Beyer 1976), so there are no E and F; only short
// sequences can be aligned so. The rules for ties are those of docs/conventions.md: of equal end cells the
// smallest column, then the smallest row; the diagonal before a gap in the rows before one in the columns,
// and of equal gaps the longest. A local alignment ends at the first cell of score 0. Residues that an
// earlier alignment of the pair put together are put together no more (Waterman and Eggert 1987).
//
//     fuzz_pairs < problems > alignments
//
// Problems: int32 mode (0 global, 1 semiglobal, 2 local, 3 end gaps), unambiguous, open, extend, 8 costs of
// end gaps (open and extend of query-start, query-end, target-start, target-end), top, matrix[32][32]; then
// pairs until the end: int32 lengths of query and target, and their codes, a byte each. Alignments: for each
// pair int32 count, then for each alignment int32 score, four spans, number of runs, runs.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

namespace {

constexpr int32_t NEVER = -(1 << 29);

struct Cost {
    int32_t open, extend;
    int32_t of(int32_t k) const { return k == 0 ? 0 : open + (k - 1) * extend; }
    bool is_free() const { return open == 0 && extend == 0; }
};

struct Problem {
    int32_t mode, unambiguous;
    Cost inner;
    Cost ends[4];
    int32_t top;
    int32_t matrix[32][32];
};

struct Found {
    int32_t score, spans[4];
    std::vector<uint32_t> runs;
};

using Cells = std::set<std::pair<int32_t, int32_t>>;

class Pair {
public:
    Pair(const Problem& problem, const std::vector<uint8_t>& query, const std::vector<uint8_t>& target)
        : of_(problem),
          swapped_(target.size() != query.size() ? target.size() > query.size() : target < query),
          r_(swapped_ ? target : query),
          c_(swapped_ ? query : target),
          n_(static_cast<int32_t>(r_.size())),
          m_(static_cast<int32_t>(c_.size())),
          h_(static_cast<size_t>((n_ + 1) * (m_ + 1))) {
        const int32_t rows = swapped_ ? 2 : 0, columns = swapped_ ? 0 : 2;
        row_start_ = cost(rows), row_end_ = cost(rows + 1);
        column_start_ = cost(columns), column_end_ = cost(columns + 1);
    }

    // The best alignment without used cells, whose cells it adds to them; false if there is none.
    bool next(Cells& used, Found& found, bool first) {
        fill(used);
        int32_t i = n_, j = m_;
        const int32_t best = end(i, j);
        if (of_.mode == 2 && best <= 0) {
            if (first) found = {0, {0, 0, 0, 0}, {}};
            return first;
        }
        trace(i, j, best, used, found);
        return true;
    }

private:
    Cost cost(int32_t end) const {
        if (of_.mode == 0) return of_.inner;
        return of_.mode == 3 ? of_.ends[end] : Cost{0, 0};
    }
    // Whether a gap at an end is a part of the alignment: all of mode global, else what costs something.
    bool counts(const Cost& end) const { return of_.mode == 0 || (of_.mode == 3 && !end.is_free()); }
    int32_t& at(int32_t i, int32_t j) { return h_[static_cast<size_t>(i * (m_ + 1) + j)]; }
    bool barred(const Cells& used, int32_t i, int32_t j) const { return used.count({i, j}) > 0; }
    int32_t diagonal(const Cells& used, int32_t i, int32_t j) {
        if (barred(used, i, j)) return NEVER;
        return at(i - 1, j - 1) + of_.matrix[r_[static_cast<size_t>(i - 1)]][c_[static_cast<size_t>(j - 1)]];
    }

    void fill(const Cells& used) {
        for (int32_t i = 0; i <= n_; ++i) at(i, 0) = -row_start_.of(i);
        for (int32_t j = 0; j <= m_; ++j) at(0, j) = -column_start_.of(j);
        for (int32_t i = 1; i <= n_; ++i)
            for (int32_t j = 1; j <= m_; ++j) {
                int32_t best = diagonal(used, i, j);
                for (int32_t k = 1; k <= j; ++k) best = std::max(best, at(i, j - k) - of_.inner.of(k));
                for (int32_t k = 1; k <= i; ++k) best = std::max(best, at(i - k, j) - of_.inner.of(k));
                at(i, j) = of_.mode == 2 ? std::max(best, 0) : best;
            }
    }

    // The score, and where it is found.
    // Ties: the end cell.
    int32_t end(int32_t& row, int32_t& column) {
        if (of_.mode == 0) return at(n_, m_);
        int32_t best = NEVER;
        for (int32_t j = 0; j <= m_; ++j)
            for (int32_t i = 0; i <= n_; ++i) {
                if (of_.mode != 2 && i < n_ && j < m_) continue;
                const int32_t left = of_.mode == 2 ? 0 : row_end_.of(n_ - i) + column_end_.of(m_ - j);
                if (at(i, j) - left > best) best = at(i, j) - left, row = i, column = j;
            }
        return best;
    }

    void put(std::vector<uint32_t>& back, uint32_t length, uint32_t op) {
        if (length == 0) return;
        if (!back.empty() && (back.back() & 15) == op) back.back() += length << 4;
        else back.push_back(length << 4 | op);
    }

    // Ties: the walk back.
    void trace(int32_t i, int32_t j, int32_t score, Cells& used, Found& found) {
        const uint32_t of_row = swapped_ ? 2 : 1, of_column = swapped_ ? 1 : 2;  // I consumes the query
        std::vector<uint32_t> back;
        int32_t row_stop = i, column_stop = j;
        if (counts(row_end_)) put(back, static_cast<uint32_t>(n_ - i), of_row), row_stop = n_;
        if (counts(column_end_)) put(back, static_cast<uint32_t>(m_ - j), of_column), column_stop = m_;
        Cells taken;
        while (i > 0 && j > 0 && !(of_.mode == 2 && at(i, j) == 0)) {
            if (diagonal(used, i, j) == at(i, j)) {
                const uint8_t a = r_[static_cast<size_t>(i - 1)], b = c_[static_cast<size_t>(j - 1)];
                put(back, 1, a == b && a < of_.unambiguous ? 7 : 8);
                taken.insert({i, j});
                --i, --j;
                continue;
            }
            int32_t length = 0;
            for (int32_t k = 1; k <= j; ++k)
                if (at(i, j - k) - of_.inner.of(k) == at(i, j)) length = k;
            if (length > 0) {
                put(back, static_cast<uint32_t>(length), of_column);
                j -= length;
                continue;
            }
            for (int32_t k = 1; k <= i; ++k)
                if (at(i - k, j) - of_.inner.of(k) == at(i, j)) length = k;
            put(back, static_cast<uint32_t>(length), of_row);
            i -= length;
        }
        used.insert(taken.begin(), taken.end());
        int32_t row_first = i, column_first = j;
        if (counts(row_start_)) put(back, static_cast<uint32_t>(i), of_row), row_first = 0;
        if (counts(column_start_)) put(back, static_cast<uint32_t>(j), of_column), column_first = 0;
        std::reverse(back.begin(), back.end());
        const int32_t rows[2] = {row_first, row_stop}, columns[2] = {column_first, column_stop};
        const int32_t *query = swapped_ ? columns : rows, *target = swapped_ ? rows : columns;
        found = {score, {query[0], query[1], target[0], target[1]}, back};
    }

    const Problem& of_;
    const bool swapped_;
    const std::vector<uint8_t>&r_, &c_;
    const int32_t n_, m_;
    std::vector<int32_t> h_;
    Cost row_start_, row_end_, column_start_, column_end_;
};

bool read(void* to, size_t bytes) { return std::fread(to, 1, bytes, stdin) == bytes; }
void write(int32_t number) { std::fwrite(&number, 4, 1, stdout); }

}  // namespace

int main() {
    Problem problem;
    if (!read(&problem, sizeof problem)) return 1;
    int32_t lengths[2];
    while (read(lengths, sizeof lengths)) {
        std::vector<uint8_t> query(static_cast<size_t>(lengths[0])), target(static_cast<size_t>(lengths[1]));
        if (!read(query.data(), query.size()) || !read(target.data(), target.size())) return 1;
        Pair pair(problem, query, target);
        Cells used;
        std::vector<Found> all;
        Found found;
        while (static_cast<int32_t>(all.size()) < problem.top && pair.next(used, found, all.empty())) {
            all.push_back(found);
            if (found.score <= 0) break;
        }
        write(static_cast<int32_t>(all.size()));
        for (const Found& one : all) {
            write(one.score);
            for (int32_t span : one.spans) write(span);
            write(static_cast<int32_t>(one.runs.size()));
            for (uint32_t run : one.runs) write(static_cast<int32_t>(run));
        }
    }
    return 0;
}
