// Scores of pairs, and optionally the borders of tiles for a traceback: score_* and fill_*. Local scores
// alone: score_rows.cuh.
//
// Computes   H, E, F of affine-gap global, semiglobal or local alignment (see packed.cuh); the
//            score of each pair, semiglobal also its end cell, and with KEEP the tiles' borders.
// In         items[blocks]: one or two columns x a range of rows; sequences; score table.
// Out        score[pairs], query[pairs], target[pairs], end_row[pairs], end_column[pairs], tiles.
// Threads    A group of G lanes (8, 16, 32) aligns one row sequence with the block's columns, K
//            columns a lane with H and F in registers; (H, E) goes to the next lane by shuffle. Rows
//            are taken from the block's range as groups get free, a warp's worth at a time.
//            Columns beyond G * K are done in strips, left to right, handing (H, E) on in memory.
// Shared     the score profile [residue][K/4][G] of uint4 (4 columns of a lane): 128-bit loads, 8
//            neighbouring lanes read 128 neighbouring bytes whatever their residues are.
// Phases     start_cells, start_border (group.cuh); take_steps, two_steps here; report_ends (ends.cuh).
//            The steps are lambdas, and what comes from the left border plain variables: as members of
//            structs they made nvcc 13.0 spill more (sm_90, global, PAIRALIGN_WIDE: fill_strips_k28 204
//            bytes for 144, fill_strips_k32 184 for 172).
// After      Dohi et al. 2010 (a warp per pair, parallelograms); Farrar's and Rognes' packed lanes.
#include "ends.cuh"
#include "score_rows.cuh"

