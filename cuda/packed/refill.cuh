// Fills a tile that a path is in again, with codes that say where every H comes from (see tile.cuh).
//
// Computes   refill: the codes of the tile's rows up to the last one that any path of the warp needs; of
//            gaps that leave the tile theirs; local: the first cell that has the wanted score.
// In         Tile: its borders as fill.cu kept them, the row's residues; the column sequence's profile.
// Out        codes [step][row_bytes] of this thread, Entry.
// Threads    a tile a thread, all of a warp in step; values in registers.
// Phases     load_upper_border, load_residues; start_row; two_rows at a time, whose left border is from
//            take_left_border; gaps that leave below.
#pragma once

#include "tile.cuh"

namespace {

// Words of a row of cells, and whether four of a tile's columns at a time can be loaded.
__host__ __device__ constexpr int words_of_row(int columns) {
    return WIDE ? 2 * half_columns(columns) : half_columns(columns);
}
__host__ __device__ constexpr bool in_fours(int columns) {
    return columns % 4 == 0 && half_columns(columns) % 4 == 0;
}

// Half of an array: the elements whose index has a bit, or those whose index has it not.
template <int N>
__device__ __forceinline__ void choose_half(const word* of, bool upper, word* half) {
#pragma unroll
    for (int k = 0; k < N; ++k) half[k] = upper ? of[N + k] : of[k];
}

// Element of an array in registers, which an index would put in memory.
template <int N>
__device__ __forceinline__ word element(const word (&of)[N], int index) {
    word all[16], eight[8], four[4], two[2], one[1];
#pragma unroll
    for (int k = 0; k < 16; ++k) all[k] = of[k < N ? k : N - 1];
    choose_half<8>(all, N > 8 && (index & 8), eight);
    choose_half<4>(eight, index & 4, four);
    choose_half<2>(four, index & 2, two);
    choose_half<1>(two, index & 1, one);
    return one[0];
}

// Scores of N columns in the low half and N in the high half.
template <int N>
__device__ __forceinline__ void scores_at(const char* low, const char* high, word* s) {
    if (WIDE) {
#pragma unroll
        for (int k = 0; k < N; ++k) s[k] = ((const word*)low)[k];
    } else if (N == 8) {
        const uint4 a = *(const uint4*)low, b = *(const uint4*)high;
        s[0] = __byte_perm(a.x, b.x, 0x5410);
        s[1] = __byte_perm(a.x, b.x, 0x7632);
        s[2] = __byte_perm(a.y, b.y, 0x5410);
        s[3] = __byte_perm(a.y, b.y, 0x7632);
        s[4] = __byte_perm(a.z, b.z, 0x5410);
        s[5] = __byte_perm(a.z, b.z, 0x7632);
        s[6] = __byte_perm(a.w, b.w, 0x5410);
        s[7] = __byte_perm(a.w, b.w, 0x7632);
    } else {
        const word a = *(const word*)low, b = *(const word*)high;
        s[0] = __byte_perm(a, b, 0x5410);
        s[1] = __byte_perm(a, b, 0x7632);
    }
}

// Keeps the codes of a row's left or right columns. `full`: of all words of the row.
template <int N>
__device__ __forceinline__ void keep_codes(const word (&full)[N], bool right, unsigned char* row) {
    word two_columns[N / 2];  // of both halves: left ones low
#pragma unroll
    for (int k = 0; k < N; k += 2) two_columns[k / 2] = __byte_perm(full[k], full[k + 1], 0x6240);
    const unsigned of_four = right ? 0x7632 : 0x5410;
    if (WIDE) {
#pragma unroll
        for (int k = 0; k < N; k += 4)
            *(word*)(row + k) = __byte_perm(two_columns[k / 2], two_columns[k / 2 + 1], 0x5410);
    } else if (N == 8) {
        *(uint2*)(row + (right ? 8 : 0)) = make_uint2(__byte_perm(two_columns[0], two_columns[1], of_four),
                                                      __byte_perm(two_columns[2], two_columns[3], of_four));
    } else if (right) {  // six columns, the second word on its own
        *(unsigned short*)(row + 6) = (unsigned short)(two_columns[0] >> 16);
        *(word*)(row + 8) = __byte_perm(two_columns[1], two_columns[N / 2 - 1], of_four);
    } else {
        *(word*)row = __byte_perm(two_columns[0], two_columns[1], of_four);
        *(unsigned short*)(row + 4) = (unsigned short)two_columns[N / 2 - 1];
    }
}

// H and F of the row above the tile, as kept, a word a column.
template <int C>
__device__ __forceinline__ void load_upper_border(int group, const Tile& tile,
                                                  word (&top)[2 * half_columns(C)]) {
    const uint4* const rowline = (const uint4*)tile.tier + tile.lane;
    if (in_fours(C)) {
        const uint4* const from = rowline + tile.part * (C / 4) * group;
#pragma unroll
        for (int k = 0; k < C; k += 4) {
            const uint4 four = from[k / 4 * group];
            top[k] = four.x, top[k + 1] = four.y, top[k + 2] = four.z, top[k + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < 2 * half_columns(C); k += 2) {
            const int at = tile.part * (C / 2) + k / 2;
            const uint2 two = ((const uint2*)(rowline + at / 2 * group))[at % 2];
            top[k] = two.x, top[k + 1] = two.y;
        }
    }
}

// The residues of a tier's steps, four a word. `from` may have any alignment.
__device__ __forceinline__ void load_residues(const unsigned char* from, word (&residues)[TIER / 4]) {
    const int first = (int)((uintptr_t)from & 15);
    const uint4* const aligned = (const uint4*)(from - first);
    const uint4 x = aligned[0], y = aligned[1];
    const word all[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
    word six[6], five[5];
#pragma unroll
    for (int n = 0; n < 6; ++n) six[n] = first & 8 ? all[n + 2] : all[n];
#pragma unroll
    for (int n = 0; n < 5; ++n) five[n] = first & 4 ? six[n + 1] : six[n];
#pragma unroll
    for (int n = 0; n < TIER / 4; ++n) residues[n] = __funnelshift_r(five[n], five[n + 1], (first & 3) * 8);
}

// Full values of the row above the tile from the kept ones, H and F with its code. `bias`: H of the corner;
// `left`: becomes H left of the left and of the right columns.
template <int C>
__device__ __forceinline__ void start_row(const Kept& kept, word corner,
                                          const word (&top)[2 * half_columns(C)], word bias, int f_codes,
                                          word (&h)[words_of_row(C)], word (&f)[words_of_row(C)],
                                          word& left) {
    constexpr int D = half_columns(C), N = words_of_row(C);
    const word f_outside = both(f_codes + OUTSIDE - GAP_DIFFERENCE_BIAS);
    word value = bias, low = WIDE ? kept.h(corner, corner) : kept.h(corner, top[D - 1]);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const word x = top[k], y = WIDE ? 0 : top[D + k];
        const word now = kept.h(x, y);
        value = add_lanes(add_lanes(value, both(-H_DIFFERENCE_BIAS)), h_difference(now, low));
        low = now;
        h[k] = value;
        f[k] = add_lanes(add_lanes(value, f_outside), gap_difference(kept.gap(x, y), now));
    }
    left = bias;
    if (!WIDE) {  // the right columns go on from where the left ones have come to
        left = __byte_perm(bias, value, 0x5410);
        const word more = value - bias << 16;
#pragma unroll
        for (int k = 0; k < N; ++k) h[k] += more, f[k] += more;
    }
}

// H and E that come to two rows from the left: to the left columns from the border, kept in x and y; to the
// right columns what left the left ones two rows ago, left_h and left_e. `side`: H of the border in the row
// before, and `side_low` its low bits as kept; both become those of the second row.
template <int D>
__device__ __forceinline__ void take_left_border(const Kept& kept, word x, word y, word e_outside,
                                                 const word (&left_h)[2], const word (&left_e)[2], word& side,
                                                 word& side_low, word (&in_h)[2], word (&in_e)[2]) {
    const word now = kept.h(x, y);
    if (WIDE) {
        const word after = kept.h(y, y);
        in_h[0] = side + h_difference(now, side_low);
        in_e[0] = in_h[0] + gap_difference(kept.gap(x, x), now) + e_outside;
        in_h[1] = side = in_h[0] + h_difference(after, now);
        in_e[1] = in_h[1] + gap_difference(kept.gap(y, y), after) + e_outside;
        side_low = after;
    } else {
        const word differences = h_difference(now, __byte_perm(side_low, now, 0x5410));
        const word two_biases = two(-H_DIFFERENCE_BIAS, -2 * H_DIFFERENCE_BIAS);
        const word values = add_lanes(add_lanes(__byte_perm(side, side, 0x1010), two_biases),
                                      differences + (differences << 16));
        const word gaps = add_lanes(add_lanes(values, e_outside), gap_difference(kept.gap(x, y), now));
        side = values >> 16;
        side_low = now >> 16;
        in_h[0] = __byte_perm(values, left_h[0], 0x5410);
        in_h[1] = __byte_perm(values, left_h[1], 0x5432);
        in_e[0] = __byte_perm(gaps, add_lanes(left_e[0], D), 0x5410);
        in_e[1] = __byte_perm(gaps, add_lanes(left_e[1], D), 0x5432);
    }
}

// Fills a tile again, up to the last step that any lane of the warp needs: all lanes take part.
//
// `half`: the pair's in the words of the tiles. `f_codes`: F_FIRST or F_LAST, `row_first`: the
// order of equal ends. `profile`: of the pair's column sequence. `codes`: of this thread.
template <int K>
__device__ __forceinline__ void refill(const Params& p, int pitch, const Tile& tile, int half, int f_codes,
                                       bool row_first, const void* profile, unsigned char* codes,
                                       Entry& entry) {
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int C = tile_columns(K), D = half_columns(C);
    constexpr int N = words_of_row(C);
    constexpr int TOGETHER = !in_fours(C) ? 2 : WIDE ? 4 : 8;
    constexpr int ROW = row_bytes(C);
    constexpr int ENTRY = WIDE ? 4 : 2;  // bytes of a score
    constexpr bool AT_ONCE = !LOCAL;     // there are registers for that
    const int group = p.group;
    const Kept kept(half);

    // All that is read of a tile is asked for first, so that the loads wait for memory together.
    word top[2 * D];
    load_upper_border<C>(group, tile, top);
    const word corner = tile.tier[corners_at(group, K) + tile.part * group + tile.lane];
    // Of the border and of the row's residues, those of the next four steps first.
    const uint4* border =
        (const uint4*)(tile.tier + borders_at(group, K)) + tile.part * (TIER / 4) * group + tile.lane;
    uint4 borders[TIER / 4];
#pragma unroll
    for (int four = 0; four < TIER / 4; ++four) {
        borders[four] = make_uint4(0, 0, 0, 0);
        if (four == 0 || (AT_ONCE && 4 * four <= tile.last_step)) borders[four] = border[four * group];
#if !defined(PAIRALIGN_EMULATE)
        // Asked for ahead, since each would wait for memory on its own.
        if (four > 0 && !AT_ONCE) asm volatile("prefetch.global.L2 [%0];" ::"l"(border + four * group));
#endif
    }
    word residues[TIER / 4];
    load_residues(tile.residues, residues);

    const word floor = both(max(p.bias + p.tile_bias - half_of(corner, half), 0) * SCALE + STOP);
    const word minus_extend = both(-SCALE * p.gap_extend);
    const word e_outside = both(E_CODES + OUTSIDE - GAP_DIFFERENCE_BIAS);
    // Opening F after a row; the code falls with each row, and the right columns are two behind.
    word f_open = both(-SCALE * p.gap_open + f_codes + 15);
    if (!WIDE) f_open = add_lanes(f_open, 2u << 16);
    const word bias = both(p.tile_bias * SCALE);
    word side = bias;                        // H left of the tile in the row before,
    word side_low = kept.h(corner, corner);  // and its low bits as they were kept
    word left;                               // H left of the left and of the right columns

    word h[N], f[N];
    start_row<C>(kept, corner, top, bias, f_codes, h, f, left);

    word leaving = 0;  // E right of the tile in the step where the path enters
    entry.found = NOT_FOUND;
    // Whether a row's best H, with the first column that has it, is what is wanted.
    const auto look = [&](int step, int value, int first_column) {
        if (value >> SCALE_BITS != tile.wanted) return;
        if (step < tile.first_step || step >= tile.stop_step) return;
        const int column = first_column + MOST_COLUMNS - 1 - (value & (SCALE - 1));
        entry.found = min(entry.found, rank_of(row_first, step, column));
    };
    const char* const scores = (const char*)profile + tile.column * ENTRY;
    const char* before[2] = {scores, scores};     // of the two rows before, for the right columns
    word left_h[2] = {0, 0}, left_e[2] = {0, 0};  // what leaves the left columns there
    // Keeps the codes of two rows, of the right columns two rows further up; looks for what is wanted.
    const auto keep_two_rows = [&](int step, bool first, bool last, const word(&full)[2][N],
                                   const word(&best)[2], const word(&exit)[2]) {
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            unsigned char* const to = codes + (step + row) * ROW;
            if (!last) {
                keep_codes(full[row], false, to);
                if (LOCAL) look(step + row, half_of(best[row], 0), 0);
            }
            if (WIDE) {
                if (step + row == tile.last_step) leaving = exit[row];
            } else if (!first) {
                keep_codes(full[row], true, to - 2 * ROW);
                if (LOCAL) look(step + row - 2, half_of(best[row], 1), D);
                if (step + row - 2 == tile.last_step) leaving = exit[row] >> 16;
            }
        }
    };
    // Two rows side by side, the lower one a column behind: so each waits for the other only.
    const auto two_rows = [&](int step, bool first, bool last, word row_residues, word x, word y) {
        word in_h[2], in_e[2];
        take_left_border<D>(kept, x, y, e_outside, left_h, left_e, side, side_low, in_h, in_e);
        word diagonal[2] = {left, in_h[0]}, e[2] = {in_e[0], in_e[1]}, best[2] = {0, 0};
        word exit[2] = {0, 0}, full[2][N], s[2][TOGETHER];
        const char* low[2];
        left = first && !WIDE ? __byte_perm(in_h[1], left, 0x7610) : in_h[1];
        const word opening[2] = {f_open, add_lanes(f_open, both(-1))};
        f_open = add_lanes(f_open, both(-2));
#pragma unroll
        for (int row = 0; row < 2; ++row) low[row] = scores + (int)(row_residues >> 8 * row & 255) * pitch;
#pragma unroll
        for (int pass = 0; pass <= N; ++pass) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                const int k = pass - row;
                if (k < 0 || k >= N) continue;
                if (k % TOGETHER == 0)
                    scores_at<TOGETHER>(low[row] + k * ENTRY, before[row] + (D + k) * ENTRY, s[row]);
                const word t = add_lanes(diagonal[row], s[row][k % TOGETHER]);
                diagonal[row] = h[k];
                word now = maximum(t, e[row], f[k]);
                if (LOCAL) now = maximum(now, floor);
                full[row][k] = now;
                now = clean(now);
                word of_f = add_lanes(now, opening[row]);
                if (LOCAL) {
                    e[row] = add_maximum(e[row], minus_extend, add_lanes(now, p.open_codes[k]));
                    of_f = add_maximum(f[k], minus_extend, of_f);
                    const bool real = WIDE ? k < C : k < C - D;
                    const word of_best = real ? now : WIDE ? 0 : now & 0xffffu;
                    best[row] = add_maximum(of_best, both(MOST_COLUMNS - 1 - k), best[row]);
                } else {
                    e[row] = add_maximum(now, p.open_codes[k], e[row]);
                    of_f = add_maximum(now, opening[row], f[k]);
                }
                // The right columns' first row is yet to come.
                h[k] = first && !WIDE ? __byte_perm(now, h[k], 0x7610) : now;
                f[k] = first && !WIDE ? __byte_perm(of_f, f[k], 0x7610) : of_f;
                if (k == (WIDE ? C : C - D) - 1) exit[row] = e[row];
            }
        }
        left_h[0] = diagonal[1], left_h[1] = h[N - 1];
        left_e[0] = e[0], left_e[1] = e[1];
        before[0] = low[0], before[1] = low[1];
        keep_two_rows(step, first, last, full, best, exit);
    };

    word f_left = 0;  // F below the left columns
    uint4 x;
    word four_residues;
    const auto next_four = [&](int step) {
        x = borders[0];
        four_residues = residues[0];
#pragma unroll
        for (int four = 0; four + 1 < TIER / 4; ++four) {
            borders[four] = borders[four + 1];
            residues[four] = residues[four + 1];
        }
        if (!AT_ONCE && step + 4 <= tile.last_step) {
            border += group;
            borders[0] = *border;
        }
    };
    // Before each turn the left columns' rows before `step` are done, and the right columns' before step - 2:
    // h and f are H of the last of them and F of the next one, `left` is H left of them in the last; left_h
    // and left_e are what the right columns take in the next two rows. `x` and `four_residues` have the left
    // border and the residues of the steps from step - 2 to step + 1. Without halves (PAIRALIGN_WIDE) all
    // columns are done up to `step`.
    next_four(0);
    two_rows(0, true, false, four_residues, x.x, x.y);
#pragma unroll 1
    for (int step = 2;; step += 4) {
        two_rows(step, false, false, four_residues >> 16, x.z, x.w);
        const bool last = !__any_sync(ALL, step + 2 <= tile.last_step);
        next_four(step + 2);
        if (last) {
            f_left = element<N>(f, !WIDE && entry.column >= D ? entry.column - D : entry.column);
            if (WIDE) break;
        }
        two_rows(step + 2, false, last, four_residues, x.x, x.y);
        if (last) break;
    }
    entry.e = (int)leaving & (SCALE - 1);
    entry.f = (int)f_left & (SCALE - 1);
    if (!WIDE && entry.column >= D) entry.f = half_of(element<N>(f, entry.column - D), 1) & (SCALE - 1);
}

}  // namespace
