// A tile that a path is in, filled again with codes that say where every H comes from.
//
// A thread fills it. A word holds two of its cells: the low half one of the left columns, the high
// half one of the right columns, two rows further up: so what comes to them from the left columns
// is there in time. With PAIRALIGN_WIDE a word holds one cell.
//
// Values are taken relative to the tile's corner and times SCALE, which leaves six bits for a code
// that the maxima carry along; of equal values the one with the larger code wins, which is the tie
// rule:
//
//   code   H comes from                                              why the order
//   63     nowhere: the alignment begins (local, H = 0)              stops before anything else
//   60, 61 the diagonal: a mismatch, a match                         before gaps
//   58     F, open since before the tile's first row                 in a transposed pair F
//   42-57  F, opened after row 57 - code                               comes before E,
//   33     E, open since before the tile's first column
//   17-32  E, opened after column 32 - code                          else E before F; the gap
//   16     F, as 58                                                  that has been open for
//   0-15   F, opened after row 15 - code                             longer before others
//
// In the right columns the codes of E are more by half_columns. So one code says how far to go
// back. A byte is kept for each cell of a tile, in shared memory: bytes [thread][step][row_bytes].
// The two bits above a code are some of its value.
#pragma once

#include "packed.cuh"

namespace {

constexpr int SCALE_BITS = 6, SCALE = 1 << SCALE_BITS;
constexpr int STOP = 63, MATCH = 61, MISMATCH = 60;
constexpr int F_FIRST = 42, E_CODES = 17, F_LAST = 0, OUTSIDE = 16;
static_assert(OUTSIDE == MOST_COLUMNS && OUTSIDE == BAND, "a code a row or column, and one more");
static_assert(F_LAST + OUTSIDE < E_CODES && E_CODES + OUTSIDE + MOST_COLUMNS / 2 < F_FIRST &&
                  F_FIRST + OUTSIDE < MISMATCH && STOP < SCALE,
              "codes must differ");

__host__ __device__ constexpr int tile_columns(int columns) { return columns / parts_of(columns); }
// Left columns of a tile of so many; there are as many right ones, of which the last two may be
// those of the next tile and are not looked at.
__host__ __device__ constexpr int half_columns(int columns) { return (columns + 3) / 4 * 2; }
__host__ __device__ constexpr int row_bytes(int columns) { return 2 * half_columns(columns); }
// Words of codes of a thread; the few more keep threads that access the same cell off each other's
// banks.
__host__ __device__ constexpr int tile_words(int columns) {
    return BAND * row_bytes(columns) / 4 + (half_columns(columns) % 4 == 0 ? 2 : 1);
}
// Entries of a profile's row: the few more put different letters on different banks.
__host__ __device__ constexpr int pitch_of(int columns, int width) { return width + (columns == 16 ? 8 : 4); }

__device__ __forceinline__ word clean(word value) { return value & (WIDE ? 0xffffffc0u : 0xffc0ffc0u); }

// The tile that a path is in, as pointers and numbers.
struct Tile {
    const word* band;
    const unsigned char* letters;  // of the band's first step
    int column;                    // first column of the tile, padded
    int lane, part;
    int last_step;              // of the band that is needed
    int wanted;                 // local: value whose first cell is wanted, relative to the tile
    int first_step, stop_step;  // and only in these steps
};

// What a path is to a tile: with what it enters, and what refill finds besides the codes in memory.
struct Entry {
    int step, column;  // in the tile
    int e, f;          // codes of E right of the tile, and of F below it
    int found;         // local: the first cell with the wanted H, or NOT_FOUND; see `rank_of`
};

constexpr int NOT_FOUND = 1 << 10;
// The order of cells: step first, or column first.
__device__ __forceinline__ int rank_of(bool row_first, int step, int column) {
    return row_first ? step << 4 | column : column << 4 | step;
}

// Values as borders keep them, H and the E or F beside it, of the pair in one half of words: their
// low bits.
struct Kept {
    unsigned h_bytes, gap_bytes;  // which bytes of two words
    __device__ __forceinline__ explicit Kept(int half)
        : h_bytes(half ? 0x0602 : 0x0400), gap_bytes(half ? 0x0703 : 0x0501) {}
    __device__ __forceinline__ word h(word x, word y) const {
        return WIDE ? x & 0xffffu : __byte_perm(x, y, h_bytes) & 0x00ff00ffu;
    }
    __device__ __forceinline__ word gap(word x, word y) const {
        return WIDE ? x >> 16 : __byte_perm(x, y, gap_bytes) & 0x00ff00ffu;
    }
};
// How much H rises from one kept value to the next, and 128 * SCALE more (wide: just that).
__device__ __forceinline__ word rise(word h, word before) {
    return WIDE ? (word)((int)(short)(h - before) * SCALE)
                : (h - before + 0x01800180u & 0x00ff00ffu) << SCALE_BITS;
}
constexpr int RISE = WIDE ? 0 : 128 * SCALE;
// How much the E or F kept with H is above H less 255 * SCALE (wide: less H).
__device__ __forceinline__ word above(word gap, word h) {
    return WIDE ? 0 - ((h - gap & 0xffffu) << SCALE_BITS)
                : (gap - h + 0x01ff01ffu & 0x00ff00ffu) << SCALE_BITS;
}
constexpr int ABOVE = WIDE ? 0 : 255 * SCALE;

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
    constexpr int N = WIDE ? 2 * D : D;  // words of a row
    constexpr bool FOURS = C % 4 == 0 && D % 4 == 0;
    constexpr int TOGETHER = !FOURS ? 2 : WIDE ? 4 : 8;
    constexpr int ROW = row_bytes(C);
    constexpr int ENTRY = WIDE ? 4 : 2;  // bytes of a score
    constexpr bool AT_ONCE = !LOCAL;     // there are registers for that
    const int group = p.group;
    const Kept kept(half);

