// Distances of one row sequence to the sequences of a group, a pair a lane; included by kernel_*.cpp, which
// say for which instruction set.
//
//     E(i,j) = min(E(i,j-1), H(i,j-1) + open) + gap of the column's residue j
//     F(i,j) = min(F(i-1,j), H(i-1,j) + open) + gap of the row's residue i
//     H(i,j) = min(H(i-1,j-1) + opposite(i,j), E(i,j), F(i,j))
//
// Strips of rows stay in registers while columns pass; what residues of the columns cost opposite each code
// was written down once for a group, so that a score is a load. A strip fills the diagonals that a path
// within the limit can be on. A path has a cell in every row, and costs never fall: where the last row of a
// strip has no cell within the limit in any lane, the group is left.
#pragma once

#include "../simd/bytes.h"
#include "near.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Lanes of 8 bits: 255 is all that is over the limit.
struct NearBytes {
    using V = Bytes;
    using Lane = uint8_t;
    static constexpr int LANES = V::LANES, ROWS = V::ROWS >= 8 ? 4 : 2;
    static constexpr int32_t NONE = 255;
    static PAIRALIGN_INLINE V load(const Lane* p) { return V::load(p); }
    static PAIRALIGN_INLINE void store(Lane* p, V v) { v.store(p); }
    static PAIRALIGN_INLINE V set(int32_t x) { return V::set(x); }
    static PAIRALIGN_INLINE V add(V a, V b) { return V::add_saturated(a, b); }
    static PAIRALIGN_INLINE V min(V a, V b) { return V::min(a, b); }
    static PAIRALIGN_INLINE uint64_t within(V value, V limit) { return V::bits(V::ge(limit, value)); }
};

// Lanes of 32 bits, for limits that do not fit.
struct NearNumbers {
    typedef int32_t V __attribute__((vector_size(64)));
    using Lane = int32_t;
    static constexpr int LANES = 16, ROWS = 2;
    static constexpr int32_t NONE = (1 << 30) - 1;
    static PAIRALIGN_INLINE V load(const Lane* p) { return *reinterpret_cast<const V*>(p); }
    static PAIRALIGN_INLINE void store(Lane* p, V v) { *reinterpret_cast<V*>(p) = v; }
    static PAIRALIGN_INLINE V set(int32_t x) { return V{} + x; }
    static PAIRALIGN_INLINE V min(V a, V b) { return a < b ? a : b; }
    static PAIRALIGN_INLINE V add(V a, V b) { return min(a + b, set(NONE)); }
    static PAIRALIGN_INLINE uint64_t within(V value, V limit) {
        uint64_t bits = 0;
        for (int l = 0; l < LANES; l++) bits |= static_cast<uint64_t>(value[l] <= limit[l]) << l;
        return bits;
    }
};

template <class L>
struct NearComparison {
    using V = typename L::V;
    using Lane = typename L::Lane;
    static constexpr int LANES = L::LANES;

    struct Columns {
        int32_t from, to;
    };

    static PAIRALIGN_INLINE int32_t capped(int32_t cost) { return cost < L::NONE ? cost : L::NONE; }
    static PAIRALIGN_INLINE int32_t sum(int32_t a, int32_t b) { return capped(a + b); }

    // Rows row + 1 .. row + R in columns from .. to. `border`: H of column 0 in `row`; becomes that of the
    // last row. Returns the least H of the last row.
    template <int R, bool OPENS>
    static PAIRALIGN_INLINE V fill_strip(const NearGroup& g, const NearRow& r, int32_t row, Columns columns,
                                         int32_t& border) {
        Lane *const h_row = static_cast<Lane*>(g.h), *const f_row = static_cast<Lane*>(g.f);
        const Lane* const gaps = static_cast<const Lane*>(g.gaps);
        const V open = L::set(capped(r.open)), none = L::set(L::NONE);
        const Lane* opposite[R];
        V gap[R], h[R], opened[R], e[R];
        V diagonal = L::load(h_row + static_cast<size_t>(columns.from - 1) * LANES);
        for (int k = 0; k < R; k++) {
            const int32_t code = r.codes[row + k];
            opposite[k] = static_cast<const Lane*>(g.opposite) +
                          static_cast<size_t>(code) * static_cast<size_t>(g.longest) * LANES;
            gap[k] = L::set(capped(r.gaps[code]));
            border = sum(border, r.gaps[code]);
            h[k] = columns.from == 1 ? L::set(border) : none;
            opened[k] = OPENS ? L::add(h[k], open) : h[k];
            e[k] = none;
        }
        if (columns.from == 1) L::store(h_row, h[R - 1]);
        V least = h[R - 1];
        for (int32_t j = columns.from; j <= columns.to; j++) {
            const size_t at = static_cast<size_t>(j) * LANES, before = at - LANES;
            const V column_gap = L::load(gaps + before), up = L::load(h_row + at);
            V above = OPENS ? L::add(up, open) : up, f = OPENS ? L::load(f_row + at) : none;
            V corner = diagonal;
            diagonal = up;
#pragma GCC unroll 8
            for (int k = 0; k < R; k++) {
                f = L::add(OPENS ? L::min(f, above) : above, gap[k]);
                e[k] = L::add(OPENS ? L::min(e[k], opened[k]) : h[k], column_gap);
                const V paired = L::add(corner, L::load(opposite[k] + before));
                corner = h[k];
                h[k] = L::min(L::min(paired, e[k]), f);
                above = OPENS ? L::add(h[k], open) : h[k];
                opened[k] = above;
            }
            L::store(h_row + at, h[R - 1]);
            if (OPENS) L::store(f_row + at, f);
            least = L::min(least, h[R - 1]);
        }
        return least;
    }

