// Which cells of a pair are alive, and where the lanes of its windows stand: what antidiagonal_band.h
// fills.
//
// A cell is alive while the rest of both sequences could still bring its score to the bound. Once a block,
// `trim` finds the first and the last lane that is alive, and `next_block` lays the window around them.
#pragma once

#include "../core/recurrence.h"
#include "neighbours.h"
#include "pair.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct BandCells {
    using Lane = typename V::Lane;
    static constexpr int LANES = V::LANES;
    // 32-bit lanes, which few costs take, are not worth more code.
    static constexpr int IN_REGISTERS = sizeof(typename V::Lane) == 2 ? SETS_IN_REGISTERS : 3;
    // 32-bit lanes have room to spare: sums with worths must not overflow.
    static constexpr int64_t HIGHEST = sizeof(Lane) == 2 ? 32767 : (1 << 29);
    static constexpr int64_t LOWEST = -HIGHEST;

    // What a lane without a cell holds. Values below it are never kept.
    static int64_t nothing(const Scheme& s) {
        const int64_t worst = int64_t{s.matrix[PAD][PAD]} + 2 * s.gap_extend;
        return LOWEST + (worst < 0 ? -worst : 0) + s.gap_open;
    }

    // How much values can rise in lanes that have no cell of the matrix, in so many antidiagonals.
    static int64_t slack(const PrunedPair& p, int32_t steps) {
        const Scheme& s = *p.scheme;
        const int64_t beyond = (p.two_scores ? p.mismatch : s.matrix[PAD][PAD]) + 2 * int64_t{s.gap_extend};
        return (steps / 2 + 2) * (beyond > 0 ? beyond : 0) + s.highest + 2 * s.gap_extend + 1;
    }

    static Lane* lanes(void* p) { return static_cast<Lane*>(p); }

    static int32_t row_of(const PrunedPair& p, int32_t step, int32_t lane) {
        return ((step + 1) >> 1) + lane - p.origin;
    }

    // ---------------------------------------------------------------- residues

    struct Residues {
        const Lane *row, *column;  // of lane 0 of the window
    };
    static PAIRALIGN_INLINE Residues residues_at(const PrunedPair& p, int32_t step, int32_t low) {
        return {static_cast<const Lane*>(p.row) + row_of(p, step, low) - 1,
                static_cast<const Lane*>(p.column) + p.columns - step + row_of(p, step, low)};
    }

    template <bool TWO>
    struct Scores {
        V match, mismatch;
        const Lane* table;

        explicit PAIRALIGN_INLINE Scores(const PrunedPair& p)
            : match(V::set(static_cast<Lane>(p.match + 2 * p.scheme->gap_extend))),
              mismatch(V::set(static_cast<Lane>(p.mismatch + 2 * p.scheme->gap_extend))),
              table(static_cast<const Lane*>(p.table)) {}
        PAIRALIGN_INLINE V of(const Residues& residues, int vector) const {
            const Lane *a = residues.row + vector * LANES, *b = residues.column + vector * LANES;
            if constexpr (TWO) {
                return V::blend(V::eq(load_any<V>(a), load_any<V>(b)), match, mismatch);
            } else {
                alignas(64) Lane found[LANES];
                for (int l = 0; l < LANES; l++) found[l] = table[a[l] * CODES + b[l]];
                return V::load(found);
            }
        }
    };

    // ---------------------------------------------------------------- bounds

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

    // Lanes of an antidiagonal that hold cells of the matrix, within [low, high].
    struct Range {
        int32_t low, high;
    };
    static Range inside(const PrunedPair& p, int32_t step, Range r) {
        const int32_t zero = row_of(p, step, 0);
        return {larger(r.low, larger(0, step - p.columns) - zero),
                smaller(r.high, smaller(p.rows, step) - zero)};
    }

    // What cheap residues of the rest can give back, for all of some lanes: in gaps and opposite each other.
    struct Given {
        int32_t row, column, both;
    };
    static Given given_back(const PrunedPair& p, int32_t step, int32_t low, int32_t high, bool beam) {
        if (beam) return {0, 0, 0};  // a beam is no bound, and is narrower so
        const int32_t i = row_of(p, step, low), j = step - 1 - row_of(p, step, high);
        const int32_t rows = p.row_cheap[smaller(larger(i, 0), p.rows)],
                      columns = p.column_cheap[smaller(larger(j, 0), p.columns)];
        return {p.bonus * rows, p.bonus * columns, p.bonus * smaller(rows, columns)};
    }

    // What bounds the cells of an antidiagonal from a lane on; next() goes on to the next vector of lanes.
    struct Bound {
        const Lane* h;
        const int32_t *rows, *columns;
        Wide loss[4];  // in the gaps that the rest needs, at least: the largest of four linear functions of
                       // the diagonal

        PAIRALIGN_INLINE Bound(const PrunedPair& p, int32_t step, int32_t low) {
            const int32_t i = row_of(p, step, low), longer = p.rows - p.columns + step - 2 * i;
            const GapLoss &row = p.row_gaps, &column = p.column_gaps;
            h = static_cast<const Lane*>(p.h[step & 1]) + low;
            rows = p.row_worth + i;
            columns = p.column_worth + (p.columns - step + i);
            const int32_t from[4] = {row.least * longer, row.usual * (longer - row.cheap),
                                     -column.least * longer, column.usual * (-longer - column.cheap)};
            unrolled<0, 4>([&](auto q) __attribute__((always_inline)) {
                loss[q.value] = Wide::add(Wide::set(from[q.value]), load_any<Wide>(p.ramps[q.value]));
            });
        }
        PAIRALIGN_INLINE Wide with(int32_t k, Wide most) const {
            const Wide worth = Wide::add(load_any<Wide>(rows + k), load_any<Wide>(columns + k));
            return Wide::sub(Wide::sub(widened(h + k), worth), most);
        }
        PAIRALIGN_INLINE Wide at(int32_t k) const {
            return with(k, Wide::max(Wide::max(loss[0], loss[1]), Wide::max(loss[2], loss[3])));
        }
        // The same where some residues are cheap; `given` is what they can give back.
        PAIRALIGN_INLINE Wide at(int32_t k, const Given& given) const {
            const auto less = [](Wide loss, int32_t by)
                                  __attribute__((always_inline)) { return Wide::sub(loss, Wide::set(by)); };
            // What a residue in a gap gets back is never more than `usual` says, nor than all cheap ones get.
            const Wide in_rows = Wide::max(less(loss[0], given.row), loss[1]),
                       in_columns = Wide::max(less(loss[2], given.column), loss[3]);
            const Wide most = Wide::blend(Wide::gt(Wide::set(0), loss[0]), in_columns, in_rows);
            return with(k, less(most, given.both));
        }
        PAIRALIGN_INLINE void advance(const Wide (&by)[4]) {
            unrolled<0, 4>([&](auto q) __attribute__((always_inline)) {
                loss[q.value] = Wide::add(loss[q.value], by[q.value]);
            });
        }
    };

    // Sets p.reach of some lanes: the highest score, less `base`, that an alignment through a cell of the
    // last two antidiagonals can have. NO_REACH where a lane has no cell of the matrix.
    static constexpr int32_t NO_REACH = -2147483647;
    static __attribute__((noinline)) void set_reach(const PrunedPair& p, Range lanes, bool beam = false) {
        Bound now(p, p.step, lanes.low), before(p, p.step - 1, lanes.low);
        Wide by[4];
        unrolled<0, 4>([&](auto q) __attribute__((always_inline)) {
            by[q.value] = Wide::set(p.ramps[q.value][1] * Wide::LANES);
        });
        const int32_t count = lanes.high - lanes.low + 1;
        for (int32_t k = 0; k < count; k += Wide::LANES) {
            if (p.bonus) {
                const int32_t low = lanes.low + k;
                // Rows of the antidiagonal before may begin one earlier.
                const Given given = given_back(p, p.step - 1, low, low + Wide::LANES - 1, beam);
                store_any(p.reach + low, Wide::max(now.at(k, given), before.at(k, given)));
            } else {
                store_any(p.reach + lanes.low + k, Wide::max(now.at(k), before.at(k)));
            }
            now.advance(by);
            before.advance(by);
        }
        const Range in_now = inside(p, p.step, lanes), in_before = inside(p, p.step - 1, lanes);
        for (int32_t l = lanes.low; l < larger(in_now.low, in_before.low) && l <= lanes.high; l++)
            set_reach_at_border(p, l, in_now, in_before, beam);
        for (int32_t l = lanes.high; l > smaller(in_now.high, in_before.high) && l >= lanes.low; l--)
            set_reach_at_border(p, l, in_now, in_before, beam);
    }

    static __attribute__((noinline)) void set_reach_at_border(const PrunedPair& p, int32_t lane, Range now,
                                                              Range before, bool beam) {
        const bool in_now = lane >= now.low && lane <= now.high,
                   in_before = lane >= before.low && lane <= before.high;
        if (!in_now && !in_before) {
            p.reach[lane] = NO_REACH;
            return;
        }
        alignas(64) int32_t reach[2][Wide::LANES];
        const Given given = p.bonus ? given_back(p, p.step - 1, lane, lane, beam) : Given{0, 0, 0};
        for (int32_t back = 0; back < 2; back++) {
            const Bound bound(p, p.step - back, lane);
            (p.bonus ? bound.at(0, given) : bound.at(0)).store(reach[back]);
        }
        if (!in_now) reach[0][0] = NO_REACH;
        if (!in_before) reach[1][0] = NO_REACH;
        p.reach[lane] = larger(reach[0][0], reach[1][0]);
    }

    // Of a window, whose lanes are whole vectors.
    static int64_t best_reach(const PrunedPair& p, Range lanes) {
        Wide most = Wide::set(NO_REACH);
        for (int32_t l = lanes.low; l <= lanes.high; l += Wide::LANES)
            most = Wide::max(most, load_any<Wide>(p.reach + l));
        alignas(64) int32_t best[Wide::LANES];
        most.store(best);
        for (int l = 1; l < Wide::LANES; l++) best[0] = larger(best[0], best[l]);
        return p.base + best[0];
    }

    // The first lane from `low` on that reaches so much, or `end`; the last one up to `high`, or begin - 1.
    static int32_t first_reaching(const PrunedPair& p, int32_t low, int32_t end, int32_t wanted) {
        const Wide least = Wide::set(wanted);
        while (low + Wide::LANES <= end && !Wide::any(Wide::ge(load_any<Wide>(p.reach + low), least)))
            low += Wide::LANES;
        while (low < end && p.reach[low] < wanted) low++;
        return low;
    }
    static int32_t last_reaching(const PrunedPair& p, int32_t begin, int32_t high, int32_t wanted) {
        const Wide least = Wide::set(wanted);
        while (high - Wide::LANES + 1 >= begin &&
               !Wide::any(Wide::ge(load_any<Wide>(p.reach + high - Wide::LANES + 1), least)))
            high -= Wide::LANES;
        while (high >= begin && p.reach[high] < wanted) high--;
        return high;
    }

    // Narrows [alive_low, alive_high] to the lanes of the window that reach `least`; false: none does.
    // `known`: p.reach is set for all of the window.
    static bool trim(PrunedPair& p, Range window, int64_t least, bool known) {
        constexpr int32_t AT_ONCE = 64;
        const int32_t wanted =
            static_cast<int32_t>(least - p.base > NO_REACH ? least - p.base : NO_REACH + 1);
        int32_t low = window.low, high = window.high;
        int32_t until = known ? high + 1 : low;  // reach is set before it
        for (;;) {
            if (low > high) return false;
            if (low == until) {
                until = smaller(high + 1, low + AT_ONCE);
                set_reach(p, {low, until - 1});
            }
            low = first_reaching(p, low, until, wanted);
            if (low < until) break;
        }
        int32_t from = until > high ? low : high + 1;
        while (high > low) {
            if (high < from) {
                from = larger(low, high - AT_ONCE + 1);
                set_reach(p, {from, high});
            }
            high = last_reaching(p, from, high, wanted);
            if (high >= from) break;
        }
        p.alive_low = low;
        p.alive_high = larger(low, high);
        return true;
    }

    // ---------------------------------------------------------------- windows

    static Block next_block(const PrunedPair& p) {
        const int32_t alive = p.alive_high - p.alive_low + 1, left = p.rows + p.columns - p.step;
        Block b{p.step,       0, 0,           (alive + LEAST_STEPS + LANES - 1) / LANES, p.alive_low,
                p.alive_high, 0, p.flags_used};
        if (b.vectors <= IN_REGISTERS) {
            b.steps = smaller(MOST_STEPS, (b.vectors * LANES - alive) & ~1);
            b.low = p.alive_low - b.steps / 2;
        } else {  // aligned windows
            b.steps = MOST_STEPS / 2;
            b.low = (p.alive_low - b.steps / 2) & ~(LANES - 1);
            b.vectors = (p.alive_high + b.steps / 2 - b.low) / LANES + 1;
        }
        b.steps = smaller(b.steps, left);
        return b;
    }

    static size_t flag_bytes(const Block& b) {
        return static_cast<size_t>(b.vectors) * static_cast<size_t>(b.steps) * V::FLAG_BYTES;
    }

    // Everything that can be added to a lane of the window without a cell, at most; and H' of its cells at
    // the end.
    static int64_t most_from_nothing(const PrunedPair& p, const Block& b) {
        const int32_t i = row_of(p, b.step - 1, b.low),
                      j = b.step - 1 - row_of(p, b.step, b.low + b.vectors * LANES);
        return -int64_t{p.row_worth[larger(i, 0)]} - p.column_worth[p.columns - larger(j, 0)] +
               slack(p, b.steps) + cheap_from(p, larger(i, 0), larger(j, 0));
    }
    // What cheap residues from a row and a column on can give back, at most.
    static int64_t cheap_from(const PrunedPair& p, int32_t i, int32_t j) {
        if (!p.bonus) return 0;
        return int64_t{p.bonus} *
               (int64_t{p.row_cheap[smaller(i, p.rows)]} + p.column_cheap[smaller(j, p.columns)]);
    }
    static int64_t highest_at_end(const PrunedPair& p, const Block& b) {
        const int32_t end = b.step + b.steps;
        const int32_t i = row_of(p, end, b.low + b.vectors * LANES), j = end - row_of(p, end - 1, b.low);
        return int64_t{p.row_worth[smaller(i, p.rows)]} + p.column_worth[p.columns - smaller(j, p.columns)] -
               p.row_worth[0] - p.column_worth[p.columns] + slack(p, b.steps) + cheap_from(p, 0, 0) -
               cheap_from(p, i, j);
    }

    // Moves `base`, so that lanes hold less by `by`.
    static __attribute__((noinline)) void rebase(PrunedPair& p, int64_t by) {
        const int64_t least = nothing(*p.scheme);
        void* const arrays[] = {p.h[0], p.h[1], p.e, p.f};
        for (void* array : arrays)
            for (int32_t l = p.alive_low; l <= p.alive_high; l++) {
                const int64_t value = lanes(array)[l] - by;
                lanes(array)[l] = static_cast<Lane>(value > least ? value : least);
            }
        p.base += by;
    }

    // Chooses a base with which cells fit into the lanes and what has no cell is below the bound.
    static bool settle_base(PrunedPair& p, const Block& b) {
        const int64_t least = highest_at_end(p, b) - HIGHEST;
        const int64_t most = p.bound - most_from_nothing(p, b) - nothing(*p.scheme) - 1;
        if (least > most) return false;
        if (p.base < least || p.base > most) rebase(p, most - p.base);
        return true;
    }

    // Whole vectors: lanes beyond the window hold whatever there is.
    static void clear_margins(PrunedPair& p, const Block& b) {
        const V value = V::set(static_cast<Lane>(nothing(*p.scheme)));
        void* const arrays[] = {p.h[0], p.h[1], p.e, p.f};
        for (void* array : arrays) {
            for (int32_t end = b.alive_low; end > b.low; end -= LANES)
                store_any(lanes(array) + end - LANES, value);
            for (int32_t l = b.alive_high + 1; l < b.low + b.vectors * LANES; l += LANES)
                store_any(lanes(array) + l, value);
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
