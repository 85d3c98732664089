// Scores of local alignments, a group's rows one after the other: score_* of local mode.
//
// Computes   the best H of each pair, as fill.cu does, of which nothing is kept.
// In         items[blocks]: one or two columns x a range of places; sequences; score table.
// Out        score[pairs], query[pairs], target[pairs].
// Threads    as in fill.cu: G lanes, K columns a lane, each ROWS rows behind its left neighbour. But no lane
//            waits until the others are done with a row: it begins the next one at once. So a group is not
//            idle for ROWS * (G - 1) steps a row, which are many where columns are longer than rows.
//            Only the first lane reads rows. Two residues, and where a row begins its place, go from lane to
//            lane with H and E: see `coming`. The best of a row goes the same way.
// Shared     the score profile, as in fill.cu.
#pragma once

#include "group.cuh"

namespace {

// What a lane takes in a step: where in the profile the scores of two residues lie, in uint4. Where a row
// begins the first of them has the sign, and the row's place in the item, at most 512, or END.
namespace coming {
constexpr int PLACE_SHIFT = 16;
constexpr unsigned BEGINS = 1u << 31, END = 0x7fff, OFFSET = (1u << PLACE_SHIFT) - 1;

__device__ __forceinline__ unsigned begins(unsigned place) { return BEGINS | place << PLACE_SHIFT; }
__device__ __forceinline__ unsigned place(unsigned now) { return now >> PLACE_SHIFT & END; }
}  // namespace coming

// The rows of a group, two residues a step; after a row of odd length a padding residue is the second. Of the
// first lane; that of another lane gives nothing, for what it takes comes from its neighbour.
struct RowSource {
    const unsigned char* residues;
    int left;              // residues of the row, less 1
    int by;                // residues a step
    int pitch;             // of the profile, in uint4; or 0
    unsigned ahead[ROWS];  // what the first lane takes in the step to come

    __device__ __forceinline__ RowSource(const Params& p, bool is_first, int pitch)
        : residues(p.row_residues),
          left(is_first ? -1 : 0),
          by(is_first ? ROWS : 0),
          pitch(is_first ? pitch : 0) {}

    // Whether the row is at its end, and `begin` comes before the next step.
    __device__ __forceinline__ bool at_end() const { return left < 0; }

    // Takes the next of the block's rows. When there are none, padding follows for ever.
    __device__ __forceinline__ unsigned begin(const Params& p, const int4& item, int* next_place) {
        const int place = atomicAdd(next_place, 1);
        const bool is_row = place < item.z;
        const int row = row_at(p, is_row ? place : item.y);
        residues = p.row_residues + p.row_starts[row] - (is_row ? 0 : ROWS);
        left = is_row ? p.row_lengths[row] - 1 : 0;
        if (!is_row) by = 0;
        return coming::begins(is_row ? place - item.y : coming::END);
    }
    // `begins`: of `begin`, or 0.
    __device__ __forceinline__ void step(unsigned begins) {
#pragma unroll
        for (int n = 0; n < ROWS; ++n) ahead[n] = residues[n] * pitch + (n ? 0 : begins);
        residues += by;
        left -= by;
    }
};

// Where a strip hands on (H, E) of a row's cells; of the first and the last lane.
struct Handed {
    uint2* at = nullptr;
    int left = 0;  // rows

    __device__ __forceinline__ void begin(const Params& p, const int4& item, int place) {
        at = handed_at(p, item, place);
        left = p.row_lengths[row_at(p, place)];
    }
    __device__ __forceinline__ void read(word (&h)[ROWS], word (&e)[ROWS]) const {
#pragma unroll
        for (int n = 0; n < ROWS; ++n) {
            if (n >= left) return;
            const uint2 from_left = at[n];
            h[n] = from_left.x;
            e[n] = from_left.y;
        }
#if !defined(PAIRALIGN_EMULATE)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(at + min(PREFETCHED_ROWS, left - 1)));
#endif
    }
    template <int K>
    __device__ __forceinline__ void write(const Lane<K>& lane) const {
#pragma unroll
        for (int n = 0; n < ROWS; ++n)
            if (n < left) at[n] = make_uint2(lane.h_out[n], lane.e_out[n]);
    }
    __device__ __forceinline__ void move_on() {
        at += ROWS;
        left -= ROWS;
    }
};

// A lane's cells before a row; what its right neighbour takes next is of the row before.
template <int K>
__device__ __forceinline__ void start_row(const Params& p, const Constants& c, Lane<K>& lane) {
    const word start = add_lanes(both(p.bias), c.minus_open);
#pragma unroll
    for (int k = 0; k < K; ++k) lane.h[k] = lane.f[k] = start;  // see Lane
    lane.h_before = both(p.bias);
    lane.best = 0;
}

// A lane before its first row.
template <int K>
__device__ __forceinline__ void start_lane(const Params& p, const Constants& c, Lane<K>& lane) {
    start_row(p, c, lane);
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
        lane.h_out[n] = both(p.bias);
        lane.e_out[n] = c.floor;
    }
}

