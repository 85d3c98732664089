// What posteriors say of single alignments: the alignment of each pair with the highest expected accuracy,
// and the confidence of each column of any alignment. The ctypes declarations are in
// pairalign/engines/cpu/cpu_posterior.py.
//
// The expected accuracy of an alignment is the sum of the posteriors of its aligned residues (Do et al.,
// Genome Res 15:330, 2005). Sums are of 65535ths, whole numbers, and of equal alignments the one is taken
// whose last pair of residues comes first, and so on to its start: the same bytes everywhere.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"
#include "../threads.h"

extern "C" {

// PosteriorTable in Python: posteriors of pairs, in the order of rows and columns.
struct pairalign_posterior_table {
    const int64_t* offsets;  // [count + 1]
    const int32_t* rows;
    const int32_t* columns;
    const uint16_t* values;  // 65535ths
    int64_t count;
};

// PathScoring in Python: what alignments are worth.
struct pairalign_path_scoring {
    const int32_t* matrix;  // [32][32]
    int32_t gap_open, gap_extend;
    int32_t unambiguous;  // codes from here on match nothing
    int32_t threads;
};

// PathPairs in Python: codes of pairs, and what comes of them.
struct pairalign_path_pairs {
    const uint8_t* query_codes;
    const uint8_t* target_codes;
    const int64_t* query_starts;   // [count]: first code
    const int64_t* target_starts;  // [count]
    const int32_t* query_lengths;
    const int32_t* target_lengths;
    const int64_t* run_starts;  // [count + 1]: room for as many runs as both sequences have residues
    uint32_t* runs;             // out: length << 4 | op
    int32_t* run_counts;        // out
    int32_t* fields;            // out [5][count]: raw score, matches, mismatches, gap openings, gap residues
};
}

namespace pairalign {
namespace {

constexpr uint32_t INSERTION = 1, DELETION = 2, MATCH = 7, MISMATCH = 8;

// A pair of residues, and the best chain of pairs that ends with it.
struct Link {
    int32_t before;
    uint64_t sum;
};

// The last pair of the chain of highest sum that ascends in rows and columns; -1: there is none.
class BestChain {
public:
    BestChain(const pairalign_posterior_table& table, int64_t pair, int32_t columns)
        : columns_(table.columns + table.offsets[pair]),
          values_(table.values + table.offsets[pair]),
          links_(static_cast<size_t>(table.offsets[pair + 1] - table.offsets[pair])),
          best_(static_cast<size_t>(columns) + 1, -1) {
        const int32_t* const rows = table.rows + table.offsets[pair];
        const int32_t count = static_cast<int32_t>(links_.size());
        for (int32_t row = 0, end = 0; row < count; row = end) {
            while (end < count && rows[end] == rows[row]) end++;
            for (int32_t k = row; k < end; k++) {
                const int32_t before = best_before(columns_[k]);
                links_[static_cast<size_t>(k)] = {before, values_[k] + sum(before)};
            }
            for (int32_t k = row; k < end; k++) add(k);
        }
    }

    // Its pairs, the first one first.
    std::vector<int32_t> pairs() const {
        std::vector<int32_t> chain;
        for (int32_t k = best_before(static_cast<int32_t>(best_.size()) - 1); k >= 0;
             k = links_[static_cast<size_t>(k)].before)
            chain.push_back(k);
        std::reverse(chain.begin(), chain.end());
        return chain;
    }

private:
    uint64_t sum(int32_t k) const { return k < 0 ? 0 : links_[static_cast<size_t>(k)].sum; }
    int32_t better(int32_t a, int32_t b) const {
        if (a < 0 || b < 0) return std::max(a, b);
        return sum(a) > sum(b) || (sum(a) == sum(b) && a < b) ? a : b;
    }
    // Of pairs in the columns before one: Fenwick's tree of maxima.
    int32_t best_before(int32_t column) const {
        int32_t found = -1;
        for (int32_t c = column; c > 0; c -= c & -c) found = better(best_[static_cast<size_t>(c)], found);
        return found;
    }
    void add(int32_t k) {
        for (size_t c = static_cast<size_t>(columns_[k]) + 1; c < best_.size(); c += c & -c)
            best_[c] = better(best_[c], k);
    }

    const int32_t* columns_;
    const uint16_t* values_;
    std::vector<Link> links_;
    std::vector<int32_t> best_;
};

// Writes runs, and counts what is in them.
class RunWriter {
public:
    RunWriter(uint32_t* runs, const pairalign_path_scoring& scoring) : runs_(runs), scoring_(scoring) {}

