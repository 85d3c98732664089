// Similar pairs, each by a warp: only the cells that can be on an optimal global alignment.
//
// Computes   score, counts and CIGAR runs of global alignments, those of the full matrix byte for byte.
// In         pairs[]; sets with what residues are worth (worth.cu); ticket and runs_used = 0.
// Out        results[], runs[]: a pair's runs in their order, pairs in any order. A pair that is not DONE is
//            GIVEN_UP (it would not pay), has NO_ROOM in the slabs or in runs, or was LOST: an unsound bound.
// Threads    Four warps a block, each for itself: takes pairs until there are none. Beams without flags find
//            a score to prune with, sweep() fills the band, and saves its lanes for trace(), which fills
//            what the path depends on once more.
// Shared     with PAIRALIGN_TABLE the scores of residues.
// After      Ukkonen 1985; Zhang et al. 2000, for the pruning.
#include "../../common/words_in_place.h"
#include "trace.cuh"

namespace {

constexpr int THREADS = 128;
constexpr int FIRST_BEAM = 20, BEAM_GROWTH = 4;  // diagonals that a path may stray
// A wider beam is tried when the band would be so many times as wide as it.
constexpr int WORTH_A_BEAM = 8;
constexpr int WINDOW_MARGIN = 64;  // diagonals that windows are wider than the band, about
constexpr int MOST_IN_VAIN = 15;
constexpr long long NO_LIMIT = 1ll << 62;

// What a sweep is for. Beam: keeps the cells within `width` of the best; else all that reach `bound`.
struct Aim {
    bool beam;
    int bound, width;
    long long most_loss;  // of a beam: it gives up when a loss that goes on as it began comes to more
    long long most_cells;
};

// A warp's memory for lanes.
struct Room {
    int4* lanes;
    long long count;
    int4* blocks;  // where the lanes of each block are; null: they are not kept
};

__device__ __forceinline__ int4 block_of(const Room& room, const Lanes& lanes) {
    return make_int4(lanes.low, lanes.high, lanes.base, (int)(lanes.at - room.lanes));
}

// Fills the matrix of a pair as far as it is aimed at. Sets `score` when DONE.
__device__ int sweep(const Params& p, const View& v, const int* table, const Room& room, const Aim& aim,
                     int& score, long long& cells) {
    const int thread = threadIdx.x % 32, first_gap = p.gap_extend - p.gap_open;
    const long long half = room.count / 2;
    Lanes now{room.lanes, 0, 0, 0};
    if (thread == 0) room.lanes[0] = make_int4(0, NOTHING, first_gap, first_gap);
    __syncwarp();
    const int first = v.row_worth[0] + v.column_worth[0];
    long long place = room.blocks ? 1 : half, filled = 0;
    int step = 0, status = DONE;
    int in_vain = 0, seldom = 0;  // where nothing is skipped, only some blocks are asked
    for (;;) {
        const int steps = min(STEPS, v.end - step);
        const int low = now.low - MARGIN, high = now.high + MARGIN, lanes = high - low + 1;
        if (room.blocks && thread == 0) room.blocks[step / STEPS] = block_of(room, now);
        filled += (long long)lanes * steps;
        if (filled > aim.most_cells) {
            status = GIVEN_UP;
            break;
        }
        if (room.blocks ? place + lanes > room.count : lanes > half) {
            status = NO_ROOM;
            break;
        }
        Lanes next{room.lanes + place, low, low, high};
        fill_window(p, v, table, now, next, step, steps);
        __syncwarp();
        place = room.blocks ? place + lanes : half - place;
        step += steps;
        if (step == v.end) {
            const int last = v.rows - (v.end + 1) / 2;
            status = LOST;
            if (last < low || last > high) break;
            const int4 is = next.at[last - low];
            const int h = v.end % 2 ? is.y : is.x;
            score = h - v.end * p.gap_extend;
            if (h > NOTHING / 2 && (aim.beam || score >= aim.bound)) status = DONE;
            break;
        }
        int least = aim.bound;
        if (aim.beam) {
            const int best = best_reach(p, v, next, low, high, step);
            if (step > v.end / 8 && (long long)(first - best) * v.end > aim.most_loss * step) {
                status = GIVEN_UP;
                break;
            }
            least = best - aim.width;
        }
        if (!trim(p, v, next, low, high, step, least, aim.beam)) {
            status = LOST;
            break;
        }
        now = next;
        if (seldom-- > 0) continue;
        const int residues = residues_to_skip(p, v, now, low, high, step);
        if (residues) skip_residues(p, now, residues, step, room.blocks, block_of(room, now));
        step += 2 * residues;
        in_vain = residues ? 0 : min(2 * in_vain + 1, MOST_IN_VAIN);
        seldom = in_vain / 2;
    }
    cells += filled;
    return status;
}

// Finds a score that some alignment has, with wider and wider beams. Not DONE: the pair is given up.
__device__ int find_bound(const Params& p, const View& v, const int* table, Room room, int most, int& bound,
                          long long& cells) {
    const float matrix = (float)v.rows * (float)v.columns;
    const long long widest = (long long)(p.widest * (float)v.columns * (float)p.diagonal);
    room.blocks = nullptr;
    Aim aim{true, 0, FIRST_BEAM * p.diagonal, p.forced ? NO_LIMIT / v.end : widest,
            p.forced ? NO_LIMIT : (long long)(matrix * p.widest / 2) + (1 << 16)};
    bool found = false;
    for (;; aim.width *= BEAM_GROWTH) {
        int score = 0;
        const int status = sweep(p, v, table, room, aim, score, cells);
        if (status == NO_ROOM && !found) return NO_ROOM;
        if (status == DONE && (!found || score > bound)) {
            bound = score;
            found = true;
        }
        const int lanes = aim.width / p.diagonal;
        if (status == NO_ROOM || aim.width > 1 << 27) break;
        if (found ? (long long)most - bound <= (long long)WORTH_A_BEAM * BEAM_GROWTH * aim.width ||
                        2 * lanes >= v.columns
                  : lanes >= (p.forced ? 2 * v.rows : v.columns / 50))
            break;
    }
    if (!found) return GIVEN_UP;
    bound -= p.worse_seed;
    if (!p.forced && (long long)most - bound + WINDOW_MARGIN * p.diagonal > widest) return GIVEN_UP;
    return DONE;
}

// Copies the runs of a pair to where there is room for them.
__device__ int keep_runs(const Params& p, const uint32_t* runs, int count, long long& runs_at) {
    const int thread = threadIdx.x % 32;
    unsigned long long at = 0;
    if (thread == 0) at = atomicAdd(p.runs_used, (unsigned long long)count);
    at = __shfl_sync(ALL, at, 0);
    runs_at = (long long)at;
    if (runs_at + count > p.runs_room) return NO_ROOM;
    for (int k = thread; k < count; k += 32) p.runs[runs_at + k] = runs[k];
    return DONE;
}

// Whether so many words are in place that the sequences look similar. A thread looks for a word. Both have
// more residues than a word.
__device__ bool looks_similar(const View& v) {
    using W = WordsInPlace;
    static_assert(W::WORDS == 32 && W::RESIDUES == 8);
    constexpr int NEAR = W::NEAR_AFTER_END;
    const int at = W::start(threadIdx.x % 32, v.rows), expected = W::expected(at, v.rows, v.columns);
    const int first = max(0, expected - NEAR), last = min(v.columns - W::RESIDUES, expected + NEAR);
    const auto residues = [](const Residues& of, int k) {
        return __funnelshift_r(of.word(k >> 2), of.word((k >> 2) + 1), 8 * (k & 3));
    };
    const uint32_t word = residues(v.row, at), more = residues(v.row, at + 4);
    bool found = false;
    uint32_t low = residues(v.column, first), high = residues(v.column, first + 4), next = 0;
    for (int k = first; k <= last; ++k) {
        found |= low == word && high == more;
        if ((k - first) % 4 == 0) next = residues(v.column, k + 8);
        low = __funnelshift_r(low, high, 8);
        high = __funnelshift_r(high, next, 8);
        next >>= 8;
    }
    return __popc(__ballot_sync(ALL, found)) >= W::SIMILAR;
}

struct Slab {
    uint8_t* at;
    long long bytes;
};

// A large slab that nobody uses, or -1: nobody waits for one.
__device__ int take_slab(const Params& p) {
    int found = -1;
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < p.large_count && found < 0; ++k) {
            if (atomicAdd(p.taken + k, 1u) == 0) found = k;
            else atomicAdd(p.taken + k, 0xffffffffu);
        }
    return __shfl_sync(ALL, found, 0);
}

