// Scores of pairs, a warp a pair: score_pair_per_warp.
//
// Computes   the score of each pair: H of the last cell (global), the highest H of the last row and
//            column (semiglobal) or of all cells (local), gaps affine.
// In         ScoreArguments (score_pairs.cuh): sequences, a rectangle of pairs, a score table.
// Out        results [3][pairs].
// Threads    Eight warps a block, each with a pair of its own; they never wait for one another. The
//            matrix is cut into strips of 32 columns, a column a lane, padded IN FRONT so that the
//            last column is the last lane's; the shorter sequence is taken as columns. Lanes go down
//            their columns a row a step, each a row behind the one to its left: a strip is a
//            parallelogram, done 32 steps at a time.
// Shared     per warp: H and E of 64 rows (below), residues of the same rows, and the scores of the
//            strip's 32 columns against every residue as [residue / 4][lane][residue % 4], so that lanes
//            never meet in a bank.
// Global     per warp: H and E of the column between two strips, `pitch` entries.
//
//     A window of 64 rows moves down the strip. Lane l is on row l + k of it in step k, so lane 31 has
//     the leftmost column and leads. Where a lane has passed, H and E of its column replace those of
//     the column to its left:
//
//         before step 0    rows 0..31 done by lanes above them, rows 32..63 from the strip to the left
//         after step 31    rows 0..31 done by all lanes: for the strip to the right
//                          rows 32..63 done in part: they become rows 0..31
//
//     Layouts of H and E, the paper's Table II (figure 5):
//
//     | LAYOUT             | paper | bytes | a lane's access                                           |
//     |--------------------|-------|-------|-----------------------------------------------------------|
//     | SEPARATE_SHORTS    | (a)   | 256   | two of 16 bits; two lanes a bank                          |
//     | PACKED_SHORTS      | (b)   | 256   | one of 32 bits, taken apart                               |
//     | INTERLEAVED_SHORTS | (c)   | 256   | two of 16 bits, a bank a lane                             |
//     | SEPARATE_INTS      | (d)   | 512   | two of 32 bits, a bank a lane; for scores over 16 bits    |
//
// Source: K. Dohi, K. Benkrid, C. Ling, T. Hamada, Y. Shibata, "Highly Efficient Mapping of the
// Smith-Waterman Algorithm on CUDA-compatible GPUs", ASAP 2010. From there: all of the above but this.
// The paper does local alignment of a query with a database, and looks scores up in texture memory; its
// warps ran in lockstep, ours meet in __syncwarp after each step; its blocks had a fixed share of the
// database, our warps take the next pair when they have done one. What is handed on is E of the next
// column, max(E - extend, H - open), not E: H - open is then worked out once a cell. The paper's rows
// are columns here: its F is our E.
//
// Compiled for -DMODE=GLOBAL|SEMIGLOBAL|LOCAL -DLAYOUT=(above) -DSCORES=BYTES|INTS (the table's
// entries) -DUNROLL=(steps of the inner loop, of 32).
#include "score_pairs.cuh"

enum Layout { SEPARATE_SHORTS, PACKED_SHORTS, INTERLEAVED_SHORTS, SEPARATE_INTS };
enum Entries { BYTES, INTS };

#ifndef UNROLL
#define UNROLL 16
#endif

constexpr Mode mode = MODE;
constexpr int UNROLLED = UNROLL;
constexpr int BLOCK_WARPS = 8;
constexpr int ROWS = 2 * WARP;  // of a window

template <Layout>
struct Rows;

template <>
struct Rows<SEPARATE_INTS> : PairOfInts {
    int h[ROWS], e[ROWS];
    __device__ void load(int row, int& h_out, int& e_out) const {
        h_out = h[row];
        e_out = e[row];
    }
    __device__ void store(int row, int h_in, int e_in) {
        h[row] = h_in;
        e[row] = e_in;
    }
};

template <>
struct Rows<SEPARATE_SHORTS> : PackedShorts {
    int16_t h[ROWS], e[ROWS];
    __device__ void load(int row, int& h_out, int& e_out) const {
        h_out = h[row];
        e_out = e[row];
    }
    __device__ void store(int row, int h_in, int e_in) {
        h[row] = int16_t(h_in);
        e[row] = int16_t(e_in);
    }
};

