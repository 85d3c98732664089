// Local scores of any size in 8-bit lanes: H less a floor, which changes from lane to lane and along a tier.
//
// A tier of rows is cut into blocks of columns (ByteBatch::FLOOR_COLUMNS), and in each a lane has a floor.
// With m the least H of the column before a block, in the rows of the tier and the one above it, no H of the
// block nor of the row above it is below m - open - (columns - 1) * extend, which a gap from there leaves;
// and no e or f that they hand on is below that less open. The number before this, or 0, is the floor: all is
// above a floor that is not 0, so no path ends there, and cells are computed as if 0 did not matter. At 0 it
// is byte_cell.h's local mode.
//
// From one floor to another all bytes change by the difference. Those that would be more than 255 stay there,
// and the highest byte seen tells: if it is at most 255 - highest, nothing wrapped and nothing stayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "byte_cell.h"
#include "byte_state.h"
#include "../simd/bytes.h"
#include "../core/recurrence.h"
#include "row_scores.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// A 16-bit number a lane: a floor, or a score.
template <class V>
struct WideLanes {
    using Words = typename V::Words;
    Words low, high;

    static constexpr size_t BYTES = 2 * sizeof(Words);

    static PAIRALIGN_INLINE WideLanes load(const uint8_t* p) {
        WideLanes w;
        memcpy(&w, p, BYTES);
        return w;
    }
    PAIRALIGN_INLINE void store(uint8_t* p) const { memcpy(p, this, BYTES); }
    static PAIRALIGN_INLINE WideLanes set(int32_t x) {
        const Words all = Words{} + static_cast<int16_t>(x);
        return {all, all};
    }
    static PAIRALIGN_INLINE WideLanes of(V bytes) { return {V::wide_low(bytes), V::wide_high(bytes)}; }

    PAIRALIGN_INLINE WideLanes plus(const WideLanes& b) const { return {low + b.low, high + b.high}; }
    PAIRALIGN_INLINE WideLanes max(const WideLanes& b) const {
        return {low > b.low ? low : b.low, high > b.high ? high : b.high};
    }
    PAIRALIGN_INLINE WideLanes min(const WideLanes& b) const {
        return {low < b.low ? low : b.low, high < b.high ? high : b.high};
    }
    // This number less that of `b`, cut to 0 to 255.
    PAIRALIGN_INLINE V above(const WideLanes& b) const { return V::narrow(low - b.low, high - b.high); }
    static PAIRALIGN_INLINE WideLanes blend(V mask, const WideLanes& yes, const WideLanes& no) {
        const WideLanes m = of(mask);
        return {m.low != 0 ? yes.low : no.low, m.high != 0 ? yes.high : no.high};
    }

    // Writes the numbers in the order of the lanes; none may be negative.
    void read(uint16_t (&lanes)[V::LANES]) const {
        alignas(64) uint8_t less[V::LANES], more[V::LANES];
        V::narrow(low & 255, high & 255).store(less);
        V::narrow(low >> 8, high >> 8).store(more);
        for (int l = 0; l < V::LANES; l++) lanes[l] = static_cast<uint16_t>(more[l] << 8 | less[l]);
    }
    static WideLanes written(const uint16_t (&lanes)[V::LANES]) {
        alignas(64) uint8_t less[V::LANES], more[V::LANES];
        for (int l = 0; l < V::LANES; l++) {
            less[l] = static_cast<uint8_t>(lanes[l]);
            more[l] = static_cast<uint8_t>(lanes[l] >> 8);
        }
        const WideLanes a = of(V::load(less)), b = of(V::load(more));
        return {a.low | b.low << 8, a.high | b.high << 8};
    }
};

// Bytes above one floor as bytes above another.
template <class V>
struct FloorChange {
    V up, down;

    PAIRALIGN_INLINE FloorChange(const WideLanes<V>& from, const WideLanes<V>& to)
        : up(from.above(to)), down(to.above(from)) {}
    PAIRALIGN_INLINE V of(V x) const { return V::sub(V::add_saturated(x, up), down); }
};

template <class V>
struct Floors {
    static constexpr int32_t COLUMNS = ByteBatch::FLOOR_COLUMNS;

    WideLanes<V> now;
    V peak;                     // the highest byte seen
    const WideLanes<V> margin;  // from the least H, which has an offset, to a floor

    PAIRALIGN_INLINE Floors(const ByteWork<V>& w, const WideLanes<V>& first, V highest)
        : now(first), peak(highest), margin(WideLanes<V>::set(-w.offset - floor_margin(w.scheme))) {}

    // From the column before a block to its own floor: x and y of the rows of a tier, and H above them.
    // Returns what `border`, the floor of the row above, changes by.
    template <int ROWS>
    PAIRALIGN_INLINE FloorChange<V> enter(V (&x)[ROWS], V (&y)[ROWS], V& above, const WideLanes<V>& border) {
        V least = above, most = above;
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            least = V::min(least, x[decltype(which)::value]);
            most = V::max(most, x[decltype(which)::value]);
        });
        const WideLanes<V> next = now.plus(WideLanes<V>::of(least)).plus(margin).max(WideLanes<V>::set(0));
        const FloorChange<V> change(now, next);
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            x[k] = change.of(x[k]);
            y[k] = change.of(y[k]);
        });
        above = change.of(above);
        peak = V::max(peak, V::max(most, change.of(most)));
        now = next;
        return {border, next};
    }
};

