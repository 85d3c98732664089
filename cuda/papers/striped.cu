// Scores of pairs by the striped method, a warp a pair: score_striped.
//
// Computes   build_striped_profiles   the profile of each row sequence
//            score_striped            the score of each pair: H of the last cell (global), the highest H
//                                     of the last row and column (semiglobal) or of all cells (local)
// In         ScoreArguments (score_pairs.cuh): sequences, a rectangle of pairs, a score table; the row's
//            sequence is the query, whose profile serves all pairs of the row.
// Out        results [3][pairs].
// Threads    score_striped: a warp a pair; warps never wait for one another and take the next pair when
//            they have done one. build_striped_profiles: a block a row sequence.
// Layout     striped: lane l has rows l * segments .. (l + 1) * segments - 1 of the matrix, segment j
//            being its row j. A column is done segment by segment, all lanes at once; a lane needs H of
//            the lane before only for its first row. F does not cross from lane to lane meanwhile:
//            where it should have, the lazy loop after the column puts that right.
// Memory     per warp: a column of cells [segments][32], H of the column before and E of the column to
//            come, max(E - extend, H - open); a lane reads and writes its own cells only. In shared
//            memory as words of two 16-bit numbers (WIDTH=NARROW), or in global memory as two words
//            (WIDTH=WIDE) for scores or queries that need more.
//            Per row sequence, in global memory: the profile [residue][fours][32][4], scores of a lane's
//            rows against a residue, four segments a load; rows behind the query's end score 0.
// Source     M. Farrar, "Striped Smith-Waterman speeds database searches six times over other SIMD
//            implementations", Bioinformatics 23 (2007); T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri,
//            "Performance comparison of GPU programming frameworks with the striped Smith-Waterman
//            algorithm", ACM SIGARCH Computer Architecture News 40 (2012). From the latter: a warp a pair,
//            the profile read four scores at a time, and the variants that they compare:
//
//     | what they compare     | here                                                                |
//     |-----------------------|---------------------------------------------------------------------|
//     | warp vote             | ANY=VOTE: __any_sync                                                |
//     | simple reduction      | ANY=REDUCTION: a tree in shared memory                              |
//     | profile in texture    | PROFILE=READONLY: ld.global.nc, today's way through the texture cache |
//     | profile in global     | PROFILE=PLAIN: ld.global                                            |
//
//            Different here: all modes; E is corrected too where F raises H, so that a gap may follow a
//            gap; in local mode F at or below 0 does not count; and the lazy loop can end at any segment,
//            as Farrar's does (EVERY_STEP=1), or once a pass over all, as Kakimoto's (0).
//
// Compiled for -DMODE=GLOBAL|SEMIGLOBAL|LOCAL -DWIDTH=NARROW|WIDE -DSCORES=BYTES|INTS (the table's entries)
// and the choices above.
#include "score_pairs.cuh"

enum Width { NARROW, WIDE };
enum Entries { BYTES, INTS };
enum Any { VOTE, REDUCTION };
enum ProfilePath { READONLY, PLAIN };

template <Width>
struct CellOf;
template <>
struct CellOf<NARROW> : PackedShorts {};
template <>
struct CellOf<WIDE> : PairOfInts {};

template <Entries>
struct ScoreOf;
template <>
struct ScoreOf<BYTES> {
    using Score = int8_t;
    using Four = char4;
};
template <>
struct ScoreOf<INTS> {
    using Score = int32_t;
    using Four = int4;
};

namespace {

constexpr Mode mode = MODE;
using Cell = CellOf<WIDTH>;
using Word = Cell::Word;
using Score = ScoreOf<SCORES>::Score;
using Four = ScoreOf<SCORES>::Four;

__device__ int segments_of(int rows) { return (rows + WARP - 1) / WARP; }

__device__ Four read_profile(const Four* entry) {
    if constexpr (PROFILE == READONLY) return __ldg(entry);
    else return *entry;
}

__device__ int from_lane_before(int value, int first, int lane) {
    const int before = __shfl_up_sync(EVERY_LANE, value, 1);
    return lane == 0 ? first : before;
}

__device__ bool any_lane(bool predicate, int lane, volatile int* scratch) {
    if constexpr (ANY == VOTE) {
        return __any_sync(EVERY_LANE, predicate);
    } else {
        scratch[lane] = predicate;
        __syncwarp();
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) {
            if (lane < step) scratch[lane] = scratch[lane] | scratch[lane + step];
            __syncwarp();
        }
        const bool any = scratch[0];
        __syncwarp();
        return any;
    }
}

