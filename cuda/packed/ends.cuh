// What a group reports when its row is done: scores, semiglobal and local also where alignments end.
//
// Computes   report_global, report_local, report_semiglobal: of each pair of the group's words.
// In         a Done row; with STRIPS what the strips before have reported.
// Out        query, target; score; semiglobal: end_row, end_column; local with KEEP: end_row, end_column
//            become the only tier and lane that have the best cell, or -1.
// Threads    all lanes of the warp; the group's last lane writes.
#pragma once

#include "group.cuh"

namespace {

// A row that is done in a strip: what there is to report of.
template <int G, int K, bool KEEP, bool STRIPS>
struct Done {
    const Params& p;
    const Columns<G * K, STRIPS>& columns;
    const int strip, lane_id, group_of_warp, my_column;  // my_column: the lane's first
    const int place, row, rows;                          // row: sorted position, rows: its residues
    const bool present;                                  // false: the group had no row of its own
    const int idle_steps;
    // Of this lane; fields that end in _a and _b are those of a word's two pairs.
    const Lane<K>& lane;
    const word at_end;         // global: H of the group's last column and row
    const word best;           // local: the best of the strip,
    const int tier_a, tier_b;  // and the only tier that has it, or -1
    const word last_column;    // semiglobal: the best of the last column, shifted,
    const int step_a, step_b;  // and when it was reached first, -1: at the border

    __device__ __forceinline__ bool in_last_strip() const { return strip + 1 == columns.strips; }
};

// A pair of a group's words.
struct PairOfGroup {
    int half;
    int number;     // of the pair, or -1
    int columns;    // residues
    int padding;    // columns before them
    bool reported;  // by this lane

    template <int G, int K, bool KEEP, bool STRIPS>
    __device__ __forceinline__ PairOfGroup(const Done<G, K, KEEP, STRIPS>& done, int half)
        : half(half),
          number(pair_at(done.p, done.columns.item, done.place, half)),
          columns(half ? done.columns.length_b : done.columns.length_a),
          padding(half ? done.columns.padding_b : done.columns.padding_a),
          reported(done.present && number >= 0 && done.lane_id == G - 1) {}
};

// The input indices of a pair.
template <class Done>
__device__ __forceinline__ void report_names(const Done& done, const PairOfGroup& pair) {
    if (pair.reported && done.in_last_strip())
        write_names(done.p, done.row, done.columns.item.x + pair.half, pair.number);
}

template <class Done>
__device__ __forceinline__ void report_global(const Done& done, const PairOfGroup& pair) {
    const Params& p = done.p;
    if (pair.reported && done.in_last_strip())
        p.score[pair.number] =
            half_of(done.at_end, pair.half) - p.bias - (done.rows + pair.columns) * p.shift;
}

// The best of a group's lanes, in all of them.
template <int G>
__device__ __forceinline__ word best_of_lanes(word best) {
#pragma unroll
    for (int away = 1; away < G; away *= 2) best = maximum(best, __shfl_xor_sync(WARP, best, away, G));
    return best;
}

// `best`: of all lanes of the group.
template <int G, int K, bool KEEP, bool STRIPS>
__device__ __forceinline__ void report_local(const Done<G, K, KEEP, STRIPS>& done, const PairOfGroup& pair,
                                             word best) {
    constexpr unsigned GROUP = WARP >> (32 - G);
    const Params& p = done.p;
    const int score = half_of(best, pair.half) - p.bias;
    int tier = -1, lane_of_best = 0;
    if (KEEP) {
        // Tell the traceback which tile has the best cell if only one has.
        const bool mine = half_of(done.best, pair.half) == half_of(best, pair.half);
        const unsigned lanes = __ballot_sync(WARP, mine) >> done.group_of_warp * G & GROUP;
        lane_of_best = __ffs(lanes) - 1;
        tier = __shfl_sync(WARP, pair.half ? done.tier_b : done.tier_a, lane_of_best, G);
        if (lanes & (lanes - 1)) tier = -1;
        if (STRIPS && tier >= 0) tier += done.strip * tiers_of(done.rows, G);
    }
    if (!pair.reported) return;
    const int so_far = STRIPS && done.strip > 0 ? p.score[pair.number] : -1;
    if (score > so_far) p.score[pair.number] = score;
    if (KEEP && score >= so_far) {
        p.end_row[pair.number] = score > so_far ? tier : -1;
        p.end_column[pair.number] = lane_of_best;
    }
}

// A score and the column that has it, counted from 1; 0 is the border.
struct EndOfRow {
    int value, column;
};

// Semiglobal: the best cell of the last row in this strip, of equals the first. Mode END_GAPS: less the gap
// from there to the last cell.
// Ties: the end cell.
template <int G, int K, bool KEEP, bool STRIPS>
__device__ __forceinline__ EndOfRow best_of_last_row(const Done<G, K, KEEP, STRIPS>& done,
                                                     const PairOfGroup& pair) {
    const Params& p = done.p;
    int value = -(1 << 30), at = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        int one_value = half_of(done.lane.h[k], pair.half) - k * p.shift;
        if (END_GAPS) {
            const int column = max(done.my_column + k - pair.padding + 1, 0);
            one_value = half_of(done.lane.h[k], pair.half) - column * p.shift -
                        end_cost(p.end_open, p.end_extend, pair.columns - column);
        }
        if (one_value > value) {
            value = one_value;
            at = k;
        }
    }
    // Now without shift; the last row is row `rows`.
    value -= p.bias + (END_GAPS ? done.rows : done.rows + G + done.my_column + 1) * p.shift;
    at += done.my_column;
#pragma unroll
    for (int away = 1; away < G; away *= 2) {
        const int other = __shfl_xor_sync(WARP, value, away, G);
        const int other_at = __shfl_xor_sync(WARP, at, away, G);
        if (other > value || (other == value && other_at < at)) {
            value = other;
            at = other_at;
        }
    }
    return {value, max(at - pair.padding + 1, 0)};
}