template <>
struct Rows<INTERLEAVED_SHORTS> : PackedShorts {
    int16_t he[2 * ROWS];
    __device__ void load(int row, int& h_out, int& e_out) const {
        h_out = he[2 * row];
        e_out = he[2 * row + 1];
    }
    __device__ void store(int row, int h_in, int e_in) {
        he[2 * row] = int16_t(h_in);
        he[2 * row + 1] = int16_t(e_in);
    }
};

template <>
struct Rows<PACKED_SHORTS> : PackedShorts {
    int32_t he[ROWS];
    __device__ void load(int row, int& h_out, int& e_out) const { unpack(he[row], h_out, e_out); }
    __device__ void store(int row, int h_in, int e_in) { he[row] = pack(h_in, e_in); }
};

// Scores of a strip's columns against every residue, and where those of a residue are.
template <Entries>
struct Profile;

template <>
struct Profile<BYTES> {
    int8_t entries[LETTERS * WARP];
    static __device__ int place(int residue) { return residue / 4 * (4 * WARP) + residue % 4; }
    __device__ void build(const void* table, int residue, int lane) {
        const uint4* from = static_cast<const uint4*>(table) + 2 * residue;
        uint32_t* to = reinterpret_cast<uint32_t*>(entries) + lane;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const uint4 four = from[half];
            to[(4 * half + 0) * WARP] = four.x;
            to[(4 * half + 1) * WARP] = four.y;
            to[(4 * half + 2) * WARP] = four.z;
            to[(4 * half + 3) * WARP] = four.w;
        }
    }
    __device__ int score(int place, int lane) const { return entries[place + 4 * lane]; }
};

template <>
struct Profile<INTS> {
    int32_t entries[LETTERS * WARP];
    static __device__ int place(int residue) { return residue * WARP; }
    __device__ void build(const void* table, int residue, int lane) {
        const int32_t* from = static_cast<const int32_t*>(table) + residue * LETTERS;
#pragma unroll 8
        for (int other = 0; other < LETTERS; ++other) entries[other * WARP + lane] = from[other];
    }
    __device__ int score(int place, int lane) const { return entries[place + lane]; }
};