    void add_gap(uint32_t op, int32_t length) {
        if (length == 0) return;
        runs_[count_++] = static_cast<uint32_t>(length) << 4 | op;
        openings_++;
        residues_ += length;
        score_ -= scoring_.gap_open + int64_t{length - 1} * scoring_.gap_extend;
    }
    void add_pair(uint8_t x, uint8_t y) {
        const bool match = x == y && x < scoring_.unambiguous;
        const uint32_t op = match ? MATCH : MISMATCH;
        if (count_ > 0 && (runs_[count_ - 1] & 15) == op) runs_[count_ - 1] += 16;
        else runs_[count_++] = 16 | op;
        (match ? matches_ : mismatches_)++;
        score_ += scoring_.matrix[32 * x + y];
    }
    int32_t finish(int32_t* fields, int64_t count, int64_t pair) const {
        const int64_t found[] = {score_, matches_, mismatches_, openings_, residues_};
        for (int64_t f = 0; f < 5; f++) fields[f * count + pair] = static_cast<int32_t>(found[f]);
        return count_;
    }

private:
    uint32_t* const runs_;
    const pairalign_path_scoring& scoring_;
    int32_t count_ = 0;
    int64_t score_ = 0, matches_ = 0, mismatches_ = 0, openings_ = 0, residues_ = 0;
};

// Between aligned residues those of the query come first.
void align_pair(const pairalign_posterior_table& table, const pairalign_path_pairs& pairs,
                const pairalign_path_scoring& scoring, int64_t pair) {
    const int32_t rows = pairs.query_lengths[pair], columns = pairs.target_lengths[pair];
    const uint8_t* const x = pairs.query_codes + pairs.query_starts[pair];
    const uint8_t* const y = pairs.target_codes + pairs.target_starts[pair];
    RunWriter writer(pairs.runs + pairs.run_starts[pair], scoring);
    int32_t i = 0, j = 0;
    const auto up_to = [&](int32_t row, int32_t column) {
        writer.add_gap(INSERTION, row - i);
        writer.add_gap(DELETION, column - j);
        i = row;
        j = column;
    };
    const int64_t first = table.offsets[pair];
    for (const int32_t k : BestChain(table, pair, columns).pairs()) {
        up_to(table.rows[first + k], table.columns[first + k]);
        writer.add_pair(x[i++], y[j++]);
    }
    up_to(rows, columns);
    pairs.run_counts[pair] = writer.finish(pairs.fields, table.count, pair);
}

constexpr int MARKS = 10;

// As HMMER: tenths and '*'; `least` has the least value of each mark above '0'.
char mark_of(uint32_t value, const uint16_t* least) {
    const int64_t tenths = std::upper_bound(least, least + MARKS, value) - least;
    return tenths == MARKS ? '*' : static_cast<char>('0' + tenths);
}

void mark_pair(const pairalign_posterior_table& table, int64_t pair, const uint32_t* runs, int64_t count,
               int32_t i, int32_t j, const uint16_t* least, char* marks) {
    int64_t k = table.offsets[pair];
    const int64_t end = table.offsets[pair + 1];
    for (int64_t r = 0; r < count; r++) {
        const uint32_t op = runs[r] & 15;
        const int32_t length = static_cast<int32_t>(runs[r] >> 4);
        if (op == INSERTION || op == DELETION) {
            std::fill(marks, marks + length, '.');
            marks += length;
            (op == INSERTION ? i : j) += length;
            continue;
        }
        for (int32_t c = 0; c < length; c++, i++, j++) {
            while (k < end && (table.rows[k] < i || (table.rows[k] == i && table.columns[k] < j))) k++;
            const bool known = k < end && table.rows[k] == i && table.columns[k] == j;
            *marks++ = mark_of(known ? table.values[k] : 0, least);
        }
    }
}

constexpr int64_t SHARE = 16;  // pairs that a thread takes at a time

template <class Work>
void on_pairs(int64_t count, int32_t threads, const Work& work) {
    on_threads(static_cast<int32_t>((count + SHARE - 1) / SHARE), threads, [&](int32_t share) {
        for (int64_t p = share * SHARE; p < std::min(count, (share + 1) * SHARE); p++) work(p);
    });
}

}  // namespace
}  // namespace pairalign

// Aligns pairs by their posteriors. Returns 0, or 3 where there is no memory.
PAIRALIGN_API int32_t pairalign_posterior_paths(const pairalign_posterior_table* table,
                                                const pairalign_path_pairs* pairs,
                                                const pairalign_path_scoring* scoring) try {
    pairalign::on_pairs(table->count, scoring->threads,
                        [&](int64_t pair) { pairalign::align_pair(*table, *pairs, *scoring, pair); });
    return 0;
} catch (const std::bad_alloc&) {
    return 3;
}

// Writes a mark for each column of alignments: digits and '*' for aligned residues, '.' for gaps. Alignment p
// has its runs from run_offsets[p] on, begins at query_starts[p], target_starts[p] of its sequences, and has
// its marks from mark_offsets[p] on; see `mark_of`.
PAIRALIGN_API void pairalign_posterior_marks(const pairalign_posterior_table* table, const uint32_t* runs,
                                             const int64_t* run_offsets, const int32_t* query_starts,
                                             const int32_t* target_starts, const int64_t* mark_offsets,
                                             const uint16_t* least, int32_t threads, char* marks) {
    pairalign::on_pairs(table->count, threads, [&](int64_t p) {
        pairalign::mark_pair(*table, p, runs + run_offsets[p], run_offsets[p + 1] - run_offsets[p],
                             query_starts[p], target_starts[p], least, marks + mark_offsets[p]);
    });
}
