// The best hits of each of some queries, from a stream of pairs: a heap a query, whose root is the worst hit
// that is kept. The ctypes declarations are in pairalign/alignments/best_hits.py.

#include <algorithm>
#include <cstdint>

#include "../export.h"

// A hit of a query. A better one has a higher rank; of equal ones a higher raw score; of equal ones the
// target that comes first.
struct pairalign_hit {
    double rank;
    int32_t raw_score;
    int32_t target;
};

// The hits of consecutive queries.
struct pairalign_best_hits {
    int32_t first;  // query
    int32_t queries;
    int32_t most;         // hits of a query
    int32_t least;        // raw score of a hit
    int32_t* counts;      // [queries]: hits that a query has
    int32_t* floors;      // [queries]: of a lower raw score no pair is a hit any more; at first `least`
    pairalign_hit* hits;  // [queries][most]
};

namespace {

bool better(const pairalign_hit& one, const pairalign_hit& other) {
    if (one.rank != other.rank) return one.rank > other.rank;
    if (one.raw_score != other.raw_score) return one.raw_score > other.raw_score;
    return one.target < other.target;
}

}  // namespace

// Takes in pairs of which some have one of the queries; each pair comes once. query[n], target[n],
// raw_score[n]; rank[n], or null: all are equal. Most pairs are no hit: where nothing but scores counts, a
// query's floor says so without a look at its heap.
PAIRALIGN_API void pairalign_add_hits(const pairalign_best_hits* kept, int64_t n, const int32_t* query,
                                      const int32_t* target, const int32_t* raw_score, const double* rank) {
    const auto queries = static_cast<uint32_t>(kept->queries);
    for (int64_t k = 0; k < n; ++k) {
        const auto place = static_cast<uint32_t>(query[k]) - static_cast<uint32_t>(kept->first);
        if (place >= queries || raw_score[k] < kept->floors[place]) continue;
        const pairalign_hit hit{rank == nullptr ? 0 : rank[k], raw_score[k], target[k]};
        pairalign_hit* const heap = kept->hits + static_cast<int64_t>(place) * kept->most;
        int32_t& count = kept->counts[place];
        if (count == kept->most) {
            if (!better(hit, heap[0])) continue;
            std::pop_heap(heap, heap + count, better);
        } else {
            ++count;
        }
        heap[count - 1] = hit;
        std::push_heap(heap, heap + count, better);
        if (count == kept->most && rank == nullptr) kept->floors[place] = heap[0].raw_score;
    }
}

// Sorts the hits of each query, best first; nothing is added afterwards, but they may be sorted again.
PAIRALIGN_API void pairalign_sort_hits(const pairalign_best_hits* kept) {
    for (int64_t place = 0; place < kept->queries; ++place) {
        pairalign_hit* const heap = kept->hits + place * kept->most;
        std::sort(heap, heap + kept->counts[place], better);
    }
}
