// The windows of byte_traceback.h: of each lane some columns of a row of tiles. They are chosen by where the
// lanes' paths are, brought side by side, and filled again, which leaves a code a cell.
#pragma once

#include "byte_floors.h"
#include "byte_state.h"
#include "../core/recurrence.h"
#include "row_scores.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V, Scores SCORES>
class ByteWindows {
protected:
    static constexpr int LANES = V::LANES;

    explicit ByteWindows(ByteWork<V>& work)
        : w_(work),
          width_bits_(logarithm(work.layout.tile_columns)),
          row_bytes_(work.row_bytes()),
          border_(work.memory + work.layout.window),
          codes_(border_ + 2 * row_bytes_),
          cells_(work.memory + work.layout.tile),
          corner_(work.memory + work.layout.window_floors),
          floors_(corner_ + WideLanes<V>::BYTES) {}

    // Of a power of two; without tiles there is none.
    static int logarithm(int32_t n) { return n ? __builtin_ctz(static_cast<unsigned>(n)) : 0; }

    static PAIRALIGN_INLINE typename V::Mask mask(const uint8_t* lanes) {
        return V::eq(V::load(lanes), V::set(255));
    }

    // Without tiles, the first pass has left the codes of all cells: each lane's window is the whole matrix.
    void take_all(uint64_t lanes) {
        last_ = w_.batch.rows;
        width_ = w_.columns;
        active_ = lanes;
        memset(left_, 0, sizeof left_);
    }

    // Chooses the windows of `lanes` in the row of tiles below `top_`: each ends at its lane's cell (rows,
    // columns), and begins after column `low`. False where no cell is below `top_`.
    bool choose_windows(uint64_t lanes, const int32_t* rows, const int32_t* columns, int32_t low) {
        Ints taken[PARTS], last = Ints{} + top_;
        for (int part = 0; part < PARTS; part++) {
            const Ints row = ints(rows, part);
            taken[part] = those_of(lanes, part) & (row > top_);
            last = greater(last, row & taken[part]);
        }
        last_ = greatest(last);
        if (last_ == top_) return false;
        const int32_t width_of_tile = w_.layout.tile_columns,
                      most = last_ - top_ + width_of_tile,  // so wide that all paths get on
            limit = most < w_.layout.window_columns ? most : w_.layout.window_columns;
        Ints left[PARTS], width{};
        for (int part = 0; part < PARTS; part++) {
            const Ints column = ints(columns, part), beyond = column - limit;
            left[part] = ((beyond + (width_of_tile - 1)) & -width_of_tile) & (beyond > 0);
            left[part] = greater(left[part], Ints{} + low);
            width = greater(width, (column - left[part]) & taken[part]);
            memcpy(left_ + part * IN_PART, &left[part], sizeof(Ints));
        }
        width_ = greatest(width);
        active_ = mark_lanes(0, [&](int part) { return taken[part]; });
        if constexpr (SCORES == Scores::LINES)
            for (int l = 0; l < LANES; l++) begins_[l] = active_ >> l & 1 ? left_[l] : 0;
        window_count_ = 0;
        for (uint64_t some = active_; some;) {
            const Ints value = Ints{} + left_[__builtin_ctzll(some)];
            window_left_[window_count_] = value[0];
            some &=
                ~mark_lanes(window_count_++, [&](int part) { return taken[part] & (left[part] == value); });
        }
        return true;
    }

    // Numbers of the lanes, some at a time.
    using Ints = typename V::Ints;
    static constexpr int IN_PART = sizeof(Ints) / sizeof(int32_t), PARTS = LANES / IN_PART;

    static PAIRALIGN_INLINE Ints ints(const int32_t* numbers, int part) {
        Ints some;
        memcpy(&some, numbers + part * IN_PART, sizeof some);
        return some;
    }
    static PAIRALIGN_INLINE Ints those_of(uint64_t lanes, int part) {
        Ints bit;
        for (int k = 0; k < IN_PART; k++) bit[k] = 1 << k;
        return (bit & (Ints{} + static_cast<int32_t>(lanes >> (part * IN_PART)))) != 0;
    }
    static PAIRALIGN_INLINE Ints greater(Ints a, Ints b) {
        const Ints more = b > a;
        return (b & more) | (a & ~more);
    }
    static PAIRALIGN_INLINE int32_t greatest(Ints numbers) {
        int32_t most = numbers[0];
        for (int k = 1; k < IN_PART; k++) most = numbers[k] > most ? numbers[k] : most;
        return most;
    }

