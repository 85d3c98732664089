// A tile of each half of a word, filled again with codes that say where every H comes from.
//
// Values are taken relative to the tile's corner and times SCALE, which leaves six bits for a code
// that the maxima carry along; of equal values the one with the larger code wins, which is the tie
// rule:
//
//   code   H comes from                                              why the order
//   63     nowhere: the alignment begins (local, H = 0)              stops before anything else
//   60, 61 the diagonal: a mismatch, a match                         before gaps
//   56     F, open since before the tile's first row                 in a transposed pair F
//   40-55  F, opened after row 55 - code                               comes before E,
//   36     E, open since before the tile's first column
//   20-35  E, opened after column 35 - code                          else E before F; the gap
//   16     F, as 56                                                  that has been open for
//   0-15   F, opened after row 15 - code                             longer before others
//
// So one code says how far to go back. A byte is kept for each cell of a tile, of both halves, in
// shared memory: bytes [thread][step][4 * code_words(C)], of column k and a half at 2 * k + half. The
// two bits above a code are some of its value.
#pragma once

#include "packed.cuh"

namespace {

constexpr int SCALE_BITS = 6, SCALE = 1 << SCALE_BITS;
constexpr int STOP = 63, MATCH = 61, MISMATCH = 60;
constexpr int F_FIRST = 40, E_CODES = 20, F_LAST = 0, OUTSIDE = 16;
static_assert(OUTSIDE == MOST_COLUMNS && OUTSIDE == BAND, "a code a row or column, and one more");
static_assert(F_LAST + OUTSIDE < E_CODES && E_CODES + OUTSIDE < F_FIRST &&
              F_FIRST + OUTSIDE < MISMATCH && STOP < SCALE, "codes must differ");

__host__ __device__ constexpr int tile_columns(int columns) { return columns / parts_of(columns); }
__host__ __device__ constexpr int code_words(int columns) { return (columns + 3) / 4 * 2; }
// Words of codes a thread; the few more keep threads that access the same cell off others' banks.
__host__ __device__ constexpr int thread_words(int columns) {
    return BAND * code_words(columns) + (code_words(columns) % 4 == 0 ? 4 : 2);
}

__device__ __forceinline__ word clean(word value) { return value & (WIDE ? 0xffffffc0u : 0xffc0ffc0u); }
__device__ __forceinline__ word merge(word a, word b) {  // lower half from `a`, upper half from `b`
    return WIDE ? a : __byte_perm(a, b, 0x7610);
}

// Where a half's path is: its tile, as pointers and numbers.
struct Place {
    const uint4* rowline;          // of the tile's first columns
    const uint4* border;           // of the band's first steps
    const unsigned char* letters;  // of the band's first step
    word corner;                   // stored H at the corner of the tile, both halves of the word
    int pair;                      // first of the lane's pairs of columns, where they are not fours
    int column;                    // first column of the tile, padded
    int last_step;                 // of the band that is needed
    int row_of_step;               // i of the band's step 0
};

// The last H of a line of borders: value of the tile, and its low bits as they were kept.
struct Line {
    word value;
    word low;
};

// What a gap from outside is worth less than H + 255 (packed) or H (wide), with its code.
__device__ __forceinline__ word outside_code(int code_a, int code_b) {
    return WIDE ? (word)code_a : two(code_a - 255 * SCALE, code_b - 255 * SCALE);
}

// Goes on to the next H of a line; returns the E or F that is kept with it.
__device__ __forceinline__ word follow(Line& line, word from_a, word from_b, word outside) {
    if (WIDE) {
        const word h = from_a & 0xffffu, gap = from_a >> 16;
        line.value += (word)((int)(short)(h - line.low) * SCALE);
        line.low = h;
        return line.value - ((h - gap & 0xffffu) << SCALE_BITS) + outside;
    }
    const word low = 0x00ff00ffu;
    const word h = __byte_perm(from_a, from_b, 0x0600) & low;
    const word gap = __byte_perm(from_a, from_b, 0x0701) & low;
    const word moved = (h - line.low + 0x01800180u) & low;  // by this less 128
    const word below = (gap - h + 0x01ff01ffu) & low;       // 255 less what the gap is below H
    line.low = h;
    line.value = add_lanes(add_lanes(line.value, both(-128 * SCALE)), moved << SCALE_BITS);
    return add_lanes(add_lanes(line.value, outside), below << SCALE_BITS);
}

// N columns' scores of both halves, from where each half's tile is.
template <int N, typename Source>
__device__ __forceinline__ void scores_at(Source profile, int at_a, int at_b, word (&s)[4]) {
    if (WIDE) {
        const word* const from = (const word*)profile + at_a;
        for (int k = 0; k < N; ++k) s[k] = from[k];
    } else if (N == 4) {
        const uint2 a = *(const uint2*)((const short*)profile + at_a);
        const uint2 b = *(const uint2*)((const short*)profile + at_b);
        s[0] = __byte_perm(a.x, b.x, 0x5410);
        s[1] = __byte_perm(a.x, b.x, 0x7632);
        s[2] = __byte_perm(a.y, b.y, 0x5410);
        s[3] = __byte_perm(a.y, b.y, 0x7632);
    } else {
        const word a = *(const word*)((const short*)profile + at_a);
        const word b = *(const word*)((const short*)profile + at_b);
        s[0] = __byte_perm(a, b, 0x5410);
        s[1] = __byte_perm(a, b, 0x7632);
    }
}

// Half of an array: the elements whose index has a bit, or those whose index has it not.
template <int N>
__device__ __forceinline__ void choose_half(const word* of, bool upper, word* half) {
#pragma unroll
    for (int k = 0; k < N; ++k) half[k] = upper ? of[N + k] : of[k];
}

// Element of an array in registers, which an index would put in memory.
template <int C>
__device__ __forceinline__ word element(const word (&of)[C], int index) {
    word all[MOST_COLUMNS], eight[8], four[4], two[2], one[1];
#pragma unroll
    for (int k = 0; k < MOST_COLUMNS; ++k) all[k] = of[k < C ? k : C - 1];
    choose_half<8>(all, index & 8, eight);
    choose_half<4>(eight, index & 4, four);
    choose_half<2>(four, index & 2, two);
    choose_half<1>(two, index & 1, one);
    return one[0];
}

// The cells whose H is `wanted` (stored value): the first of them in the order of ties.
struct Search {
    bool on;
    int wanted;
    bool row_first;
    int row, column;  // of the best so far; padded column
};

// What refill returns besides the codes in memory: those with which paths enter in a gap.
struct Entry {
    int step, column;  // in the tile
    int e, f;          // codes of E right of the tile, and of F below it
};

// Fills the tiles of both halves again, up to the last step that either needs. `f_codes`: F_FIRST
// or F_LAST. `codes`: of this thread.
template <int C, typename Source>
__device__ __forceinline__ void refill(const Params& p, int width, int rows_a, int rows_b,
                                       const Place& a, const Place& b, Source profile,
                                       int f_codes_a, int f_codes_b, word* codes,
                                       Entry (&entry)[2], Search (&search)[2]) {
    const word corner = merge(a.corner, b.corner);
    const int floor_a = max(p.bias + p.tile_bias - half_of(corner, 0), 0) * SCALE + STOP;
    const int floor_b = max(p.bias + p.tile_bias - half_of(corner, 1), 0) * SCALE + STOP;
    const word floor = two(floor_a, floor_b);
    const word minus_extend = both(-SCALE * p.gap_extend);
    const word e_outside = outside_code(E_CODES + OUTSIDE, E_CODES + OUTSIDE);
    const word f_outside = outside_code(f_codes_a + OUTSIDE, f_codes_b + OUTSIDE);
    // Opening F after a row; the code falls with each row.
    word f_open = two(-SCALE * p.gap_open + f_codes_a + 15, -SCALE * p.gap_open + f_codes_b + 15);
    Line side{both(p.tile_bias * SCALE), corner & (WIDE ? 0xffffu : 0x00ff00ffu)};

    word h[C], f[C];
    {
        Line top = side;
        if (C % 4 == 0) {
#pragma unroll
            for (int k = 0; k < C; k += 4) {
                const uint4 x = a.rowline[k / 4 * p.group];
                const uint4 y = WIDE ? x : b.rowline[k / 4 * p.group];
                f[k] = follow(top, x.x, y.x, f_outside), h[k] = top.value;
                f[k + 1] = follow(top, x.y, y.y, f_outside), h[k + 1] = top.value;
                f[k + 2] = follow(top, x.z, y.z, f_outside), h[k + 2] = top.value;
                f[k + 3] = follow(top, x.w, y.w, f_outside), h[k + 3] = top.value;
            }
        } else {
#pragma unroll
            for (int k = 0; k < C; k += 2) {
                const auto two_of = [&](const Place& place) {
                    const int at = place.pair + k / 2;
                    return ((const uint2*)(place.rowline + at / 2 * p.group))[at % 2];
                };
                const uint2 x = two_of(a), y = WIDE ? x : two_of(b);
                f[k] = follow(top, x.x, y.x, f_outside), h[k] = top.value;
                f[k + 1] = follow(top, x.y, y.y, f_outside), h[k + 1] = top.value;
            }
        }
    }

    word exit_a = 0, exit_b = 0;
    // Whether a row's best H, with the first column that has it, is what is wanted.
    const auto look = [&](int step, word best) {
#pragma unroll
        for (int half = 0; half < PAIRS; ++half) {
            Search& looking = search[half];
            const Place& place = half ? b : a;
            const int value = half_of(best, half);
            const int wanted = looking.wanted - half_of(corner, half) + p.tile_bias;
            const int i = place.row_of_step + step;
            if (!looking.on || value >> SCALE_BITS != wanted) continue;
            if (i < 1 || i > (half ? rows_b : rows_a)) continue;
            const int column = place.column + MOST_COLUMNS - 1 - (value & (SCALE - 1));
            const bool better = looking.row_first
                ? i < looking.row || (i == looking.row && column < looking.column)
                : column < looking.column || (column == looking.column && i < looking.row);
            if (better) {
                looking.row = i;
                looking.column = column;
            }
        }
    };
    // Two rows side by side, the lower one a column behind: so each waits for the other only.
    const auto two_rows = [&](int step, int letters_a, int letters_b, const word (&from_a)[2],
                              const word (&from_b)[2]) {
        word diagonal[2], e[2], best[2] = {0, 0}, last[2] = {0, 0};
        int at_a[2], at_b[2];
        word s[2][4];
        word packed_codes[2][(C + 3) / 4 * 2];
        word opening[2] = {f_open, add_lanes(f_open, both(-1))};
        f_open = add_lanes(f_open, both(-2));
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            diagonal[row] = side.value;
            e[row] = follow(side, from_a[row], from_b[row], e_outside);
            at_a[row] = (letters_a >> 8 * row & 255) * width + a.column;
            at_b[row] = WIDE ? 0 : ((letters_b >> 8 * row & 255) + p.letters) * width + b.column;
            packed_codes[row][(C + 3) / 4 * 2 - 1] = 0;
        }
#pragma unroll
        for (int pass = 0; pass <= C; ++pass) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                const int k = pass - row;
                if (k < 0 || k >= C) continue;
                constexpr int TOGETHER = C % 4 == 0 ? 4 : 2;
                if (k % TOGETHER == 0)
                    scores_at<TOGETHER>(profile, at_a[row] + k, at_b[row] + k, s[row]);
                const word t = add_lanes(diagonal[row], s[row][k % TOGETHER]);
                diagonal[row] = h[k];
                word full = maximum(t, e[row], f[k]);
                if (LOCAL) full = maximum(full, floor);
                h[k] = clean(full);
                if (LOCAL) {
                    e[row] = add_maximum(e[row], minus_extend, add_lanes(h[k], p.open_codes[k]));
                    f[k] = add_maximum(f[k], minus_extend, add_lanes(h[k], opening[row]));
                    best[row] = add_maximum(h[k], both(MOST_COLUMNS - 1 - k), best[row]);
                } else {
                    e[row] = add_maximum(h[k], p.open_codes[k], e[row]);
                    f[k] = add_maximum(h[k], opening[row], f[k]);
                }
                if (k & 1) packed_codes[row][k / 2] = __byte_perm(last[row], full, 0x6420);
                last[row] = full;
            }
        }
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            word* const to = codes + (step + row) * code_words(C);
            if (C % 8 == 0) {
#pragma unroll
                for (int k = 0; k < C / 2; k += 4)
                    *(uint4*)(to + k) =
                        make_uint4(packed_codes[row][k], packed_codes[row][k + 1],
                                   packed_codes[row][k + 2], packed_codes[row][k + 3]);
            } else {
#pragma unroll
                for (int k = 0; k < (C + 3) / 4 * 2; k += 2)
                    *(uint2*)(to + k) =
                        make_uint2(packed_codes[row][k], packed_codes[row][k + 1]);
            }
            if (step + row == a.last_step) exit_a = e[row];
            if (step + row == b.last_step) exit_b = e[row];
            if (LOCAL) look(step + row, best[row]);
        }
    };

    const int last = WIDE ? a.last_step : max(a.last_step, b.last_step);
    // Four steps at a time, and their input loaded while those before are computed.
    const int shift_a = (int)((uintptr_t)a.letters & 3) * 8;
    const int shift_b = (int)((uintptr_t)b.letters & 3) * 8;
    const word* const letters_a = (const word*)(a.letters - shift_a / 8);
    const word* const letters_b = (const word*)(b.letters - shift_b / 8);
    word word_a = letters_a[0], word_b = WIDE ? 0 : letters_b[0];
    word next_word_a = letters_a[1], next_word_b = WIDE ? 0 : letters_b[1];
    uint4 next_a = a.border[0], next_b = WIDE ? next_a : b.border[0];