// Scores of the pairs of a row; strips after the first add to what is there.
template <class Columns>
__device__ __forceinline__ void report_best(const Params& p, const Columns& columns, int strip, int place,
                                            word best) {
#pragma unroll
    for (int half = 0; half < PAIRS; ++half) {
        const int number = pair_at(p, columns.item, place, half);
        if (number < 0) continue;
        const int score = half_of(best, half) - p.bias;
        if (strip == 0 || score > p.score[number]) p.score[number] = score;
        if (strip + 1 == columns.strips) write_names(p, row_at(p, place), columns.item.x + half, number);
    }
}

// The block's rows against a strip of its columns, whose profile stands in shared memory.
template <int G, int K, bool STRIPS>
__device__ __forceinline__ void score_strip(const Params& p, const Columns<G * K, STRIPS>& columns, int strip,
                                            const uint4* profile, int* next_place) {
    static_assert(!LOCAL || ROWS == 2, "two residues a step");
    constexpr int PITCH = K / 4 * G;  // of the profile, in uint4
    const int lane_id = threadIdx.x % G;
    const bool is_first = lane_id == 0, is_last = lane_id == G - 1;
    const int4 item = columns.item;
    const Constants c(p);
    // What comes to the first lane from the left; others take their neighbour's, times `has_left`.
    const int has_left = !is_first;
    const word h_border = is_first ? both(p.bias) : 0, e_border = is_first ? c.floor : 0;
    const Profile my_profile = profile_at(profile + lane_id);
    const bool reads_handed = STRIPS && strip > 0 && is_first;
    const bool writes_handed = STRIPS && strip + 1 < columns.strips && is_last;

    Lane<K> lane;
    start_lane(p, c, lane);
    RowSource source(p, is_first, PITCH);
    source.step(is_first ? source.begin(p, item, next_place) : 0);
    Handed handed;
    unsigned now[ROWS];
#pragma unroll
    for (int n = 0; n < ROWS; ++n) now[n] = (p.letters - 1) * PITCH;  // padding
    word best = 0;         // of the row that was done last, in the lanes up to this one
    int place = -1;        // of the row that the lane is at; -1: none
    bool done = !is_last;  // nothing is left to report
    for (;;) {
        word h_in[ROWS], e_in[ROWS];
#pragma unroll
        for (int n = 0; n < ROWS; ++n) {
            h_in[n] = add_words(__shfl_up_sync(WARP, lane.h_out[n], 1, G), h_border, has_left);
            e_in[n] = add_words(__shfl_up_sync(WARP, lane.e_out[n], 1, G), e_border, has_left);
            now[n] = add_words(__shfl_up_sync(WARP, now[n], 1, G), source.ahead[n], has_left);
        }
        unsigned offset = now[0];
        unsigned begins = 0;
        // All lanes come along when one begins a row: most steps then have one branch.
        if (__any_sync(WARP, ((now[0] | (unsigned)source.left) & coming::BEGINS) != 0)) {
            if (source.at_end()) begins = source.begin(p, item, next_place);
            word best_before = __shfl_up_sync(WARP, best, 1, G);
            if (is_first) best_before = both(p.bias);
            if (now[0] & coming::BEGINS) {
                best = maximum(lane.best, best_before);
                if (is_last && place >= 0) report_best(p, columns, strip, place, best);
                const bool is_end = coming::place(now[0]) == coming::END;
                place = is_end ? -1 : item.y + (int)coming::place(now[0]);
                done |= is_end;
                if ((reads_handed || writes_handed) && !is_end) handed.begin(p, item, place);
                offset &= coming::OFFSET;
                start_row(p, c, lane);
            }
            if (__all_sync(WARP, done)) break;
        }
        source.step(begins);
        if (reads_handed) handed.read(h_in, e_in);
        Profile of_row[ROWS];
#pragma unroll
        for (int n = 0; n < ROWS; ++n) of_row[n] = profile_plus(my_profile, n ? now[n] : offset);
        rows_of_cells<G, K>(lane, h_in, e_in, of_row, c);
        if (writes_handed) handed.write(lane);
        if (STRIPS) handed.move_on();
    }
}

template <int G, int K, bool STRIPS>
__device__ void score_rows(const Params& p) {
    __shared__ int next_place;  // of the block's rows, the next that no group has taken
#if defined(PAIRALIGN_EMULATE)
    uint4* const profile = (uint4*)emulated_shared_memory();
#else
    extern __shared__ uint4 profile[];
#endif
    const Columns<G * K, STRIPS> columns(p, p.items[blockIdx.x]);
    for (int strip = 0; strip < columns.strips; ++strip) {
        __syncthreads();
        if (threadIdx.x == 0) next_place = columns.item.y;
        build_profile<G, K>(p, columns.item, columns.padding_a, columns.padding_b, strip * G * K,
                            (word*)profile);
        __syncthreads();
        score_strip<G, K>(p, columns, strip, profile, &next_place);
    }
}

}  // namespace
