// A lane's rows: its K cells of one or two, and the score profile that they are read from.
//
// Computes   build_profile: scores of the block's columns against each residue. rows_of_cells: H, E, F
//            of K cells beside each other, in ROWS rows, of one or two pairs (see packed.cuh).
// In         Lane: h[K] of the row before, f[K] of this one; h_in, e_in: what the lane to the left had;
//            profile: of this lane and each row's residue, a uint4 every G of them.
// Out        the same Lane ROWS rows further on; profile [residues][K / 4][G] of uint4.
// Threads    build_profile: a block, a column of the profile a thread at a time; G lanes with K columns
//            each will read it. rows_of_cells: a lane for itself, all in registers.
// Shared     the profile: 4 * residues * G * K bytes.
#pragma once

#include "packed.cuh"

namespace {

template <int G, int K>
__device__ void build_profile(const Params& p, const int4 item, int padding_a, int padding_b,
                              int first_column, word* profile) {
    const long long start_a = p.column_starts[item.x];
    const long long start_b = p.column_starts[item.x + item.w - 1];
    for (int at = threadIdx.x; at < G * K; at += blockDim.x) {
        // Word `at` of a residue: column at%4 of the lane's four, lane, which four of the lane.
        const int lane = (at >> 2) % G, column = lane * K + (at >> 2) / G * 4 + (at & 3);
        const int a = first_column + column - padding_a, b = first_column + column - padding_b;
        const int residue_a = column_residue(p, start_a, a), residue_b = column_residue(p, start_b, b);
        for (int residue = 0; residue < p.letters; ++residue) {
            const int* scores = p.table + residue * LETTERS;
            const int more = LOCAL && column % K != 0 ? p.gap_open : 0;  // see Lane
            profile[residue * (G * K) + at] = as_integer(scores[residue_a] + more, scores[residue_b] + more);
        }
    }
}

// What a lane carries from step to step. In local mode H is kept less gap_open: the gap below a
// cell needs that, and the scores of all columns but the lane's first are gap_open more in return.
// There F may be below the floor, E not.
template <int K>
struct Lane {
    word h[K];            // of the row before, in local mode less gap_open
    word f[K];            // of the row to come
    word h_before;        // H left of the lane, a row back
    word best;            // local: of the tier so far
    word h_out[ROWS];     // of the last column, of the rows just done,
    word e_out[ROWS];     // and E of the column right of it
    word h_middle[ROWS];  // H and E between the lane's two tiles
    word e_middle[ROWS];
};

struct Constants {
    word minus_open;  // per half-word: -gap_open
    word minus_extend;
    word floor;
    word opens;  // as integers, see add_words
    word extends;
    int one;

    __device__ __forceinline__ explicit Constants(const Params& p)
        : minus_open(both(-p.gap_open)),
          minus_extend(both(-p.gap_extend)),
          floor(both(p.bias)),
          opens(as_integer(-p.gap_open, -p.gap_open)),
          extends(as_integer(-p.gap_extend, -p.gap_extend)),
          one(p.one) {}
};

// Where a lane's profile begins in shared memory. As a number that the compiler knows nothing of:
// it would work out the address again in each step.
#if defined(PAIRALIGN_EMULATE)
typedef const uint4* Profile;
inline Profile profile_at(const uint4* shared) { return shared; }
inline Profile profile_plus(Profile profile, int by) { return profile + by; }
inline uint4 four_scores(Profile profile, int at) { return profile[at]; }
#else
typedef unsigned Profile;
__device__ __forceinline__ Profile profile_at(const uint4* shared) {
    unsigned address = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("" : "+r"(address));
    return address;
}
__device__ __forceinline__ Profile profile_plus(Profile profile, int by) { return profile + 16 * by; }
__device__ __forceinline__ uint4 four_scores(Profile profile, int at) {
    uint4 s;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(s.x), "=r"(s.y), "=r"(s.z), "=r"(s.w)
                 : "r"(profile + 16 * at));
    return s;
}
#endif

// ROWS rows of the lane, the lower one a column behind: so each waits for the other only.
template <int G, int K>
__device__ __forceinline__ void rows_of_cells(Lane<K>& lane, const word (&h_in)[ROWS],
                                              const word (&e_in)[ROWS], const Profile (&profile)[ROWS],
                                              const Constants& c) {
    word e[ROWS], t[ROWS], previous[ROWS];
    uint4 four[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        e[row] = e_in[row];
        four[row] = four_scores(profile[row], 0);
        t[row] = add_words(row ? h_in[row - 1] : lane.h_before, four[row].x, c.one);
        previous[row] = 0;
    }
    lane.h_before = h_in[ROWS - 1];
#pragma unroll
    for (int pass = 0; pass < K + ROWS - 1; ++pass) {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int k = pass - row;
            if (k < 0 || k >= K) continue;
            // The diagonal's sum one cell ahead: H of the row before may then be overwritten.
            word t_next = 0;
            if (k + 1 < K) {
                if (k % 4 == 3) four[row] = four_scores(profile[row], (k + 1) / 4 * G);
                const word s = k % 4 == 0   ? four[row].y
                               : k % 4 == 1 ? four[row].z
                               : k % 4 == 2 ? four[row].w
                                            : four[row].x;
                t_next = add_words(lane.h[k], s, c.one);
            }
            const word h = maximum(t[row], e[row], lane.f[k]);
            if (LOCAL) {
                const word opened = lane.h[k] = add_words(h, c.opens, c.one);
                e[row] = maximum(add_words(e[row], c.extends, c.one), opened, c.floor);
                lane.f[k] = add_maximum(lane.f[k], c.minus_extend, opened);
                if (k & 1) lane.best = maximum(lane.best, previous[row], h);
                previous[row] = h;
            } else {
                lane.h[k] = h;
                e[row] = add_maximum(h, c.minus_open, e[row]);
                lane.f[k] = add_maximum(h, c.minus_open, lane.f[k]);
            }
            if (k == K / 2 - 1) {
                lane.h_middle[row] = h;
                lane.e_middle[row] = e[row];
            }
            if (k == K - 1) lane.h_out[row] = h;
            t[row] = t_next;
        }
    }
#pragma unroll
    for (int row = 0; row < ROWS; ++row) lane.e_out[row] = e[row];
}

}  // namespace
