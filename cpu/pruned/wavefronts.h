// Very similar pairs: wavefronts of equal cost instead of antidiagonals. Compiled once per instruction set.
//
// Costs count what an alignment loses against the match of every letter: nothing for equal letters,
// `mismatch` for others, `open` for a gap and `extend` for each of its letters. The front of cost s says how
// far alignments of cost s or less come on each diagonal k = i - j:
//
//     e[s][k] = max(e[s-1][k], e[s - extend][k+1],     m[s - open - extend][k+1])         rows, ends in a gap
//     f[s][k] = max(f[s-1][k], f[s - extend][k-1] + 1, m[s - open - extend][k-1] + 1)
//     m[s][k] = max(m[s-1][k], m[s - mismatch][k] + 1, e[s][k], f[s][k]), and on over equal letters
//
// with none of them beyond the matrix (Myers 1986; Marco-Sola et al. 2021). The cost of a cell, in each of
// the three states, does not fall along a diagonal: take the last letters of both sequences away, and with
// them what pairs them, or move the gap that ends there. So a front says the cost of every cell behind it:
// the least s whose front has reached it. That is all that the traceback asks for, and the path is that of
// the full matrix.
//
// What an alignment of cost `most` cannot pass is left out: a diagonal is `extend` away from the next.
#pragma once

#include <cstring>

