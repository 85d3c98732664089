// The traceback of the kernel of 8-bit lanes. No flags are kept: cells are filled again where paths are.
//
// The first pass leaves the borders of tiles of side * side cells. Rows of tiles are gone through from the
// last to the first. In each, every lane that is still under way gets a window of its own: some tiles wide,
// from the left of a tile to about where its path is. The lanes have the row letters in common, and the
// columns of their windows are brought side by side; then one fill serves all of them. A path that leaves its
// window on the left has another one made.
#pragma once

#include "byte_state.h"
#include "recurrence.h"
#include "traceback.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class ByteTraceback {
public:
    explicit ByteTraceback(ByteWork<V>& work)
        : w_(work),
          batch_(work.batch),
          border_(work.memory + work.layout.window),
          codes_(border_ + 2 * (static_cast<size_t>(work.layout.window_columns) + 1) * LANES),
          lefts_(codes_ + (static_cast<size_t>(work.layout.window_columns) + 1) * LANES),
          tile_(work.memory + work.layout.tile) {}

    void run() {
        const int used = batch_.group->used, side = batch_.side;
        for (int l = batch_.first_lane; l < used; l++) {
            batch_.paths[l].run_count = 0;
            walkers_[l] = Walker::at_end(batch_.paths[l]);
            if (batch_.overflowed >> l & 1) walkers_[l].state = Walker::DONE;
        }
        for (int32_t tile_row = (batch_.rows - 1) / side; tile_row >= 0; tile_row--) {
            top_ = tile_row * side;
            while (choose_windows()) {
                gather_border(tile_row);
                gather_lefts();
                fill();
                for (int l = batch_.first_lane; l < used; l++)
                    if (active_ >> l & 1) walk(l);
                if (*batch_.cancelled) return;
            }
        }
        for (int l = batch_.first_lane; l < used; l++)
            if (!(batch_.overflowed >> l & 1)) finish(w_.scheme, walkers_[l], batch_.paths[l], false);
    }

