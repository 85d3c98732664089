// Scores of pairs, and optionally the borders of tiles for a traceback: score_* and fill_*.
//
// Computes   H, E, F of affine-gap global, semiglobal or local alignment (see packed.cuh); the
//            score of each pair, semiglobal also its end cell, and with KEEP the tiles' borders.
// In         items[blocks]: one or two columns x a range of rows; sequences; score table.
// Out        score[pairs], query[pairs], target[pairs], end_row[pairs], end_column[pairs], tiles.
// Threads    A group of G lanes (8, 16, 32) aligns one row sequence with the block's columns, K
//            columns a lane with H and F in registers; (H, E) goes to the next lane by shuffle. Rows
//            are taken from the block's range as groups get free, a warp's worth at a time.
//            Columns beyond G * K are done in strips, left to right, handing (H, E) on in memory.
// Shared     the score profile [letter][K/4][G] of uint4 (4 columns of a lane): 128-bit loads, 8
//            neighbouring lanes read 128 neighbouring bytes whatever their letters are.
// After      Dohi et al. 2010 (a warp per pair, parallelograms); Farrar's and Rognes' packed lanes.
#include "row.cuh"

namespace {

template <int G, int K, bool KEEP, bool STRIPS>
__device__ void fill(const Params& p) {
#if defined(PAIRALIGN_EMULATE)
    uint4* profile = (uint4*)emulated_shared_memory();
    int& next_place = *(int*)((char*)emulated_shared_memory() + 229000);
#else
    extern __shared__ uint4 profile[];
    __shared__ int next_place;
#endif
    const int4 item = p.items[blockIdx.x];
    const int lane_id = threadIdx.x % G;
    const int group_of_warp = threadIdx.x % 32 / G;
    constexpr unsigned WARP = 0xffffffffu, GROUP = WARP >> (32 - G);
    const int length_a = p.column_lengths[item.x];
    const int length_b = item.w == 2 ? p.column_lengths[item.x + 1] : 0;
    const int strips = STRIPS ? (max(length_a, length_b) + G * K - 1) / (G * K) : 1;
    const int padding_a = strips * G * K - length_a, padding_b = strips * G * K - length_b;

    Constants c;
    c.one = p.one;
    c.minus_open = both(-p.gap_open);
    c.minus_extend = both(-p.gap_extend);
    c.floor = both(p.bias);
    c.opens = as_integer(-p.gap_open, -p.gap_open);
    c.extends = as_integer(-p.gap_extend, -p.gap_extend);

    constexpr int PARTS = parts_of(K);

    for (int strip = 0; strip < strips; ++strip) {
        const int first_column = strip * G * K;
        __syncthreads();
        if (threadIdx.x == 0) next_place = item.y;
        build_profile<G, K>(p, item, padding_a, padding_b, first_column, (word*)profile);
        __syncthreads();
        const Profile my_profile = profile_at(profile + lane_id);
        const int my_column = first_column + lane_id * K;

        for (;;) {
            int place = 0;
            if (threadIdx.x % 32 == 0) place = atomicAdd(&next_place, 32 / G);
            place = __reduce_max_sync(WARP, place) + group_of_warp;
            if (place - group_of_warp >= item.z) break;
            {
                // All groups of a warp take the steps of the longest row, so that they stay together.
                const bool present = G == 32 || place < item.z;
                if (G < 32) place = min(place, item.z - 1);
                const int row = row_at(p, place);
                const int rows = p.row_lengths[row];
                const int steps = steps_of(rows, G);
                int all_steps = steps, least_rows = rows;
                all_steps = __reduce_max_sync(WARP, steps);
                least_rows = __reduce_min_sync(WARP, rows);
                const int early = early_of(rows);
                const unsigned char* letters = p.row_letters + p.row_starts[row] - early - ROWS * lane_id;

                Lane<K> lane;
                const int row_before = -ROWS * lane_id - early;  // the first step
#pragma unroll
                for (int k = 0; k < K; ++k) {
                    lane.h[k] = start_value(p, G, row_before, my_column + k, padding_a, padding_b);
                    lane.f[k] = add_lanes(lane.h[k], c.minus_open);
                    if (k == K - 1) {
#pragma unroll
                        for (int n = 0; n < ROWS; ++n) lane.h_out[n] = lane.h[k];
                    }
                    if (LOCAL) lane.h[k] = lane.f[k];  // see Lane
                }
                lane.h_before = start_value(p, G, row_before, my_column - 1, padding_a, padding_b);
#pragma unroll
                for (int n = 0; n < ROWS; ++n)
                    lane.e_out[n] = LOCAL    ? c.floor
                                    : GLOBAL ? both(p.bias - p.gap_open)
                                             : add_lanes(lane.h_out[n], c.minus_open);
                lane.best = 0;
                word best = both(p.bias);        // local: of the whole strip
                int best_band[2] = {-1, -1};     // the only band that has it
                word last_best = lane.h[K - 1];  // semiglobal: in the last column, shifted
                int last_step_a = -1, last_step_b = -1;

                // What lane 0 gets from the left: the border, or what the strip before left there.
                word h_border = start_value(p, G, 1 - early, my_column - 1, padding_a, padding_b);
                word e_border = LOCAL    ? c.floor
                                : GLOBAL ? both(p.bias - p.gap_open)
                                         : add_lanes(h_border, c.minus_open);
                if (GLOBAL && !early) {
                    h_border = both(p.bias - p.gap_open);
                    e_border = both(p.bias - 2 * p.gap_open);
                }
                // Other lanes get it from their neighbour: times 1, and plus 0.
                const int has_left = lane_id > 0;
                const word of_first = has_left ? 0 : 0xffffffffu;
                h_border &= of_first;
                e_border &= of_first;
                uint2* const handed = STRIPS ? p.borders + p.item_borders[blockIdx.x] +
                                                   p.letters_before[place] - p.letters_before[item.y]
                                             : nullptr;
                const bool takes = STRIPS && strip > 0 && lane_id == 0;
                const bool hands = STRIPS && strip + 1 < strips && lane_id == G - 1;

                uint4* tile =
                    KEEP ? p.tiles + p.item_tiles[blockIdx.x] +
                               ((long long)(p.bands_before[place] - p.bands_before[item.y]) * strips +
                                (long long)strip * bands_of(rows, G)) *
                                   band_stride(G, K)
                         : nullptr;

                int letter_0 = letters[0], letter_1 = letters[1];
                int t = 0;
                word at_end = 0;  // global: H of the group's last column and row

                // A step a row: take from the left, a row of cells, look after the ends.
                auto take_steps = [&](const int (&letter)[ROWS], int at, bool guarded, word(&h_in)[ROWS],
                                      word(&e_in)[ROWS]) {
                    Profile of_row[ROWS];
#pragma unroll
                    for (int n = 0; n < ROWS; ++n) {
                        h_in[n] = __shfl_up_sync(WARP, lane.h_out[n], 1, G);
                        e_in[n] = __shfl_up_sync(WARP, lane.e_out[n], 1, G);
                        h_in[n] = add_words(h_in[n], h_border, has_left);
                        e_in[n] = add_words(e_in[n], e_border, has_left);
                        const int row_index = at + n - early;
                        if (takes && row_index >= 0 && row_index < rows) {
                            const uint2 from_left = handed[row_index];
                            h_in[n] = from_left.x;
                            e_in[n] = from_left.y;
#if !defined(PAIRALIGN_EMULATE)
                            asm volatile(
                                "prefetch.global.L1 [%0];" ::"l"(handed + min(row_index + 48, rows - 1)));
#endif
                        }
                        if (SEMIGLOBAL) {
                            h_border = add_words(h_border, both(p.shift) & of_first, c.one);
                            e_border = add_words(e_border, both(p.shift) & of_first, c.one);
                        }
                        if (GLOBAL) {
                            h_border = both(p.bias - p.gap_open) & of_first;
                            e_border = both(p.bias - 2 * p.gap_open) & of_first;
                        }
                        of_row[n] = further(my_profile, letter[n] * (K / 4 * G));
                    }
                    // Semiglobal: a lane stops at its last row, which is part of the result.
                    if (guarded && at - early - lane_id >= rows) return;
                    rows_of_cells<G, K>(lane, h_in, e_in, of_row, c);
                    if (SEMIGLOBAL) {
                        static_assert(!SEMIGLOBAL || ROWS == 1, "it ends between two rows");
                        last_best = add_words(last_best, both(p.shift), c.one);
                        if (WIDE) {
                            if ((int)lane.h[K - 1] > (int)last_best) {
                                last_best = lane.h[K - 1];
                                last_step_a = at;
                            }
                        } else {
                            bool high_stays, low_stays;
                            last_best = __vibmax_u16x2(last_best, lane.h[K - 1], &high_stays, &low_stays);
                            if (!low_stays) last_step_a = at;
                            if (!high_stays) last_step_b = at;
                        }
                    }
#pragma unroll
                    for (int n = 0; n < ROWS; ++n) {
                        const int row_index = at + n - early - ROWS * (G - 1);
                        if (hands && row_index >= 0 && row_index < rows)
                            handed[row_index] = make_uint2(lane.h_out[n], lane.e_out[n]);
                    }
                };

                // With tiles, four steps at a time.
                const int end = KEEP ? (all_steps + 3) & ~3 : all_steps;
                while (t < end) {
                    const bool keeps = G == 32 || (present && t < steps);
                    word* const band = (word*)tile;
                    uint4* border = (uint4*)(band + borders_at(G, K)) + lane_id;
                    if (KEEP && keeps) {
                        const auto h_of = [&](int k) {
                            return LOCAL ? add_words(lane.h[k], 0u - c.opens, c.one) : lane.h[k];
                        };
                        const auto h_and_f = [&](int k) { return packed(h_of(k), lane.f[k]); };
                        uint4* const rowline = (uint4*)band + lane_id;
#pragma unroll
                        for (int k = 0; k < K; k += 4)
                            rowline[k / 4 * G] =
                                make_uint4(h_and_f(k), h_and_f(k + 1), h_and_f(k + 2), h_and_f(k + 3));
                        word* const corner = band + corners_at(G, K) + lane_id;
                        corner[0] = lane.h_before;
                        if (PARTS == 2) corner[G] = h_of(K / 2 - 1);
                    }
                    const int stop = KEEP ? min(t + BAND, end) : end;
                    word kept[2][4];  // of each part, in the last four steps
                    const auto two_steps = [&](int first) {
                        const int now[2] = {letter_0, letter_1};
                        // Padding follows the row, but not endlessly.
                        const unsigned char* const ahead = letters + 2 + (G < 32 ? min(t, steps) : t);
                        letter_0 = ahead[0];
                        letter_1 = ahead[1];
                        const bool guarded = SEMIGLOBAL && t + 1 >= least_rows;
#pragma unroll
                        for (int at = 0; at < 2; at += ROWS) {
                            word h_in[ROWS], e_in[ROWS];
                            int letter[ROWS];
#pragma unroll
                            for (int n = 0; n < ROWS; ++n) letter[n] = now[at + n];
                            take_steps(letter, t + at, guarded, h_in, e_in);
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
                                border[part * (BAND / 4) * G] =
                                    make_uint4(kept[part][0], kept[part][1], kept[part][2], kept[part][3]);
                        }
                        border += G;
                    }
                    if (LOCAL) {
                        if (KEEP) {
                            if (keeps) band[bests_at(G, K) + lane_id] = lane.best;
#pragma unroll
                            for (int half = 0; half < PAIRS; ++half) {
                                const int now = half_of(lane.best, half);
                                const int so_far = half_of(best, half);
                                if (now == so_far) best_band[half] = -1;
                                if (now > so_far) best_band[half] = (t - 1) / BAND;
                            }
                            best = maximum(best, lane.best);
                            lane.best = 0;
                        } else {
                            best = maximum(best, lane.best);
                        }
                    }
                    if (KEEP) tile += band_stride(G, K);
                }

                // Results: gathered in the group's last lane.
                if (!KEEP && G == 32) at_end = lane.h[K - 1];
                const word lane_best = best;
                if (LOCAL) {
#pragma unroll
                    for (int away = 1; away < G; away *= 2)
                        best = maximum(best, __shfl_xor_sync(WARP, best, away, G));
                }
#pragma unroll
                for (int half = 0; half < PAIRS; ++half) {
                    const int padding = half ? padding_b : padding_a;
                    const int columns = half ? length_b : length_a;
                    const int pair = pair_at(p, item, place, half);
                    const bool valid = present && pair >= 0 && lane_id == G - 1;
                    if (valid && strip + 1 == strips) {
                        const int of_row = p.row_order[row];
                        const int of_column = p.column_order[item.x + half];
                        p.query[pair] = p.triangular ? min(of_row, of_column) : of_row;
                        p.target[pair] = p.triangular ? max(of_row, of_column) : of_column;
                    }
                    if (GLOBAL) {
                        if (valid && strip + 1 == strips)
                            p.score[pair] = half_of(at_end, half) - p.bias - (rows + columns) * p.shift;
                    }
                    if (LOCAL) {
                        const int score = half_of(best, half) - p.bias;
                        int band = -1, lane_of_best = 0;
                        if (KEEP) {
                            // Tell the traceback which tile has the best cell if only one has.
                            const bool mine = half_of(lane_best, half) == half_of(best, half);
                            const unsigned lanes = __ballot_sync(WARP, mine) >> group_of_warp * G & GROUP;
                            lane_of_best = __ffs(lanes) - 1;
                            band = __shfl_sync(WARP, best_band[half], lane_of_best, G);
                            if (lanes & (lanes - 1)) band = -1;
                            if (STRIPS && band >= 0) band += strip * bands_of(rows, G);
                        }
                        if (valid) {
                            const int so_far = STRIPS && strip > 0 ? p.score[pair] : -1;
                            if (score > so_far) p.score[pair] = score;
                            if (KEEP && score >= so_far) {
                                p.end_row[pair] = score > so_far ? band : -1;
                                p.end_column[pair] = lane_of_best;
                            }
                        }
                    }
                    if (SEMIGLOBAL) {
                        // Last row: each lane's best with the smallest column, then the group's.
                        int value = -(1 << 30), at = 0;
#pragma unroll
                        for (int k = 0; k < K; ++k) {
                            const int one_value = half_of(lane.h[k], half) - k * p.shift;
                            if (one_value > value) {
                                value = one_value;
                                at = k;
                            }
                        }
                        // Now without shift; the last row is row `rows`.
                        value -= p.bias + (rows + G + my_column + 1) * p.shift;
                        at += my_column;
#pragma unroll
                        for (int away = 1; away < G; away *= 2) {
                            const int other = __shfl_xor_sync(WARP, value, away, G);
                            const int other_at = __shfl_xor_sync(WARP, at, away, G);
                            if (other > value || (other == value && other_at < at)) {
                                value = other;
                                at = other_at;
                            }
                        }
                        at = max(at - padding + 1, 0);
                        if (valid) {
                            if (STRIPS && strip > 0 && p.score[pair] >= value) {
                                value = p.score[pair];
                                at = p.end_column[pair];
                            }
                            int end_row = rows, end_column = at;
                            if (strip + 1 == strips) {
                                const int last =
                                    half_of(last_best, half) - p.bias - (rows + G + strips * G * K) * p.shift;
                                const int step_at = half ? last_step_b : last_step_a;
                                const int last_row = step_at < 0 ? 0 : step_at - early - (G - 1) + 1;
                                const bool transposed = !p.triangular && columns > rows;
                                bool in_last_column = last > value;
                                if (last == value)
                                    in_last_column = transposed ? last_row < rows : at >= columns;
                                if (in_last_column) {
                                    value = last;
                                    end_row = last_row;
                                    end_column = columns;
                                }
                            }
                            p.score[pair] = value;
                            p.end_row[pair] = end_row;
                            p.end_column[pair] = end_column;
                        }
                    }
                }
            }
        }
    }
}

}  // namespace