    // Says in window_lanes_[window] which lanes `taken` has; returns their bit set.
    template <class Taken>
    PAIRALIGN_INLINE uint64_t mark_lanes(int window, Taken&& taken) {
        for (int part = 0; part < PARTS; part++) {
            const auto marks = __builtin_convertvector(taken(part), typename V::Marks);
            memcpy(window_lanes_[window] + part * IN_PART, &marks, sizeof marks);
        }
        return V::bits(mask(window_lanes_[window]));
    }

    // The row above the windows, and the codes of their columns.
    void gather_border(int32_t tile_row) {
        switch (window_count_) {
            case 1:
                return gather_border<1>(tile_row, 0);
            case 2:
                return gather_border<2>(tile_row, 0);
            case 3:
                return gather_border<3>(tile_row, 0);
            default:
                break;
        }
        gather_border<4>(tile_row, 0);
        for (int k = 4; k < window_count_; k++) gather_border<1>(tile_row, k);
    }

    // The same of the windows from `first` on. Lanes without a window get what the first window has.
    template <int COUNT>
    void gather_border(int32_t tile_row, int first) {
        typename V::Mask masks[COUNT];
        const uint8_t *borders[COUNT], *codes[COUNT];
        int32_t most[COUNT];  // columns that there are
        unrolled<0, COUNT>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            const size_t left = static_cast<size_t>(window_left_[first + k]);
            masks[k] = mask(window_lanes_[first + k]);
            borders[k] = w_.border(tile_row) + left * 2 * LANES;
            codes[k] = w_.codes + left * LANES;
            most[k] = w_.columns - window_left_[first + k];
        });
        uint8_t *border = border_, *code = codes_;
        for (int32_t t = 0; t <= width_; t++, border += 2 * LANES, code += LANES) {
            V v = V::load(border), gap = V::load(border + LANES), residue = V::load(code);
            unrolled<0, COUNT>([&](auto which) __attribute__((always_inline)) {
                constexpr int k = decltype(which)::value;
                const size_t at = static_cast<size_t>(t < most[k] ? t : most[k]) * LANES;
                const V here = V::load(borders[k] + 2 * at), gap_here = V::load(borders[k] + 2 * at + LANES),
                        residue_here = V::load(codes[k] + at);
                if (k == 0 && COUNT > 1) {
                    v = here;
                    gap = gap_here;
                    residue = residue_here;
                    return;
                }
                v = V::blend(masks[k], here, v);
                gap = V::blend(masks[k], gap_here, gap);
                residue = V::blend(masks[k], residue_here, residue);
            });
            v.store(border);
            gap.store(border + LANES);
            residue.store(code);
        }
    }

    // Asks for what gather_left is going to read: it is far away.
    void fetch_left() const {
        for (int k = 0; k < window_count_; k++)
            for (int32_t row = top_ + 1; window_left_[k] && row <= last_; row++) {
                const uint8_t* const left = w_.left(window_left_[k] >> width_bits_, row);
                __builtin_prefetch(left);
                __builtin_prefetch(left + LANES);
            }
    }

    // What the column left of the windows has in a row.
    PAIRALIGN_INLINE void gather_left(int32_t row, V& x, V& y) const {
        for (int k = 0; k < window_count_; k++) {
            const typename V::Mask lanes = mask(window_lanes_[k]);
            V from_x = w_.row_edge(row), from_y = from_x;
            if (window_left_[k]) {
                const uint8_t* left = w_.left(window_left_[k] >> width_bits_, row);
                from_x = V::load(left);
                from_y = V::load(left + LANES);
            }
            x = V::blend(lanes, from_x, x);
            y = V::blend(lanes, from_y, y);
        }
    }

    // Whether there are four rows after `row`, of which some are needed.
    bool are_four(int32_t row) const { return row < last_ && row + 4 <= w_.batch.rows; }

    template <Codes CODES>
    void fill() {
        int32_t row = top_;
        for (; are_four(row); row += 4) tier<CODES, 4>(row);
        if constexpr (SCORES == Scores::ONE_ROW)  // else see OwnRows::ROWS
            for (; row < last_; row++) tier<CODES, 1>(row);
    }

    // The same above floors. Returns the lanes whose codes are wrong.
    uint64_t fill_above_floors() {
        V peak = V::set(0);
        int32_t row = top_;
        for (; are_four(row); row += 4) tier_above_floors<4>(row, peak);
        if constexpr (SCORES == Scores::ONE_ROW)
            for (; row < last_; row++) tier_above_floors<1>(row, peak);
        return lanes_beyond(w_, peak) & active_;
    }

    // Rows row+1 .. row+ROWS of all windows.
    template <Codes CODES, int ROWS>
    void tier(int32_t row) {
        constexpr bool LOCAL_MODE = CODES == Codes::LOCAL;
        WindowScores<V, SCORES, ROWS> scores(w_, row);
        V x[ROWS], y[ROWS];
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            x[k] = y[k] = V::set(0);
            gather_left(row + 1 + k, x[k], y[k]);
        });
        const ByteCosts<V> costs = w_.costs();
        const V wanted = V::load(wanted_);
        uint8_t *border = border_, *cells = cells_ + cell(row + 1 - top_, 0);
        const uint8_t* codes = codes_;
        V above = V::load(border);
        x[ROWS - 1].store(border);
        for (int32_t t = 1; t <= width_;) {
            for (const int32_t stop = scores.reach(t, width_, begins_); t <= stop; t++) {
                border += 2 * LANES;
                codes += LANES;
                cells += LANES;
                V diagonal = above, v = V::load(border), gap = V::load(border + LANES);
                above = v;
                const V here = V::load(codes);
                const auto column = scores.column(here);
                unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
                    constexpr int k = decltype(index)::value;
                    const V s = scores.template of<k>(column, t);
                    const auto one =
                        ByteCell<V>::template of<LOCAL_MODE>(s, x[k], y[k], v, gap, diagonal, costs);
                    diagonal = x[k];
                    x[k] = one.x;
                    y[k] = one.y;
                    v = LOCAL_MODE ? one.x : one.v;
                    gap = one.w;
                    one.template code<CODES>(scores.template move<k>(here), wanted, costs)
                        .store(cells + k * row_bytes_);
                });
                v.store(border);
                gap.store(border + LANES);
            }
        }
    }

    // The same of local mode, see byte_floors.h.
    template <int ROWS>
    void tier_above_floors(int32_t row, V& peak) {
        WindowScores<V, SCORES, ROWS> scores(w_, row);
        V x[ROWS], y[ROWS];
        V above = V::load(border_);
        Floors<V> floors(w_, start_above_floors<ROWS>(row, x, y, above), peak);
        const ByteCosts<V> costs = w_.costs();
        const auto wanted = WideLanes<V>::load(wanted_scores_);
        uint8_t *border = border_, *cells = cells_ + cell(row + 1 - top_, 0), *in_block = floors_;
        const uint8_t* codes = codes_;
        x[ROWS - 1].store(border);
        floors.now.store(corner_);
        for (int32_t t = 1; t <= width_;) {
            const int32_t ready = scores.reach(t, width_, begins_);
            while (t <= ready) {
                const int32_t stop = ready - t < Floors<V>::COLUMNS ? ready : t + Floors<V>::COLUMNS - 1;
                const auto change = floors.enter(x, y, above, WideLanes<V>::load(in_block));
                const V wanted_here = wanted.above(floors.now);
                floors.now.store(in_block);
                in_block += WideLanes<V>::BYTES;
                V best = floors.peak;
                for (; t <= stop; t++) {
                    border += 2 * LANES;
                    codes += LANES;
                    cells += LANES;
                    V diagonal = above, v = change.of(V::load(border)),
                      gap = change.of(V::load(border + LANES));
                    above = v;
                    best = V::max(best, v);
                    const V here = V::load(codes);
                    const auto column = scores.column(here);
                    unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
                        constexpr int k = decltype(index)::value;
                        const V s = scores.template of<k>(column, t);
                        const auto one =
                            ByteCell<V>::template of<true>(s, x[k], y[k], v, gap, diagonal, costs);
                        diagonal = x[k];
                        x[k] = v = one.x;
                        y[k] = one.y;
                        gap = one.w;
                        best = V::max(best, one.x);
                        one.template code<Codes::LOCAL>(scores.template move<k>(here), wanted_here, costs)
                            .store(cells + k * row_bytes_);
                    });
                    v.store(border);
                    gap.store(border + LANES);
                }
                floors.peak = best;
            }
        }
        peak = floors.peak;
    }

    // What the column left of the windows has, and H above it, all above one floor, which is returned: the
    // least that they were above.
    template <int ROWS>
    PAIRALIGN_INLINE WideLanes<V> start_above_floors(int32_t row, V (&x)[ROWS], V (&y)[ROWS],
                                                     V& above) const {
        const auto corner = WideLanes<V>::load(corner_);
        WideLanes<V> of_row[ROWS], least = corner;
        for (int k = 0; k < ROWS; k++) {
            x[k] = y[k] = V::set(0);
            gather_left(row + 1 + k, x[k], y[k]);
            of_row[k] = gather_left_floor(row + 1 + k);
            least = least.min(of_row[k]);
        }
        for (int k = 0; k < ROWS; k++) {
            const FloorChange<V> change(of_row[k], least);
            x[k] = change.of(x[k]);
            y[k] = change.of(y[k]);
        }
        above = FloorChange<V>(corner, least).of(above);
        return least;
    }

    PAIRALIGN_INLINE WideLanes<V> gather_left_floor(int32_t row) const {
        auto floor = WideLanes<V>::set(0);
        for (int k = 0; k < window_count_; k++) {
            if (!window_left_[k]) continue;
            const uint8_t* left = w_.left(window_left_[k] >> width_bits_, row) + 2 * LANES;
            floor = WideLanes<V>::blend(V::load(window_lanes_[k]), WideLanes<V>::load(left), floor);
        }
        return floor;
    }

    // The floors of the row above the windows, and of its cell left of them.
    void gather_floors(int32_t tile_row) {
        constexpr int32_t COLUMNS = Floors<V>::COLUMNS;
        const int32_t last = (w_.columns - 1) / COLUMNS;
        for (int32_t block = -1; block * COLUMNS < width_; block++) {
            auto floor = WideLanes<V>::set(0);
            for (int k = 0; k < window_count_; k++) {
                const int32_t here = window_left_[k] / COLUMNS + block;
                if (here < 0) continue;
                const uint8_t* at = w_.floors(tile_row) +
                                    static_cast<size_t>(here < last ? here : last) * WideLanes<V>::BYTES;
                floor = WideLanes<V>::blend(V::load(window_lanes_[k]), WideLanes<V>::load(at), floor);
            }
            floor.store(block < 0 ? corner_ : floors_ + static_cast<size_t>(block) * WideLanes<V>::BYTES);
        }
    }

    PAIRALIGN_INLINE size_t cell(int32_t row, int32_t column) const {
        return static_cast<size_t>(row) * row_bytes_ + static_cast<size_t>(column) * LANES;
    }

    ByteWork<V>& w_;
    const int width_bits_;    // logarithm of the columns of a tile
    const size_t row_bytes_;  // of the cells of a window
    uint8_t *const border_, *const codes_, *const cells_;
    uint8_t *const corner_, *const floors_;  // see byte_floors.h: left of the row above, and of it

    alignas(64) uint8_t wanted_[LANES];  // see ByteCell::code; local: a score, or one that there is not
    alignas(64) uint8_t wanted_scores_[WideLanes<V>::BYTES];  // the same of scores of any size

    // Of the row of tiles that is worked on.
    int32_t top_ = 0, last_ = 0, width_ = 0;       // rows top+1 .. last; columns of the widest window
    uint64_t active_ = 0;                          // lanes that have a window
    int32_t left_[MAX_LANES], begins_[MAX_LANES];  // columns before a lane's window; begins_: 0 without one
    int window_count_ = 0;  // windows that differ: where they begin, and whose they are
    int32_t window_left_[MAX_LANES];
    alignas(64) uint8_t window_lanes_[MAX_LANES][LANES];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
