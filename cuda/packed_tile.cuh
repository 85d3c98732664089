// A tile of each half of a word, filled again with codes that say where every H comes from.
//
// Two neighbouring lanes fill it together, each about half of its columns; the right one is two rows
// behind. Each of them then follows the path of one half.
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
// In the right lane's columns, the codes of E are more by lane_columns. So one code says how far to
// go back. A byte is kept for each cell of a tile, of both halves, in shared memory: bytes [two
// threads][step][4 * code_words(C)], of column k and a half at 2 * k + half. The two bits above a
// code are some of its value.
#pragma once

#include "packed.cuh"

namespace {

constexpr int SCALE_BITS = 6, SCALE = 1 << SCALE_BITS;
constexpr int STOP = 63, MATCH = 61, MISMATCH = 60;
constexpr int F_FIRST = 42, E_CODES = 17, F_LAST = 0, OUTSIDE = 16;
static_assert(OUTSIDE == MOST_COLUMNS && OUTSIDE == BAND, "a code a row or column, and one more");
static_assert(F_LAST + OUTSIDE < E_CODES && E_CODES + OUTSIDE + MOST_COLUMNS / 2 < F_FIRST &&
              F_FIRST + OUTSIDE < MISMATCH && STOP < SCALE, "codes must differ");

__host__ __device__ constexpr int tile_columns(int columns) { return columns / parts_of(columns); }
// Columns that a lane fills; with an odd number of pairs of columns, the right lane's last two are
// those of the next tile and not looked at.
__host__ __device__ constexpr int lane_columns(int columns) { return (columns + 3) / 4 * 2; }
// Words of codes of a row; then of two threads: the few more keep those that access the same cell
// off others' banks.
__host__ __device__ constexpr int code_words(int columns) { return lane_columns(columns); }
__host__ __device__ constexpr int tile_words(int columns) {
    return BAND * code_words(columns) + (code_words(columns) % 8 == 0 ? 8 : 2);
}
// Entries of a profile's row: the few more put different letters on different banks.
__host__ __device__ constexpr int pitch_of(int width) { return width + 4; }
constexpr int BEYOND = 4;  // words after a profile that may be read

__device__ __forceinline__ word clean(word value) { return value & (WIDE ? 0xffffffc0u : 0xffc0ffc0u); }
__device__ __forceinline__ word merge(word a, word b) {  // lower half from `a`, upper half from `b`
    return WIDE ? a : __byte_perm(a, b, 0x7610);
}

// The tile that a half's path is in, as pointers and numbers; and what a path enters it with.
struct Tile {
    const word* band;
    const unsigned char* letters;  // of the band's first step
    int column;                    // first column of the tile, padded
    int lane, part;
    int last_step;    // of the band that is needed
    int entry;        // column of the tile whose F below is needed
    int f_codes;      // F_FIRST or F_LAST
    int wanted;       // local: value whose first cell is wanted, relative to the tile; else below 0
    bool row_first;   // among equals that in the first row, else in the first column
    int first_step, stop_step;  // only in these steps
};

__device__ __forceinline__ Tile of_neighbour(const Tile& tile) {
    constexpr unsigned ALL = 0xffffffffu;
    const auto pointer = [](const void* from) {
        return (uintptr_t)__shfl_xor_sync(ALL, (unsigned long long)(uintptr_t)from, 1);
    };
    Tile other;
    other.band = (const word*)pointer(tile.band);
    other.letters = (const unsigned char*)pointer(tile.letters);
    const unsigned numbers = tile.lane | tile.part << 5 | tile.last_step << 6 | tile.entry << 10 |
                             tile.f_codes << 14 | tile.row_first << 20 | tile.first_step << 21 |
                             tile.stop_step << 26;
    const unsigned others = __shfl_xor_sync(ALL, numbers, 1);
    other.column = __shfl_xor_sync(ALL, tile.column, 1);
    other.lane = others & 31;
    other.part = others >> 5 & 1;
    other.last_step = others >> 6 & 15;
    other.entry = others >> 10 & 15;
    other.f_codes = others >> 14 & 63;
    other.row_first = others >> 20 & 1;
    other.first_step = others >> 21 & 31;
    other.stop_step = others >> 26;
    other.wanted = LOCAL ? __shfl_xor_sync(ALL, tile.wanted, 1) : -1;
    return other;
}

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
template <int D>
__device__ __forceinline__ word element(const word (&of)[D], int index) {
    word all[8], four[4], two[2], one[1];
#pragma unroll
    for (int k = 0; k < 8; ++k) all[k] = of[k < D ? k : D - 1];
    choose_half<4>(all, index & 4, four);
    choose_half<2>(four, index & 2, two);
    choose_half<1>(two, index & 1, one);
    return one[0];
}

// With what a path enters its tile, and what refill finds there besides the codes in memory.
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

// Fills the tiles of both halves again, `mine` and the neighbour's, up to the last step that either
// needs. All lanes of the warp take part. `codes`: of this lane and its neighbour.
template <int K, typename Source>
__device__ __forceinline__ void refill(const Params& p, int width, const Tile& mine,
                                       bool right, Source profile, word* codes, Entry& entry) {
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int C = tile_columns(K), D = lane_columns(C);
    constexpr bool FOURS = C % 4 == 0 && D % 4 == 0;
    constexpr int TOGETHER = FOURS ? 4 : 2;
    const int group = p.group;
    const Tile other = of_neighbour(mine);
    const Tile a = right ? other : mine, b = right ? mine : other;

    // What is read of a tile, first of all: each of it is a way to memory.
    uint2 top_a[D / 2], top_b[D / 2];  // two columns each
    const auto read_top = [&](const Tile& tile, uint2 (&top)[D / 2]) {
        const uint4* const rowline = (const uint4*)tile.band + tile.lane;
        if (FOURS) {
            const uint4* const from = rowline + (tile.part * (C / 4) + (right ? D / 4 : 0)) * group;
#pragma unroll
            for (int k = 0; k < D / 4; ++k) {
                const uint4 four = from[k * group];
                top[2 * k] = make_uint2(four.x, four.y);
                top[2 * k + 1] = make_uint2(four.z, four.w);
            }
        } else {
#pragma unroll
            for (int k = 0; k < D / 2; ++k) {
                const int at = tile.part * (C / 2) + (right ? D / 2 : 0) + k;
                top[k] = ((const uint2*)(rowline + at / 2 * group))[at % 2];
            }
        }
    };
    const auto corner_of = [&](const Tile& tile) {
        return tile.band[corners_at(group, K) + tile.part * group + tile.lane];
    };
    read_top(a, top_a);
    if (!WIDE) read_top(b, top_b);
    const word corner = merge(corner_of(a), WIDE ? 0 : corner_of(b));
    // Of border and letters each lane reads those of its own half, four steps at a time; those to
    // come are loaded while those before are computed.
    const bool reads = !WIDE || !right;
    const uint4* const border = (const uint4*)(mine.band + borders_at(group, K)) +
                                mine.part * (BAND / 4) * group + mine.lane;
    uint4 next_border = border[0];
    const int shift = (int)((uintptr_t)mine.letters & 3) * 8;
    const word* const letters = (const word*)(mine.letters - shift / 8);
    word these_letters = letters[0], next_letters = letters[1];
#if !defined(PAIRALIGN_EMULATE)
#ifndef PAIRALIGN_NO_PREFETCH
#define PAIRALIGN_NO_PREFETCH 0
#endif
    if (reads && !PAIRALIGN_NO_PREFETCH) {
#pragma unroll
        for (int four = 1; four < BAND / 4; ++four)  // each of them is a way to memory of its own
            asm volatile("prefetch.global.L2 [%0];" ::"l"(border + four * group));
    }
#endif

    const int floor_a = max(p.bias + p.tile_bias - half_of(corner, 0), 0) * SCALE + STOP;
    const int floor_b = max(p.bias + p.tile_bias - half_of(corner, 1), 0) * SCALE + STOP;
    const word floor = two(floor_a, floor_b);
    const word minus_extend = both(-SCALE * p.gap_extend);
    const word e_outside = outside_code(E_CODES + OUTSIDE, E_CODES + OUTSIDE);
    const word f_outside = outside_code(a.f_codes + OUTSIDE, b.f_codes + OUTSIDE);
    // Opening F after a row; the code falls with each row.
    word f_open = two(-SCALE * p.gap_open + a.f_codes + 15, -SCALE * p.gap_open + b.f_codes + 15);
    const word bias = both(p.tile_bias * SCALE);
    Line side{bias, corner & (WIDE ? 0xffffu : 0x00ff00ffu)};

    word h[D], f[D];
    word left = side.value;  // H left of the lane's columns, in the row before
    {
        const uint2 last_a = top_a[D / 2 - 1], last_b = WIDE ? last_a : top_b[D / 2 - 1];
        const word low = WIDE ? last_a.y & 0xffffu
                              : __byte_perm(last_a.y, last_b.y, 0x0600) & 0x00ff00ffu;
        const word left_low = __shfl_sync(ALL, low, 0, 2);
        Line top = side;
        if (right) top.low = left_low;
#pragma unroll
        for (int k = 0; k < D; k += 2) {
            const uint2 x = top_a[k / 2], y = WIDE ? x : top_b[k / 2];
            f[k] = follow(top, x.x, y.x, f_outside), h[k] = top.value;
            f[k + 1] = follow(top, x.y, y.y, f_outside), h[k + 1] = top.value;
        }
        // The right lane goes on from where the left one has come to.
        const word from_left = __shfl_sync(ALL, top.value, 0, 2);
        if (right) left = from_left;
        const word more = right ? add_lanes(from_left, both(-p.tile_bias * SCALE)) : 0;
#pragma unroll
        for (int k = 0; k < D; ++k) {
            h[k] = add_lanes(h[k], more);
            f[k] = add_lanes(f[k], more);
        }
    }

    word exit_a = 0, exit_b = 0;
    int found_a = NOT_FOUND, found_b = NOT_FOUND;
    // Whether a row's best H, with the first column that has it, is what is wanted.
    const auto look = [&](const Tile& tile, int step, int value, int& found) {
        if (value >> SCALE_BITS != tile.wanted) return;
        if (step < tile.first_step || step >= tile.stop_step) return;
        const int column = MOST_COLUMNS - 1 - (value & (SCALE - 1)) + (right ? D : 0);
        found = min(found, rank_of(tile.row_first, step, column));
    };
    const int my_column_a = a.column + (right ? D : 0);
    const int my_column_b = p.letters * pitch_of(width) + b.column + (right ? D : 0);
    word before_letters = 0;              // of the two steps before: the right lane is behind
    word got_h[2] = {0, 0}, got_e[2] = {0, 0};  // what leaves the left lane's columns
    // Two rows side by side, the lower one a column behind: so each waits for the other only.
    const auto two_rows = [&](int first_step, bool on, word both_letters, word from_a0, word from_b0,
                              word from_a1, word from_b1) {
        word in_e0 = 0, in_e1 = 0, in_h0, in_h1;
        in_e0 = follow(side, from_a0, from_b0, e_outside);
        in_h0 = side.value;
        in_e1 = follow(side, from_a1, from_b1, e_outside);
        in_h1 = side.value;
        int step = first_step;
        if (right) {
            in_h0 = got_h[0], in_h1 = got_h[1];
            in_e0 = got_e[0], in_e1 = got_e[1];
            step -= 2;
        }
        const word row_letters = right ? before_letters : both_letters;
        before_letters = both_letters;
        if (on) {
            word diagonal[2] = {left, in_h0}, e[2] = {in_e0, in_e1};
            word best[2] = {0, 0}, last[2] = {0, 0}, leaving[2];
            left = in_h1;
            int at_a[2], at_b[2];
            word s[2][4];
            word packed_codes[2][D / 2];
            word opening[2] = {f_open, add_lanes(f_open, both(-1))};
            f_open = add_lanes(f_open, both(-2));
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                at_a[row] = (int)(row_letters >> 8 * row & 255) * pitch_of(width) + my_column_a;
                at_b[row] = WIDE ? 0 : (int)(row_letters >> (16 + 8 * row) & 255) * pitch_of(width) + my_column_b;
            }
#pragma unroll
            for (int pass = 0; pass <= D; ++pass) {
#pragma unroll
                for (int row = 0; row < 2; ++row) {
                    const int k = pass - row;
                    if (k < 0 || k >= D) continue;
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
                        if (k < C - D || !right)
                            best[row] = add_maximum(h[k], both(MOST_COLUMNS - 1 - k), best[row]);
                    } else {
                        e[row] = add_maximum(h[k], p.open_codes[k], e[row]);
                        f[k] = add_maximum(h[k], opening[row], f[k]);
                    }
                    if (k == C - D - 1) leaving[row] = e[row];
                    if (k & 1) packed_codes[row][k / 2] = __byte_perm(last[row], full, 0x6420);
                    last[row] = full;
                }
            }
            got_h[0] = diagonal[1], got_h[1] = h[D - 1];
            got_e[0] = e[0], got_e[1] = e[1];
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                word* const to = codes + (step + row) * code_words(C) + (right ? D / 2 : 0);
                if (D % 8 == 0) {
#pragma unroll
                    for (int k = 0; k < D / 2; k += 4)
                        *(uint4*)(to + k) =
                            make_uint4(packed_codes[row][k], packed_codes[row][k + 1],
                                       packed_codes[row][k + 2], packed_codes[row][k + 3]);
                } else {
#pragma unroll
                    for (int k = 0; k < D / 2; ++k) to[k] = packed_codes[row][k];
                }
                if (step + row == a.last_step) exit_a = leaving[row];
                if (step + row == b.last_step) exit_b = leaving[row];
                if (LOCAL) {
                    look(a, step + row, half_of(best[row], 0), found_a);
                    if (!WIDE) look(b, step + row, half_of(best[row], 1), found_b);
                }
            }
        }
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            got_h[row] = __shfl_sync(ALL, got_h[row], 0, 2);
            got_e[row] = add_lanes(__shfl_sync(ALL, got_e[row], 0, 2), both(D));
        }
    };

    bool more = true;
