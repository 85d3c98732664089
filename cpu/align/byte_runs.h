// From the steps of a path in 8-bit lanes (byte_walk.h) to CIGAR runs and counts.
#pragma once

#include <cstdint>
#include <cstring>

#include "../core/batch.h"
#include "../core/byte_batch.h"
#include "byte_cell.h"
#include "../simd/bytes.h"
#include "../core/cigar.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteRuns {
    // Applies `mask` to 64 bytes from `p` on: bit k of the result belongs to byte k.
    template <class Mask>
    static PAIRALIGN_INLINE uint64_t bits(const uint8_t* p, Mask&& mask) {
        uint64_t all = 0;
        for (int k = 0; k < 64; k += V::LANES) all |= V::bits(mask(p + k)) << k;
        return all;
    }

    // Writes the runs of a path, counts into `summary`, and returns how many runs there are. `steps` has
    // `count` steps; the byte before them is overwritten, 64 bytes after them are read. `out` null: only
    // counts.
    static int64_t write(uint8_t* steps, int32_t count, bool row_is_query, uint32_t* out, Summary& summary) {
        const uint32_t operation[4] = {EQUAL, DIFFERENT, row_is_query ? DELETION : INSERTION,
                                       row_is_query ? INSERTION : DELETION};
        steps[-1] = STOP_STEP;
        const uint32_t* const begin = out;
        const V gap = V::set(COLUMN_MOVE * STEP), other = V::set(OTHER_MOVE * STEP);
        int32_t start = 0;
        for (int32_t from = 0; from < count; from += 64) {
            const uint8_t* const here = steps + from;
            const uint64_t there = count - from >= 64 ? ~uint64_t{0} : (uint64_t{1} << (count - from)) - 1;
            const auto as_before = [](const uint8_t* p) { return V::eq(V::load_any(p), V::load_any(p - 1)); };
            uint64_t change = ~bits(here, as_before) & there;
            const auto in_gap = [&](const uint8_t* p) { return V::ge(V::load_any(p), gap); };
            const uint64_t gaps = bits(here, in_gap) & there;
            const auto is_other = [&](const uint8_t* p) { return V::eq(V::load_any(p), other); };
            const uint64_t others = bits(here, is_other) & there;
            summary.gap_residues += __builtin_popcountll(gaps);
            summary.gap_openings += __builtin_popcountll(gaps & change);
            summary.mismatches += __builtin_popcountll(others);
            summary.matches += __builtin_popcountll(there & ~(gaps | others));
            if (!out) continue;
            if (from == 0) change &= change - 1;  // the first run begins there
            if (change) out = put(steps, from, change, start, operation, out);
        }
        if (out && count) *out++ = static_cast<uint32_t>(count - start) << 4 | operation[steps[start] / STEP];
        return out - begin;
    }

private:
    // Writes the runs that end at bits of `change`, of 64 steps from `from` on; the first begins at `start`.
    static PAIRALIGN_INLINE uint32_t* put(const uint8_t* steps, int32_t from, uint64_t change, int32_t& start,
                                          const uint32_t (&operation)[4], uint32_t* out) {
        if constexpr (V::LOOKUP) {
            put_side_by_side(steps + from, change, operation, out);
            *out += static_cast<uint32_t>(from - start) << 4;
            start = from + 63 - __builtin_clzll(change);
            return out + __builtin_popcountll(change);
        }
        for (; change; change &= change - 1) {
            const int32_t next = from + __builtin_ctzll(change);
            *out++ = static_cast<uint32_t>(next - start) << 4 | operation[steps[start] / STEP];
            start = next;
        }
        return out;
    }

    // The same, as if the first began at `here`.
    static PAIRALIGN_INLINE void put_side_by_side(const uint8_t* here, uint64_t change,
                                                  const uint32_t (&operation)[4], uint32_t* out) {
        using Ints = typename V::Ints;
        static constexpr int AT_ONCE = V::LANES / 4;
        static_assert(AT_ONCE <= ByteKernel::RUNS_AT_ONCE);
        alignas(64) uint8_t lengths[V::LANES], moves[V::LANES];
        const V ends = V::compressed(change, V::numbers());
        V::sub(ends, V::of_lane_before(ends)).store(lengths);
        V::compressed(change, V::load_any(here - 1)).store(moves);
        static_assert(STEP == 4 << 3);
        int32_t operations = 0;  // four bits each
        for (int k = 0; k < 4; k++) operations |= static_cast<int32_t>(operation[k]) << 4 * k;
        const int count = __builtin_popcountll(change);
        for (int k = 0; k < count; k += AT_ONCE) {
            const Ints operation_here = (Ints{} + operations) >> (V::ints(moves + k) >> 3) & 15,
                       runs = V::ints(lengths + k) << 4 | operation_here;
            memcpy(out + k, &runs, sizeof runs);
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
