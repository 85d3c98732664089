// What pairalign/engines/cpu/msa.py calls.

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
                                          const int32_t* weights, int32_t refinements, int32_t* columns,
                                          int32_t* width) try {
    pairalign::AlignmentBuilder builder(msa->graph, weights);
    builder.align(children, refinements);
    std::copy(builder.columns().begin(), builder.columns().end(), columns);
    *width = builder.width();
    return DONE;
} catch (const std::bad_alloc&) {
    return NO_MEMORY;
}

// Writes for each residue the sum of its posteriors with the residues in its column.
PAIRALIGN_API void pairalign_msa_support(const pairalign_msa* msa, const int32_t* columns, uint64_t* sums) {
    const pairalign::PosteriorGraph& graph = msa->graph;
    for (int32_t g = 0; g < graph.residues(); g++) {
        sums[g] = 0;
        for (const auto* link = graph.begin(g); link < graph.end(g); link++)
            if (columns[link->residue] == columns[g]) sums[g] += link->value;
    }
}

PAIRALIGN_API void pairalign_msa_close(pairalign_msa* msa) { delete msa; }
