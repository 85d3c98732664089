// The way back. Blocks are filled again from the lanes that were saved, the last one first: only the 32 lanes
// that the cell of the path depends on, one a thread, with flags.
//
// Computes   the path from the last cell to the first: counts, and CIGAR runs.
// In         what sweep() saved: where each block's lanes lie, and the lanes.
// Out        Walk; runs written backwards from an address.
// Threads    a warp. Flags stay in registers, a bit an antidiagonal of the block; every thread follows the
//            path and asks the lane that it is in.
//
//     | word of a lane | bit k: of its cell of antidiagonal k of the block                       |
//     |----------------|-------------------------------------------------------------------------|
//     | diagonal       | the diagonal attains H                                                  |
//     | from_e         | E attains H                                                             |
//     | e_next, f_next | the gap goes on to the next cell rather than opens there                |
//     | match          | equal unambiguous residues                                               |
#pragma once

#include "steady.cuh"

namespace {

struct Flags {
    uint32_t diagonal, from_e, e_next, f_next, match;
};

__device__ __forceinline__ bool is_match(const Params& p, uint32_t row, uint32_t column) {
    return ((row ^ column) & 31) == 0 && (int)(row & 31) < p.unambiguous;
}

// The 32 lanes from `low` on, for the antidiagonals after `step`.
__device__ Flags refill(const Params& p, const View& v, const int* table, const Lanes& from, int low,
                        int step) {
    const int thread = threadIdx.x % 32, lane = low + thread;
    const int opening = p.gap_open - p.gap_extend;
    int4 is = from.load(lane);
    const int beyond = from.load(low + 32).z;
    Stream rows(v.row, step / 2 + lane), columns(v.column, step / 2 - lane);
    uint32_t column = v.column.single(step / 2 - lane - 1);
    Flags flags{0, 0, 0, 0, 0};
    uint32_t new_rows = 0, new_columns = 0;
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
        const int byte = k / 2 % 4;
        if (k % 8 == 0) new_rows = rows.next(), new_columns = columns.next();
        const uint32_t row = new_rows >> (8 * byte) & 255;
        if (k % 2) column = new_columns >> (8 * byte) & 255;
        int left = is.z, up = is.w;
        if (k % 2 == 0) {
            left = __shfl_down_sync(ALL, is.z, 1);
            if (thread == 31) left = k == 0 ? beyond : NOTHING;
        } else {
            up = __shfl_up_sync(ALL, is.w, 1);
            if (thread == 0) up = NOTHING;
        }
        int& before = k % 2 ? is.x : is.y;
        const int d = before + score_of(p, table, v.row.as_scored(row), v.column.as_scored(column));
        const int h = max(max(d, left), up), opened = h - opening;
        const uint32_t bit = 1u << k;
        // Ties: the walk back.
        if (d == h) flags.diagonal |= bit;
        if (left == h) flags.from_e |= bit;
        if (left >= opened) flags.e_next |= bit;
        if (up >= opened) flags.f_next |= bit;
        if (is_match(p, row, column)) flags.match |= bit;
        before = h;
        is.z = max(opened, left);
        is.w = max(opened, up);
    }
    return flags;
}

enum State { IN_H, IN_E, IN_F };

struct Walk {
    int row, column, state;
    int operation, length;  // of the run being collected
    int matches, diagonals, openings, runs;
    uint32_t* end;  // runs are written before it, the last first; null: they are not wanted
};

// Adds residues of an operation; the run before it is written. Operation 0 ends the last run.
__device__ __forceinline__ void emit(Walk& walk, int operation, int length) {
    if (operation != walk.operation) {
        if (walk.length > 0) {
            ++walk.runs;
            if (walk.end && threadIdx.x % 32 == 0)
                *(walk.end - walk.runs) = (uint32_t)walk.length << 4 | (uint32_t)walk.operation;
        }
        walk.openings += operation == 1 || operation == 2;
        walk.operation = operation;
        walk.length = 0;
    }
    walk.length += length;
}

