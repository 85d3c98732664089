// One step of a lane: a row of its K cells, and the score profile that they are read from.
//
// Computes   build_profile: scores of the block's columns against each letter. row_of_cells: H, E, F of
//            K cells beside each other, of one or two pairs (see packed.cuh).
// In         Lane: h[K] of the row before, f[K] of this one; h_in, e_in: what the lane to the left had;
//            profile: of this lane and the row's letter, a uint4 every G of them.
// Out        the same Lane a row further on; profile [letters][K / 4][G] of uint4.
// Threads    build_profile: a block, a column of the profile a thread at a time; G lanes with K columns
//            each will read it. row_of_cells: a lane for itself, all in registers.
// Shared     the profile: 4 * letters * G * K bytes.
#pragma once

#include "packed.cuh"

namespace {

template <int G, int K>
__device__ void build_profile(const Params& p, const int4 item, int padding_a, int padding_b,
                              int first_column, word* profile) {
    const long long start_a = p.column_starts[item.x];
    const long long start_b = p.column_starts[item.x + item.w - 1];
    const int padding_letter = p.letters - 1;
    for (int at = threadIdx.x; at < G * K; at += blockDim.x) {
        // Word `at` of a letter: column at%4 of the lane's four, lane, which four of the lane.
        const int lane = (at >> 2) % G, column = lane * K + (at >> 2) / G * 4 + (at & 3);
        const int a = first_column + column - padding_a, b = first_column + column - padding_b;
        const int letter_a = a < 0 ? padding_letter : p.column_letters[start_a + a];
        const int letter_b = b < 0 ? padding_letter : p.column_letters[start_b + b];
        for (int letter = 0; letter < p.letters; ++letter) {
            const int* scores = p.table + letter * LETTERS;
            const int more = LOCAL && column % K != 0 ? p.gap_open : 0;  // see Lane::h
            profile[letter * (G * K) + at] =
                as_integer(scores[letter_a] + more, scores[letter_b] + more);
        }
    }
}

// What a lane carries from step to step.
template <int K>
struct Lane {
    word h[K];      // of the row before; local: less gap_open
    word h_out;     // of the last column
    word f[K];      // of the row to come
    word e_out;     // E of the column right of the lane's last
    word h_before;  // H left of the lane, a row back
    word best;      // local: of the band so far
    word h_middle;  // H and E between the lane's two tiles, of the row just done
    word e_middle;
};

struct Constants {
    word minus_open;    // per half-word: -gap_open
    word minus_extend;
    word floor;
    word open_integer;
    word extend_integer;
    int one;
};

// Where a lane's profile begins in shared memory. As a number that the compiler knows nothing of: it
// would work out the address again in each step.
#if defined(PAIRALIGN_EMULATE)
typedef const uint4* Profile;
inline Profile profile_at(const uint4* shared) { return shared; }
inline Profile further(Profile profile, int by) { return profile + by; }
inline uint4 four_scores(Profile profile, int at) { return profile[at]; }
#else
typedef unsigned Profile;
__device__ __forceinline__ Profile profile_at(const uint4* shared) {
    unsigned address = (unsigned)__cvta_generic_to_shared(shared);
    asm volatile("" : "+r"(address));
    return address;
}
__device__ __forceinline__ Profile further(Profile profile, int by) { return profile + 16 * by; }
__device__ __forceinline__ uint4 four_scores(Profile profile, int at) {
    uint4 s;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(s.x), "=r"(s.y), "=r"(s.z), "=r"(s.w) : "r"(profile + 16 * at));
    return s;
}
#endif

template <int G, int K>
__device__ __forceinline__ void row_of_cells(Lane<K>& lane, word h_in, word e_in,
                                             Profile profile, const Constants& c) {
    word e = e_in;
    word previous = 0;
    uint4 four = four_scores(profile, 0);
    // The diagonal's sum one cell ahead: H of the row before may then be overwritten in place.
    word t = add_words(lane.h_before, four.x, c.one);
    lane.h_before = h_in;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        word t_next = 0;
        if (k + 1 < K) {
            if (k % 4 == 3) four = four_scores(profile, (k + 1) / 4 * G);
            const word s = k % 4 == 0 ? four.y : k % 4 == 1 ? four.z : k % 4 == 2 ? four.w : four.x;
            t_next = add_words(lane.h[k], s, c.one);
        }
        const word h = maximum(t, e, lane.f[k]);
        if (!LOCAL) lane.h[k] = h;
        if (k == K - 1) lane.h_out = h;
        if (LOCAL) {
            const word opened = lane.h[k] = add_words(h, c.open_integer, c.one);
            e = maximum(add_words(e, c.extend_integer, c.one), opened, c.floor);
            lane.f[k] = add_maximum(lane.f[k], c.minus_extend, opened);
            if (k & 1) lane.best = maximum(lane.best, previous, h);
            previous = h;
        } else {
            e = add_maximum(h, c.minus_open, e);
            lane.f[k] = add_maximum(h, c.minus_open, lane.f[k]);
        }
        if (k == K / 2 - 1) {
            lane.h_middle = h;
            lane.e_middle = e;
        }
        t = t_next;
    }
    lane.e_out = e;
}

}  // namespace
