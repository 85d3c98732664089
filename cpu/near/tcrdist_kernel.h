// A region of one row's receptor against that of the columns of a group, a pair a lane; included by
// kernel_*.cpp. What residues of the columns cost opposite each code was written down for the group.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "tcrdist.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class Lane>
struct TcrComparison {
    typedef Lane V __attribute__((vector_size(64)));
    static constexpr int LANES = 64 / static_cast<int>(sizeof(Lane));

    // Where the gap may be: after so many residues of the shorter sequence.
    struct Places {
        int32_t from, to;
    };

    static Places places_of(int32_t shorter, bool is_fixed) {
        if (is_fixed) {
            const int32_t place = std::min(6, (shorter + 1) / 2);
            return {place, place};
        }
        if (shorter < 10) return {shorter / 2, shorter - shorter / 2};
        return {5, shorter - 5};
    }

    static void add(const TcrGroup& g, const TcrRow& r, int32_t* sums) {
        const int32_t shorter = std::min(r.length, g.length);
        const int32_t first = r.region->left_out_first, last = r.region->left_out_last;
        const V* const costs = static_cast<const V*>(g.costs);
        const auto from_start = [&](int32_t i) { return costs[r.codes[i] * g.length + i]; };
        const auto from_end = [&](int32_t i) {
            return costs[r.codes[r.length - 1 - i] * g.length + g.length - 1 - i];
        };
        V best{};
        if (r.length == g.length) {
            for (int32_t i = first; i < r.length - last; i++) best += from_start(i);
        } else {
            const Places places = places_of(shorter, r.region->has_fixed_gap != 0);
            for (int32_t i = first; i < places.from; i++) best += from_start(i);
            for (int32_t i = last; i < shorter - places.from; i++) best += from_end(i);
            V sum = best;
            for (int32_t place = places.from; place < places.to; place++) {
                if (place >= first) sum += from_start(place);
                if (shorter - place - 1 >= last) sum -= from_end(shorter - place - 1);
                best = sum < best ? sum : best;
            }
        }
        const int32_t gap = r.region->gap * std::abs(r.length - g.length), weight = r.region->weight;
        for (int l = 0; l < LANES; l++) sums[l] += weight * best[l] + gap;
    }

    static constexpr TcrLanes lanes() { return {LANES, (1 << (8 * sizeof(Lane))) - 1, add}; }
};

constexpr TcrKernel tcr_kernel(const char* name) {
    return {name, TcrComparison<uint8_t>::lanes(), TcrComparison<uint16_t>::lanes()};
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