#if !defined(PAIRALIGN_EMULATE)
#pragma unroll
    for (int four = 1; four < BAND / 4; ++four) {  // each of them is a way to memory of its own
        asm volatile("prefetch.global.L2 [%0];" ::"l"(a.border + four * p.group));
        if (!WIDE) asm volatile("prefetch.global.L2 [%0];" ::"l"(b.border + four * p.group));
    }
#endif
#pragma unroll 1
    for (int step = 0; step <= last; step += 4) {
        const uint4 x = next_a, y = next_b;
        const word of_a = __funnelshift_r(word_a, next_word_a, shift_a);
        const word of_b = __funnelshift_r(word_b, next_word_b, shift_b);
        if (step + 4 <= last) {
            next_a = a.border[(step / 4 + 1) * p.group];
            next_b = WIDE ? next_a : b.border[(step / 4 + 1) * p.group];
            word_a = next_word_a;
            word_b = next_word_b;
            next_word_a = letters_a[step / 4 + 2];
            next_word_b = WIDE ? 0 : letters_b[step / 4 + 2];
        }
        two_rows(step, of_a, of_b, {x.x, x.y}, {y.x, y.y});
        two_rows(step + 2, of_a >> 16, of_b >> 16, {x.z, x.w}, {y.z, y.w});
    }

    entry[0].e = half_of(exit_a, 0) & (SCALE - 1);
    if (!WIDE) entry[1].e = half_of(exit_b, 1) & (SCALE - 1);
#pragma unroll
    for (int half = 0; half < PAIRS; ++half)
        entry[half].f = half_of(element<C>(f, entry[half].column), half) & (SCALE - 1);
}

}  // namespace
