// What pairalign/engines/cpu/cpu_msa.py calls.

#include <algorithm>
#include <memory>
#include <new>

#include "../export.h"
#include "../threads.h"
#include "msa.h"

struct pairalign_msa {
    pairalign::PosteriorGraph graph;
};

enum MsaStatus : int32_t { DONE = 0, NO_MEMORY = 3 };

// Makes a graph of the posteriors of all pairs, as pairalign_posterior_take has written them; null: no
// memory.
PAIRALIGN_API pairalign_msa* pairalign_msa_open(const int32_t* lengths, int32_t count, const int32_t* queries,
                                                const int32_t* targets, const int64_t* offsets, int64_t pairs,
                                                const int32_t* rows, const int32_t* columns,
                                                const uint16_t* values) try {
    auto msa = std::make_unique<pairalign_msa>(pairalign_msa{pairalign::PosteriorGraph(lengths, count)});
    pairalign::PosteriorGraph& graph = msa->graph;
    std::vector<std::vector<pairalign::PosteriorGraph::Link>> upper(static_cast<size_t>(graph.residues()));
    for (int64_t pair = 0; pair < pairs; pair++)
        for (int64_t k = offsets[pair]; k < offsets[pair + 1]; k++)
            upper[static_cast<size_t>(graph.start(queries[pair]) + rows[k])].push_back(
                {graph.start(targets[pair]) + columns[k], values[k]});
    graph.set_links(upper);
    return msa.release();
} catch (const std::bad_alloc&) {
    return nullptr;
}

PAIRALIGN_API int32_t pairalign_msa_relax(pairalign_msa* msa, const int32_t* weights, int32_t least,
                                          int32_t threads) try {
    msa->graph.relax(weights, static_cast<uint16_t>(least), threads);
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

// Writes the expected accuracy of each pair (0, 1), (0, 2), ... in 65535ths.
PAIRALIGN_API int32_t pairalign_msa_accuracies(const pairalign_msa* msa, int32_t threads,
                                               uint64_t* sums) try {
    const int64_t count = msa->graph.sequences();
    pairalign::on_threads(static_cast<int32_t>(count) - 1, threads, [&](int32_t x) {
        uint64_t* to = sums + int64_t{x} * count - int64_t{x} * (x + 1) / 2;
        for (int32_t y = x + 1; y < count; y++) *to++ = msa->graph.expected_accuracy(x, y);
    });
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

// Writes the column of each residue, and how many columns there are.
PAIRALIGN_API int32_t pairalign_msa_align(const pairalign_msa* msa, const int64_t* children,
                                          const int32_t* weights, int32_t refinements, int32_t rejoins,
                                          int32_t* columns, int32_t* width) try {
    pairalign::AlignmentBuilder builder(msa->graph, weights);
    builder.align(children, refinements, rejoins != 0);
    std::copy(builder.columns().begin(), builder.columns().end(), columns);
    *width = builder.width();
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

// Adds, of each residue and the residue of the other sequence of a pair that is in its column: their
// posterior; the largest posterior that it has with another of that sequence; 1. `starts` has where the
// residues of each sequence begin.
PAIRALIGN_API int32_t pairalign_msa_support(const int64_t* starts, const int32_t* columns,
                                            const int32_t* queries, const int32_t* targets,
                                            const int64_t* offsets, int64_t pairs, const int32_t* rows,
                                            const int32_t* others, const uint16_t* values, uint64_t* sums,
                                            uint64_t* against, int32_t* compared) try {
    std::vector<uint16_t> of_query, of_target;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const int64_t query = starts[queries[pair]], target = starts[targets[pair]];
        const int64_t query_end = starts[queries[pair] + 1], target_end = starts[targets[pair] + 1];
        of_query.assign(static_cast<size_t>(query_end - query), 0);
        of_target.assign(static_cast<size_t>(target_end - target), 0);
        for (int64_t k = offsets[pair]; k < offsets[pair + 1]; k++) {
            const int64_t g = query + rows[k], h = target + others[k];
            if (columns[g] == columns[h]) {
                sums[g] += values[k];
                sums[h] += values[k];
                continue;
            }
            uint16_t& one = of_query[static_cast<size_t>(rows[k])];
            uint16_t& other = of_target[static_cast<size_t>(others[k])];
            one = std::max(one, values[k]);
            other = std::max(other, values[k]);
        }
        int64_t g = query, h = target;
        while (g < query_end && h < target_end) {
            if (columns[g] == columns[h]) {
                against[g] += of_query[static_cast<size_t>(g - query)];
                against[h] += of_target[static_cast<size_t>(h - target)];
                compared[g]++;
                compared[h]++;
            }
            const int32_t column = columns[g], other = columns[h];
            g += column <= other;
            h += other <= column;
        }
    }
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

PAIRALIGN_API void pairalign_msa_close(pairalign_msa* msa) { delete msa; }
