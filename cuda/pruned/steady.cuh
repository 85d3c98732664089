// Stretches of equal residues, in which the lanes of a band stay as they are and need not be filled.
//
// Take from stored scores half a match for each antidiagonal: then equal residues cost nothing, and all other
// steps something (`charge`). Let m be the diagonal with the highest score M of that kind, and let all others
// that are alive, at a distance of k, have what a gap from m leaves:
//
//     H = M - opening - k half a match;   E and F likewise, handed on from m outwards, opened anew inwards
//
// As long as the residues on m are equal, m keeps M. No other lane can fall below that, for gaps from m
// arrive all the time, nor rise above, for nothing rises but by gaps from m. So after any number of equal
// residues the lanes are as before, and the block after them is filled from the same lanes. What the rest can
// add does not rise meanwhile unless residues that match nothing are passed: there are none where lanes are
// skipped. So those that are not alive before are not alive afterwards.
//
// Equal residues are on the canonical path as well: the diagonal attains H where they are (its cost is that
// of the cell before, and costs do not fall along a diagonal), so the way back follows them without flags.
#pragma once

#include "window.cuh"

namespace {

constexpr int RESIDUES_AT_ONCE = 16;  // of each thread

// Whether equal residues cost nothing and everything else does.
__device__ __forceinline__ bool charges_differences(const Params& p) {
    return !TABLE && p.match > 0 && p.match > p.mismatch && p.plain <= p.unambiguous;
}

// How many residues from row i and column j on are equal, at most `most`.
__device__ int equal_after(const View& v, int i, int j, int most) {
    const int thread = threadIdx.x % 32;
    for (int done = 0; done < most; done += 32 * RESIDUES_AT_ONCE) {
        const int at = done + thread * RESIDUES_AT_ONCE;
        Stream rows(v.row, i + at), columns(v.column, j + at);
        int equal = RESIDUES_AT_ONCE;
#pragma unroll
        for (int k = 0; k < RESIDUES_AT_ONCE; k += 4) {
            const uint32_t difference = rows.next() ^ columns.next();
            if (difference && equal == RESIDUES_AT_ONCE) equal = k + (__ffs((int)difference) - 1) / 8;
        }
        const unsigned differ = __ballot_sync(ALL, equal < RESIDUES_AT_ONCE);
        if (!differ) continue;
        const int first = __ffs((int)differ) - 1;
        return min(most, done + first * RESIDUES_AT_ONCE + __shfl_sync(ALL, equal, first));
    }
    return most;
}

// The same of residues before row i and column j.
__device__ int equal_before(const View& v, int i, int j, int most) {
    const int thread = threadIdx.x % 32;
    for (int done = 0; done < most; done += 32 * RESIDUES_AT_ONCE) {
        const int at = done + (thread + 1) * RESIDUES_AT_ONCE;
        Stream rows(v.row, i - at), columns(v.column, j - at);
        int equal = 0;
#pragma unroll
        for (int k = 0; k < RESIDUES_AT_ONCE; k += 4) {
            const uint32_t difference = rows.next() ^ columns.next();
            equal = difference ? __clz((int)difference) / 8 : equal + 4;
        }
        const unsigned differ = __ballot_sync(ALL, equal < RESIDUES_AT_ONCE);
        if (!differ) continue;
        const int first = __ffs((int)differ) - 1;
        return min(most, done + first * RESIDUES_AT_ONCE + __shfl_sync(ALL, equal, first));
    }
    return most;
}

// The diagonal i - j with the highest score, equal residues charged nothing; of scores doubled.
struct Best {
    int diagonal, doubled;
};

__device__ Best best_diagonal(const Params& p, const Lanes& now) {
    int best = NO_REACH, diagonal = 0;
    for (int lane = now.low + (int)(threadIdx.x % 32); lane <= now.high; lane += 32) {
        const int4 is = now.at[lane - now.base];
        const int even = 2 * is.x, odd = 2 * is.y + p.match;
        if (even > best) best = even, diagonal = 2 * lane;
        if (odd > best) best = odd, diagonal = 2 * lane + 1;
    }
    const int most = warp_max(best);
    const int thread = __ffs((int)__ballot_sync(ALL, best == most)) - 1;
    return {__shfl_sync(ALL, diagonal, thread), most};
}

// Whether all living lanes, and those beside them, are what gaps from the best diagonal leave.
__device__ bool is_steady(const Params& p, const Lanes& now, const Best& best) {
    const int opening = p.gap_open - p.gap_extend;
    const auto left = [&](int diagonal) {
        const int away = abs(diagonal - best.diagonal);
        return best.doubled - (away ? 2 * opening + p.match * away : 0);
    };
    for (int low = now.low - 1; low <= now.high + 1; low += 32) {
        const int lane = low + (int)(threadIdx.x % 32);
        bool is = true;
        if (lane <= now.high + 1) {
            const int4 one = now.at[lane - now.base];
            is = 2 * one.x == left(2 * lane) && 2 * one.y + p.match == left(2 * lane + 1) &&
                 one.z == one.x - (2 * lane < best.diagonal ? 0 : opening) &&
                 one.w == one.x - (2 * lane > best.diagonal ? 0 : opening);
        }
        if (!__all_sync(ALL, is)) return false;
    }
    return true;
}

// How many residues of the best diagonal may be skipped after `step`, a multiple of what a block has of them.
// The window was filled from lane `first` to `last`.
__device__ int residues_to_skip(const Params& p, const View& v, const Lanes& now, int first, int last,
                                int step) {
    if (!charges_differences(p) || now.low <= first || now.high >= last) return 0;
    // Of all lanes looked at: the first row and column, and by how much the last ones are more.
    const int row = step / 2 + now.low - 1, column = step / 2 - now.high - 2;
    const int spread = now.high - now.low + 3;
    if (row < 0 || column < 0) return 0;
    const Best best = best_diagonal(p, now);
    const int i = (step + best.diagonal) >> 1, j = i - best.diagonal;
    if (v.row_cheap[row] != v.row_cheap[clamp(i, 0, v.rows)] ||
        v.column_cheap[column] != v.column_cheap[clamp(j, 0, v.columns)])
        return 0;
    const int most = min(v.rows - row, v.columns - column) - spread;
    if (most < MARGIN) return 0;
    int equal = min(most, equal_after(v, i, j, min(v.rows - i, v.columns - j)));
    if (equal < MARGIN) return 0;
    // Lanes ahead of the best diagonal must not pass residues that match nothing either.
    if (v.row_cheap[row] != v.row_cheap[row + spread + equal] ||
        v.column_cheap[column] != v.column_cheap[column + spread + equal])
        equal -= spread;
    if (equal < MARGIN || !is_steady(p, now, best)) return 0;
    return equal / MARGIN * MARGIN;
}

// Goes on over equal residues: lanes stay where they are and hold more. The blocks between begin with the
// same lanes, for the way back asks only for differences.
__device__ void skip_residues(const Params& p, const Lanes& now, int residues, int step, int4* blocks,
                              const int4& block) {
    const int more = residues * p.match, thread = threadIdx.x % 32;
    for (int lane = now.low + thread; lane <= now.high; lane += 32) {
        int4& is = now.at[lane - now.base];
        is = make_int4(is.x + more, is.y + more, is.z + more, is.w + more);
    }
    if (blocks)
        for (int k = thread; k < residues / MARGIN; k += 32) blocks[step / STEPS + k] = block;
    __syncwarp();
}

}  // namespace
