// Every pair of a window by a thread of its own: gpu-pairAlign's two kernels.
//
// What it computes
//   score_pair_per_thread      the score of each pair
//   fill_pair_per_thread       score, end cell, and the flags Cup, Cleft, Bup, Bleft of every cell
//   measure_pair_per_thread    walks back through the flags: spans, matches, gaps, number of CIGAR runs
//   place_runs_by_one_block    sums those numbers up: where the runs of each pair go
//   traceback_pair_per_thread  walks again and writes the runs there
//
// Source: J. Blazewicz, W. Frohmberg, M. Kierzynka, E. Pesch, P. Wojciechowski, "Protein alignment
// algorithms with an efficient backtracking routine on multiple GPUs", BMC Bioinformatics 12:181
// (2011). From there: a thread a pair, blocks of 16 x 16 pairs of a length-sorted set, rows taken eight
// at a time, H and the vertical gap state of the last row of a tier in one word of global memory, four
// flags of eight cells in another, and the traceback in linear time by a second kernel. Different here:
// flags travel in the low bits of the scores (see cell.cuh), the horizontal state stays in registers,
// a warp shares the scores of its two row sequences as a profile in shared memory (the paper found no
// sequence to share: a block of the pair matrix has sixteen), and the traceback is walked twice, so
// that CIGAR runs are written compactly and in order and nothing else crosses the bus.
//
// Thread mapping: warp = tile (see tiles.cuh), lane = pair; a block is eight warps that never meet.
// Shared memory: the matrix (32 x 32 entries) and, a warp, TILE_ROWS x 32 entries of eight scores.
// Global memory, words of a tile with the lane fastest, so that a warp touches whole sectors:
//     border  [columns][32]         one entry (4 or 8 bytes): H and F' of the last row of a tier
//     trace   [tiers][columns][32]  one word: flags of eight cells
// Compiled once for every mode and width: -DMODE=GLOBAL|SEMIGLOBAL|LOCAL|END_GAPS -DWIDTH=NARROW|WIDE|PLAIN.

#include "walk.cuh"

namespace {

constexpr Width width = WIDTH;
constexpr int PLACING_THREADS = 1024;

// Blocks on a multiprocessor: with 5 (48 registers a thread) scores are 17% faster than with 4 on an H200,
// filling is 3% slower.
constexpr int FILLING_BLOCKS = 4, SCORING_BLOCKS = width == NARROW ? 5 : 4;

// End cell of an alignment that is not global: the highest score, then the smallest column, then the
// smallest row. Scores are kept H values; row and column count from 1. Mode END_GAPS: scores less the gap
// from there to the last cell, not as they are kept, since they may need all 32 bits.
struct EndCell {
    int h, row, column;
};

// `of_query`: whose residues they are.
__device__ int border_score(int residues, const Arguments& arguments, bool of_query) {
    if (mode == END_GAPS) return -cost_of(end_costs(arguments, of_query, AT_START), residues);
    if (mode != GLOBAL || residues == 0) return 0;
    return -arguments.gap_open - (residues - 1) * arguments.gap_extend;
}

// The scores of rows first..first+7 of the warp's row sequences against every residue. Rows past the end
// score 0, which lets no cell there exceed those before it.
template <class Storage>
__device__ void build_profile(typename Storage::Scores (*profile)[LETTERS],
                              const typename Storage::Entry (*matrix)[LETTERS], const Arguments& arguments,
                              const Tile& tile, int first, int lane) {
    auto entries = reinterpret_cast<typename Storage::Entry*>(profile);
#pragma unroll
    for (int r = 0; r < TILE_ROWS; ++r) {
        if (((tile.lanes >> (r * BLOCK)) & (0xffffffffu >> (WARP - BLOCK))) == 0) continue;
        const int length = arguments.lengths[tile.swapped][tile.row + r];
        if (first >= length) continue;
        const uint2 residues = *reinterpret_cast<const uint2*>(
            arguments.codes[tile.swapped] + arguments.starts[tile.swapped][tile.row + r] + first);
#pragma unroll
        for (int k = 0; k < TIER; ++k) {
            const uint32_t residue = ((k < 4 ? residues.x : residues.y) >> (8 * (k & 3))) & 0xff;
            entries[(r * LETTERS + lane) * TIER + k] =
                first + k < length ? matrix[residue][lane] : typename Storage::Entry(0);
        }
    }
}

// Where the alignment of a pair ends: the best cell so far.
// Ties: the end cell.
template <class Cells>
struct BestEnd {
    // Local: the best cell so far. Semiglobal: the best of the last column so far; cell (0, n) is the first.
    EndCell best;
    EndCell last_row;  // semiglobal: from cell (m, 0)