// Ties: the end cell.
template <int G, int K, bool KEEP, bool STRIPS>
__device__ __forceinline__ void report_semiglobal(const Done<G, K, KEEP, STRIPS>& done,
                                                  const PairOfGroup& pair) {
    const Params& p = done.p;
    EndOfRow best = best_of_last_row(done, pair);
    if (!pair.reported) return;
    if (END_GAPS && pair.padding == 0) {  // column 0 is in no lane
        const int value = -end_cost(p.start_open, p.start_extend, done.rows) -
                          end_cost(p.end_open, p.end_extend, pair.columns);
        if (value >= best.value) best = {value, 0};
    }
    if (STRIPS && done.strip > 0 && p.score[pair.number] >= best.value)
        best = {p.score[pair.number], p.end_column[pair.number]};
    int end_row = done.rows, end_column = best.column;
    if (done.in_last_strip()) {
        const int last = END_GAPS ? half_of(done.last_column, pair.half) - p.bias -
                                        (done.rows + pair.columns) * p.shift - (p.end_open - p.end_extend)
                                  : half_of(done.last_column, pair.half) - p.bias -
                                        (done.rows + G + done.columns.strips * G * K) * p.shift;
        const int step = pair.half ? done.step_b : done.step_a;
        const int last_row = step < 0 ? 0 : step - done.idle_steps - (G - 1) + 1;
        const bool transposed = is_transposed(p, done.row, done.columns.item.x + pair.half);
        bool in_last_column = last > best.value;
        if (last == best.value)
            in_last_column = transposed ? last_row < done.rows : best.column >= pair.columns;
        if (in_last_column) {
            best.value = last;
            end_row = last_row;
            end_column = pair.columns;
        }
    }
    p.score[pair.number] = best.value;
    p.end_row[pair.number] = end_row;
    p.end_column[pair.number] = end_column;
}

// Scores and ends of the group's pairs; strips after the first add to what is there.
template <int G, int K, bool KEEP, bool STRIPS>
__device__ __forceinline__ void report_ends(const Done<G, K, KEEP, STRIPS>& done) {
    const word best = LOCAL ? best_of_lanes<G>(done.best) : 0;
#pragma unroll
    for (int half = 0; half < PAIRS; ++half) {
        const PairOfGroup pair(done, half);
        report_names(done, pair);
        if (GLOBAL) report_global(done, pair);
        if (LOCAL) report_local(done, pair, best);
        if (SEMIGLOBAL) report_semiglobal(done, pair);
    }
}

}  // namespace
