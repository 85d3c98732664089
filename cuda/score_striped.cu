// Scores of pairs by the striped method, a warp a pair: score_striped.
//
// Computes   build_striped_profiles   the profile of each row sequence
//            score_striped            the score of each pair, see striped.cuh for the method
// In         ScoreArguments (score_pairs.cuh): sequences, a rectangle of pairs, a score table; the row's
//            sequence is the query, whose profile serves all pairs of the row.
// Out        results [3][pairs].
// Threads    score_striped: a warp a pair; warps never wait for one another and take the next pair when
//            they have done one. build_striped_profiles: a block a row sequence.
// Shared     per warp: H and E of a column, 8 bytes a row (STORE=SHARED), and 32 words for REDUCTION.
//            With STORE=GLOBAL, for long queries, H and E are in global memory instead.
// Global     profiles [letter][fours][32][4] of each row sequence, from its profile_starts.
// Source     Farrar 2007; Kakimoto et al. 2012 (see striped.cuh). From the latter: a warp a pair, the
//            query profile in memory that is read four scores at a time, H, E and F in shared memory,
//            and the variants that they compare:
//
//     | what they compare     | here                                                                |
//     |-----------------------|---------------------------------------------------------------------|
//     | warp vote             | ANY=VOTE: __any_sync                                                |
//     | simple reduction      | ANY=REDUCTION: a tree in shared memory                              |
//     | profile in texture    | PROFILE=READONLY: ld.global.nc, today's way through the texture cache |
//     | profile in global     | PROFILE=PLAIN: ld.global                                            |
//
// Compiled for -DMODE=GLOBAL|SEMIGLOBAL|LOCAL -DSCORES=BYTES|INTS (the table's entries)
// -DSTORE=SHARED|GLOBAL_MEMORY -DANY=VOTE|REDUCTION -DPROFILE=READONLY|PLAIN
// -DEVERY_STEP=0|1 (the lazy loop asks at each segment, or once a pass as the paper does).
#include "score_pairs.cuh"

enum Entries { BYTES, INTS };
enum Store { SHARED, GLOBAL_MEMORY };
enum Any { VOTE, REDUCTION };
enum ProfilePath { READONLY, PLAIN };

template <Entries> struct Four;
template <> struct Four<BYTES> { using Type = char4; using Score = int8_t; };
template <> struct Four<INTS> { using Type = int4; using Score = int32_t; };

#define LANES WARP
#define STRIPED_MODE MODE
#define STRIPED_EVERY_STEP EVERY_STEP
#define STRIPED_FUNCTION __device__ inline
#define STRIPED_FOUR Four<SCORES>::Type
#define STRIPED_PROFILE const STRIPED_FOUR*
#define STRIPED_LETTERS const uint8_t*
#define STRIPED_STORE int*
#define STRIPED_SCRATCH volatile int*
#define STRIPED_READ(p) read_profile(p)
#define STRIPED_SHIFT(value, first, lane, scratch) from_lane_before(value, first, lane)
#define STRIPED_ANY(predicate, lane, scratch) any_lane(predicate, lane, scratch)

__device__ inline STRIPED_FOUR read_profile(STRIPED_PROFILE entry) {
    if constexpr (PROFILE == READONLY) return __ldg(entry);
    else return *entry;
}

__device__ inline int from_lane_before(int value, int first, int lane) {
    const int before = __shfl_up_sync(EVERY_LANE, value, 1);
    return lane == 0 ? first : before;
}

__device__ inline bool any_lane(bool predicate, int lane, volatile int* scratch) {
    if constexpr (ANY == VOTE) {
        return __any_sync(EVERY_LANE, predicate);
    } else {
        scratch[lane] = predicate;
        __syncwarp();
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) {
            if (lane < step) scratch[lane] = scratch[lane] | scratch[lane + step];
            __syncwarp();
        }
        const bool any = scratch[0];
        __syncwarp();
        return any;
    }
}

#include "striped.cuh"

extern "C" {

__global__ void build_striped_profiles(const ScoreArguments arguments) {
    using Score = Four<SCORES>::Score;
    for (int row = blockIdx.x; row < arguments.rows; row += gridDim.x) {
        const int length = arguments.lengths[0][arguments.row_start + row];
        const uint8_t* const codes = arguments.codes[0] + arguments.starts[0][arguments.row_start + row];
        const int segments = striped_segments(length), entries = (segments + 3) / 4 * 4 * WARP;
        auto* const profile =
            reinterpret_cast<Score*>(static_cast<char*>(const_cast<void*>(arguments.profiles)) +
                                     arguments.profile_starts[row]);
        for (int at = threadIdx.x; at < entries; at += blockDim.x) {
            const int lane = at / 4 % WARP, segment = at / (4 * WARP) * 4 + at % 4;
            const int place = lane * segments + segment;
            const bool inside = segment < segments && place < length;
            const Score* const scores =
                static_cast<const Score*>(arguments.table) + (inside ? codes[place] : 0) * LETTERS;
            for (int letter = 0; letter < LETTERS; ++letter)
                profile[int64_t(letter) * entries + at] = inside ? scores[letter] : Score(0);
        }
    }
}

__global__ void __launch_bounds__(256) score_striped(const ScoreArguments arguments) {
#ifdef PAIRALIGN_EMULATE
    int* const shared = static_cast<int*>(emulated_shared_memory());
#else
    extern __shared__ int shared[];
#endif
    const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    volatile int* const scratch = shared + warp * WARP;  // of REDUCTION; without it nobody touches it
    // A warp's entries: pitch of H, then pitch of E.
    int* const h = STORE == SHARED
                       ? shared + (ANY == REDUCTION ? warps * WARP : 0) + warp * 2 * arguments.pitch
                       : static_cast<int*>(arguments.storage) +
                             (int64_t(blockIdx.x) * warps + warp) * 2 * arguments.pitch;
    int* const e = h + arguments.pitch;
    for (;;) {
        const int place = take_pair(arguments, lane);
        if (place < 0) return;
        const ScorePair pair = find_pair(arguments, place);
        const auto* const profile = reinterpret_cast<STRIPED_PROFILE>(
            static_cast<const char*>(arguments.profiles) +
            arguments.profile_starts[pair.row - arguments.row_start]);
        const int best = striped_score(profile, pair.rows, pair.column_codes, pair.columns, arguments.gap_open,
                                       arguments.gap_extend, h, e, lane, scratch);
        const int score = highest_of_warp(best);
        if (lane == 0) write_result(arguments, pair, place, score);
    }
}

}  // extern "C"
