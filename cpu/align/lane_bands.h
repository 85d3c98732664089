// Similar sequences in 8-bit lanes, of global mode: of each row of tiles only the columns are filled in which
// one of the lanes may have an optimal path. docs/similar-sequences.md derives the bound.
//
// Two passes. A beam, scores only, keeps the columns near the best of each lane; what it says of the last
// cell is the score L of some alignment. With that, a cell is alive from which the rest could still bring the
// score to L. After each row of tiles the columns of the next one are chosen: from before the first column
// that is alive in its last row, to as many after the last one as there are rows of residues to match.
//
// Lanes have row sequences of their own, and end in different rows. So there are residues after the last ones
// that keep H' along a diagonal, and are no better than gaps against others (ResidueClasses::end). All other
// ways out of a lane's matrix open a gap more than that within it, so that the diagonal of its last cell has
// H' of it in the last row of all.
//
//     What can be alive there. Let (i,j) be alive, in the row of tiles below row r. Its best path has living
//     cells only, and leaves row r in a column k; so j >= k. If it goes x columns more than rows to the
//     right, so many are in gaps that it opens; a gap of x columns in row r itself comes to the same diagonal
//     and costs no more: k + x is alive in row r, and j = k + x + (i - r).
//
// Cells beside those columns hold what a gap from a cell that is filled leaves: in the column before the
// first, one that goes on downwards, and after the last one in the row above, one that goes on to the right.
// These are scores of alignments, so none is too high; and differences stay within the bounds of byte_cell.h,
// for its proof needs of the cells beside just such gaps. So living cells have their full values, by the same
// recurrences, and the traceback finds the path of the full matrix: it never leaves the living cells.
//
// Scores themselves are needed at both edges only. H' of each lane is carried along there, in 32 bits.
#pragma once

#include <cstring>

#include "byte_lane_shift.h"
#include "byte_reach.h"
#include "byte_state.h"
#include "../core/recurrence.h"
#include "row_scores.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class LaneBands {
public:
    explicit LaneBands(ByteWork<V>& work)
        : w_(work),
          shift_(work),
          side_(work.batch.side),
          each_diagonal_(work.scheme.highest + 2 * work.scheme.gap_extend) {
        const Group& group = *w_.batch.group;
        const OwnRows& own = *w_.batch.own;
        for (int l = 0; l < LANES; l++) {
            const int from = l < group.used ? l : group.used - 1;
            rows_.set(l, own.lengths[from]);
            columns_.set(l, group.lengths[from]);
        }
    }

    // A beam for the lanes. Sets their bounds, and `done` to the lanes that have one: those without are
    // hopeless, which is mostly known after an eighth of the rows.
    void find_bounds(LaneBand& c) {
        beam_ = true;
        grain_ = 1;
        lanes_ = c.lanes;
        width_ = BEAM * each_diagonal_;
        set_hope(c.widest);
        const bool done = fill<false>();
        c.cells += cells_;
        c.done = done ? read_scores(lanes_, c.bounds) : 0;
    }

    // Fills the band of the lanes. `done`: those whose last cell comes to the bound. Sets their scores.
    template <bool TRACE>
    void fill_band(LaneBand& c, int32_t* scores) {
        beam_ = false;
        grain_ = side_;
        lanes_ = c.lanes;
        for (int l = 0; l < LANES; l++) bounds_.set(l, lanes_ >> l & 1 ? c.bounds[l] : UNREACHABLE);
        const bool done = fill<TRACE>();
        c.cells += cells_;
        c.done = done ? read_scores(lanes_, scores) : 0;
        for (uint64_t left = c.done; left; left &= left - 1) {
            const int l = __builtin_ctzll(left);
            if (scores[l] < c.bounds[l]) c.done &= ~(uint64_t{1} << l);
            scores[l] -= raised(l);
        }
    }