namespace {

struct alignas(16) WarpMemory {
    Profile<SCORES> profile;
    Rows<LAYOUT> rows;
    int32_t places[ROWS];  // Profile::place of the rows' residues
};

using Border = Rows<LAYOUT>::Word;  // between strips

struct Lane {
    int diagonal;  // H of the row above in the column to the left
    int h, f;      // of this lane's column: H of the row above, F of the row to come
    int best;
    int score;  // of the row to come: loaded a step ahead
};

struct Gaps {
    int open, extend;
};

// The step k of a window; `active`: this lane is on a row of the strip.
__device__ __forceinline__ void step(WarpMemory& memory, Lane& lane_state, const Gaps& gaps, int lane, int k,
                                     bool active) {
    int left_h, left_e;
    memory.rows.load(lane + k, left_h, left_e);
    const int score = lane_state.score;
    lane_state.score = memory.profile.score(memory.places[(lane + k + 1) % ROWS], lane);
    if (active) {
        const int h = mode == LOCAL ? max(max(max(lane_state.diagonal + score, left_e), lane_state.f), 0)
                                    : max(max(lane_state.diagonal + score, left_e), lane_state.f);
        const int opened = h - gaps.open;
        lane_state.diagonal = left_h;
        lane_state.h = h;
        lane_state.f = max(lane_state.f - gaps.extend, opened);
        if (mode == LOCAL) lane_state.best = max(lane_state.best, h);
        memory.rows.store(lane + k, h, max(left_e - gaps.extend, opened));
    }
    __syncwarp();
}

__device__ int border_score(const Gaps& gaps, int residues) {
    return mode == GLOBAL && residues > 0 ? -gaps.open - (residues - 1) * gaps.extend : 0;
}

// The score of a pair: `columns` <= `rows`.
__device__ int align(WarpMemory& memory, const Gaps& gaps, const void* table, Border* const border,
                     const uint8_t* row_codes, int rows, const uint8_t* column_codes, int columns, int lane) {
    const int strips = (columns + WARP - 1) / WARP, windows = (rows + WARP - 1) / WARP;
    const int padding_columns = strips * WARP - columns, padding_rows = windows * WARP - rows;
    Lane state;
    state.best = 0;  // semiglobal: of cells (0, n) and (m, 0)
    int last = 0;

    for (int strip = 0; strip < strips; ++strip) {
        const int column = strip * WARP + (WARP - lane) - padding_columns;  // counted from 1
        memory.profile.build(table, column > 0 ? column_codes[column - 1] : PADDING_CODE, lane);
        memory.rows.store(lane, 0, 0);
        memory.places[lane] = Profile<SCORES>::place(PADDING_CODE);
        state.diagonal = border_score(gaps, column - 1);
        state.h = border_score(gaps, column);
        state.f = state.h - gaps.open;

        // Rows 32..63 of the first window.
        int next_row = lane - padding_rows;  // counted from 0
        int next_code = next_row >= 0 ? row_codes[next_row] : PADDING_CODE;
        Border next = Rows<LAYOUT>::pack(0, 0);
        if (strip > 0) next = border[lane];
        const bool first_strip = strip == 0, last_strip = strip + 1 == strips;

        for (int window = 0; window <= windows; ++window) {
            int left_h, left_e;
            Rows<LAYOUT>::unpack(next, left_h, left_e);
            if (first_strip) {
                left_h = border_score(gaps, next_row + 1);
                left_e = left_h - gaps.open;
            }
            memory.rows.store(WARP + lane, left_h, left_e);
            memory.places[WARP + lane] = Profile<SCORES>::place(next_code);
            __syncwarp();

            next_row += WARP;
            next_code = PADDING_CODE;
            if (window + 1 < windows) {  // long before they are needed
                next_code = row_codes[next_row];
                if (!first_strip) next = border[(window + 1) * WARP + lane];
            }

            if (window == 0) {
                state.score = memory.profile.score(memory.places[lane], lane);
#pragma unroll 4
                for (int k = 0; k < WARP; ++k) step(memory, state, gaps, lane, k, lane + k >= WARP);
            } else if (window == windows) {
#pragma unroll 4
                for (int k = 0; k < WARP; ++k) step(memory, state, gaps, lane, k, lane + k < WARP);
            } else {
#pragma unroll UNROLLED
                for (int k = 0; k < WARP; ++k) step(memory, state, gaps, lane, k, true);
            }

            int h, e;
            memory.rows.load(lane, h, e);
            if (window > 0) {
                if (!last_strip) border[(window - 1) * WARP + lane] = Rows<LAYOUT>::pack(h, e);
                if (mode == SEMIGLOBAL && last_strip) state.best = max(state.best, h);
                last = h;
            }
            memory.rows.load(WARP + lane, h, e);
            memory.rows.store(lane, h, e);
            memory.places[lane] = memory.places[WARP + lane];
        }
        __syncwarp();  // the next strip's profile replaces what others may still read
        if (mode == SEMIGLOBAL) state.best = max(state.best, state.h);  // the last row
    }
    if (mode == GLOBAL) return __shfl_sync(EVERY_LANE, last, WARP - 1);
    return highest_of_warp(state.best);
}

}  // namespace

extern "C" {

__global__ void __launch_bounds__(BLOCK_WARPS* WARP) score_pair_per_warp(const ScoreArguments arguments) {
    __shared__ WarpMemory memories[BLOCK_WARPS];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    Border* const border = static_cast<Border*>(arguments.storage) +
                           (int64_t(blockIdx.x) * BLOCK_WARPS + warp) * arguments.pitch;
    const Gaps gaps{arguments.gap_open, arguments.gap_extend};
    for (;;) {
        const int place = take_pair(arguments, lane);
        if (place < 0) return;
        const ScorePair pair = find_pair(arguments, place);
        const bool swapped = pair.columns > pair.rows;
        const int score =
            align(memories[warp], gaps, arguments.table, border, swapped ? pair.column_codes : pair.row_codes,
                  swapped ? pair.columns : pair.rows, swapped ? pair.row_codes : pair.column_codes,
                  swapped ? pair.rows : pair.columns, lane);
        if (lane == 0) write_result(arguments, pair, place, score);
    }
}

}  // extern "C"
