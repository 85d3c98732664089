// Long pairs, each on the whole device: fill_k4, fill_k8, fill_k16.
//
// Computes   H, E, F of affine-gap global, semiglobal or local alignment in 32 bits: what ends.cu makes the
//            score and the end cell of each pair from, and with Params::traced the borders of tiles for a
//            traceback.
// In         pairs[]; items[first_item .. items_stop): strips of 32 * K rows, a pair's in their order;
//            ticket = 0; Pair::handed without a valid word, or as the launch before left it.
// Out        progress[], kept_rows, kept_columns, best.
// Threads    Up to four warps a block; each for itself takes strips until there are none. A strip is
//            swept 32 columns at a time (see strip.cuh); between strips words in
//            global memory hand H and F on (see block_diagonals.cuh).
// Shared     the scores of the strip's rows against each residue: [residues][32 * K] of 8 or 32 bits,
//            then residues and words of 64 columns.
// After      Huynh et al.: blocks along diagonals, sequence pieces in shared memory, borders in global
//            memory. One launch for all diagonals instead of one each.
#include "strip.cuh"

namespace {

template <int K>
__device__ void fill_block_diagonals(const Params& p) {
    for (;;) {
        uint32_t ticket = 0;
        if (threadIdx.x % 32 == 0) ticket = atomicAdd(p.ticket, 1u);
        const int item = p.first_item + (int)__shfl_sync(ALL, ticket, 0);
        if (item >= p.items_stop) break;
        const int2 of = p.items[item];
        const Pair pair = p.pairs[of.x];
        const Piece piece{0, 0, pair.rows, pair.columns, nullptr, nullptr, pair.handed};
        fill_strip<K, FILL>(p, pair, p.progress[of.x], piece, of.y, nullptr);
    }
}

}  // namespace

// PAIRALIGN_ENTRIES: those of ENTRY(NAME, rows a lane) that are compiled, see engines/cuda/block_diagonals.
#define ENTRY(NAME, K) \
    extern "C" __global__ void __launch_bounds__(128) NAME(const Params p) { fill_block_diagonals<K>(p); }

PAIRALIGN_ENTRIES
