// Clusters of sequences from a stream of edges, the pairs that are similar enough, without holding them. The
// ctypes declarations, and what the clusters mean, are in pairalign/clusters/edge_clustering.py.

#include <algorithm>
#include <cstdint>

#include "../export.h"

namespace {

int32_t root_of(int32_t* parents, int32_t one) {
    while (parents[one] != one) one = parents[one] = parents[parents[one]];
    return one;
}

}  // namespace

// Joins the sets of both ends of each edge: one[edges], other[edges]. parents[n]: each sequence's parent,
// itself at first; a root is the first sequence of its set.
PAIRALIGN_API void pairalign_join_sets(int64_t edges, const int32_t* one, const int32_t* other,
                                       int32_t* parents) {
    for (int64_t k = 0; k < edges; ++k) {
        const int32_t a = root_of(parents, one[k]), b = root_of(parents, other[k]);
        parents[std::max(a, b)] = std::min(a, b);
    }
}

// Replaces the parent of each of n sequences by the root of its set.
PAIRALIGN_API void pairalign_find_roots(int64_t n, int32_t* parents) {
    for (int64_t k = 0; k < n; ++k) parents[k] = root_of(parents, static_cast<int32_t>(k));
}

// Gives sequences to representatives: one[k] < other[k], and all edges to a sequence come before the first
// edge from it to a later one. The identity of an edge is parts[k] / wholes[k]. chosen[n]: the representative
// of each sequence, itself at first; best_parts[n] / best_wholes[n]: its identity with it. A sequence that no
// earlier representative has taken is one itself; of several, it goes to the most similar, the first of
// equals.
PAIRALIGN_API void pairalign_assign_greedily(int64_t edges, const int32_t* one, const int32_t* other,
                                             const int64_t* parts, const int64_t* wholes, int32_t* chosen,
                                             int64_t* best_parts, int64_t* best_wholes) {
    for (int64_t k = 0; k < edges; ++k) {
        const int32_t first = one[k], member = other[k];
        if (chosen[first] != first) continue;
        const bool is_taken = chosen[member] != member;
        if (is_taken) {  // both products are below 2^62; of equals the first stays
            const int64_t now = parts[k] * best_wholes[member], before = best_parts[member] * wholes[k];
            if (now < before || (now == before && first > chosen[member])) continue;
        }
        chosen[member] = first;
        best_parts[member] = parts[k];
        best_wholes[member] = wholes[k];
    }
}
