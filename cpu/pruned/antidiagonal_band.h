// The pruned kernel: one pair, global mode, only the cells that can be on an optimal alignment. Written once
// on the vector types of vector.h and compiled once per instruction set; recurrences and flags are those of
// recurrence.h. docs/similar-sequences.md derives the bound.
//
// Cells of an antidiagonal do not depend on one another: a lane is a diagonal, and the lanes of a window are
// diagonals next to one another (pair.h, Block). From one antidiagonal to the next, H of the diagonal step
// stays in its lane, and either e or f moves by one. After some antidiagonals (a block) the window is laid
// anew around the cells that are alive: those from which the rest could still bring the score to the bound.
// All others hold `nothing`.
//
//     Invariant: what a lane holds is the score of an alignment of the two prefixes, or less than the bound
//     allows there. So a cell on an optimal path has its full value, each predecessor that attains it has
//     too, and no other one attains it: its flags are those of the full matrix.
//
// Nothing needs to be said about the matrix's borders. Cells before row 0 or column 0 hold nothing and hand
// on nothing; cells beyond the last row or column are filled like others, and no cell of the matrix ever
// depends on one.
//
// Lanes hold H' - base. `base` moves when values would leave the lanes, so that 16 bits are enough as long as
// what the pair loses against its bound is.
#pragma once