    // All that is read of a tile is asked for first, so that the loads wait for memory together.
    const uint4* const rowline = (const uint4*)tile.band + tile.lane;
    word top[2 * D];
    if (FOURS) {
        const uint4* const from = rowline + tile.part * (C / 4) * group;
#pragma unroll
        for (int k = 0; k < C; k += 4) {
            const uint4 four = from[k / 4 * group];
            top[k] = four.x, top[k + 1] = four.y, top[k + 2] = four.z, top[k + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < 2 * D; k += 2) {
            const int at = tile.part * (C / 2) + k / 2;
            const uint2 two = ((const uint2*)(rowline + at / 2 * group))[at % 2];
            top[k] = two.x, top[k + 1] = two.y;
        }
    }
    const word corner = tile.band[corners_at(group, K) + tile.part * group + tile.lane];
    // Of the border and of the row's letters, those of the next four steps first.
    const uint4* border =
        (const uint4*)(tile.band + borders_at(group, K)) + tile.part * (BAND / 4) * group + tile.lane;
    uint4 borders[BAND / 4];
#pragma unroll
    for (int four = 0; four < BAND / 4; ++four) {
        borders[four] = make_uint4(0, 0, 0, 0);
        if (four == 0 || (AT_ONCE && 4 * four <= tile.last_step)) borders[four] = border[four * group];
#if !defined(PAIRALIGN_EMULATE)
        // Asked for ahead, since each would wait for memory on its own.
        if (four > 0 && !AT_ONCE) asm volatile("prefetch.global.L2 [%0];" ::"l"(border + four * group));
#endif
    }
    word letters[BAND / 4];
    {
        const int first = (int)((uintptr_t)tile.letters & 15);
        const uint4* const from = (const uint4*)(tile.letters - first);
        const uint4 x = from[0], y = from[1];
        const word all[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
        word six[6], five[5];
#pragma unroll
        for (int n = 0; n < 6; ++n) six[n] = first & 8 ? all[n + 2] : all[n];
#pragma unroll
        for (int n = 0; n < 5; ++n) five[n] = first & 4 ? six[n + 1] : six[n];
#pragma unroll
        for (int n = 0; n < BAND / 4; ++n)
            letters[n] = __funnelshift_r(five[n], five[n + 1], (first & 3) * 8);
    }

    const word floor = both(max(p.bias + p.tile_bias - half_of(corner, half), 0) * SCALE + STOP);
    const word minus_extend = both(-SCALE * p.gap_extend);
    const word e_outside = both(E_CODES + OUTSIDE - ABOVE);
    // Opening F after a row; the code falls with each row, and the right columns are two behind.
    word f_open = both(-SCALE * p.gap_open + f_codes + 15);
    if (!WIDE) f_open = add_lanes(f_open, 2u << 16);
    const word bias = both(p.tile_bias * SCALE);
    word side = bias;                        // H left of the tile in the row before,
    word side_low = kept.h(corner, corner);  // and its low bits as they were kept
    word left;                               // H left of the left and of the right columns

    word h[N], f[N];
    {
        const word f_outside = both(f_codes + OUTSIDE - ABOVE);
        word value = bias, low = WIDE ? side_low : kept.h(corner, top[D - 1]);
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const word x = top[k], y = WIDE ? 0 : top[D + k];
            const word now = kept.h(x, y);
            value = add_lanes(add_lanes(value, both(-RISE)), rise(now, low));
            low = now;
            h[k] = value;
            f[k] = add_lanes(add_lanes(value, f_outside), above(kept.gap(x, y), now));
        }
        left = bias;
        if (!WIDE) {  // the right columns go on from where the left ones have come to
            left = __byte_perm(bias, value, 0x5410);
            const word more = value - bias << 16;
#pragma unroll
            for (int k = 0; k < N; ++k) h[k] += more, f[k] += more;
        }
    }

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
    // Two rows side by side, the lower one a column behind: so each waits for the other only.
    const auto two_rows = [&](int step, bool first, bool last, word row_letters, word x, word y) {
        // What comes in from the left in the two rows.
        word in_h[2], in_e[2];
        {
            const word now = kept.h(x, y);
            if (WIDE) {
                const word after = kept.h(y, y);
                in_h[0] = side + rise(now, side_low);
                in_e[0] = in_h[0] + above(kept.gap(x, x), now) + e_outside;
                in_h[1] = side = in_h[0] + rise(after, now);
                in_e[1] = in_h[1] + above(kept.gap(y, y), after) + e_outside;
                side_low = after;
            } else {
                const word rises = rise(now, __byte_perm(side_low, now, 0x5410));
                const word values = add_lanes(
                    add_lanes(__byte_perm(side, side, 0x1010), two(-RISE, -2 * RISE)), rises + (rises << 16));
                const word gaps = add_lanes(add_lanes(values, e_outside), above(kept.gap(x, y), now));
                side = values >> 16;
                side_low = now >> 16;
                in_h[0] = __byte_perm(values, left_h[0], 0x5410);
                in_h[1] = __byte_perm(values, left_h[1], 0x5432);
                in_e[0] = __byte_perm(gaps, add_lanes(left_e[0], D), 0x5410);
                in_e[1] = __byte_perm(gaps, add_lanes(left_e[1], D), 0x5432);
            }
        }
        word diagonal[2] = {left, in_h[0]}, e[2] = {in_e[0], in_e[1]}, best[2] = {0, 0};
        word exit[2] = {0, 0}, full[2][N], s[2][TOGETHER];
        const char* low[2];
        left = first && !WIDE ? __byte_perm(in_h[1], left, 0x7610) : in_h[1];
        const word opening[2] = {f_open, add_lanes(f_open, both(-1))};
        f_open = add_lanes(f_open, both(-2));
#pragma unroll
        for (int row = 0; row < 2; ++row) low[row] = scores + (int)(row_letters >> 8 * row & 255) * pitch;
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

    word f_left = 0;  // F below the left columns
    uint4 x;
    word four_letters;
    const auto next_four = [&](int step) {
        x = borders[0];
        four_letters = letters[0];
#pragma unroll
        for (int four = 0; four + 1 < BAND / 4; ++four) {
            borders[four] = borders[four + 1];
            letters[four] = letters[four + 1];
        }
        if (!AT_ONCE && step + 4 <= tile.last_step) {
            border += group;
            borders[0] = *border;
        }
    };
    next_four(0);
    two_rows(0, true, false, four_letters, x.x, x.y);
#pragma unroll 1
    for (int step = 2;; step += 4) {
        two_rows(step, false, false, four_letters >> 16, x.z, x.w);
        const bool last = !__any_sync(ALL, step + 2 <= tile.last_step);
        next_four(step + 2);
        if (last) {
            f_left = element<N>(f, !WIDE && entry.column >= D ? entry.column - D : entry.column);
            if (WIDE) break;
        }
        two_rows(step + 2, false, last, four_letters, x.x, x.y);
        if (last) break;
    }
    entry.e = (int)leaving & (SCALE - 1);
    entry.f = (int)f_left & (SCALE - 1);
    if (!WIDE && entry.column >= D) entry.f = half_of(element<N>(f, entry.column - D), 1) & (SCALE - 1);
}

}  // namespace