private:
    static constexpr int LANES = V::LANES;
    static constexpr size_t CELL = 3 * LANES;  // D, A and B of byte_cell.h

    // A window ends where its lane's path is. False when no lane has a path in this row of tiles.
    bool choose_windows() {
        active_ = 0;
        last_ = top_;
        for (int l = batch_.first_lane; l < batch_.group->used; l++) {
            const Walker& walker = walkers_[l];
            if (walker.state == Walker::DONE || walker.row <= top_) continue;
            active_ |= uint64_t{1} << l;
            if (walker.row > last_) last_ = walker.row;
        }
        if (!active_) return false;
        const int32_t side = batch_.side;
        const int32_t most = last_ - top_ + 16 + side,
                      limit = most < w_.layout.window_columns ? most : w_.layout.window_columns;
        width_ = 0;
        window_count_ = 0;
        for (int l = batch_.first_lane; l < batch_.group->used; l++) {
            if (!(active_ >> l & 1)) continue;
            const int32_t column = walkers_[l].column;
            left_[l] = column <= limit ? 0 : (column - limit + side - 1) / side * side;
            if (column - left_[l] > width_) width_ = column - left_[l];
            int k = 0;
            while (k < window_count_ && window_left_[k] != left_[l]) k++;
            if (k == window_count_) {
                window_left_[window_count_++] = left_[l];
                memset(window_lanes_[k], 0, LANES);
            }
            window_lanes_[k][l] = 255;
        }
        return true;
    }

    // out = the lanes of this window from `from`, and the others as they were; the first window clears them.
    static PAIRALIGN_INLINE void put(bool first, V lanes, const uint8_t* from, uint8_t* out) {
        const V some = V::bit_and(lanes, V::load(from));
        (first ? some : V::bit_or(some, V::load(out))).store(out);
    }

    // The row above the windows, and the codes of their columns.
    void gather_border(int32_t tile_row) {
        for (int k = 0; k < window_count_; k++) {
            const V lanes = V::load(window_lanes_[k]);
            const size_t left = static_cast<size_t>(window_left_[k]);
            const uint8_t* border = w_.border(tile_row) + left * 2 * LANES;
            const uint8_t* codes = w_.codes + left * LANES;
            const int32_t there = w_.columns - window_left_[k];
            const int32_t count = width_ < there ? width_ : there;
            for (int32_t t = 0; t <= count; t++) {
                const size_t at = static_cast<size_t>(t) * LANES;
                put(k == 0, lanes, border + 2 * at, border_ + 2 * at);
                put(k == 0, lanes, border + 2 * at + LANES, border_ + 2 * at + LANES);
                put(k == 0, lanes, codes + at, codes_ + at);
            }
            if (k > 0 || count == width_) continue;
            const size_t from = static_cast<size_t>(count) + 1, more = static_cast<size_t>(width_ - count);
            memset(border_ + from * 2 * LANES, 0, more * 2 * LANES);
            memset(codes_ + from * LANES, 0, more * LANES);
        }
    }

    // The columns left of the windows.
    void gather_lefts() {
        for (int k = 0; k < window_count_; k++) {
            const V lanes = V::load(window_lanes_[k]);
            for (int32_t row = top_ + 1; row <= last_; row++) {
                uint8_t* out = lefts_ + static_cast<size_t>(row - top_ - 1) * 2 * LANES;
                alignas(64) uint8_t edge[2 * LANES];
                const uint8_t* from = edge;
                if (window_left_[k]) {
                    from = w_.left(window_left_[k] / batch_.side, row);
                } else {
                    memset(edge, w_.edge(row), LANES);
                    memset(edge + LANES, w_.edge_gap(row), LANES);
                }
                put(k == 0, lanes, from, out);
                put(k == 0, lanes, from + LANES, out + LANES);
            }
        }
    }

    void fill() {
        const bool local = w_.scheme.mode == LOCAL;
        int32_t row = top_;
        for (; row + 4 <= last_; row += 4) local ? band<true, 4>(row) : band<false, 4>(row);
        for (; row < last_; row++) local ? band<true, 1>(row) : band<false, 1>(row);
    }

    // Rows row+1 .. row+ROWS of all windows.
    template <bool LOCAL_MODE, int ROWS>
    void band(int32_t row) {
        const uint8_t* tables[ROWS];
        V x[ROWS], y[ROWS];
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            const uint8_t* left = lefts_ + static_cast<size_t>(row + k - top_) * 2 * LANES;
            tables[k] = w_.tables + static_cast<size_t>(batch_.row[row + k]) * 2 * CODES;
            x[k] = V::load(left);
            y[k] = V::load(left + LANES);
        });
        const ByteCosts<V> costs = w_.costs();
        uint8_t *border = border_, *cells = tile_ + cell(row - top_, 0);
        const uint8_t* codes = codes_;
        const size_t stride = cell(1, 0);
        V above = V::load(border);
        x[ROWS - 1].store(border);
        for (int32_t t = 1; t <= width_; t++, cells += CELL) {
            border += 2 * LANES;
            codes += LANES;
            V diagonal = above, v = V::load(border), gap = V::load(border + LANES);
            above = v;
            const auto letters = V::index(V::load(codes));
            unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
                constexpr int k = decltype(index)::value;
                const auto one = ByteCell<V>::template of<LOCAL_MODE>(V::lookup(tables[k], letters), x[k],
                                                                      y[k], v, gap, diagonal, costs);
                diagonal = x[k];
                x[k] = one.x;
                y[k] = one.y;
                v = LOCAL_MODE ? one.x : one.v;
                gap = one.w;
                one.d.store(cells + k * stride);
                one.a.store(cells + k * stride + LANES);
                one.b.store(cells + k * stride + 2 * LANES);
            });
            v.store(border);
            gap.store(border + LANES);
        }
    }

    size_t cell(int32_t row, int32_t column) const {
        return (static_cast<size_t>(row) * static_cast<size_t>(width_) + static_cast<size_t>(column)) * CELL;
    }

    // As `walk` of traceback.h, by values instead of flags, and a run at a time.
    void walk(int lane) {
        Walker w = walkers_[lane];  // a copy that no store to path.runs can touch
        Path& path = batch_.paths[lane];
        const int o = w_.scheme.gap_open - w_.scheme.gap_extend;
        const int zero = w_.scheme.mode == LOCAL ? w_.offset : -1;
        const std::ptrdiff_t across = CELL, down = static_cast<std::ptrdiff_t>(cell(1, 0));
        int32_t i = w.row - top_, j = w.column - left_[lane];  // in the window
        const uint8_t* at = tile_ + cell(i - 1, j - 1) + lane;
        const auto highest = [&] {
            const int d = at[0], a = at[LANES], b = at[2 * LANES], gap = a > b ? a : b;
            return d > gap ? d : gap;
        };
        while (i > 0 && j > 0) {
            uint32_t run = 0;
            if (w.state == Walker::IN_E) {
                for (; j > 0 && at[LANES] + o >= highest(); run++, j--) at -= across;
                if (run) emit(path, w, COLUMN_GAP, run);
                if (j == 0) break;
            } else if (w.state == Walker::IN_F) {
                for (; i > 0 && at[2 * LANES] + o >= highest(); run++, i--) at -= down;
                if (run) emit(path, w, ROW_GAP, run);
                if (i == 0) break;
            }
            w.state = Walker::IN_H;
            int d = 0, a = 0, b = 0;
            for (run = 0; i > 0 && j > 0; run++, i--, j--) {
                d = at[0];
                a = at[LANES];
                b = at[2 * LANES];
                if (d < a || d < b || d <= zero) break;
                at -= down + across;
            }
            if (run) emit(path, w, DIAGONAL_STEP, run);
            if (i == 0 || j == 0) break;
            if (a <= zero && b <= zero) {
                w.state = Walker::DONE;
                break;
            }
            if (a >= b) {
                emit(path, w, COLUMN_GAP, 1);
                w.state = Walker::IN_E;
                at -= across;
                j--;
            } else {
                emit(path, w, ROW_GAP, 1);
                w.state = Walker::IN_F;
                at -= down;
                i--;
            }
        }
        w.row = top_ + i;
        w.column = left_[lane] + j;
        if (w.row == 0 || w.column == 0) w.state = Walker::DONE;
        walkers_[lane] = w;
    }

    ByteWork<V>& w_;
    ByteBatch& batch_;
    uint8_t *const border_, *const codes_, *const lefts_, *const tile_;
    Walker walkers_[MAX_LANES];

    // Of the row of tiles that is worked on:
    int32_t top_ = 0, last_ = 0, width_ = 0;  // rows top+1 .. last; columns of the widest window
    uint64_t active_ = 0;                     // lanes that have a window
    int32_t left_[MAX_LANES] = {};
    int window_count_ = 0;  // windows that differ: where they begin, and whose they are
    int32_t window_left_[MAX_LANES] = {};
    alignas(64) uint8_t window_lanes_[MAX_LANES][LANES];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