#include "free_ends.h"
#include "antidiagonal_trace.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct AntidiagonalBand : FreeEnds<V> {
    using Cells = FreeEnds<V>;
    using Cells::begin_anew;
    using Cells::best_reach;
    using Cells::clear_margins;
    using Cells::flag_bytes;
    using Cells::HIGHEST;
    using Cells::IN_REGISTERS;
    using Cells::LANES;
    using Cells::lanes;
    using Cells::larger;
    using Cells::LOWEST;
    using Cells::may_end;
    using Cells::most_from_nothing;
    using Cells::next_block;
    using Cells::note_end;
    using Cells::nothing;
    using Cells::reached_score;
    using Cells::rebase;
    using Cells::residues_at;
    using Cells::row_of;
    using Cells::set_reach;
    using Cells::settle_base;
    using Cells::slack;
    using Cells::smaller;
    using Cells::trim;
    using typename Cells::Lane;
    using typename Cells::Range;
    using typename Cells::Residues;
    template <bool TWO>
    using Scores = typename Cells::template Scores<TWO>;

    // ---------------------------------------------------------------- the fill

    // A window that stays in registers for the block.
    template <bool FLAGS, bool TWO, int N>
    static void fill_few(const PrunedPair& p, const Block& b, uint8_t* flags) {
        const V opening = V::set(static_cast<Lane>(p.scheme->gap_open - p.scheme->gap_extend)),
                none = V::set(0);
        const V nowhere = V::set(static_cast<Lane>(nothing(*p.scheme)));
        const Scores<TWO> scores(p);
        V h[2][N], e[N], f[N];
        unrolled<0, N>([&](auto k) __attribute__((always_inline)) {
            const int32_t at = b.low + k.value * LANES;
            h[0][k.value] = load_any<V>(lanes(p.h[0]) + at);
            h[1][k.value] = load_any<V>(lanes(p.h[1]) + at);
            e[k.value] = load_any<V>(lanes(p.e) + at);
            f[k.value] = load_any<V>(lanes(p.f) + at);
        });
        const auto antidiagonal = [&](auto odd, int32_t step) __attribute__((always_inline)) {
            constexpr int ODD = decltype(odd)::value;
            const Residues residues = residues_at(p, step, b.low);
            V below = nowhere;
            unrolled<0, N>([&](auto index) __attribute__((always_inline)) {
                constexpr int k = decltype(index)::value;
                V left = e[k], up = f[k];
                if constexpr (ODD) {
                    if constexpr (k + 1 < N) left = from_above(e[k], e[k + 1]);
                    else left = from_above(e[k], nowhere);
                } else {
                    up = from_below(f[k], below);
                    below = f[k];
                }
                const auto cell = Recurrence<V, true>{opening, none, none}.template cell<FLAGS>(
                    scores.of(residues, k), h[ODD][k], left, up, flags + k * V::FLAG_BYTES);
                h[ODD][k] = cell.h;
                e[k] = cell.e;
                f[k] = cell.f;
            });
            if constexpr (FLAGS) flags += N * V::FLAG_BYTES;
        };
        int32_t step = b.step + 1;
        const int32_t end = b.step + b.steps;
        if (!(step & 1)) antidiagonal(Index<0>(), step++);
        for (; step < end; step += 2) {
            antidiagonal(Index<1>(), step);
            antidiagonal(Index<0>(), step + 1);
        }
        if (step == end) antidiagonal(Index<1>(), step);
        unrolled<0, N>([&](auto k) __attribute__((always_inline)) {
            const int32_t at = b.low + k.value * LANES;
            store_any(lanes(p.h[0]) + at, h[0][k.value]);
            store_any(lanes(p.h[1]) + at, h[1][k.value]);
            store_any(lanes(p.e) + at, e[k.value]);
            store_any(lanes(p.f) + at, f[k.value]);
        });
    }

    // A window in memory; its first lane is aligned.
    template <bool FLAGS, bool TWO, int ODD>
    static PAIRALIGN_INLINE uint8_t* fill_antidiagonal(const PrunedPair& p, const Block& b, int32_t step,
                                                       uint8_t* flags) {
        const V opening = V::set(static_cast<Lane>(p.scheme->gap_open - p.scheme->gap_extend)),
                none = V::set(0);
        const V nowhere = V::set(static_cast<Lane>(nothing(*p.scheme)));
        const Scores<TWO> scores(p);
        const Residues residues = residues_at(p, step, b.low);
        Lane *const h = lanes(p.h[ODD]) + b.low, *const e = lanes(p.e) + b.low, *const f = lanes(p.f) + b.low;
        V carried = ODD ? V::load(e) : nowhere;  // e of this vector; f of the one below
        for (int32_t k = 0; k < b.vectors; k++) {
            const int32_t at = k * LANES;
            V left, up;
            if constexpr (ODD) {
                const V above = k + 1 < b.vectors ? V::load(e + at + LANES) : nowhere;
                left = from_above(carried, above);
                up = V::load(f + at);
                carried = above;
            } else {
                const V here = V::load(f + at);
                left = V::load(e + at);
                up = from_below(here, carried);
                carried = here;
            }
            const auto cell = Recurrence<V, true>{opening, none, none}.template cell<FLAGS>(
                scores.of(residues, k), V::load(h + at), left, up, flags);
            cell.h.store(h + at);
            cell.e.store(e + at);
            cell.f.store(f + at);
            if constexpr (FLAGS) flags += V::FLAG_BYTES;
        }
        return flags;
    }

    // The antidiagonal `step`, an odd one, and the one after it: what the first hands on stays in registers.
    template <bool FLAGS, bool TWO>
    static PAIRALIGN_INLINE uint8_t* fill_two_antidiagonals(const PrunedPair& p, const Block& b, int32_t step,
                                                            uint8_t* flags) {
        const Recurrence<V, true> recurrence{
            V::set(static_cast<Lane>(p.scheme->gap_open - p.scheme->gap_extend)), V::set(0), V::set(0)};
        const V nowhere = V::set(static_cast<Lane>(nothing(*p.scheme)));
        const Scores<TWO> scores(p);
        const Residues residues = residues_at(p, step, b.low),
                       next_residues = residues_at(p, step + 1, b.low);
        Lane *const odd = lanes(p.h[1]) + b.low, *const even = lanes(p.h[0]) + b.low;
        Lane *const e = lanes(p.e) + b.low, *const f = lanes(p.f) + b.low;
        uint8_t* next_flags = flags + static_cast<size_t>(b.vectors) * V::FLAG_BYTES;
        V left = V::load(e), below = nowhere;  // e of this vector; f of the one below, an antidiagonal on
        for (int32_t k = 0; k < b.vectors; k++) {
            const int32_t at = k * LANES;
            const V above = k + 1 < b.vectors ? V::load(e + at + LANES) : nowhere;
            const auto first = recurrence.template cell<FLAGS>(
                scores.of(residues, k), V::load(odd + at), from_above(left, above), V::load(f + at), flags);
            const auto second =
                recurrence.template cell<FLAGS>(scores.of(next_residues, k), V::load(even + at), first.e,
                                                from_below(first.f, below), next_flags);
            left = above;
            below = first.f;
            first.h.store(odd + at);
            second.h.store(even + at);
            second.e.store(e + at);
            second.f.store(f + at);
            if constexpr (FLAGS) {
                flags += V::FLAG_BYTES;
                next_flags += V::FLAG_BYTES;
            }
        }
        return next_flags;
    }

    template <bool FLAGS, bool TWO>
    static __attribute__((noinline)) void fill_block(const PrunedPair& p, const Block& b, uint8_t* flags) {
        if (b.vectors <= IN_REGISTERS) {
            unrolled<1, IN_REGISTERS + 1>([&](auto n) __attribute__((always_inline)) {
                if (b.vectors == n.value) fill_few<FLAGS, TWO, n.value>(p, b, flags);
            });
            return;
        }
        int32_t step = b.step + 1;
        const int32_t end = b.step + b.steps;
        if (!(step & 1)) flags = fill_antidiagonal<FLAGS, TWO, 0>(p, b, step++, flags);
        for (; step < end; step += 2) flags = fill_two_antidiagonals<FLAGS, TWO>(p, b, step, flags);
        if (step == end) fill_antidiagonal<FLAGS, TWO, 1>(p, b, step, flags);
    }

    static void fill_one(PrunedPair& p, const Block& b, uint8_t* flags) {
        if (flags)
            p.two_scores ? fill_block<true, true>(p, b, flags + b.flags)
                         : fill_block<true, false>(p, b, flags + b.flags);
        else p.two_scores ? fill_block<false, true>(p, b, nullptr) : fill_block<false, false>(p, b, nullptr);
    }

    // Fills a block of a pair with free ends; `ends`: looks for end cells.
    static void fill_free(PrunedPair& p, const Block& b, uint8_t* flags, bool ends) {
        const bool begins = b.step < p.free_until;
        ends = ends && may_end(p, b);
        if (!begins && !ends) return fill_one(p, b, flags);
        Block one = b;
        one.steps = 1;
        for (int32_t k = 0; k < b.steps; k++, one.step++, one.flags += flag_bytes(one)) {
            fill_one(p, one, flags);
            if (begins) begin_anew(p, one, one.step + 1);
            if (ends) note_end(p, one, one.step + 1);
        }
    }

    // ---------------------------------------------------------------- a pair

    static void start(PrunedPair& p) {
        p.step = p.block_count = 0;
        p.alive_low = p.alive_high = p.origin;
        p.base = p.cells = 0;
        p.flags_used = p.saved_used = 0;
        p.save_at = 0;
        lanes(p.h[1])[p.origin] = static_cast<Lane>(nothing(*p.scheme));
        lanes(p.h[0])[p.origin] = 0;
        lanes(p.e)[p.origin] = lanes(p.f)[p.origin] =
            static_cast<Lane>(p.scheme->gap_extend - p.scheme->gap_open);
    }

    static int64_t last_score(const PrunedPair& p) {
        const int32_t end = p.rows + p.columns, lane = p.rows - row_of(p, end, 0);
        return p.base + lanes(p.h[end & 1])[lane] - int64_t{end} * p.scheme->gap_extend;
    }

    static Range window_of(const Block& b) { return {b.low, b.low + b.vectors * LANES - 1}; }

    static size_t saved_bytes(const Block& saved) {  // of one of the four arrays
        return static_cast<size_t>(saved.alive_high - saved.alive_low + 1) * sizeof(Lane);
    }

    // Keeps the lanes that are alive, from which refill() can go on.
    static bool save(PrunedPair& p) {
        const Block now{p.step, 0, 0, 0, p.alive_low, p.alive_high, p.base, p.saved_used};
        const size_t bytes = saved_bytes(now);
        if (p.saved_used + 4 * bytes > p.saved_room) return false;
        p.blocks[p.block_count++] = now;
        const void* const arrays[] = {p.h[0], p.h[1], p.e, p.f};
        for (const void* array : arrays) {
            memcpy(p.saved + p.saved_used, static_cast<const Lane*>(array) + p.alive_low, bytes);
            p.saved_used += bytes;
        }
        p.save_at = p.step + p.save_every;
        return true;
    }

    static Progress fill(PrunedPair& p) {
        while (p.step < p.rows + p.columns) {
            if (*p.cancelled) return Progress::CANCELLED;
            if (p.saved && p.step >= p.save_at && !save(p)) return Progress::MORE;
            Block b = next_block(p);
            if (p.flags && p.flags_used + flag_bytes(b) > p.flags_room) return Progress::MORE;
            p.cells += int64_t{b.vectors} * LANES * b.steps;
            if (p.cells > p.cell_limit) return Progress::TOO_MANY;
            if (!settle_base(p, b)) return Progress::OVERFLOWN;
            clear_margins(p, b);
            if (p.flags) {
                p.blocks[p.block_count++] = b;
                p.flags_used += flag_bytes(b);
            }
            const bool free = has_free_ends(p);
            if (free) fill_free(p, b, p.flags, true);
            else fill_one(p, b, p.flags);
            p.step += b.steps;
            if (!trim(p, window_of(b), p.bound, false)) {
                if (!free) return Progress::LOST;
                break;
            }
        }
        if (!has_free_ends(p)) p.score = last_score(p);
        return p.score < p.bound ? Progress::LOST : Progress::DONE;
    }

    // The window from what was saved on that a cell depends on: the lanes beside its own, one more for each
    // two antidiagonals.
    static Block window_before(const PrunedPair& p, const Block& saved, int32_t row, int32_t column) {
        const int32_t steps = row + column - saved.step, lane = row - row_of(p, row + column, 0),
                      reach = steps / 2 + 1;
        Block b{saved.step, steps, 0, 0, 0, 0, 0, 0};
        const int32_t first = larger(larger(lane, saved.alive_low) - reach, p.origin - p.columns / 2 - 1);
        const int32_t last = smaller(smaller(lane, saved.alive_high) + reach, p.origin + p.rows / 2 + 1);
        b.low = first;
        b.vectors = (last - b.low) / LANES + 1;
        if (b.vectors > IN_REGISTERS) {
            b.low = first & ~(LANES - 1);
            b.vectors = (last - b.low) / LANES + 1;
        }
        b.alive_low = larger(saved.alive_low, b.low);
        b.alive_high = smaller(saved.alive_high, b.low + b.vectors * LANES - 1);
        return b;
    }

    // Fills such a window.
    static Progress fill_from(PrunedPair& p, const Block& saved, const Block& b, uint8_t* flags) {
        if (b.alive_low > b.alive_high) return Progress::LOST;
        p.alive_low = b.alive_low;
        p.alive_high = b.alive_high;
        const uint8_t* from =
            p.saved + saved.flags + static_cast<size_t>(p.alive_low - saved.alive_low) * sizeof(Lane);
        void* const arrays[] = {p.h[0], p.h[1], p.e, p.f};
        for (void* array : arrays) {
            memcpy(lanes(array) + p.alive_low, from, saved_bytes(b));
            from += saved_bytes(saved);
        }
        p.step = saved.step;
        p.base = saved.base;
        if (!settle_base(p, b)) return Progress::OVERFLOWN;
        clear_margins(p, b);
        if (has_free_ends(p)) fill_free(p, b, flags, false);
        else fill_one(p, b, flags);
        return Progress::DONE;
    }

    static Progress refill(PrunedPair& p, const Block& saved, int32_t row, int32_t column) {
        const Block b = window_before(p, saved, row, column);
        if (flag_bytes(b) > p.flags_room) return Progress::MORE;
        p.blocks[0] = b;
        p.block_count = 1;
        return fill_from(p, saved, b, p.flags);
    }

    static Progress save_halfway(PrunedPair& p, const Block& saved, int32_t row, int32_t column) {
        Block b = window_before(p, saved, row, column);
        b.steps = b.steps / 2 & ~1;  // so many that the cell depends on as many lanes less on both sides
        if (b.steps < LEAST_STEPS) return Progress::TOO_MANY;
        const Progress progress = fill_from(p, saved, b, nullptr);
        if (progress != Progress::DONE) return progress;
        p.step += b.steps;
        const Block half{p.step, 0, 0, 0, window_of(b).low, window_of(b).high, 0, 0};
        const Block rest = window_before(p, half, row, column);
        p.alive_low = rest.alive_low;
        p.alive_high = rest.alive_high;
        p.block_count = 0;
        p.saved_used = saved.flags + 4 * saved_bytes(saved);
        return save(p) ? Progress::DONE : Progress::TOO_MANY;
    }

    // Whether a loss that goes on as it began comes to more than `limit`. With free ends an alignment may
    // have to begin first.
    static bool is_hopeless(const PrunedPair& p, int64_t loss, int64_t limit) {
        const int64_t end = int64_t{p.rows} + p.columns;
        if (has_free_ends(p) && p.looks_similar) return loss > limit;
        return p.step > end / 8 && loss * end > limit * p.step;
    }

    static Progress beam(PrunedPair& p, int64_t width, int64_t limit) {
        const Scheme& s = *p.scheme;
        const int32_t end = p.rows + p.columns;
        const int64_t first = -int64_t{p.row_worth[0]} - p.column_worth[p.columns];  // no alignment has more
        int64_t best = first, unreal = INT64_MIN;  // what an alignment that begins at nothing could come to
        const int64_t rise = int64_t{s.highest} + 2 * s.gap_extend + 1;  // of two antidiagonals
        const int64_t spare = MOST_STEPS * rise + slack(p, MOST_STEPS);
        int64_t rebase_at = 0;
        const bool free = has_free_ends(p);
        int64_t reached = INT64_MIN;  // with free ends
        while (p.step < end) {
            if (*p.cancelled) return Progress::CANCELLED;
            Block b = next_block(p);
            p.cells += int64_t{b.vectors} * LANES * b.steps;
            if (p.cells > p.cell_limit) return Progress::TOO_MANY;
            clear_margins(p, b);
            const int64_t from_nothing = p.base + nothing(s) + most_from_nothing(p, b);
            if (from_nothing > unreal) unreal = from_nothing;
            if (free) fill_free(p, b, nullptr, false);
            else fill_one(p, b, nullptr);
            p.step += b.steps;
            const Range window = window_of(b);
            if (free) {
                if (p.scheme->mode == LOCAL) begin_anew(p, b, p.step);
                const int64_t here = reached_score(p, window);
                if (here > reached) reached = here;
            } else if (p.step ==
                       end) {  // the last cell must not be trimmed, however bad; but it may be far away
                const int32_t last = p.rows - row_of(p, end, 0);
                if (last < window.low || last > window.high) return Progress::LOST;
                break;
            }
            set_reach(p, window, true);
            best = best_reach(p, window);
            if (is_hopeless(p, first - best, limit) && reached < first - limit) return Progress::TOO_MANY;
            if (free && best <= reached) break;
            if (!trim(p, window, best - width, true)) {
                if (!free) return Progress::LOST;
                break;
            }
            if (p.step >= rebase_at) {
                int32_t highest = static_cast<int32_t>(LOWEST);
                for (int32_t l = p.alive_low; l <= p.alive_high; l++)
                    highest = larger(highest, larger(lanes(p.h[0])[l], lanes(p.h[1])[l]));
                rebase(p, highest);
                rebase_at = p.step + (HIGHEST - spare) / rise;
            }
        }
        p.score = free ? reached : last_score(p);
        return p.score > unreal ? Progress::DONE : Progress::OVERFLOWN;
    }

    static constexpr PrunedKernel kernel() {
        return {LANES,
                static_cast<int>(sizeof(Lane)),
                V::FLAG_BYTES,
                start,
                beam,
                fill,
                refill,
                save_halfway,
                BandTrace<V>::trace};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