struct Gaps {
    int open, extend;

    __device__ int border(int residues) const {
        return mode == GLOBAL && residues > 0 ? -open - (residues - 1) * extend : 0;
    }
};

// What goes down a lane's rows of a column.
struct Lane {
    int diagonal;  // H of the row above in the column before
    int f;         // F of the row to come
    int best;

    __device__ void advance(Word& cell, int score, const Gaps& gaps) {
        int before, e;
        Cell::unpack(cell, before, e);
        int h = max(max(diagonal + score, e), f);
        if (mode == LOCAL) {
            h = max(h, 0);
            best = max(best, h);
        }
        const int opened = h - gaps.open;
        diagonal = before;
        f = max(f - gaps.extend, opened);
        cell = Cell::pack(h, max(e - gaps.extend, opened));
    }
};

// Lazy F: what leaves a lane's last row, `f`, goes on in the next lane, as long as it is more than a gap
// opened there would be (local: and more than nothing). It then raises H, and E of the next column.
__device__ void correct(Word* cells, int segments, int f, const Gaps& gaps, int lane, volatile int* scratch) {
    f = from_lane_before(f, MINUS_INFINITY, lane);
    int j = 0;
    for (;;) {
        int h, e;
        Cell::unpack(cells[j * WARP], h, e);
        const int enough = mode == LOCAL ? max(h - gaps.open, 0) : h - gaps.open;
        if (!any_lane(f > enough, lane, scratch)) return;
        do {
            Cell::unpack(cells[j * WARP], h, e);
            h = max(h, f);
            cells[j * WARP] = Cell::pack(h, max(e, h - gaps.open));
            f = max(f - gaps.extend, MINUS_INFINITY);  // again and again: it must not leave 32 bits
            ++j;
        } while (!EVERY_STEP && j < segments);
        if (j == segments) {
            j = 0;
            f = from_lane_before(f, MINUS_INFINITY, lane);
        }
    }
}

// The score of a pair; `cells` are the lane's.
__device__ int align(const Four* profile, int rows, const uint8_t* residues, int columns, const Gaps& gaps,
                     Word* cells, int lane, volatile int* scratch) {
    const int segments = segments_of(rows), fours = (segments + 3) / 4;
    const int last_lane = (rows - 1) / segments, last_segment = (rows - 1) % segments;
    for (int j = 0; j < segments; ++j) {
        // Rows behind the end take the last row's border: they must not leave the cell's bits.
        const int border = gaps.border(min(lane * segments + j + 1, rows));
        cells[j * WARP] = Cell::pack(border, border - gaps.open);
    }
    Lane state;
    state.best = 0;  // semiglobal: of cells (0, n) and (m, 0)
    int h, e;
    // A residue is read two columns ahead, scores four segments ahead: neither is then waited for.
    const Four* scores = profile + int(residues[0]) * fours * WARP;
    Four ahead = read_profile(scores);
    int next_residue = residues[min(1, columns - 1)];
    for (int column = 1; column <= columns; ++column) {
        Cell::unpack(cells[(segments - 1) * WARP], h, e);
        state.diagonal = from_lane_before(h, gaps.border(column - 1), lane);
        state.f = lane == 0 ? gaps.border(column) - gaps.open : MINUS_INFINITY;
        Word* cell = cells;
        for (int four = 1; four < fours; ++four) {
            const Four now = ahead;
            scores += WARP;
            ahead = read_profile(scores);
            state.advance(cell[0 * WARP], now.x, gaps);
            state.advance(cell[1 * WARP], now.y, gaps);
            state.advance(cell[2 * WARP], now.z, gaps);
            state.advance(cell[3 * WARP], now.w, gaps);
            cell += 4 * WARP;
        }
        const Four now = ahead;  // of the last one to four segments
        scores = profile + next_residue * fours * WARP;
        ahead = read_profile(scores);
        next_residue = residues[min(column + 1, columns - 1)];
        const int left = segments - 4 * (fours - 1);
        state.advance(cell[0 * WARP], now.x, gaps);
        if (left > 1) state.advance(cell[1 * WARP], now.y, gaps);
        if (left > 2) state.advance(cell[2 * WARP], now.z, gaps);
        if (left > 3) state.advance(cell[3 * WARP], now.w, gaps);

        correct(cells, segments, state.f, gaps, lane, scratch);
        if (mode == SEMIGLOBAL && lane == last_lane) {
            Cell::unpack(cells[last_segment * WARP], h, e);
            state.best = max(state.best, h);
        }
    }
    if (mode == GLOBAL) {
        Cell::unpack(cells[last_segment * WARP], h, e);
        return __shfl_sync(EVERY_LANE, h, last_lane);
    }
    if (mode == SEMIGLOBAL) {
        for (int j = 0; j < segments && lane * segments + j < rows; ++j) {
            Cell::unpack(cells[j * WARP], h, e);
            state.best = max(state.best, h);
        }
    }
    return highest_of_warp(state.best);
}

}  // namespace

