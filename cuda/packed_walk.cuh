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
    int next_tile, stop_tile;  // local: tiles to look for the end cell in
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

// Walks until the path leaves the tile; true when the whole path is done.
template <int C>
__device__ __forceinline__ bool walk(Path& path, const Entry& entry, int half, int padding,
                                     const word* codes, bool want_runs) {
    const unsigned char* const bytes = (const unsigned char*)codes + 2 * half;
    const int e_operation = path.row_is_query ? DELETION : INSERTION;
    const int f_operation = path.row_is_query ? INSERTION : DELETION;
    int k = entry.column, step = entry.step;
    // Above a code are two bits of its value.
    const auto code_at = [&]() {
        return bytes[(step * code_words(C) + k / 2) * 4 + k % 2] & (SCALE - 1);
    };
    int code = path.state == IN_H ? code_at() : path.state == IN_E ? entry.e : entry.f;
    for (;;) {
        if (LOCAL && code == STOP) return true;
        if (code >= MISMATCH) {
            take(path, EQUAL + MATCH - code, 1, want_runs);
            path.matches += code == MATCH;
            ++path.diagonals;
            path.state = IN_H;
            --k, --step;
            --path.column, --path.i;
        } else {
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
        }
        if (path.i == 0 || path.column < padding) return true;
        if ((k | step) < 0) return false;
        code = code_at();
    }
}

}  // namespace