    __device__ BestEnd(const Arguments& arguments, const int32_t* after_row, const int32_t* after_column,
                       bool row_is_query, int rows, int columns)
        : best{Cells::keep(0), 0, mode == SEMIGLOBAL ? columns : 0}, last_row{Cells::keep(0), rows, 0} {
        if (mode == END_GAPS) {
            best = {border_score(columns, arguments, !row_is_query) - cost_of(after_row, rows), 0, columns};
            last_row.h = border_score(rows, arguments, row_is_query) - cost_of(after_column, columns);
        }
    }

    // Looks at the cells of column j; `last` is the pair's last row in this tier, if it is in it.
    template <bool traced>
    __device__ void see_column(const Cells& cells, const int32_t* after_column, int first, int last, int rows,
                               int j, int columns) {
        if constexpr (mode == LOCAL) {
            const int highest = cells.highest();
            if constexpr (traced) {
                if (highest > best.h || (highest == best.h && j < best.column)) {
                    best.h = highest;
                    best.column = j;
#pragma unroll
                    for (int k = TIER; k-- > 0;)
                        if (cells.h[k] == highest) best.row = first + k + 1;
                }
            } else {
                best.h = max(best.h, highest);
            }
        }
        if constexpr (mode == SEMIGLOBAL) {
            if (last < TIER && j < columns) {
                const int h = cells.row(last);
                if (h > last_row.h) last_row = EndCell{h, rows, j};
            }
        }
        if constexpr (mode == END_GAPS) {
            if (last < TIER && j < columns) {
                const int h = Cells::score(cells.row(last)) - cost_of(after_column, columns - j);
                if (h > last_row.h) last_row = EndCell{h, rows, j};
            }
        }
    }

    // Looks at the last column of a tier.
    __device__ void see_tier(const Cells& cells, const int32_t* after_row, int first, int last, int rows,
                             int columns) {
        if constexpr (mode == SEMIGLOBAL) {
#pragma unroll
            for (int k = 0; k < TIER; ++k)
                if (k <= last && cells.h[k] > best.h) best = EndCell{cells.h[k], first + k + 1, columns};
        }
        if constexpr (mode == END_GAPS) {
#pragma unroll
            for (int k = 0; k < TIER; ++k) {
                const int h = Cells::score(cells.h[k]) - cost_of(after_row, last - k);
                if (k <= last && h > best.h) best = EndCell{h, first + k + 1, columns};
            }
        }
        if constexpr (mode == GLOBAL) {
            if (last < TIER) best = EndCell{cells.row(last), rows, columns};
        }
    }