// Bit set of the lanes whose highest byte says that 8 bits did not do.
template <class V>
PAIRALIGN_INLINE uint64_t lanes_beyond(const ByteWork<V>& w, V peak) {
    return V::bits(V::ge(peak, V::set(256 - w.scheme.highest)));
}

// The first pass of local mode above floors.
template <class V, Scores SCORES>
struct FloorFill {
    using W = ByteWork<V>;
    static constexpr int LANES = V::LANES;
    static constexpr int32_t COLUMNS = Floors<V>::COLUMNS;

    static void start(W& w) {
        memset(w.floors(0), 0, w.floors_bytes());
        memset(w.best(0, 0), 0, static_cast<size_t>(w.tile_rows() * w.tile_columns()) * WideLanes<V>::BYTES);
        memset(w.peak(), 0, LANES);
    }

    static void run(W& w) {
        const int32_t rows = w.batch.rows, side = w.batch.side;
        if (!w.batch.trace) return fill_rows(w, 0, rows, 0, 0);
        int32_t tile = 0;
        for (int32_t begin = 0; begin < rows && !*w.batch.cancelled; begin += side, tile++)
            fill_rows(w, begin, rows - begin < side ? rows : begin + side, tile, tile + 1);
    }

private:
    // Rows begin+1 .. end. Reads the border `in` and leaves `out`.
    static void fill_rows(W& w, int32_t begin, int32_t end, int32_t in, int32_t out) {
        constexpr int ROWS = V::LOCAL_ROWS, LEAST = SCORES == Scores::ONE_ROW ? 1 : ROWS < 4 ? ROWS : 4;
        int32_t row = begin;
        for (; row + ROWS <= end && !*w.batch.cancelled; row += ROWS, in = out) tier<ROWS>(w, row, in, out);
        for (; row < end; row += LEAST, in = out) tier<LEAST>(w, row, in, out);
    }

    template <int ROWS>
    static void tier(W& w, int32_t row, int32_t border_in, int32_t border_out) {
        RowScores<V, SCORES, ROWS> scores(w, row);
        V x[ROWS], y[ROWS];
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            x[k] = w.row_edge(row + 1 + k);
            y[k] = V::as_it_is(x[k]);
        });
        const ByteCosts<V> costs = w.costs();
        const uint8_t *in = w.border(border_in), *in_floors = w.floors(border_in), *codes = w.codes;
        uint8_t *out = w.border(border_out), *out_floors = w.floors(border_out);
        uint8_t* best_of_tile = w.best(w.batch.trace ? row / w.batch.side : 0, 0);
        Floors<V> floors(w, WideLanes<V>::set(0), V::load(w.peak()));
        V above = V::load(in);
        x[ROWS - 1].store(out);
        y[ROWS - 1].store(out + LANES);
        const int32_t columns = w.columns, width = w.layout.tile_columns;
        for (int32_t j = 1; j <= columns;) {
            const int32_t stop = scores.reach(j, columns - j < COLUMNS ? columns : j + COLUMNS - 1);
            const auto change = floors.enter(x, y, above, WideLanes<V>::load(in_floors));
            floors.now.store(out_floors);
            in_floors += WideLanes<V>::BYTES;
            out_floors += WideLanes<V>::BYTES;
            V best = costs.zero, peak = floors.peak;
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                V diagonal = above, v = change.of(V::load(in)), gap = change.of(V::load(in + LANES));
                above = v;
                peak = V::max(peak, v);
                const auto column = scores.column(V::load(codes + static_cast<size_t>(j) * LANES));
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const V s = scores.template of<k>(column, j);
                    const auto cell = ByteCell<V>::template of<true>(s, x[k], y[k], v, gap, diagonal, costs);
                    diagonal = x[k];
                    x[k] = v = cell.x;
                    y[k] = cell.y;
                    gap = cell.w;
                    best = V::max(best, cell.x);
                });
                v.store(out);
                gap.store(out + LANES);
            }
            floors.peak = V::max(peak, best);
            const auto best_here = floors.now.plus(WideLanes<V>::of(best));
            best_here.max(WideLanes<V>::load(best_of_tile)).store(best_of_tile);
            if (!w.batch.trace || stop % width || stop == columns) continue;
            uint8_t* left = w.left(stop / width, row + 1);
            unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                constexpr int k = decltype(which)::value;
                x[k].store(left);
                y[k].store(left + LANES);
                floors.now.store(left + 2 * LANES);
                left += w.left_bytes();
            });
            best_of_tile += WideLanes<V>::BYTES;
        }
        floors.peak.store(w.peak());
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