// How many bits from `at` downwards, every second one, are set.
__device__ __forceinline__ int bits_below(uint32_t word, int at) {
    const uint32_t others = at % 2 ? 0x55555555u : 0xaaaaaaaau;
    const uint32_t top = (word | others) << (31 - at);
    return (min(__clz((int)~top), at + 1) + 1) / 2;
}

// `count` cells of a diagonal, the last of them antidiagonal `at` of the block.
__device__ __forceinline__ void emit_diagonal(Walk& walk, uint32_t match, int at, int count) {
    walk.row -= count;
    walk.column -= count;
    walk.diagonals += count;
    while (count > 0) {
        const bool equal = match >> at & 1;
        const int length = min(count, bits_below(equal ? match : ~match, at));
        emit(walk, equal ? 7 : 8, length);
        if (equal) walk.matches += length;
        at -= 2 * length;
        count -= length;
    }
}

// Follows the path through a block. False: it is not in the lanes that were filled.
// Ties: the walk back.
__device__ __forceinline__ bool walk_block(const View& v, const Flags& flags, int low, int step, Walk& walk) {
    const int e_operation = v.row_is_query ? 2 : 1, f_operation = 3 - e_operation;
    while (walk.row > 0 && walk.column > 0 && walk.row + walk.column > step) {
        const int t = walk.row + walk.column, at = t - step - 1;
        const int thread = walk.row - (t + 1) / 2 - low;
        if (thread < 0 || thread > 31) return false;
        if (walk.state != IN_H) {
            const bool in_e = walk.state == IN_E;
            if (__shfl_sync(ALL, in_e ? flags.e_next : flags.f_next, thread) >> at & 1) {
                emit(walk, in_e ? e_operation : f_operation, 1);
                (in_e ? walk.column : walk.row)--;
                continue;
            }
            walk.state = IN_H;
        }
        const uint32_t diagonal = __shfl_sync(ALL, flags.diagonal, thread);
        if (diagonal >> at & 1) {
            const uint32_t match = __shfl_sync(ALL, flags.match, thread);
            emit_diagonal(walk, match, at, min(bits_below(diagonal, at), min(walk.row, walk.column)));
        } else if (__shfl_sync(ALL, flags.from_e, thread) >> at & 1) {
            emit(walk, e_operation, 1);
            --walk.column;
            walk.state = IN_E;
        } else {
            emit(walk, f_operation, 1);
            --walk.row;
            walk.state = IN_F;
        }
    }
    return true;
}

__device__ __forceinline__ void walk_over_equal_residues(const View& v, Walk& walk) {
    const int equal = equal_before(v, walk.row, walk.column, min(walk.row, walk.column));
    if (equal == 0) return;
    emit(walk, 7, equal);
    walk.matches += equal;
    walk.diagonals += equal;
    walk.row -= equal;
    walk.column -= equal;
}

// Follows the path to the first cell. blocks[k]: alive from x to y before block k, lanes from z on, which lie
// at lanes[w]. False: it leaves what was saved.
__device__ bool trace(const Params& p, const View& v, const int* table, const int4* blocks, int4* lanes,
                      Walk& walk) {
    for (;;) {
        if (walk.state == IN_H && charges_differences(p)) walk_over_equal_residues(v, walk);
        if (walk.row == 0 || walk.column == 0) break;
        const int t = walk.row + walk.column, block = (t - 1) / STEPS, step = block * STEPS;
        const int4 is = blocks[block];
        const int low = walk.row - (t + 1) / 2 - MARGIN;
        const Flags flags = refill(p, v, table, Lanes{lanes + is.w, is.z, is.x, is.y}, low, step);
        if (!walk_block(v, flags, low, step, walk)) return false;
    }
    const int e_operation = v.row_is_query ? 2 : 1;
    if (walk.row > 0) emit(walk, 3 - e_operation, walk.row);
    if (walk.column > 0) emit(walk, e_operation, walk.column);
    emit(walk, 0, 0);
    return true;
}

}  // namespace
