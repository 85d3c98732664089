// Which pairs of a window can reach thresholds: by lengths, residues, and the q-grams that they share.
//
// Computes   for each pair what `RowFilter` of cpu/filters/pair_filter.cpp does: whether lengths and residues
//            allow it, and if so, whether common bits and lost q-grams are as many as it must share.
// In         FilterArguments: sets of bits, a table of what lengths say.
//            mask[pairs]: which pairs are chosen, if not all are.
// Out        mask[pairs], and how many pairs are left after either step.
// Threads    A block for TILE x TILE pairs of the window; 16 x 16 threads, each 4 x 4 pairs that are 16 rows
//            and columns apart.
// Shared     CHUNK words of the tile's rows and columns at a time. A sequence with more words than the other
//            of a pair is folded to as many: so rows and columns go by runs of equal words, and where a run
//            is not meant, there are zeros.
#include "pair_filter.cuh"

namespace {

constexpr int TILE = 64, SIDE = 16, EACH = TILE / SIDE, THREADS = SIDE * SIDE;
constexpr int CHUNK = 8;         // words; every set has a multiple of it
constexpr int PITCH = TILE + 1;  // so that words of a row are in different banks
constexpr int CANNOT = -1;       // else: how many q-grams a pair must share

struct Staged {
    uint64_t words[CHUNK][PITCH];
};

// One side of a tile: its first sequence, how many there are, and their sets.
struct Side {
    const uint64_t* bits;
    const GramSet* grams;
    int32_t first, count;

    __device__ __forceinline__ int32_t words(int k) const { return grams[first + k].words; }
    // The first after k whose set has other than k's words.
    __device__ __forceinline__ int run_end(int k) const {
        int end = k + 1;
        while (end < count && words(end) == words(k)) ++end;
        return end;
    }
    // Puts CHUNK words from `word` on of sequences from `start` to `stop`, folded to `size` words.
    __device__ __forceinline__ void stage(int start, int stop, int32_t word, int32_t size, Staged& to) const {
        for (int of = threadIdx.x; of < CHUNK * TILE; of += THREADS) {
            const int k = of / CHUNK, w = of % CHUNK;
            uint64_t folded = 0;
            if (k >= start && k < stop) {
                const GramSet set = grams[first + k];
                for (int32_t at = word + w; at < set.words; at += size) folded |= bits[set.start + at];
            }
            to.words[w][k] = folded;
        }
    }
};

__device__ __forceinline__ Side side_of(const FilterArguments& a, int which, int32_t first, int32_t stop) {
    return {a.bits[which], a.grams[which], first, min(stop - first, TILE)};
}

__device__ __forceinline__ void count_common(const Staged& rows, const Staged& columns, int y, int x,
                                             int (&common)[EACH][EACH]) {
    for (int w = 0; w < CHUNK; ++w) {
        uint64_t of_row[EACH], of_column[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            of_row[k] = rows.words[w][y + SIDE * k];
            of_column[k] = columns.words[w][x + SIDE * k];
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
#pragma unroll
            for (int j = 0; j < EACH; ++j) common[i][j] += __popcll(of_row[i] & of_column[j]);
        }
    }
}

// How many q-grams may be lost in what the common bits of two sets count.
__device__ __forceinline__ int lost_of(const GramSet& a, const GramSet& b) {
    if (a.words != b.words) return a.words < b.words ? a.lost : b.lost;
    return min(a.lost, b.lost);
}

// How many q-grams a pair must share; CANNOT by its lengths or residues, or as it is not chosen.
__device__ __forceinline__ int least_grams(const FilterArguments& a, int32_t row, int32_t column) {
    if (row >= a.row_stop || column >= a.column_stop || (a.triangular && column <= row)) return CANNOT;
    if (a.has_chosen && !a.mask[a.row_offsets[row - a.row_start] + column - first_column(a, row)])
        return CANNOT;
    const LengthBound& bound = bound_of(a, row, column);
    if (a.best[0] && min(a.best[0][row], a.best[1][column]) < bound.least_best) return CANNOT;
    return bound.grams[row_is_query(a, row, column)];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, 2) filter_pairs(const FilterArguments a) {
    __shared__ Staged row_words, column_words;
    __shared__ int looks, possible, left, least_score;
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const int tiles_across = (a.column_stop - a.column_start + TILE - 1) / TILE;
    const int32_t row = a.row_start + (int32_t)(blockIdx.x / tiles_across) * TILE;
    const int32_t column = a.column_start + (int32_t)(blockIdx.x % tiles_across) * TILE;
    if (a.triangular && min(column + TILE, a.column_stop) <= row + 1) return;
    if (threadIdx.x == 0) {
        looks = possible = left = 0;
        least_score = NO_SCORE;
    }
    __syncthreads();

    int least[EACH][EACH], common[EACH][EACH], can = 0;
    bool must_look = false;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            least[i][j] = least_grams(a, row + y + SIDE * i, column + x + SIDE * j);
            common[i][j] = 0;
            can += least[i][j] != CANNOT;
            must_look = must_look || least[i][j] > 0;
        }
    }
    if (can) atomicAdd(&possible, can);
    if (must_look) looks = 1;
    __syncthreads();

    const Side rows = side_of(a, 0, row, a.row_stop), columns = side_of(a, 1, column, a.column_stop);
    if (looks) {
        for (int r = 0, r_end; r < rows.count; r = r_end) {
            r_end = rows.run_end(r);
            for (int c = 0, c_end; c < columns.count; c = c_end) {
                c_end = columns.run_end(c);
                const int32_t size = min(rows.words(r), columns.words(c));
                for (int32_t word = 0; word < size; word += CHUNK) {
                    rows.stage(r, r_end, word, size, row_words);
                    columns.stage(c, c_end, word, size, column_words);
                    __syncthreads();
                    count_common(row_words, column_words, y, x, common);
                    __syncthreads();
                }
            }
        }
    }

    int kept = 0, score = NO_SCORE;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int32_t r = row + y + SIDE * i;
        if (r >= a.row_stop) continue;
        const int32_t first = first_column(a, r);
        uint8_t* const mask = a.mask + a.row_offsets[r - a.row_start];
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const int32_t c = column + x + SIDE * j;
            if (c >= a.column_stop || c < first) continue;
            bool passes = least[i][j] != CANNOT;
            if (least[i][j] > 0) passes = common[i][j] + lost_of(a.grams[0][r], a.grams[1][c]) >= least[i][j];
            mask[c - first] = passes;
            if (!passes) continue;
            ++kept;
            score = min(score, bound_of(a, r, c).score[row_is_query(a, r, c)]);
        }
    }
    if (kept) {
        atomicAdd(&left, kept);
        atomicMin(&least_score, score);
    }
    __syncthreads();
    if (threadIdx.x == 0 && possible) {
        atomicAdd(&a.counts->possible, (unsigned long long)possible);
        atomicAdd(&a.counts->sharing, (unsigned long long)left);
        if (!a.looks) atomicMin(&a.counts->score, least_score);
    }
}