#include "../core/traceback.h"
#include "neighbours.h"
#include "pair.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Wavefronts {
    static constexpr int32_t NONE = -(1 << 30);

    // Rows that have been reached, of diagonals low - padding .. high + padding; m, then e, then f.
    static int32_t* front(const WavePair& p, const WaveFront& w, int state) {
        const size_t width = static_cast<size_t>(w.high - w.low + 1 + 2 * p.padding);
        return p.rows_reached + w.at + static_cast<size_t>(state) * width + p.padding - w.low;
    }
    static const int32_t* front_of_cost(const WavePair& p, int32_t cost, int state) {
        return cost < 0 ? p.none + 2 * p.padding : front(p, p.fronts[cost], state);
    }
    enum State { M, E, F };

    static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
    static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

    // Makes room for a front. False: there is none.
    static bool lay_out(WavePair& p, int32_t cost) {
        const int32_t spread = cost < p.open + p.extend ? 0 : (cost - p.open) / p.extend;
        const int32_t left = (p.most - cost) / p.extend + 1, end = p.row_count - p.column_count;
        WaveFront& w = p.fronts[cost];
        w.low = larger(larger(-spread, -p.column_count), end - left);
        w.high = smaller(smaller(spread, p.row_count), end + left);
        w.at = p.used;
        const size_t width = static_cast<size_t>(w.high - w.low + 1 + 2 * p.padding);
        p.used += 3 * width;
        if (p.used > p.room) return false;
        for (int state = M; state <= F; state++) {
            int32_t* const reached = front(p, w, state);
            for (int32_t k = 1; k <= p.padding; k++) reached[w.low - k] = NONE;
        }
        return true;
    }

    // Which codes occur, a bit each.
    static uint32_t letters_of(const uint8_t* codes, int32_t length) {
        uint32_t found = 0;
        for (int32_t k = 0; k < length; k++) found |= uint32_t{1} << (codes[k] & 31);
        return found;
    }

    // Copies letters; those whose bit is set in `others` get a mark. Returns how many they are.
    static int32_t mark(const uint8_t* codes, int32_t length, uint32_t others, uint8_t mark, uint8_t* out) {
        int32_t count = 0;
        for (int32_t k = 0; k < length; k++) {
            const uint32_t is_other = others >> (codes[k] & 31) & 1;
            count += static_cast<int32_t>(is_other);
            out[k] = static_cast<uint8_t>(codes[k] | is_other * mark);
        }
        return count;
    }

    // The front of a cost before it goes on over equal letters.
    static __attribute__((noinline)) void step(const WavePair& p, int32_t cost) {
        const WaveFront& w = p.fronts[cost];
        int32_t *const m = front(p, w, M), *const e = front(p, w, E), *const f = front(p, w, F);
        const int32_t *const m1 = front_of_cost(p, cost - 1, M), *const e1 = front_of_cost(p, cost - 1, E),
                             *const f1 = front_of_cost(p, cost - 1, F);
        const int32_t* const mx = front_of_cost(p, cost - p.mismatch, M);
        const int32_t* const mo = front_of_cost(p, cost - p.open - p.extend, M);
        const int32_t *const ee = front_of_cost(p, cost - p.extend, E), *const fe = front_of_cost(
                                                                            p, cost - p.extend, F);
        const Wide one = Wide::set(1), rows = Wide::set(p.row_count);
        Wide beyond_columns = Wide::add(load_any<Wide>(p.counting), Wide::set(p.column_count + w.low));
        const auto within = [](Wide reached, Wide end) __attribute__((always_inline)) {
            return Wide::blend(Wide::gt(reached, end), end, reached);
        };
        for (int32_t k = w.low; k <= w.high; k += Wide::LANES) {
            const Wide end = within(beyond_columns, rows);
            beyond_columns = Wide::add(beyond_columns, Wide::set(Wide::LANES));
            const auto at = [&](const int32_t* from)
                                __attribute__((always_inline)) { return load_any<Wide>(from + k); };
            const Wide in_e = Wide::max(at(e1), within(Wide::max(at(ee + 1), at(mo + 1)), end));
            const Wide in_f =
                Wide::max(at(f1), within(Wide::add(Wide::max(at(fe - 1), at(mo - 1)), one), end));
            const Wide diagonal = Wide::max(at(m1), within(Wide::add(at(mx), one), end));
            store_any(e + k, in_e);
            store_any(f + k, in_f);
            store_any(m + k, Wide::max(diagonal, Wide::max(in_e, in_f)));
        }
        const Wide none = Wide::set(NONE);
        for (int32_t k = 1; k <= p.padding - Wide::LANES; k += Wide::LANES) {
            store_any(m + w.high + k, none);
            store_any(e + w.high + k, none);
            store_any(f + w.high + k, none);
        }
    }

    static PAIRALIGN_INLINE uint64_t eight(const uint8_t* at) {
        uint64_t letters;
        std::memcpy(&letters, at, 8);
        return letters;
    }

    // Goes on over equal letters; returns the antidiagonal that is reached, at least.
    static __attribute__((noinline)) int32_t go_on(const WavePair& p, int32_t cost) {
        const WaveFront& w = p.fronts[cost];
        int32_t* const m = front(p, w, M);
        int32_t farthest = 0;
        for (int32_t k = w.low; k <= w.high; k++) {
            const int32_t i = m[k];
            if (i < 0) continue;
            const uint8_t *a = p.row + i, *b = p.column + (i - k);
            uint64_t difference;
            while ((difference = eight(a) ^ eight(b)) == 0) a += 8, b += 8;
            m[k] = static_cast<int32_t>(a - p.row) + (__builtin_ctzll(difference) >> 3);
            farthest = larger(farthest, 2 * m[k] - k);
        }
        return farthest;
    }

    // Whether costs that go on as they began come to more than `most`: to twice as much in the first quarter,
    // when little is known and little is lost, later to less and less more.
    static bool looks_hopeless(int64_t cost, int64_t most, int64_t farthest, int64_t last) {
        if (8 * cost <= most) return false;
        const int64_t eighths = 4 * cost <= most ? 16 : 2 * cost <= most ? 10 : 9;
        return farthest * most * eighths < cost * last * 8;
    }

    // Sets p.cost. TOO_MANY: it is more than p.most, or will be if it goes on as it began.
    static Progress fill(WavePair& p) {
        const int32_t end = p.row_count - p.column_count, last = p.row_count + p.column_count;
        for (int32_t k = 0; k < 4 * p.padding + 1; k++) p.none[k] = NONE;
        p.used = 0;
        p.cells = 0;
        int32_t farthest = 0;
        for (int32_t cost = 0; cost <= p.most; cost++) {
            if (*p.cancelled) return Progress::CANCELLED;
            if (!lay_out(p, cost)) return Progress::MORE;
            const WaveFront& w = p.fronts[cost];
            p.cells += w.high - w.low + 1;
            step(p, cost);
            if (cost == 0) front(p, w, M)[0] = 0;
            farthest = larger(farthest, go_on(p, cost));
            if (end >= w.low && end <= w.high && front(p, w, M)[end] >= p.row_count) {
                p.cost = cost;
                return Progress::DONE;
            }
            if (p.gives_up && looks_hopeless(cost, p.most, farthest, last)) return Progress::TOO_MANY;
        }
        return Progress::TOO_MANY;
    }

    static bool reaches(const WavePair& p, int32_t cost, State state, int32_t k, int32_t row) {
        if (cost < 0) return false;
        const WaveFront& w = p.fronts[cost];
        return k >= w.low && k <= w.high && front(p, w, state)[k] >= row;
    }

    // How many letters before row i and column j are equal. Those before both sequences differ.
    static int32_t equal_before(const WavePair& p, int32_t i, int32_t j) {
        const uint8_t *a = p.row + i - 8, *b = p.column + j - 8;
        uint64_t difference;
        int32_t count = 0;
        for (; (difference = eight(a) ^ eight(b)) == 0; count += 8) a -= 8, b -= 8;
        return count + (__builtin_clzll(difference) >> 3);
    }

    // False: the fronts contradict one another.
    static bool trace(const WavePair& p, const Scheme& scheme, Path& path) {
        Walker w{p.row_count, p.column_count, 0, 0, DIAGONAL_STEP, Walker::IN_H};
        int32_t &i = w.row, &j = w.column, cost = p.cost;
        path.run_count = 0;
        while (i > 0 && j > 0) {
            const int32_t equal = equal_before(p, i, j);
            if (equal) emit(path, w, DIAGONAL_STEP, static_cast<uint32_t>(equal));
            i -= equal;
            j -= equal;
            if (i == 0 || j == 0) break;
            if (reaches(p, cost - p.mismatch, M, i - j, i - 1)) {
                emit(path, w, DIAGONAL_STEP, 1);
                i--;
                j--;
                cost -= p.mismatch;
                continue;
            }
            const bool in_e = reaches(p, cost, E, i - j, i);
            if (!in_e && !reaches(p, cost, F, i - j, i)) return false;
            int32_t &moving = in_e ? j : i, letters = 0;
            bool goes_on = true;
            while (goes_on) {
                moving--;
                letters++;
                goes_on = moving > 0 && reaches(p, cost - p.extend, in_e ? E : F, i - j, i);
                cost -= p.extend;
            }
            cost -= p.open;
            emit(path, w, in_e ? COLUMN_GAP : ROW_GAP, static_cast<uint32_t>(letters));
        }
        const int32_t rest = i + j, expected = rest ? p.open + rest * p.extend : 0;
        finish(scheme, w, path, true);
        return cost == expected;
    }

    static constexpr WaveKernel kernel() { return {letters_of, mark, fill, trace}; }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