    // Of equals the one with the smaller column.
    __device__ EndCell end() const {
        return (mode == SEMIGLOBAL || mode == END_GAPS) && last_row.h >= best.h ? last_row : best;
    }
};

// The border left of a tier, and its first cell's diagonal neighbour, which is returned.
template <class Cells>
__device__ int start_tier(Cells& cells, const Arguments& arguments, bool row_is_query, int first) {
#pragma unroll
    for (int k = 0; k < TIER; ++k) {
        cells.h[k] = Cells::keep(border_score(first + k + 1, arguments, row_is_query));
        cells.e[k] = Cells::Storage::MINUS_INFINITY;
    }
    return Cells::keep(border_score(first, arguments, row_is_query));
}

// The cells of a tier, column by column: reads and replaces `border`, writes flags to `word`.
template <bool traced, class Cells, class Best>
__device__ void fill_tier(Cells& cells, int diagonal, Best& best,
                          const Profile<typename Cells::Storage::Scores>& profile,
                          typename Cells::Storage::Border* edge, uint32_t* word, const uint32_t* next_codes,
                          const int32_t* after_column, int first, int last, int rows, int columns) {
    using Storage = typename Cells::Storage;
    constexpr int SCALE = Cells::SCALE;
    typename Storage::Border above = *edge;
    uint32_t next_residues = *next_codes;
    int j = 0;
    do {
        uint32_t residues = next_residues;  // four columns' residues
        next_residues = *++next_codes;
        const int group_end = min(j + 4, columns);
#pragma unroll 1
        do {
            ++j;
            const auto entry = above;
            edge += WARP;
            above = *edge;  // of the next column; the array has one entry more than columns
            const auto scores = profile[residues & 0xff];
            residues >>= 8;
            int up = Storage::template unpack_h<SCALE>(entry, Cells::H_TAG);
            int f = Storage::template unpack_f<SCALE>(entry);
            const int next_diagonal = up;
            const uint32_t flags = cells.advance(scores, diagonal, up, f);
            diagonal = next_diagonal;
            edge[-WARP] = Storage::template pack<SCALE>(up, f);
            if constexpr (traced) {
                __stcs(word, flags);  // streaming: nobody reads it before the traceback
                word += WARP;
            }
            best.template see_column<traced>(cells, after_column, first, last, rows, j, columns);
        } while (j < group_end);
    } while (j < columns);
}

// Score, indices and, if traced, the end cell of a lane's pair. The pair is looked up again: what the loop
// does not need should not take registers in it.
template <bool traced, class Cells>
__device__ void write_end(const Arguments& arguments, const Tile& tile, int lane, const EndCell& end) {
    const Pair pair = pair_of_lane(arguments, tile, lane);
    const int64_t pairs = arguments.pairs;
    int32_t* const results = arguments.results + pair.number;
    const int query_set = pair.row_is_query ? tile.swapped : 1 - tile.swapped;
    results[SCORE * pairs] = mode == END_GAPS ? end.h : Cells::score(end.h);
    results[QUERY * pairs] = arguments.order[query_set][pair.row_is_query ? pair.row : pair.column];
    results[TARGET * pairs] = arguments.order[1 - query_set][pair.row_is_query ? pair.column : pair.row];
    if constexpr (traced) {
        results[END_ROW * pairs] = end.row;
        results[END_COLUMN * pairs] = end.column;
    }
}

// The paper's first kernel: fills the DP matrix of a pair tier by tier, column by column.
template <bool traced>
__device__ void fill(const Arguments& arguments) {
    using Cells = Column<mode, width, traced>;
    using Storage = typename Cells::Storage;
    using Scores = typename Storage::Scores;
    using Border = typename Storage::Border;

    __shared__ typename Storage::Entry matrix[LETTERS][LETTERS];
    __shared__ Scores profiles[BLOCK_WARPS][TILE_ROWS][LETTERS];
    for (int i = threadIdx.x; i < LETTERS * LETTERS; i += BLOCK_THREADS)
        matrix[i / LETTERS][i % LETTERS] = typename Storage::Entry(arguments.matrix[i]);
    __syncthreads();

    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int tile_number = blockIdx.x * BLOCK_WARPS + warp;
    if (tile_number >= arguments.tile_count) return;
    const Tile& tile = arguments.tiles[tile_number];
    int rows, columns;
    const uint32_t* column_codes;
    bool row_is_query = true;
    {
        const Pair pair = pair_of_lane(arguments, tile, lane);
        const bool wanted =
            !traced || !arguments.scored || !pair.active ||
            arguments.results[SCORE * int64_t(arguments.pairs) + pair.number] >= arguments.minimum;
        rows = wanted ? pair.rows : 0;
        columns = wanted ? pair.columns : 0;
        column_codes = reinterpret_cast<const uint32_t*>(pair.column_codes);
        if (mode == END_GAPS) row_is_query = pair.row_is_query;
    }
    const Profile<Scores> profile(profiles[warp][lane / BLOCK]);
    Border* const border = static_cast<Border*>(arguments.border) + tile.border + lane;
    uint32_t* words = arguments.trace + tile.trace + lane;
    const int64_t words_of_tier = int64_t(tile.columns) * WARP;

    for (int j = 0; j <= columns; ++j)  // one more than columns: the loop reads ahead
        border[int64_t(j) * WARP] = Storage::template first_row<Cells::SCALE, Cells::H_TAG>(
            border_score(j + 1, arguments, !row_is_query));

    Cells cells(arguments.gap_open, arguments.gap_extend);
    const int32_t* const after_row = end_costs(arguments, row_is_query, AT_END);
    const int32_t* const after_column = end_costs(arguments, !row_is_query, AT_END);
    BestEnd<Cells> best(arguments, after_row, after_column, row_is_query, rows, columns);
    for (int first = 0; __any_sync(0xffffffffu, first < rows); first += TIER) {
        __syncwarp();
        build_profile<Storage>(profiles[warp], matrix, arguments, tile, first, lane);
        __syncwarp();
        if (first >= rows) continue;
        const int last = rows - 1 - first;  // the pair's last row, when in this tier
        const int diagonal = start_tier(cells, arguments, row_is_query, first);
        fill_tier<traced>(cells, diagonal, best, profile, border, words, column_codes, after_column, first,
                          last, rows, columns);
        best.see_tier(cells, after_row, first, last, rows, columns);
        words += words_of_tier;
    }
    if (rows > 0) write_end<traced, Cells>(arguments, tile, lane, best.end());
}

// The paper's second kernel: from the end cell back.
template <bool writes>
__device__ void walk(const Arguments& arguments) {
    const int lane = threadIdx.x % WARP;
    const int tile_number = blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP;
    if (tile_number >= arguments.tile_count) return;
    const Tile tile = arguments.tiles[tile_number];
    const Pair pair = pair_of_lane(arguments, tile, lane);
    if (!pair.active) return;
    const int64_t pairs = arguments.pairs;
    int32_t* const results = arguments.results + pair.number;

    const bool wanted = results[SCORE * pairs] >= arguments.minimum;
    Walk<writes> walk(arguments, pair, wanted ? results[END_ROW * pairs] : 0,
                      wanted ? results[END_COLUMN * pairs] : 0);
    if (mode == END_GAPS && wanted) walk.add_last_gap();
    walk.follow(arguments.trace + tile.trace + lane, tile.columns);
    walk.add_first_gaps();
    walk.runs.flush();
    if (!writes) walk.write_counts(results, pairs);
}

// Where the runs of each pair go: an exclusive sum over all pairs by one block. It reads four bytes a
// pair and takes a few microseconds for each thousand; the filling of another batch hides it.
__device__ void place_runs(const Arguments& arguments) {
    __shared__ int64_t warp_sums[WARP];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int32_t* const counts = arguments.results + RUNS * int64_t(arguments.pairs);
    auto* const offsets = const_cast<int64_t*>(arguments.run_offsets);
    int64_t before = 0;
    for (int first = 0; first < arguments.pairs; first += PLACING_THREADS) {
        const int pair = first + threadIdx.x;
        int64_t sum = pair < arguments.pairs ? counts[pair] : 0;
        for (int step = 1; step < WARP; step *= 2) {
            const int64_t other = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == WARP - 1) warp_sums[warp] = sum;
        __syncthreads();
        int64_t warps_before = 0, all = 0;
        for (int w = 0; w < PLACING_THREADS / WARP; ++w) {
            if (w == warp) warps_before = all;
            all += warp_sums[w];
        }
        if (pair < arguments.pairs) offsets[pair + 1] = before + warps_before + sum;
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) offsets[0] = 0;
}

}  // namespace

extern "C" {

__global__ void __launch_bounds__(BLOCK_THREADS, SCORING_BLOCKS)
    score_pair_per_thread(const Arguments arguments) {
    fill<false>(arguments);
}

__global__ void __launch_bounds__(BLOCK_THREADS, FILLING_BLOCKS)
    fill_pair_per_thread(const Arguments arguments) {
    fill<true>(arguments);
}

__global__ void __launch_bounds__(BLOCK_THREADS) measure_pair_per_thread(const Arguments arguments) {
    walk<false>(arguments);
}

__global__ void __launch_bounds__(PLACING_THREADS) place_runs_by_one_block(const Arguments arguments) {
    place_runs(arguments);
}

__global__ void __launch_bounds__(BLOCK_THREADS) traceback_pair_per_thread(const Arguments arguments) {
    walk<true>(arguments);
}

}  // extern "C"