#pragma unroll 1
    for (int step = 0;; step += 4) {
        const uint4 x = next_border;  // the left lane takes them, with the right one's
        const uint4 y = {__shfl_sync(ALL, x.x, 1, 2), __shfl_sync(ALL, x.y, 1, 2),
                         __shfl_sync(ALL, x.z, 1, 2), __shfl_sync(ALL, x.w, 1, 2)};
        const word of_mine = __funnelshift_r(these_letters, next_letters, shift);
        const word of_other = __shfl_xor_sync(ALL, of_mine, 1);
        const word of_a = right ? of_other : of_mine, of_b = right ? of_mine : of_other;
        if (step + 4 <= mine.last_step) {
            next_border = border[(step / 4 + 1) * group];
            these_letters = next_letters;
            next_letters = letters[step / 4 + 2];
        }
        two_rows(step, right ? step > 0 : more, __byte_perm(of_a, of_b, 0x5410), x.x, y.x, x.y, y.y);
        if (!more) break;
        two_rows(step + 2, true, __byte_perm(of_a, of_b, 0x7632), x.z, y.z, x.w, y.w);
        more = __any_sync(ALL, step + 4 <= mine.last_step);
    }
    __syncwarp();  // the codes are read by either lane

    const word left_exit = __shfl_sync(ALL, exit_a, 1, 2);
    entry.e = (right && !WIDE ? half_of(exit_b, 1) : half_of(left_exit, 0)) & (SCALE - 1);
    const word f_a = element<D>(f, a.entry - (a.entry < D ? 0 : D));
    const word left_f = __shfl_sync(ALL, f_a, a.entry >= D, 2);
    if (!WIDE) {
        const word f_b = element<D>(f, b.entry - (b.entry < D ? 0 : D));
        const word right_f = __shfl_sync(ALL, f_b, b.entry >= D, 2);
        entry.f = (right ? half_of(right_f, 1) : half_of(left_f, 0)) & (SCALE - 1);
    } else {
        entry.f = half_of(left_f, 0) & (SCALE - 1);
    }
    if (LOCAL) {
        found_a = min(found_a, __shfl_xor_sync(ALL, found_a, 1));
        found_b = min(found_b, __shfl_xor_sync(ALL, found_b, 1));
        entry.found = right ? found_b : found_a;
    }
}

}  // namespace
