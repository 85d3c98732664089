// A strip of columns of 32 pairs, one pair in each bit of a word, through which rows stream.
//
// Computes   stream_rows: linear-gap local scores; after it and Strip::join_lanes, Strip::score(pair) is the
//            best score of a pair in these columns, in every lane.
// In         residues: which pairs match in a column and row, see stream_rows; Borders::in[rows][BORDER_WORDS
//            / 4]: the last column of the strip before, or null.
// Out        Strip::best[BITS]; Borders::out[rows][BORDER_WORDS / 4], or null.
// Threads    LANES lanes (16 or 32) share a word, each with COLUMNS neighbouring columns whose scores stay in
//            registers. A lane is a row behind its left neighbour and gets the column before its own from it
//            by shuffle. Columns beyond LANES * COLUMNS take further passes; a pass leaves its last column in
//            `Borders::out`.
// Bounds     Residues outside of a sequence match nothing, and a score there is never more than one inside:
//            no bounds are checked. The best score looks at max(up, left), which the cell has made anyway, in
//            every other column: that covers all cells when one row more than there are is done.
// Shared     none.
// Source     Nishimura et al. 2017, see score.cu; the cell's circuit is in common/bitwise_cell.h.
#pragma once

#include "../../common/bitwise_cell.h"

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

namespace {

constexpr int BITS = LOW + HIGH;
constexpr int STRIP = LANES * COLUMNS;
constexpr int BORDER_WORDS = (BITS + 3) / 4 * 4;
constexpr unsigned ALL = 0xffffffffu;

static_assert(COLUMNS % 4 == 0 && COLUMNS >= 4, "words of columns are read four at a time");
static_assert(LANES == 16 || LANES == 32, "a word's lanes are within a warp");
static_assert(LOW >= 2 && MATCH + 2 * GAP < 1 << (LOW - 1) && MATCH <= 1 << (LOW - 2) &&
                  MISMATCH <= 1 << (LOW - 2) && MISMATCH <= 2 * GAP,
              "neighbouring scores differ by less than the low bits can tell");

using Scores = FixedScores<MATCH, MISMATCH, GAP>;

struct Word {
    uint32_t v;
    template <unsigned TABLE>
    static __device__ __forceinline__ Word ternary(Word a, Word b, Word c) {
#ifdef PAIRALIGN_EMULATE
        uint32_t r = 0;
        for (int k = 0; k < 8; k++)
            if (TABLE >> k & 1) r |= (k & 4 ? a.v : ~a.v) & (k & 2 ? b.v : ~b.v) & (k & 1 ? c.v : ~c.v);
        return {r};
#else
        Word r;
        asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r.v) : "r"(a.v), "r"(b.v), "r"(c.v), "n"(TABLE));
        return r;
#endif
    }
};

__device__ __forceinline__ Word from_left_lane(Word value) {
    return {__shfl_up_sync(ALL, value.v, 1, LANES)};
}

// The strip's scores while rows stream through.
struct Strip {
    Word scores[COLUMNS][BITS];  // of the row before, at first 0
    Word corner[BITS];           // the left neighbour's last column, a row before that
    Word best[BITS];

    __device__ __forceinline__ Strip() {
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            corner[k] = best[k] = {0};
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) scores[c][k] = {0};
        }
    }

    // One row: `left` is the column before the first one, in this row; matches(c) says which pairs match in
    // column c.
    template <class Matches>
    __device__ __forceinline__ void row(const Word (&left)[BITS], Matches& matches) {
        Word diagonal[BITS];
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            diagonal[k] = corner[k];
            corner[k] = left[k];
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            Word up[BITS];
#pragma unroll
            for (int k = 0; k < BITS; k++) up[k] = scores[c][k];
            const Word* before = c ? scores[c - 1] : left;
            if (c & 1)
                bitwise_cell<LOW, HIGH, true>(Scores(), up, before, diagonal, matches(c), scores[c], best);
            else bitwise_cell<LOW, HIGH, false>(Scores(), up, before, diagonal, matches(c), scores[c], best);
#pragma unroll
            for (int k = 0; k < BITS; k++) diagonal[k] = up[k];
        }
    }

    // The best score of all lanes, in every lane.
    __device__ __forceinline__ void join_lanes() {
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2) {
            Word other[BITS];
#pragma unroll
            for (int k = 0; k < BITS; k++) other[k] = {__shfl_xor_sync(ALL, best[k].v, distance, LANES)};
            const Word better = bitwise_less<BITS, false>(best, other);
#pragma unroll
            for (int k = 0; k < BITS; k++) best[k] = Word::ternary<CHOOSE>(better, other[k], best[k]);
        }
    }

    __device__ __forceinline__ int score(int pair) const {
        uint32_t sum = 0;
#pragma unroll
        for (int k = 0; k < BITS; k++) sum |= (best[k].v >> pair & 1) << k;
        return int(sum);
    }
};

// Last columns of the strip before and of this one; null where there is none. One entry of BORDER_WORDS a
// row.
struct Borders {
    const uint4* in;
    uint4* out;

    __device__ __forceinline__ void read(int row, Word (&entry)[BITS]) const {
#pragma unroll
        for (int q = 0; q < BORDER_WORDS / 4; q++) {
            const uint4 four = in[int64_t(row) * (BORDER_WORDS / 4) + q];
            const uint32_t words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (4 * q + k < BITS) entry[4 * q + k] = {words[k]};
        }
    }
    __device__ __forceinline__ void write(int row, const Word (&entry)[BITS]) const {
#pragma unroll
        for (int q = 0; q < BORDER_WORDS / 4; q++) {
            uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (4 * q + k < BITS) words[k] = entry[4 * q + k].v;
            out[int64_t(row) * (BORDER_WORDS / 4) + q] = make_uint4(words[0], words[1], words[2], words[3]);
        }
    }
};

// All rows of a word's pairs through a strip. `rows` is the team's, `steps` the same in the whole warp.
// residues.load(row) begins to read a row's residues, which are wanted a step later by residues(c), once
// taken. PASSES: there may be columns before or after the strip.
template <bool PASSES, class Residues>
__device__ __forceinline__ void stream_rows(Strip& strip, Residues& residues, int rows, int steps, int lane,
                                            Borders borders) {
    const Word inner = {lane ? ALL : 0};
    Word next[BITS];
    if constexpr (PASSES) {
#pragma unroll
        for (int k = 0; k < BITS; k++) next[k] = {0};
        if (borders.in && lane == 0 && rows > 0) borders.read(0, next);
    }
    residues.load(-lane);
    for (int step = 0; step < steps; step++) {
        const int row = step - lane;
        Word left[BITS];
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            left[k] = from_left_lane(strip.scores[COLUMNS - 1][k]);
            if constexpr (PASSES) left[k] = Word::ternary<CHOOSE>(inner, left[k], next[k]);
            else left[k] = bitwise_and(left[k], inner);
        }
        residues.take();
        residues.load(row + 1);
        if constexpr (PASSES) {
            if (borders.in && lane == 0 && row + 1 < rows) borders.read(row + 1, next);
        }
        strip.row(left, residues);
        if constexpr (PASSES) {
            if (borders.out && lane == LANES - 1 && unsigned(row) < unsigned(rows))
                borders.write(row, strip.scores[COLUMNS - 1]);
        }
    }
}

}  // namespace