// Nothing of this warp may still be on its way there when another one takes it.
__device__ void give_back(const Params& p, int slab) {
    __threadfence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) atomicAdd(p.taken + slab, 0xffffffffu);
}

// Aligns a pair in a slab. `bound` is what there is to prune with; it is found unless it `is_known`.
__device__ void align_in(const Params& p, const View& v, const int* table, const Slab& slab, int& bound,
                         bool& is_known, PrunedResult& result) {
    const bool traced = p.detail > 0;
    const long long runs_bytes = p.detail > 1 ? ((long long)v.end + 4) / 4 * 16 : 0;
    const long long blocks_bytes = traced ? ((long long)v.end / STEPS + 1) * 16 : 0;
    const long long left = slab.bytes - runs_bytes - blocks_bytes;
    result.status = NO_ROOM;
    if (left < 256 * 16) return;
    const Room room{(int4*)(slab.at + runs_bytes + blocks_bytes), left / 16,
                    traced ? (int4*)(slab.at + runs_bytes) : nullptr};
    if (!is_known) {
        const int most = v.row_worth[0] + v.column_worth[0] +
                         rest_bonus(p, Cheap(p, v, 0, 0), v.rows - v.columns);  // no alignment has more
        result.status = find_bound(p, v, table, room, most, bound, result.beam_cells);
        if (result.status != DONE) return;
        is_known = true;
    }
    const float matrix = (float)v.rows * (float)v.columns;
    const Aim aim{false, bound + p.lower_bound, 0, NO_LIMIT,
                  p.forced ? NO_LIMIT : (long long)(matrix * p.widest) + (1 << 16)};
    result.status = sweep(p, v, table, room, aim, result.score, result.cells);
    if (result.status != DONE || !traced || result.score < p.min_score) return;
    uint32_t* const runs_end = p.detail > 1 ? (uint32_t*)(slab.at + runs_bytes) : nullptr;
    Walk walk{v.rows, v.columns, IN_H, 0, 0, 0, 0, 0, 0, runs_end};
    if (!trace(p, v, table, room.blocks, room.lanes, walk)) {
        result.status = LOST;
        return;
    }
    result.matches = walk.matches;
    result.diagonals = walk.diagonals;
    result.openings = walk.openings;
    result.runs = walk.runs;
    __syncwarp();
    if (runs_end) result.status = keep_runs(p, runs_end - walk.runs, walk.runs, result.runs_at);
}