    template <bool OPENS>
    static PAIRALIGN_INLINE V fill_rows(const NearGroup& g, const NearRow& r, int32_t row, int32_t rows,
                                        Columns columns, int32_t& border) {
        static_assert(L::ROWS <= 4, "a case for each number of rows");
        switch (rows) {
            case 1:
                return fill_strip<1, OPENS>(g, r, row, columns, border);
            case 2:
                return fill_strip<2, OPENS>(g, r, row, columns, border);
            case 3:
                return fill_strip<3, OPENS>(g, r, row, columns, border);
            default:
                return fill_strip<L::ROWS, OPENS>(g, r, row, columns, border);
        }
    }

    // Columns that no strip has filled hold what no path reaches; row 0 holds the border.
    static PAIRALIGN_INLINE void begin(const NearGroup& g, int32_t columns) {
        const V none = L::set(L::NONE);
        const Lane* const border = static_cast<const Lane*>(g.border);
        for (int32_t j = 0; j <= columns; j++) {
            const size_t at = static_cast<size_t>(j) * LANES;
            L::store(static_cast<Lane*>(g.h) + at, L::load(border + at));
            L::store(static_cast<Lane*>(g.f) + at, none);
        }
    }
    static PAIRALIGN_INLINE void clear(const NearGroup& g, Columns columns) {
        const V none = L::set(L::NONE);
        for (int32_t j = columns.from; j <= columns.to; j++) {
            const size_t at = static_cast<size_t>(j) * LANES;
            L::store(static_cast<Lane*>(g.h) + at, none);
            L::store(static_cast<Lane*>(g.f) + at, none);
        }
    }

    // False: no lane is within its limit.
    template <bool OPENS>
    static PAIRALIGN_INLINE bool fill(const NearGroup& g, const NearRow& r, V limits) {
        const auto within_columns = [&](int32_t j) { return j < g.longest ? j : g.longest; };
        int32_t border = capped(r.open);
        int32_t filled = within_columns((r.length < L::ROWS ? r.length : L::ROWS) + r.high);
        begin(g, filled);
        for (int32_t row = 0; row < r.length; row += L::ROWS) {
            const int32_t rows = r.length - row < L::ROWS ? r.length - row : L::ROWS;
            const int32_t left = row + 1 + r.low;
            const Columns columns{left > 1 ? left : 1, within_columns(row + rows + r.high)};
            if (columns.from > g.longest) return false;
            if (columns.to > filled) clear(g, {filled + 1, columns.to});
            filled = columns.to > filled ? columns.to : filled;
            const V least = fill_rows<OPENS>(g, r, row, rows, columns, border);
            if (!L::within(least, limits)) return false;
        }
        return true;
    }

    static uint64_t compare(const NearGroup& g, const NearRow& r, int32_t* values) {
        alignas(64) Lane limits[LANES];
        int32_t above[LANES];
        for (int l = 0; l < LANES; l++) {
            const int32_t difference = r.weight - g.weights[l];
            above[l] = r.spare + g.spares[l] + (difference < 0 ? -difference : difference);
            const int32_t limit = r.limit + above[l];
            limits[l] = static_cast<Lane>(limit < L::NONE - 1 ? limit : L::NONE - 1);
        }
        const V limit = L::load(limits);
        if (!(r.open ? fill<true>(g, r, limit) : fill<false>(g, r, limit))) return 0;
        uint64_t near = 0;
        for (size_t n = 0; n < g.length_count; n++) {
            const int32_t length = g.lengths[n].length;
            if (length < r.length + r.low || length > r.length + r.high) continue;
            const Lane* const last = static_cast<const Lane*>(g.h) + static_cast<size_t>(length) * LANES;
            uint64_t found = L::within(L::load(last), limit) & g.lengths[n].lanes;
            near |= found;
            for (; found; found &= found - 1) {
                const int l = __builtin_ctzll(found);
                values[l] = last[l] - above[l];
            }
        }
        return near;
    }

    static constexpr NearLanes lanes() { return {LANES, L::NONE - 1, compare}; }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
