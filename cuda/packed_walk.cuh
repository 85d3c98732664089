// A path's way through a tile whose codes are known: runs and counts. See packed_tile.cuh.
#pragma once

#include "packed_tile.cuh"

namespace {

enum State { IN_H, IN_E, IN_F };  // how a path comes to a cell
enum Phase { IDLE, SEARCHING, WALKING };

// CIGAR operations, as in SAM.
constexpr int INSERTION = 1, DELETION = 2, EQUAL = 7, DIFFERENT = 8;
static_assert(EQUAL + MATCH == DIFFERENT + MISMATCH, "codes and operations of diagonal moves");

// One half's path so far.
struct Path {
    int phase;
    int place;    // of its row in the batch
    int pair;     // number of the pair
    int rows;     // letters of the row sequence
    const uint4* tiles;
    const unsigned char* letters;
    unsigned int* runs;   // of the pair, last run first
    int run_count;
    int i;        // row letters before the cell to look at, the cell's included
    int column;   // padded column of that cell
    int state;    // State with which the path comes to it
    int operation;  // of the run being collected; 0: none
    int length;
    int diagonals, matches, openings;
    int end_row, end_column;
    int next_tile, stop_tile;  // local: band * G + lane, of which tiles may have the end cell
    int part;                  // the next of a lane's tiles to look at
    bool transposed, row_is_query;
};

__device__ __forceinline__ void take(Path& path, int operation, int length, bool want_runs) {
    if (operation != path.operation) {
        if (path.length) {
            if (want_runs)
                path.runs[path.run_count] = (unsigned)path.length << 4 | (unsigned)path.operation;
            ++path.run_count;
        }
        path.openings += operation <= DELETION;
        path.operation = operation;
        path.length = 0;
    }
    path.length += length;
}

// Runs of matches and mismatches: bit n of `matches` is for the n-th of so many cells.
__device__ __forceinline__ void take_diagonal(Path& path, word matches, int cells, bool want_runs) {
    path.matches += __popc(matches & ((1u << cells) - 1));
    path.diagonals += cells;
    if (!want_runs) {  // only gaps are counted then
        if (cells) path.operation = EQUAL;
        return;
    }
    while (cells > 0) {
        const bool equal = matches & 1;
        const int run = min(__ffs((equal ? ~matches : matches) | 1u << cells) - 1, cells);
        take(path, equal ? EQUAL : DIFFERENT, run, true);
        matches >>= run;
        cells -= run;
    }
}

// Walks until the path leaves the tile; true when the whole path is done.
template <int C>
__device__ __forceinline__ bool walk(Path& path, const Entry& entry, int half, int padding,
                                     const word* codes, bool want_runs) {
    constexpr int ROW = 4 * code_words(C);  // bytes
    const int e_operation = path.row_is_query ? DELETION : INSERTION;
    const int f_operation = path.row_is_query ? INSERTION : DELETION;
    int k = entry.column, step = entry.step;
    for (;;) {
        int code;
        if (path.state == IN_H) {
            // All of the diagonal at a time: how far it is followed, and where letters match.
            const unsigned char* const cell =
                (const unsigned char*)codes + step * ROW + 2 * k + half;
            const int inside =
                min(min(k + 1, step + 1), min(path.column - padding + 1, path.i));
            word others = 0xffffffffu << inside, matches = 0;
#pragma unroll
            for (int n = 0; n < C; ++n) {
                const int raw = n < inside ? cell[-n * (ROW + 2)] : 0;
                if (~raw & MISMATCH || (LOCAL && raw & STOP & ~MATCH)) others |= 1u << n;
                if (raw & MATCH & ~MISMATCH) matches |= 1u << n;
            }
            const int cells = __ffs(others) - 1;
            take_diagonal(path, matches, cells, want_runs);
            k -= cells, step -= cells;
            path.column -= cells, path.i -= cells;
            if (path.i == 0 || path.column < padding) return true;
            if ((k | step) < 0) return false;
            code = cell[-cells * (ROW + 2)] & (SCALE - 1);
            if (LOCAL && code == STOP) return true;
        } else {
            code = path.state == IN_E ? entry.e : entry.f;
        }
        const bool of_e = (unsigned)(code - E_CODES) <= (unsigned)OUTSIDE;
        const int since = code - (of_e ? E_CODES : code >= F_FIRST ? F_FIRST : F_LAST);
        const bool outside = since == OUTSIDE;
        const int here = of_e ? k : step;
        const int left = of_e ? path.column - padding + 1 : path.i;
        const int length = min(outside ? here + 1 : here - 15 + since, left);
        take(path, of_e ? e_operation : f_operation, length, want_runs);
        path.state = !outside ? IN_H : of_e ? IN_E : IN_F;
        if (of_e) {
            k -= length;
            path.column -= length;
        } else {
            step -= length;
            path.i -= length;
        }
        if (path.i == 0 || path.column < padding) return true;
        if ((k | step) < 0) return false;
    }
}

static_assert(MISMATCH == 60 && MATCH == 61 && STOP == 63, "their bits are looked at one by one");

}  // namespace