namespace {

template <int G, int K, bool KEEP, bool STRIPS>
__device__ void fill_items(const Params& p) {
    __shared__ int next_place;  // of the block's rows, the next that no group has taken
#if defined(PAIRALIGN_EMULATE)
    uint4* const profile = (uint4*)emulated_shared_memory();
#else
    extern __shared__ uint4 profile[];
#endif
    const int lane_id = threadIdx.x % G;
    const int group_of_warp = threadIdx.x % 32 / G;
    const Columns<G * K, STRIPS> columns(p, p.items[blockIdx.x]);
    const int4 item = columns.item;
    const int strips = columns.strips;
    const Constants c(p);
    constexpr int PARTS = parts_of(K);

    for (int strip = 0; strip < strips; ++strip) {
        const int first_column = strip * G * K;
        __syncthreads();
        if (threadIdx.x == 0) next_place = item.y;
        build_profile<G, K>(p, item, columns.padding_a, columns.padding_b, first_column, (word*)profile);
        __syncthreads();
        const Profile my_profile = profile_at(profile + lane_id);
        const int my_column = first_column + lane_id * K;

        for (;;) {
            int place = 0;
            if (threadIdx.x % 32 == 0) place = atomicAdd(&next_place, 32 / G);
            place = __reduce_max_sync(WARP, place) + group_of_warp;
            if (place - group_of_warp >= item.z) break;
            // All groups of a warp take the steps of the longest row, so that they stay together.
            const bool present = G == 32 || place < item.z;
            if (G < 32) place = min(place, item.z - 1);
            const int row = row_at(p, place);
            const int rows = p.row_lengths[row];
            const int steps = steps_of(rows, G);
            int all_steps = steps, least_rows = rows;
            all_steps = __reduce_max_sync(WARP, steps);
            least_rows = __reduce_min_sync(WARP, rows);
            const int idle_steps = idle_steps_of(rows);
            const unsigned char* residues = p.row_residues + p.row_starts[row] - idle_steps - ROWS * lane_id;

            Lane<K> lane;
            const int row_before = -ROWS * lane_id - idle_steps;  // before the first step
            start_cells<G>(p, c, columns, row_before, my_column, lane);
            word best = both(p.bias);        // local: of the whole strip
            int best_tier[2] = {-1, -1};     // the only tier that has it
            word last_best = lane.h[K - 1];  // semiglobal: in the last column, shifted
            int last_step_a = -1, last_step_b = -1;

            word h_border, e_border;
            start_border<G>(p, c, columns, idle_steps, my_column, h_border, e_border);
            // Only lane 0 takes it; others what their neighbour hands on, times `has_left`.
            const int has_left = lane_id > 0;
            const word in_first_lane = has_left ? 0 : 0xffffffffu;
            h_border &= in_first_lane;
            e_border &= in_first_lane;

            uint2* const handed = STRIPS ? handed_at(p, item, place) : nullptr;
            const bool reads_handed = STRIPS && strip > 0 && lane_id == 0;
            const bool writes_handed = STRIPS && strip + 1 < strips && lane_id == G - 1;

            uint4* tile = KEEP ? p.tiles + p.item_tiles[blockIdx.x] +
                                     ((long long)(p.tiers_before[place] - p.tiers_before[item.y]) * strips +
                                      (long long)strip * tiers_of(rows, G)) *
                                         tier_stride(G, K)
                               : nullptr;

            int residue_0 = residues[0], residue_1 = residues[1];
            int t = 0;
            word at_end = 0;  // global: H of the group's last column and row

            // ROWS steps, a row each: take from the left, compute the cells, look after the ends.
            auto take_steps = [&](const int (&residue)[ROWS], int at, bool guarded, word(&h_in)[ROWS],
                                  word(&e_in)[ROWS]) {
                Profile of_row[ROWS];
#pragma unroll
                for (int n = 0; n < ROWS; ++n) {
                    h_in[n] = __shfl_up_sync(WARP, lane.h_out[n], 1, G);
                    e_in[n] = __shfl_up_sync(WARP, lane.e_out[n], 1, G);
                    h_in[n] = add_words(h_in[n], h_border, has_left);
                    e_in[n] = add_words(e_in[n], e_border, has_left);
                    const int row_index = at + n - idle_steps;
                    if (reads_handed && row_index >= 0 && row_index < rows) {
                        const uint2 from_left = handed[row_index];
                        h_in[n] = from_left.x;
                        e_in[n] = from_left.y;
#if !defined(PAIRALIGN_EMULATE)
                        asm volatile("prefetch.global.L1 [%0];" ::"l"(
                            handed + min(row_index + PREFETCHED_ROWS, rows - 1)));
#endif
                    }
                    move_border(p, c, in_first_lane, row_index + 2, h_border, e_border);
                    of_row[n] = profile_plus(my_profile, residue[n] * (K / 4 * G));
                }
                // Semiglobal: a lane stops at its last row, which is part of the result.
                if (guarded && at - idle_steps - lane_id >= rows) return;
                rows_of_cells<G, K>(lane, h_in, e_in, of_row, c);
                if (SEMIGLOBAL && (!END_GAPS || at >= idle_steps + lane_id))
                    look_at_last_column(p, c, lane.h[K - 1], at, last_best, last_step_a, last_step_b);
#pragma unroll
                for (int n = 0; n < ROWS; ++n) {
                    const int row_index = at + n - idle_steps - ROWS * (G - 1);
                    if (writes_handed && row_index >= 0 && row_index < rows)
                        handed[row_index] = make_uint2(lane.h_out[n], lane.e_out[n]);
                }
            };

            // A tier a turn with tiles, four steps at a time; else all steps in one.
            //
            // Before each turn t steps are done, and lane l has done the rows up to t - ROWS * l -
            // idle_steps, counted from 1: its lane.h and lane.h_before are H of that row, lane.f is F of the
            // next one, h_out and e_out are what its right neighbour takes in the step to come; residue_0 and
            // residue_1 are those of the lane's next two steps. `tile` is that of tier t / TIER.
            const int end = KEEP ? (all_steps + 3) & ~3 : all_steps;
            while (t < end) {
                const bool keeps = G == 32 || (present && t < steps);
                word* const tier = (word*)tile;
                uint4* left_side = (uint4*)(tier + borders_at(G, K)) + lane_id;
                if (KEEP && keeps) keep_upper_border<G>(c, lane, lane_id, tier);
                const int stop = KEEP ? min(t + TIER, end) : end;
                word kept[2][4];  // of each part, in the last four steps
                const auto two_steps = [&](int first) {
                    const int now[2] = {residue_0, residue_1};
                    // Padding follows the row, but not endlessly.
                    const unsigned char* const ahead = residues + 2 + (G < 32 ? min(t, steps) : t);
                    residue_0 = ahead[0];
                    residue_1 = ahead[1];
                    const bool guarded = SEMIGLOBAL && t + 1 >= least_rows;
#pragma unroll
                    for (int at = 0; at < 2; at += ROWS) {
                        word h_in[ROWS], e_in[ROWS];
                        int residue[ROWS];
#pragma unroll
                        for (int n = 0; n < ROWS; ++n) residue[n] = now[at + n];
                        take_steps(residue, t + at, guarded, h_in, e_in);
#pragma unroll
                        for (int n = 0; n < ROWS; ++n) {
                            kept[0][first + at + n] = packed(h_in[n], e_in[n]);
                            kept[1][first + at + n] = packed(lane.h_middle[n], lane.e_middle[n]);
                        }
                    }
                    t += 2;
                    if (GLOBAL && (KEEP || G < 32) && t == steps) at_end = lane.h[K - 1];
                };
                while (t < stop) {
                    two_steps(0);
                    if (!KEEP) continue;
                    two_steps(2);
                    if (keeps) {
#pragma unroll
                        for (int part = 0; part < PARTS; ++part)
                            left_side[part * (TIER / 4) * G] =
                                make_uint4(kept[part][0], kept[part][1], kept[part][2], kept[part][3]);
                    }
                    left_side += G;
                }
                if (LOCAL) {
                    if (keeps) tier[bests_at(G, K) + lane_id] = lane.best;
#pragma unroll
                    for (int half = 0; half < PAIRS; ++half) {
                        const int now = half_of(lane.best, half);
                        const int so_far = half_of(best, half);
                        if (now == so_far) best_tier[half] = -1;
                        if (now > so_far) best_tier[half] = (t - 1) / TIER;
                    }
                    best = maximum(best, lane.best);
                    lane.best = 0;
                }
                if (KEEP) tile += tier_stride(G, K);
            }

            if (!KEEP && G == 32) at_end = lane.h[K - 1];
            report_ends(Done<G, K, KEEP, STRIPS>{
                p, columns, strip, lane_id, group_of_warp, my_column, place, row, rows, present, idle_steps,
                lane, at_end, best, best_tier[0], best_tier[1], last_best, last_step_a, last_step_b});
        }
    }
}

template <int G, int K, bool KEEP, bool STRIPS>
__device__ void fill(const Params& p) {
    if constexpr (LOCAL && !KEEP) score_rows<G, K, STRIPS>(p);
    else fill_items<G, K, KEEP, STRIPS>(p);
}

}  // namespace

// Kernels of a tiling and what they are called: pairalign/engines/cuda/packed/packed_kernels.py.
#define ENTRY(NAME, ...) \
    extern "C" __global__ void __launch_bounds__(256, 2) NAME(const Params p) { __VA_ARGS__(p); }

PAIRALIGN_ENTRIES
