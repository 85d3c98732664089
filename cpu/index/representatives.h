// What greedy clusters look representatives up in as they become known: candidates for other sequences, each
// with a bound on its identity, so that the best is aligned first and what cannot beat it not at all. Two
// kinds: an index of seeds (representative_index.h) and lanes of vectors (lane_index.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "../export.h"

namespace pairalign {

// A row and a column that may pass. The identity is at most part / whole, or that if it is known.
struct Candidate {
    int32_t row, column;
    int64_t part, whole;
    bool is_known;
};

// Sorts candidates by column, of each the highest bound first, then by row.
void sort_candidates(std::vector<Candidate>::iterator begin, std::vector<Candidate>::iterator end);

}  // namespace pairalign

// What a column's best representative so far is: identities best_parts / best_wholes, 0 of none, and which
// row it is. [columns of the set]
struct pairalign_best_rows {
    const int64_t *parts, *wholes;
    const int32_t* rows;
};

struct pairalign_representatives {
    std::vector<pairalign::Candidate> candidates;  // found last

    virtual ~pairalign_representatives() = default;
    virtual void add(const int32_t* rows, int32_t count) = 0;
    virtual void drop(const int32_t* rows, int32_t count) = 0;
    // Fills the candidates; counts pairs that were possible before they were looked at one by one.
    virtual int64_t find(int32_t first, int32_t stop, int32_t least_row, const pairalign_best_rows& best) = 0;

protected:
    // Adds the candidates of the columns first <= column < stop, the part-th of some parts; returns how many
    // pairs were possible.
    using FindPart = std::function<int64_t(int32_t part, int32_t first, int32_t stop,
                                           std::vector<pairalign::Candidate>& candidates)>;

    // Fills the candidates, part by part on threads, in the order of the columns.
    int64_t find_in_parts(int32_t first, int32_t stop, int32_t parts, int32_t threads,
                          const FindPart& find_part);
};

PAIRALIGN_API void pairalign_close_representatives(pairalign_representatives* known);
// Puts rows in, ascending, after those that were put in before; takes rows out. Returns 0, or 1 where there
// is no memory.
PAIRALIGN_API int32_t pairalign_add_rows(pairalign_representatives* known, int32_t count,
                                         const int32_t* rows);
PAIRALIGN_API int32_t pairalign_drop_rows(pairalign_representatives* known, int32_t count,
                                          const int32_t* rows);
// Finds the pairs of the columns first <= column < stop with rows that were put in, from least_row on and
// before the column, that may pass and may be better than the best. Sorted by column, the best first, then by
// row. Adds to found the pairs that share a seed, or whose lengths let them pass. Returns their number, or -1
// where there is no memory.
PAIRALIGN_API int64_t pairalign_find_candidates(pairalign_representatives* known, int32_t first, int32_t stop,
                                                int32_t least_row, const pairalign_best_rows* best,
                                                int64_t* found);
// Copies what was found last.
PAIRALIGN_API void pairalign_take_candidates(const pairalign_representatives* known, int32_t* rows,
                                             int32_t* columns, int64_t* parts, int64_t* wholes,
                                             uint8_t* are_known);