private:
    static constexpr int LANES = V::LANES;
    using Ints = typename V::Ints;
    using Numbers = LaneNumbers<V>;
    static constexpr int PARTS = Numbers::PARTS;
    typedef float Floats __attribute__((vector_size(sizeof(Ints))));

    static constexpr int32_t BEAM = 20;  // diagonals on each side
    static constexpr int32_t UNREACHABLE = 1 << 30;
    static constexpr int32_t WIDE_BEAM = 7 * LaneShift<V>::STEP;

    // By how much H' of a lane's last cell exceeds the score.
    int32_t raised(int lane) const { return (rows_.of(lane) + columns_.of(lane)) * w_.scheme.gap_extend; }

    // ---------------------------------------------------------------- which columns

    RowReach<V> row_reach(const uint8_t* border, int32_t row) const {
        return {rows_, columns_, each_diagonal_, border, row};
    }

    // Sets when `leave_out_hopeless` gives up a lane: when the score that it has lost grows with the rows so
    // fast that its band would take more than the share `widest` of its matrix. 0: never.
    void set_hope(double widest) {
        for (int p = 0; p < PARTS; p++) {
            const Ints shorter = rows_.parts[p] < columns_.parts[p] ? rows_.parts[p] : columns_.parts[p];
            const Floats each = Floats{} + static_cast<float>(each_diagonal_);
            hope_[p] = each * __builtin_convertvector(shorter, Floats);
            loss_of_row_[p] = each * static_cast<float>(widest) *
                              __builtin_convertvector(columns_.parts[p], Floats) /
                              __builtin_convertvector(rows_.parts[p], Floats);
        }
        may_give_up_ = widest > 0;
    }
    void leave_out_hopeless(const Numbers& best, int32_t row) {
        Numbers hopeless;
        Ints any{};
        for (int p = 0; p < PARTS; p++) {
            const Floats least = hope_[p] - loss_of_row_[p] * static_cast<float>(row);
            hopeless.parts[p] = __builtin_convertvector(best.parts[p], Floats) < least;
            any |= hopeless.parts[p];
        }
        if (!some(any)) return;
        for (int l = 0; l < LANES; l++)
            if (hopeless.of(l)) lanes_ &= ~(uint64_t{1} << l);
    }
    static bool some(const Ints& numbers) {
        int32_t all = 0;
        for (int k = 0; k < Numbers::IN_PART; k++) all |= numbers[k];
        return all;
    }

    // A beam's bounds: less than the best of the row by its width. False: no lane is left.
    bool set_beam_bounds(const uint8_t* border, int32_t row) {
        const uint64_t before = lanes_;
        const Numbers best = row_reach(border, row).best(left_, low_, high_);
        if (may_give_up_ && row >= w_.batch.rows / 8) leave_out_hopeless(best, row);
        if (row == 0 || lanes_ != before)
            for (int l = 0; l < LANES; l++) left_out_.set(l, lanes_ >> l & 1 ? INT32_MIN : UNREACHABLE);
        for (int p = 0; p < PARTS; p++) {
            const Ints bound = best.parts[p] - width_;
            bounds_.parts[p] = bound > left_out_.parts[p] ? bound : left_out_.parts[p];
        }
        return lanes_ != 0;
    }

    // Chooses the columns of the next rows, at most `next_rows`, by the row above them. False: none is alive.
    bool choose_columns(uint8_t* border, int32_t row, int32_t next_rows) {
        if (beam_ && !set_beam_bounds(border, row)) return false;
        const auto at = [&](int32_t column) { return border + static_cast<size_t>(column) * 2 * LANES; };
        Numbers h = left_;
        if (low_ > 0) h.add(at(low_ + 1));  // column low_ itself is not filled
        const int32_t first = row_reach(border, row).first(h, bounds_, low_ > 0 ? low_ + 1 : 0, high_);
        if (first > high_) return false;
        const int32_t low = first == 0 ? 0 : (first - 1) / grain_ * grain_;
        while (low_ < low) left_.add(at(++low_));
        if (beam_ && low_ > 0 && high_ - low_ > WIDE_BEAM) bring_together(border, row);
        const int32_t last = row_reach(border, row).last(right_, bounds_, low_ > 0 ? low_ + 1 : 0, high_);

        const int32_t beyond = last + next_rows, high = beyond < w_.columns ? beyond : w_.columns;
        for (; high_ > high; high_--) right_.subtract(at(high_));
        if (high_ < high) {
            right_.add(at(high_ + 1));  // a gap begins or goes on, see tier(); beyond it goes on
            memset(at(high_ + 1) + 2 * LANES, 0, static_cast<size_t>(high - high_ - 1) * 2 * LANES);
            high_ = high;
        }
        if (beam_) shift_.make_residues(high_);
        return true;
    }

    // Of a beam: lanes that are not alive in its first columns are moved there.
    void bring_together(uint8_t* border, int32_t row) {
        Numbers h = left_;
        h.add(border + static_cast<size_t>(low_ + 1) * 2 * LANES);
        const uint64_t late = lanes_ & ~row_reach(border, row).any_of(h, bounds_, low_ + 1, shift_.STEP);
        if (late) shift_.move(late, {border, low_, high_, left_, right_, columns_});
    }

    // ---------------------------------------------------------------- the fill

    template <bool TRACE>
    bool fill() {
        const int32_t rows = w_.batch.rows;
        low_ = 0;
        high_ = w_.columns;
        cells_ = 0;
        used_ = static_cast<std::ptrdiff_t>(w_.layout.border_bytes);
        if (TRACE) w_.band[0].border = 0;
        left_.set_all(0);
        right_.set_all(w_.scheme.gap_extend - w_.scheme.gap_open);
        for (int32_t row = 0, tile = 0; row < rows; row += side_, tile++) {
            const int32_t height = w_.tile_height(row);
            uint8_t* const border = w_.border(TRACE ? tile : 0);
            if (*w_.batch.cancelled || !choose_columns(border, row, height)) return false;
            if (TRACE) make_room(tile);
            cells_ += int64_t{height} * (high_ - low_) * __builtin_popcountll(lanes_);
            fill_rows<TRACE>(row, row + height, border, w_.border(TRACE ? tile + 1 : 0));
        }
        return true;
    }

    // Finds the places of what a row of tiles keeps: the border below it, as wide as it or as the next row of
    // tiles, and the columns left of its tiles. One follows the other, so that little memory is used.
    void make_room(int32_t tile) {
        const auto vectors = [](int32_t count) { return static_cast<std::ptrdiff_t>(count) * 2 * LANES; };
        BandRow &here = w_.band[tile], &below = w_.band[tile + 1];
        here.before = low_;
        here.last = high_;
        below.border = used_ - vectors(low_);
        used_ = below.border + vectors((high_ + side_ < w_.columns ? high_ + side_ : w_.columns) + 1);
        const std::ptrdiff_t left = vectors(w_.tile_height(tile * side_));
        here.lefts = used_ - left * (low_ > 0 ? low_ / side_ : 1);
        used_ = here.lefts + left * ((high_ < w_.columns ? high_ : w_.columns - 1) / side_ + 1);
    }

    // Rows begin+1 .. end. Reads the border `in` and leaves `out`.
    template <bool TRACE>
    void fill_rows(int32_t begin, int32_t end, const uint8_t* in, uint8_t* out) {
        constexpr int LEAST = V::ROWS < 4 ? V::ROWS : 4;
        int32_t row = begin;
        for (; row + V::ROWS <= end; row += V::ROWS, in = out) tier<TRACE, V::ROWS>(row, in, out);
        for (; row < end; row += LEAST, in = out) tier<TRACE, LEAST>(row, in, out);
    }

    // Rows row+1 .. row+ROWS of the columns low_+1 .. high_.
    template <bool TRACE, int ROWS>
    PAIRALIGN_INLINE void tier(int32_t row, const uint8_t* in, uint8_t* out) {
        const RowScores<V, Scores::CLASSES, ROWS> scores(w_, row);
        V x[ROWS], y[ROWS];
        const int32_t low = low_, high = high_, width = side_;
        in += static_cast<size_t>(low) * 2 * LANES;
        out += static_cast<size_t>(low) * 2 * LANES;
        const ByteCosts<V> costs = w_.costs();
        // f' - H': what the gap from above leaves.
        const V downwards = V::sub(V::sub(V::load(in + LANES), V::load(in)), costs.o);
        unrolled<0, ROWS>([&](auto index) __attribute__((always_inline)) {
            constexpr int k = decltype(index)::value;
            x[k] = low > 0 && k == 0 ? downwards : low > 0 ? V::set(0) : w_.row_edge(row + 1 + k);
            y[k] = x[k];
        });
        alignas(64) uint8_t edge[LANES];
        x[0].store(edge);
        left_.add(edge);
        if constexpr (TRACE) keep_left<ROWS>(row, low, x, y);
        V::set(0).store(out);  // so that this gap goes on
        costs.o.store(out + LANES);
        const uint8_t* const codes = w_.codes;
        for (int32_t j = low + 1, tile_end = low + width; j <= high; tile_end += width) {
            const int32_t stop = tile_end < high ? tile_end : high;
            if (TRACE && stop == tile_end) fetch_left<ROWS>(row, stop);
            for (; j <= stop; j++) {
                in += 2 * LANES;
                out += 2 * LANES;
                V v = V::load(in), gap = V::load(in + LANES);
                const V residues = V::load(codes + static_cast<size_t>(j) * LANES);
                unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const V s = scores.template of<k>(residues, j);
                    const auto cell = ByteCell<V>::template of<false>(s, x[k], y[k], v, gap, v, costs);
                    x[k] = cell.x;
                    y[k] = cell.y;
                    v = cell.v;
                    gap = cell.w;
                });
                v.store(out);
                gap.store(out + LANES);
            }
            if (TRACE && stop == tile_end) keep_left<ROWS>(row, stop, x, y);
        }
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            x[decltype(which)::value].store(edge);
            right_.add(edge);
        });
        if (high == w_.columns) return;
        // The row below may go on further to the right: there a gap goes on from here, e' - H'.
        const V rightwards = V::sub(V::sub(y[ROWS - 1], x[ROWS - 1]), costs.o);
        rightwards.store(out + 2 * LANES);
        rightwards.store(out + 3 * LANES);
    }

    // Asks for the memory that keep_left is going to write: it is far away.
    template <int ROWS>
    PAIRALIGN_INLINE void fetch_left(int32_t row, int32_t column) {
        if (column == w_.columns) return;
        const uint8_t* const left = w_.left(column / side_, row + 1);
        for (int k = 0; k < 2 * ROWS; k++) __builtin_prefetch(left + k * LANES, 1);
    }

    // What the tile from `column` on finds on its left.
    template <int ROWS>
    PAIRALIGN_INLINE void keep_left(int32_t row, int32_t column, const V (&x)[ROWS], const V (&y)[ROWS]) {
        if (column == 0 || column == w_.columns) return;
        uint8_t* const left = w_.left(column / side_, row + 1);
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            x[k].store(left + 2 * k * LANES);
            y[k].store(left + (2 * k + 1) * LANES);
        });
    }

    // In which column of the last row H' of the last cell is.
    Ints end_column(int part) const { return columns_.parts[part] + w_.batch.rows - rows_.parts[part]; }

    // Reads H' of the last cells of `lanes`, of those whose last cell lies in or beside the last rows filled.
    uint64_t read_scores(uint64_t lanes, int32_t* scores) const {
        const uint8_t* const border = w_.border(w_.batch.trace ? (w_.batch.rows - 1) / side_ + 1 : 0);
        const int32_t end = high_ < w_.columns ? high_ + 1 : high_;
        Numbers h = left_;
        for (int32_t j = low_ + 1; j <= end; j++) {
            Numbers next = h;
            next.add(border + static_cast<size_t>(j) * 2 * LANES);
            for (int p = 0; p < PARTS; p++) h.parts[p] = end_column(p) >= j ? next.parts[p] : h.parts[p];
        }
        uint64_t found = 0;
        for (int l = 0; l < LANES; l++) {
            scores[l] = h.of(l);
            if (columns_.of(l) + w_.batch.rows - rows_.of(l) > low_) found |= lanes & (uint64_t{1} << l);
        }
        return found;
    }

    ByteWork<V>& w_;
    LaneShift<V> shift_;
    const int32_t side_;           // rows of a row of tiles
    const int32_t each_diagonal_;  // what two residues are worth at most; a step off the diagonal loses it
    Numbers rows_, columns_;       // of each lane

    bool beam_ = false;
    int32_t grain_ = 1;  // columns begin at multiples of it
    int32_t width_ = 0;
    bool may_give_up_ = false;
    Floats hope_[PARTS], loss_of_row_[PARTS];  // what the best reach must be: less from row to row
    uint64_t lanes_ = 0;
    Numbers bounds_;    // of H' in the last cell; of other lanes out of reach
    Numbers left_out_;  // the least bound: of other lanes out of reach

    // While rows are filled: columns low_+1 .. high_, and H' in columns low_ and high_ of the last row.
    int32_t low_ = 0, high_ = 0;
    Numbers left_, right_;
    int64_t cells_ = 0;
    std::ptrdiff_t used_ = 0;  // bytes of borders and columns, when tracing
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
