// A path through a tile whose codes are known: moves, or counts of them. See tile.cuh, moves.cuh.
#pragma once

#include "moves.cuh"
#include "tile.cuh"

namespace {

enum State { IN_H, IN_E, IN_F };  // how a path comes to a cell
enum Phase { IDLE, SEARCHING, WALKING };

// A path so far.
struct Path {
    int phase;
    int pair;  // number of the pair
    int rows;  // residues of the row sequence
    const uint4* tiles;
    const unsigned char* residues;
    uint2* moves;                             // where they are kept:
    word gaps, kinds;                         // of those that do not yet make up a word
    int matches, gap_residues, gap_openings;  // where they are counted:
    int last_gap;  // kind of the gap that the last column is of, see `append`, or 0
    int columns;   // of the alignment so far
    int i;         // row residues before the cell to look at, the cell's included
    int column;    // padded column of that cell
    int state;     // State with which the path comes to it
    int end_row, end_column;
    int next_tile, stop_tile;  // local: tier * G + lane, of which tiles may have the end cell
    int part;                  // the next of a lane's tiles to look at
    bool transposed, row_is_query;
};

// Appends cells of a diagonal, whose bits say where residues match, and then a gap of so many residues of
// the target or of the query: at most 32 columns, where moves are kept.
__device__ __forceinline__ void append(const Params& p, Path& path, word matches, int cells, int gap,
                                       bool of_target) {
    if (p.moves) {
        const int before = path.columns & 31;
        const word gaps = gap ? 0xffffffffu >> (32 - gap) << cells : 0;
        const word kinds = of_target ? matches | gaps : matches;
        path.gaps |= gaps << before;
        path.kinds |= kinds << before;
        if (before + cells + gap >= 32) {
            path.moves[path.columns >> 5] = make_uint2(path.gaps, path.kinds);
            path.gaps = __funnelshift_l(gaps, 0, before);
            path.kinds = __funnelshift_l(kinds, 0, before);
        }
    } else {
        const int before = cells ? 0 : path.last_gap, kind = gap ? 1 + of_target : before;
        path.matches += __popc(matches);
        path.gap_residues += gap;
        path.gap_openings += kind != before;
        path.last_gap = gap ? kind : before;
    }
    path.columns += cells + gap;
}

// Walks until the path leaves the tile; true when the whole path is done.
// Ties: the walk back.
template <int C>
__device__ __forceinline__ bool walk(const Params& p, Path& path, const Entry& entry, int padding,
                                     const unsigned char* codes) {
    constexpr int ROW = row_bytes(C), D = half_columns(C);
    constexpr int E_MORE = WIDE ? 0 : D;  // of E's codes in the right columns
    int k = entry.column, step = entry.step;
    // A cell's row is step + to_row, its column k + to_column, both counted from 1 in the matrix;
    // the way up ends above the tile's first row or the matrix's, the way left likewise.
    const int to_row = path.i - step, to_column = path.column - padding + 1 - k;
    const int to_top = min(to_row, 1), to_side = min(to_column, 1);
    bool stops = false;
    for (;;) {
        int code = path.state == IN_E ? entry.e : entry.f;
        int cells = 0;
        word kinds = 0;
        if (path.state == IN_H) {
            // All of the diagonal at a time: how far it is followed, and where residues match.
            const unsigned char* const cell = codes + step * ROW + k;
            const int inside = min(k + to_side, step + to_top);
            // Four codes at a time, a byte each: bit 6 of 4 more than a code says whether it is of
            // a diagonal move, bit 0 whether of a match. Multiplied, these bits come to the top.
            word diagonal = 0;
            constexpr int FOURS = (C + 3) / 4;
#pragma unroll
            for (int four = 0; four < FOURS; ++four) {
                word code_of[4];
#pragma unroll
                for (int n = 0; n < 4; ++n) {
                    const int at = 4 * four + n;
                    code_of[n] = at < C && at < inside ? cell[-at * (ROW + 1)] : 0;
                }
                const word codes_of = __byte_perm(__byte_perm(code_of[0], code_of[1], 0x0040),
                                                  __byte_perm(code_of[2], code_of[3], 0x0040), 0x5410);
                word moves = (codes_of & 0x3f3f3f3fu) + 0x04040404u & 0x40404040u;
                if (LOCAL) moves &= ~(codes_of << 5);  // where it stops, bit 1 is set
                diagonal = diagonal >> 4 | (moves * 0x00408102u & 0xf0000000u);
                kinds = kinds >> 4 | ((codes_of & 0x01010101u) * 0x10204080u & 0xf0000000u);
            }
            diagonal >>= 32 - 4 * FOURS;
            kinds >>= 32 - 4 * FOURS;
            cells = __ffs(~diagonal) - 1;
            kinds &= (1u << cells) - 1;
            k -= cells, step -= cells;
            if (cells < inside) {
                code = cell[-cells * (ROW + 1)] & (SCALE - 1);
                stops = LOCAL && code == STOP;
            }
            if (cells == inside || stops) {
                append(p, path, kinds, cells, 0, false);
                break;
            }
        }
        const bool of_e = (unsigned)(code - E_CODES) <= (unsigned)(OUTSIDE + E_MORE);
        const int e_codes = k < D ? E_CODES : E_CODES + E_MORE;
        const int since = code - (of_e ? e_codes : code >= F_FIRST ? F_FIRST : F_LAST);
        const bool outside = since == OUTSIDE;
        const int here = of_e ? k : step;
        int length = here + (of_e ? to_side : to_top);
        if (!outside) length = min(length, here - 15 + since);
        append(p, path, kinds, cells, length, of_e == path.row_is_query);
        path.state = !outside ? IN_H : of_e ? IN_E : IN_F;
        if (of_e) k -= length;
        else step -= length;
        if (k + to_side == 0 || step + to_top == 0) break;
    }
    path.i = step + to_row;
    path.column = k + to_column + padding - 1;
    return stops || path.i == 0 || path.column < padding;
}

static_assert(MISMATCH == 60 && MATCH == 61 && STOP == 63 && SCALE == 64, "bits are looked at");

}  // namespace
