// Very similar pairs: wavefronts of equal cost instead of antidiagonals. Compiled once per instruction set.
//
// Costs count what an alignment loses against the match of every residue: nothing for equal residues,
// `mismatch` for others, `open` for a gap and `extend` for each of its residues. The front of cost s says how
// far alignments of cost s or less come on each diagonal k = i - j:
//
//     e[s][k] = max(e[s-1][k], e[s - extend][k+1],     m[s - open - extend][k+1])         rows, ends in a gap
//     f[s][k] = max(f[s-1][k], f[s - extend][k-1] + 1, m[s - open - extend][k-1] + 1)
//     m[s][k] = max(m[s-1][k], m[s - mismatch][k] + 1, e[s][k], f[s][k]), and on over equal residues
//
// with none of them beyond the matrix (Myers 1986; Marco-Sola et al. 2021). The cost of a cell, in each of
// the three states, does not fall along a diagonal: take the last residues of both sequences away, and with
// them what pairs them, or move the gap that ends there. So a front says the cost of every cell behind it:
// the least s whose front has reached it. That is all that the traceback asks for, and the path is that of
// the full matrix.
//
// Fronts go out from both ends until they meet (Marco-Sola et al. 2023), which fills half as many. Where one
// of cost a and one of cost b overlap, there is an alignment of cost a + b; if both are within the same gap,
// it is opened once. `fill` finds the least such sum, and keeps few fronts:
//
//     begin  |----x----x----x--- a | b --x----x----|  end        x: saved fronts, `depth` of them
//
// Beyond the meeting, only fronts from the begin say which path is the canonical one. They are filled up to
// the end in boxes, of diagonals that alignments of the pair's cost can take: those on which the saved fronts
// of the other side overlap. `trace` fills each box once more, of diagonals that the path can have taken to
// the cell that it has come to.
//
// What an alignment of cost `most` cannot pass is left out: a diagonal is `extend` away from the next.
#pragma once

#include <cstring>