#define ENTRY extern "C" __global__ void __launch_bounds__(256, 2)

ENTRY score_g8_k16(const Params p) { fill<8, 16, false, false>(p); }
ENTRY fill_g8_k16(const Params p) { fill<8, 16, true, false>(p); }
ENTRY score_g8_k20(const Params p) { fill<8, 20, false, false>(p); }
ENTRY fill_g8_k20(const Params p) { fill<8, 20, true, false>(p); }
ENTRY score_g8_k24(const Params p) { fill<8, 24, false, false>(p); }
ENTRY fill_g8_k24(const Params p) { fill<8, 24, true, false>(p); }
ENTRY score_g8_k28(const Params p) { fill<8, 28, false, false>(p); }
ENTRY fill_g8_k28(const Params p) { fill<8, 28, true, false>(p); }
ENTRY score_g8_k32(const Params p) { fill<8, 32, false, false>(p); }
ENTRY fill_g8_k32(const Params p) { fill<8, 32, true, false>(p); }
ENTRY score_g16_k20(const Params p) { fill<16, 20, false, false>(p); }
ENTRY fill_g16_k20(const Params p) { fill<16, 20, true, false>(p); }
ENTRY score_g16_k24(const Params p) { fill<16, 24, false, false>(p); }
ENTRY fill_g16_k24(const Params p) { fill<16, 24, true, false>(p); }
ENTRY score_g16_k28(const Params p) { fill<16, 28, false, false>(p); }
ENTRY fill_g16_k28(const Params p) { fill<16, 28, true, false>(p); }
ENTRY score_g16_k32(const Params p) { fill<16, 32, false, false>(p); }
ENTRY fill_g16_k32(const Params p) { fill<16, 32, true, false>(p); }
ENTRY score_g32_k20(const Params p) { fill<32, 20, false, false>(p); }
ENTRY fill_g32_k20(const Params p) { fill<32, 20, true, false>(p); }
ENTRY score_g32_k24(const Params p) { fill<32, 24, false, false>(p); }
ENTRY fill_g32_k24(const Params p) { fill<32, 24, true, false>(p); }
ENTRY score_g32_k28(const Params p) { fill<32, 28, false, false>(p); }
ENTRY fill_g32_k28(const Params p) { fill<32, 28, true, false>(p); }
ENTRY score_g32_k32(const Params p) { fill<32, 32, false, false>(p); }
ENTRY fill_g32_k32(const Params p) { fill<32, 32, true, false>(p); }
ENTRY score_strips_k20(const Params p) { fill<32, 20, false, true>(p); }
ENTRY fill_strips_k20(const Params p) { fill<32, 20, true, true>(p); }
ENTRY score_strips_k24(const Params p) { fill<32, 24, false, true>(p); }
ENTRY fill_strips_k24(const Params p) { fill<32, 24, true, true>(p); }
ENTRY score_strips_k28(const Params p) { fill<32, 28, false, true>(p); }
ENTRY fill_strips_k28(const Params p) { fill<32, 28, true, true>(p); }
ENTRY score_strips_k32(const Params p) { fill<32, 32, false, true>(p); }
ENTRY fill_strips_k32(const Params p) { fill<32, 32, true, true>(p); }
