// A group of lanes that aligns one row sequence with the columns of a strip: how it starts, and what it
// keeps of a tier. The steps between are in fill.cu, which says why; the end is in ends.cuh.
//
// Computes   start_cells, start_border: a lane's cells and what it gets from the left, before the first
//            step. keep_upper_border: the upper border of the lane's tiles in a tier (see packed.cuh).
// In         Columns: those of the block.
// Out        Lane; H and E of the border; rowline and corner of a tier.
// Threads    G lanes of a warp, K columns a lane, ROWS rows behind the lane to the left.
#pragma once

#include "row.cuh"

namespace {

constexpr unsigned WARP = 0xffffffffu;
// How far ahead what the strip before left is asked for, in rows.
constexpr int PREFETCHED_ROWS = 48;

// Where a strip hands on (H, E) of a row to the next.
__device__ __forceinline__ uint2* handed_at(const Params& p, const int4& item, int place) {
    return p.borders + p.item_borders[blockIdx.x] + p.residues_before[place] - p.residues_before[item.y];
}

// The input indices of a pair, by sorted positions.
__device__ __forceinline__ void write_names(const Params& p, int row, int column, int number) {
    const int of_row = p.row_order[row], of_column = p.column_order[column];
    p.query[number] = p.triangular ? min(of_row, of_column) : of_row;
    p.target[number] = p.triangular ? max(of_row, of_column) : of_column;
}

// The columns of a block: one or two neighbouring sequences, padded in front to whole strips of WIDTH.
template <int WIDTH, bool STRIPS>
struct Columns {
    const int4 item;
    const int length_a, length_b;
    const int strips;
    const int padding_a, padding_b;

    __device__ __forceinline__ Columns(const Params& p, const int4& of)
        : item(of),
          length_a(p.column_lengths[item.x]),
          length_b(item.w == 2 ? p.column_lengths[item.x + 1] : 0),
          strips(STRIPS ? (max(length_a, length_b) + WIDTH - 1) / WIDTH : 1),
          padding_a(strips * WIDTH - length_a),
          padding_b(strips * WIDTH - length_b) {}
};

// E right of a border cell with this H.
__device__ __forceinline__ word e_of_border(const Params& p, const Constants& c, word h) {
    return LOCAL ? c.floor : GLOBAL ? both(p.bias - p.gap_open) : add_lanes(h, c.minus_open);
}

// A lane's cells before its first step, which takes the row after `row_before`.
template <int G, int K, class Columns>
__device__ __forceinline__ void start_cells(const Params& p, const Constants& c, const Columns& columns,
                                            int row_before, int my_column, Lane<K>& lane) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
        lane.h[k] = start_value(p, G, row_before, my_column + k, columns.padding_a, columns.padding_b);
        lane.f[k] = add_lanes(lane.h[k], c.minus_open);
        if (k == K - 1) {
#pragma unroll
            for (int n = 0; n < ROWS; ++n) lane.h_out[n] = lane.h[k];
        }
        if (LOCAL) lane.h[k] = lane.f[k];  // see Lane
    }
    lane.h_before = start_value(p, G, row_before, my_column - 1, columns.padding_a, columns.padding_b);
#pragma unroll
    for (int n = 0; n < ROWS; ++n) lane.e_out[n] = e_of_border(p, c, lane.h_out[n]);
    lane.best = 0;
}

// What comes to lane 0 from the left in its first step: the border of the matrix.
template <int G, class Columns>
__device__ __forceinline__ void start_border(const Params& p, const Constants& c, const Columns& columns,
                                             int idle_steps, int my_column, word& h, word& e) {
    h = start_value(p, G, 1 - idle_steps, my_column - 1, columns.padding_a, columns.padding_b);
    e = e_of_border(p, c, h);
    if (GLOBAL && !idle_steps) {
        h = both(p.bias - p.gap_open);
        e = both(p.bias - 2 * p.gap_open);
    }
    if (END_GAPS && !idle_steps) {
        h = both(p.edge_bias + p.edge_step);
        e = both(p.edge_bias + p.edge_step - p.gap_open);
    }
}

// The same in the step after, which takes row `row`, counted from 1. `mask`: all bits in lane 0, none in
// others.
__device__ __forceinline__ void move_border(const Params& p, const Constants& c, word mask, int row, word& h,
                                            word& e) {
    if (END_GAPS) {
        const int edge = p.edge_bias + row * p.edge_step;
        h = both(edge) & mask;
        e = both(edge - p.gap_open) & mask;
    } else if (SEMIGLOBAL) {
        h = add_words(h, both(p.shift) & mask, c.one);
        e = add_words(e, both(p.shift) & mask, c.one);
    }
    if (GLOBAL) {
        h = both(p.bias - p.gap_open) & mask;
        e = both(p.bias - 2 * p.gap_open) & mask;
    }
}

// A tier's rowline and corners: what the rows before it have left in this lane.
template <int G, int K>
__device__ __forceinline__ void keep_upper_border(const Constants& c, const Lane<K>& lane, int lane_id,
                                                  word* tier) {
    const auto h_of = [&](int k) { return LOCAL ? add_words(lane.h[k], 0u - c.opens, c.one) : lane.h[k]; };
    const auto h_and_f = [&](int k) { return packed(h_of(k), lane.f[k]); };
    uint4* const rowline = (uint4*)tier + lane_id;
#pragma unroll
    for (int k = 0; k < K; k += 4)
        rowline[k / 4 * G] = make_uint4(h_and_f(k), h_and_f(k + 1), h_and_f(k + 2), h_and_f(k + 3));
    word* const corner = tier + corners_at(G, K) + lane_id;
    corner[0] = lane.h_before;
    if (parts_of(K) == 2) corner[G] = h_of(K / 2 - 1);
}

// Semiglobal: whether H of the last column, in the row of step `at`, is a new best of that column. `best` is
// shifted along; step_a and step_b become the steps of the word's two pairs.
// Mode END_GAPS: `best` is less a gap from there to the row of the step, at the price of extending it.
__device__ __forceinline__ void look_at_last_column(const Params& p, const Constants& c, word h, int at,
                                                    word& best, int& step_a, int& step_b) {
    static_assert(!SEMIGLOBAL || ROWS == 1, "a lane's last row may be between two rows");
    best = add_words(best, both(p.shift - (END_GAPS ? p.end_extend : 0)), c.one);
    if (WIDE) {
        if ((int)h > (int)best) {
            best = h;
            step_a = at;
        }
    } else {
        bool high_stays, low_stays;
        best = __vibmax_u16x2(best, h, &high_stays, &low_stays);
        if (!low_stays) step_a = at;
        if (!high_stays) step_b = at;
    }
}

}  // namespace