#include "../core/traceback.h"
#include "equal_residues.h"
#include "neighbours.h"
#include "pair.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Wavefronts {
    static constexpr int32_t NONE = -(1 << 30), AT_ONCE = 256;
    enum State { M, E, F };

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

    static WaveFront& of(const WaveTable& table, int32_t cost) { return table.fronts[cost & table.mask]; }
    static size_t width_of(const WavePair& p, const WaveFront& w) {
        return static_cast<size_t>(w.high - w.low + 1 + 2 * p.padding);
    }
    // By diagonal, from low - padding to high + padding.
    static int32_t* rows_of(const WavePair& p, const WaveFront& w, int state) {
        return w.rows + static_cast<size_t>(state) * width_of(p, w) + p.padding - w.low;
    }

    // ---------------------------------------------------------------- residues

    static uint32_t copy_residues(const uint8_t* codes, int32_t length, uint8_t* __restrict out,
                                  uint8_t* __restrict from_end) {
        uint32_t occurring = 0;
        for (int32_t k = 0; k < length; k++) {
            const uint8_t code = codes[k];
            occurring |= uint32_t{1} << (code & 31);
            out[k] = code;
            from_end[length - 1 - k] = code;
        }
        return occurring;
    }

    static int32_t mark(uint8_t* codes, int32_t length, uint32_t others, uint8_t mark) {
        int32_t count = 0;
        for (int32_t k = 0; k < length; k++) {
            const uint32_t is_other = others >> (codes[k] & 31) & 1;
            count += static_cast<int32_t>(is_other);
            codes[k] = static_cast<uint8_t>(codes[k] | is_other * mark);
        }
        return count;
    }

    // ---------------------------------------------------------------- a front

    // A vector of them at least.
    static PAIRALIGN_INLINE void set_none(int32_t* rows, size_t count) {
        const Wide none = Wide::set(NONE);
        for (size_t k = 0; k + Wide::LANES < count; k += Wide::LANES) store_any(rows + k, none);
        store_any(rows + count - Wide::LANES, none);
    }

    static PAIRALIGN_INLINE void lay_out(const WavePair& p, WaveFront& w, int32_t low, int32_t high) {
        w.low = low;
        w.high = high;
        const size_t padding = static_cast<size_t>(p.padding);
        for (int state = M; state <= F; state++) set_none(rows_of(p, w, state) + low - p.padding, padding);
    }

    // What another front has of a front's diagonals.
    static void copy(const WavePair& p, const WaveFront& from, const WaveFront& to) {
        for (int state = M; state <= F; state++) {
            const int32_t* const source = rows_of(p, from, state);
            int32_t* const target = rows_of(p, to, state);
            const int32_t low = larger(from.low, to.low), high = smaller(from.high, to.high);
            set_none(target + to.low - p.padding, width_of(p, to));
            if (low <= high)
                std::memcpy(target + low, source + low, sizeof(int32_t) * size_t(high - low + 1));
        }
    }

    // A front that has reached nothing.
    static void clear(const WavePair& p, WaveFront& w, int32_t low, int32_t high) {
        w.low = low;
        w.high = high;
        set_none(w.rows, 3 * width_of(p, w));
    }

    // The front of a cost; where GOES_ON_AT_ONCE, up to residues that differ, and the result is the
    // antidiagonal that is reached by them, at least.
    static __attribute__((noinline)) int32_t step(const WavePair& p, const WaveSide& side,
                                                  const WaveTable& table, int32_t cost) {
        const WaveFront& w = of(table, cost);
        const auto before = [&](int32_t by, State state) -> const int32_t* {
            return rows_of(p, of(table, cost - by), state);
        };
        int32_t *const m = rows_of(p, w, M), *const e = rows_of(p, w, E), *const f = rows_of(p, w, F);
        const int32_t *const m1 = before(1, M), *const e1 = before(1, E), *const f1 = before(1, F);
        const int32_t *const mx = before(p.mismatch, M), *const mo = before(p.open + p.extend, M);
        const int32_t *const ee = before(p.extend, E), *const fe = before(p.extend, F);
        const Wide one = Wide::set(1), rows = Wide::set(p.row_count);
        Wide diagonals = Wide::add(load_any<Wide>(p.counting), Wide::set(w.low)), farthest = Wide::set(0);
        const Wide columns = Wide::set(p.column_count);
        const auto within = [](Wide reached, Wide end) __attribute__((always_inline)) {
            return Wide::blend(Wide::gt(reached, end), end, reached);
        };
        for (int32_t k = w.low; k <= w.high; k += Wide::LANES) {
            const Wide end = within(Wide::add(diagonals, columns), rows);
            const auto at = [&](const int32_t* from)
                                __attribute__((always_inline)) { return load_any<Wide>(from + k); };
            const Wide in_e = Wide::max(at(e1), within(Wide::max(at(ee + 1), at(mo + 1)), end));
            const Wide in_f =
                Wide::max(at(f1), within(Wide::add(Wide::max(at(fe - 1), at(mo - 1)), one), end));
            const Wide was = at(m1), diagonal = Wide::max(was, within(Wide::add(at(mx), one), end));
            store_any(e + k, in_e);
            store_any(f + k, in_f);
            Wide reached = Wide::max(diagonal, Wide::max(in_e, in_f));
            if (GOES_ON_AT_ONCE)
                reached = go_on_at_once(reached, was, diagonals, w.high, side.row, side.column, farthest);
            store_any(m + k, reached);
            diagonals = Wide::add(diagonals, Wide::set(Wide::LANES));
        }
        const Wide none = Wide::set(NONE);
        for (int32_t k = 1; k <= p.padding - Wide::LANES; k += Wide::LANES) {
            store_any(m + w.high + k, none);
            store_any(e + w.high + k, none);
            store_any(f + w.high + k, none);
        }
        int32_t reached[Wide::LANES], most = 0;
        store_any(reached, farthest);
        for (int32_t one_of : reached) most = larger(most, one_of);
        return most;
    }

    // Goes on over equal residues, where the front of one less, `before`, has not gone as far; returns the
    // antidiagonal that is reached by them, at least.
    static __attribute__((noinline)) int32_t go_on(const WavePair& p, const WaveSide& side,
                                                   const WaveFront& w, const WaveFront& before) {
        int32_t moved[AT_ONCE];
        int32_t *const m = rows_of(p, w, M), *const was = rows_of(p, before, M);
        int32_t farthest = 0;
        for (int32_t low = w.low; low <= w.high; low += AT_ONCE) {
            const int32_t high = smaller(low + AT_ONCE - 1, w.high);
            int32_t count = 0;
            for (int32_t k = low; k <= high; k++) {  // without a branch: some have moved, some have not
                moved[count] = k;
                count += m[k] != was[k];
            }
            for (int32_t q = 0; q < count; q++) {
                const int32_t k = moved[q], i = m[k];
                if (i < 0) continue;
                m[k] = i + equal_after(side.row + i, side.column + (i - k));
                farthest = larger(farthest, 2 * m[k] - k);
            }
        }
        return farthest;
    }

    // Fills the front of a cost, whose memory is there.
    static int32_t fill_front(WavePair& p, const WaveSide& side, const WaveTable& table, int32_t cost,
                              int32_t low, int32_t high) {
        WaveFront& w = of(table, cost);
        lay_out(p, w, low, high);
        p.cells += high - low + 1;
        const int32_t farthest = step(p, side, table, cost);
        if (cost == 0) rows_of(p, w, M)[0] = 0;
        return GOES_ON_AT_ONCE && cost > 0 ? farthest : go_on(p, side, w, of(table, cost - 1));
    }

    struct Diagonals {
        int32_t low, high;
    };

    // Those that an alignment of cost `most` can have at a cost: a diagonal is `extend` away from the next.
    static Diagonals within(const WavePair& p, int32_t cost, int32_t most) {
        const int32_t end = p.row_count - p.column_count, left = larger(most - cost, 0) / p.extend + 1,
                      spread = cost < p.open + p.extend ? 0 : (cost - p.open) / p.extend;
        return {larger(larger(-spread, -p.column_count), end - left),
                smaller(smaller(spread, p.row_count), end + left)};
    }

    // ---------------------------------------------------------------- saved fronts

    // The first of the fronts that were saved, of costs saved_costs[number] - depth + 1 and so on.
    static WaveFront* saved_fronts(const WavePair& p, const WaveSide& side, int32_t number) {
        return side.saved + static_cast<size_t>(number) * static_cast<size_t>(p.depth);
    }

    // Saves the fronts up to a cost, of diagonals low .. high. False: there is no room.
    static bool save(WavePair& p, WaveSide& side, const WaveTable& table, int32_t cost, int32_t low,
                     int32_t high) {
        WaveFront* const fronts = saved_fronts(p, side, side.saved_count);
        for (int32_t q = 0; q < p.depth; q++) {
            const WaveFront& from = of(table, cost - p.depth + 1 + q);
            WaveFront& to = fronts[q];
            to.low = larger(from.low, low);
            to.high = larger(smaller(from.high, high), to.low);
            to.rows = p.memory + p.used;
            if (p.used + 3 * width_of(p, to) > p.box_at) return false;
            p.used += 3 * width_of(p, to);
            copy(p, from, to);
        }
        side.saved_costs[side.saved_count++] = cost;
        return true;
    }

    // Fills fronts up to a cost once more, of diagonals low .. high, from those that were saved on; -1: from
    // the begin on. False: there is no room.
    static bool fill_box(WavePair& p, const WaveSide& side, int32_t number, int32_t cost, int32_t low,
                         int32_t high) {
        const int32_t widest = p.cost / p.extend + 1;
        low = larger(low, larger(-p.column_count, -widest));
        high = smaller(high, smaller(p.row_count, widest));
        // Before the box there is room for what is saved of it.
        const size_t front = 3 * static_cast<size_t>(high - low + 1 + 2 * p.padding),
                     size = front * static_cast<size_t>(p.box.mask + 1);
        p.box_at = p.used + front * static_cast<size_t>(p.depth);
        if (p.box_at + size > p.room) return false;
        for (int32_t c = 0; c <= p.box.mask; c++)
            p.box.fronts[c].rows = p.memory + p.box_at + static_cast<size_t>(c) * front;
        const int32_t begin = number < 0 ? -1 : side.saved_costs[number];
        for (int32_t q = 0; q < p.depth; q++) {
            WaveFront& w = of(p.box, begin - p.depth + 1 + q);
            clear(p, w, low, high);
            if (number >= 0) copy(p, saved_fronts(p, side, number)[q], w);
        }
        for (int32_t c = begin + 1; c <= cost; c++) {
            const Diagonals d = within(p, c, p.cost);
            const int32_t first = smaller(larger(low, d.low), high);
            fill_front(p, side, p.box, c, first, larger(first, smaller(high, d.high)));
        }
        return true;
    }

    // ---------------------------------------------------------------- the meeting

    // Near the ends, where fronts are narrow, boxes are too.
    static int32_t save_after(const WavePair& p, int32_t cost) {
        return smaller(p.save_every, 4 * p.depth + cost / 4);
    }

    // Fills the next front of a side. False: there is no room to save it.
    static bool grow(WavePair& p, WaveSide& side) {
        const int32_t cost = ++side.cost;
        const Diagonals d = within(p, cost, p.most);
        side.farthest = larger(side.farthest, fill_front(p, side, side.ring, cost, d.low, d.high));
        if (cost < side.save_at) return true;
        side.save_at = cost + save_after(p, cost);
        return save(p, side, side.ring, cost, -p.column_count, p.row_count);
    }

    // Whether costs that go on as they began come to more than `most`: to twice as much in the first quarter,
    // when little is known and little is lost, later to less and less more.
    static bool looks_hopeless(int64_t cost, int64_t most, int64_t farthest, int64_t last) {
        if (8 * cost <= most) return false;
        const int64_t eighths = 4 * cost <= most ? 16 : 2 * cost <= most ? 10 : 9;
        return farthest * most * eighths < cost * last * 8;
    }

    // Whether a front of each side overlap, on any alignment or within a gap.
    static bool overlap(const WavePair& p, int32_t cost, int32_t other_cost, bool in_gap) {
        const WaveFront &w = of(p.sides[0].ring, cost), &other = of(p.sides[1].ring, other_cost);
        const int32_t end = p.row_count - p.column_count;
        const int32_t low = larger(w.low, end - other.high), high = smaller(w.high, end - other.low);
        for (int state = in_gap ? E : M; state <= (in_gap ? F : M); state++) {
            const int32_t *const reached = rows_of(p, w, state), *const from_end = rows_of(p, other, state);
            for (int32_t k = low; k <= high; k += AT_ONCE) {  // few branches: vectors
                const int32_t last = smaller(high, k + AT_ONCE - 1);
                int32_t most = INT32_MIN;
                for (int32_t q = k; q <= last; q++) most = larger(most, reached[q] + from_end[end - q]);
                if (most >= p.row_count) return true;
            }
        }
        return false;
    }

    // Up to which cost the other side's fronts have to go, so that they overlap an alignment of a cost in all
    // of the last `depth` fronts of the first side, or beyond: an alignment within a gap costs `open` more.
    static int32_t other_cost(const WavePair& p, int32_t cost, int32_t at) {
        return cost + p.open - at + p.depth - 1;
    }

    static void begin(WavePair& p) {
        p.cells = 0;
        p.cost = INT32_MAX;
        for (WaveSide& side : p.sides) {
            side.cost = -1;
            side.farthest = side.saved_count = 0;
            side.save_at = save_after(p, 0);
            for (int32_t c = 1; c <= p.depth; c++) clear(p, of(side.ring, -c), 0, 0);
        }
    }

    // Sets p.cost. TOO_MANY: it is more than p.most, or will be if it goes on as it began.
    static Progress fill(WavePair& p) {
        WaveSide &near = p.sides[0], &far = p.sides[1];
        const int32_t last = p.row_count + p.column_count;
        if (!p.waits) begin(p);
        do {
            if (*p.cancelled) return Progress::CANCELLED;
            p.waits = p.reach < p.most && near.cost + far.cost >= p.reach;
            if (p.waits) return Progress::MORE;
            if (!grow(p, near.cost <= far.cost ? near : far)) return Progress::MORE;
            const int32_t cost = near.cost + far.cost;
            if (cost > p.most) return Progress::TOO_MANY;
            // One side may begin with a long gap: what the other one has done is what is expected of both.
            if (p.gives_up && looks_hopeless(cost, p.most, 2 * larger(near.farthest, far.farthest), last))
                return Progress::TOO_MANY;
        } while (far.cost < 0 || near.farthest + far.farthest < last ||
                 !overlap(p, near.cost, far.cost, false));
        // An alignment of less cost may have its overlap beyond, where it loses much at once.
        const int32_t first = larger(0, near.cost - p.depth + 1);
        int32_t least[2] = {near.cost + 1, near.cost + 1};  // that overlap; the second one within a gap
        for (int32_t c = larger(0, far.cost - p.depth + 1);; c++) {
            if (c > far.cost && !grow(p, far)) return Progress::MORE;
            for (int gap = 0; gap < 2; gap++) {
                while (least[gap] > first && overlap(p, least[gap] - 1, c, gap)) least[gap]--;
                if (least[gap] <= near.cost) p.cost = smaller(p.cost, least[gap] + c - gap * p.open);
            }
            if (p.cost < INT32_MAX && c >= other_cost(p, p.cost, near.cost)) break;
        }
        return Progress::DONE;
    }

    // ---------------------------------------------------------------- beyond the meeting

    // The diagonals that an alignment of the pair's cost can have in the last fronts up to `cost`. `others`:
    // the other side's up to other_cost(p, p.cost, cost).
    template <class Others>
    static Diagonals alive(const WavePair& p, const WaveTable& table, int32_t cost, Others others) {
        const int32_t end = p.row_count - p.column_count;
        Diagonals found{INT32_MAX, INT32_MIN};
        for (int32_t q = 0; q < p.depth; q++) {
            const WaveFront &w = of(table, cost - q), &other = others(q);
            const int32_t *const m = rows_of(p, w, M), *const from_end = rows_of(p, other, M);
            for (int32_t k = larger(w.low, end - other.high); k <= smaller(w.high, end - other.low); k++) {
                if (m[k] + from_end[end - k] < p.row_count) continue;
                found.low = smaller(found.low, k);
                found.high = larger(found.high, k);
            }
        }
        return found;
    }

    // Saves fronts of the first side up to the pair's cost.
    static Progress go_to_the_end(WavePair& p) {
        WaveSide &near = p.sides[0], &far = p.sides[1];
        int32_t at = near.cost, number = far.saved_count;
        if (far.cost != other_cost(p, p.cost, at)) return Progress::LOST;
        Diagonals d = alive(p, near.ring, at, [&](int32_t q) -> const WaveFront& {
            return of(far.ring, far.cost - p.depth + 1 + q);
        });
        if (d.low > d.high) return Progress::LOST;
        if (!save(p, near, near.ring, at, d.low, d.high)) return Progress::MORE;
        while (number > 0) {
            if (*p.cancelled) return Progress::CANCELLED;
            const int32_t next = p.cost + p.open + p.depth - 1 - far.saved_costs[--number];
            if (next <= at) continue;
            if (next >= p.cost) break;
            const int32_t spread = (next - at) / p.extend + 2;
            if (!fill_box(p, near, near.saved_count - 1, next, d.low - spread, d.high + spread))
                return Progress::MORE;
            d = alive(p, p.box, next,
                      [&](int32_t q) -> const WaveFront& { return saved_fronts(p, far, number)[q]; });
            if (d.low > d.high) return Progress::LOST;
            if (!save(p, near, p.box, next, d.low, d.high)) return Progress::MORE;
            at = next;
        }
        return Progress::DONE;
    }

    static bool reaches(const WavePair& p, int32_t cost, State state, int32_t k, int32_t row) {
        if (cost < 0) return false;
        const WaveFront& w = of(p.box, cost);
        return k >= w.low && k <= w.high && rows_of(p, w, state)[k] >= row;
    }

    // LOST: the fronts contradict one another.
    // Ties: the walk back.
    static Progress trace(WavePair& p, const Scheme& scheme, Path& path) {
        const Progress progress = go_to_the_end(p);
        if (progress != Progress::DONE) return progress;
        const WaveSide& near = p.sides[0];
        Walker w{p.row_count, p.column_count, 0, 0, DIAGONAL_STEP, Walker::IN_H};
        int32_t &i = w.row, &j = w.column, cost = p.cost;
        int32_t number = near.saved_count, begin = p.cost;  // of the box: the cost of the fronts before it
        path.run_count = 0;
        for (;;) {
            if (w.state == Walker::IN_H) {
                const int32_t equal = equal_before(near.row + i, near.column + j);
                if (equal) emit(path, w, DIAGONAL_STEP, static_cast<uint32_t>(equal));
                i -= equal;
                j -= equal;
                if (i == 0 || j == 0) break;
            }
            if (cost <= begin) {
                while (number >= 0 && begin >= cost) begin = --number < 0 ? -1 : near.saved_costs[number];
                const int32_t spread = (cost - begin) / p.extend + 2;
                if (!fill_box(p, near, number, cost, i - j - spread, i - j + spread)) return Progress::MORE;
            }
            const bool in_e = w.state == Walker::IN_E;
            if (w.state != Walker::IN_H) {
                int32_t& moving = in_e ? j : i;
                moving--;
                emit(path, w, in_e ? COLUMN_GAP : ROW_GAP, 1);
                cost -= p.extend;
                if (moving > 0 && reaches(p, cost, in_e ? E : F, i - j, i)) continue;
                cost -= p.open;
                w.state = Walker::IN_H;
                if (moving == 0) break;
            } else if (reaches(p, cost - p.mismatch, M, i - j, i - 1)) {
                emit(path, w, DIAGONAL_STEP, 1);
                i--;
                j--;
                cost -= p.mismatch;
            } else if (reaches(p, cost, E, i - j, i)) {
                w.state = Walker::IN_E;
            } else if (reaches(p, cost, F, i - j, i)) {
                w.state = Walker::IN_F;
            } else {
                return Progress::LOST;
            }
        }
        const int32_t rest = i + j, expected = rest ? p.open + rest * p.extend : 0;
        finish(scheme, w, path, true);
        return cost == expected ? Progress::DONE : Progress::LOST;
    }

    static constexpr WaveKernel kernel() {
        return {GOES_ON_AT_ONCE ? 2.0 : 4.0, copy_residues, mark, fill, trace};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