extern "C" {

__global__ void build_striped_profiles(const ScoreArguments arguments) {
    for (int row = blockIdx.x; row < arguments.rows; row += gridDim.x) {
        const int length = arguments.lengths[0][arguments.row_start + row];
        const uint8_t* const codes = arguments.codes[0] + arguments.starts[0][arguments.row_start + row];
        const int segments = segments_of(length), entries = (segments + 3) / 4 * 4 * WARP;
        auto* const profile = reinterpret_cast<Score*>(
            static_cast<char*>(const_cast<void*>(arguments.profiles)) + arguments.profile_starts[row]);
        for (int at = threadIdx.x; at < entries; at += blockDim.x) {
            const int lane = at / 4 % WARP, segment = at / (4 * WARP) * 4 + at % 4;
            const int place = lane * segments + segment;
            const bool inside = segment < segments && place < length;
            const Score* const scores =
                static_cast<const Score*>(arguments.table) + (inside ? codes[place] : 0) * LETTERS;
            for (int residue = 0; residue < LETTERS; ++residue)
                profile[int64_t(residue) * entries + at] = inside ? scores[residue] : Score(0);
        }
    }
}

__global__ void __launch_bounds__(256) score_striped(const ScoreArguments arguments) {
#ifdef PAIRALIGN_EMULATE
    int* const shared = static_cast<int*>(emulated_shared_memory());
#else
    extern __shared__ int shared[];
#endif
    const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    volatile int* const scratch = shared + warp * WARP;  // of REDUCTION; without it nobody touches it
    void* const storage = WIDTH == NARROW ? static_cast<void*>(shared + (ANY == REDUCTION ? warps * WARP : 0))
                                          : arguments.storage;
    const int64_t owner = WIDTH == NARROW ? warp : int64_t(blockIdx.x) * warps + warp;
    Word* const cells = static_cast<Word*>(storage) + owner * arguments.pitch + lane;
    const Gaps gaps{arguments.gap_open, arguments.gap_extend};
    for (;;) {
        const int place = take_pair(arguments, lane);
        if (place < 0) return;
        const ScorePair pair = find_pair(arguments, place);
        const auto* const profile =
            reinterpret_cast<const Four*>(static_cast<const char*>(arguments.profiles) +
                                          arguments.profile_starts[pair.row - arguments.row_start]);
        const int score =
            align(profile + lane, pair.rows, pair.column_codes, pair.columns, gaps, cells, lane, scratch);
        if (lane == 0) write_result(arguments, pair, place, score);
    }
}

}  // extern "C"