__device__ PrunedResult align_pair(const Params& p, const View& v, const int* table, const Slab& own) {
    PrunedResult result{GIVEN_UP, 0, 0, 0, 0, 0, 0, 0, 0};
    if (p.sketched && !looks_similar(v)) return result;
    int bound = 0, large = -1;
    bool is_known = false;
    Slab slab = own;
    for (;;) {
        align_in(p, v, table, slab, bound, is_known, result);
        if (result.status != NO_ROOM || large >= 0) break;
        large = take_slab(p);
        if (large < 0) break;
        slab = {p.large_slabs + large * p.large_bytes, p.large_bytes};
    }
    if (large >= 0) give_back(p, large);
    return result;
}

}  // namespace

#define ENTRY extern "C" __global__ void __launch_bounds__

ENTRY(128, 4) align_pruned(const Params p) {
    __shared__ int table[TABLE ? 1024 : 1];
    if (TABLE) {
        for (int k = threadIdx.x; k < 1024; k += blockDim.x) table[k] = p.table[k];
        __syncthreads();
    }
    const int thread = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint8_t* const slab = p.slabs + ((long long)blockIdx.x * (THREADS / 32) + warp) * p.slab_bytes;
    for (;;) {
        uint32_t ticket = 0;
        if (thread == 0) ticket = atomicAdd(p.ticket, 1u);
        const int number = (int)__shfl_sync(ALL, ticket, 0);
        if (number >= p.pair_count) break;
        const View v(p, p.pairs[number]);
        const PrunedResult result = align_pair(p, v, table, Slab{slab, p.slab_bytes});
        if (thread == 0) p.results[number] = result;
        __syncwarp();
    }
}
