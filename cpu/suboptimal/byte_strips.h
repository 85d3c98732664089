// The strips of strips.h in lanes of 8 bits. Included by kernel_ISA.cpp, once for each instruction set.
//
// Gaps that score less than 0 are kept as 0. Tracebacks do not see the difference: what such a gap leads to
// scores 0 at most, or as much without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../core/ties.h"
#include "byte_tiers.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class ByteStrips : ByteTiers<2> {
    static_assert(SUBOPTIMAL_STRIP % ROWS == 0);

public:
    ByteStrips(const SuboptimalJob& job, const SuboptimalGrid& grid)
        : ByteTiers(job), grid_(grid), gaps_(new uint8_t[static_cast<size_t>(columns_) + 2 * PAD]) {}

    // Whether the cells above a strip leave room.
    bool has_room(int32_t strip) const { return grid_.highest[strip] < LIMIT; }

    // Fills a strip, of whose used cells the first is given; `most` is what a cell scores at most. False
    // where that is too much.
    bool fill(int32_t strip, const UsedCell* used, const UsedCell* used_end, int32_t& most) {
        Leave leave(*this);
        if (!tiers(strip, used, used_end, leave, most)) return false;
        leave_below(strip);
        return true;
    }
    // Fill it once more: its best cell, which scores `most`, is taken if it is better than `end`; its columns
    // are kept.
    void find(int32_t strip, const UsedCell* used, const UsedCell* used_end, int32_t most,
              SuboptimalEnd& end) {
        Find find(most, end);
        tiers(strip, used, used_end, find, most);
    }
    void keep_columns(int32_t strip, const UsedCell* used, const UsedCell* used_end) {
        Keep keep(*this, strip);
        int32_t most = 0;
        tiers(strip, used, used_end, keep, most);
    }

private:
    template <typename Watch>
    bool tiers(int32_t strip, const UsedCell* used, const UsedCell* used_end, Watch& watch, int32_t& most) {
        most = 0;
        const std::unique_ptr<SuboptimalCell[]> cells(
            new SuboptimalCell[static_cast<size_t>(used_end - used)]);
        const int32_t stop = smaller((strip + 1) * SUBOPTIMAL_STRIP, job_.pair->row_count);
        take_above(strip);
        for (int32_t row = strip * SUBOPTIMAL_STRIP; row < stop; row += ROWS) {
            SuboptimalCell* to = cells.get();
            for (const UsedCell* one = used; one != used_end; ++one)
                if (one->row > row && one->row <= row + ROWS) *to++ = {one->row, one->diagonal - one->row};
            const SuboptimalCell* of_tier = cells.get();
            watch.row = row;
            if (!tier(row, 1, columns_, of_tier, to, watch, most)) return false;
        }
        return true;
    }
    static void store_all(const Bytes* from, uint8_t* to) {
        for (int k = 0; k < ROWS / LANES; ++k) from[k].store(to + k * LANES);
    }

    // Keeps F of the last row.
    struct Leave {
        uint8_t* const gaps;
        int32_t row = 0;

        explicit Leave(const ByteStrips& all) : gaps(all.gaps_.get() + all.place(1 - ROWS) - (LANES - 1)) {}
        static int32_t next(int32_t) { return 1 << 30; }
        void leave(int32_t d, Bytes f) const { store_any(gaps - d, f); }
        void before(int32_t, const State&) const {}
        void after(int32_t, const State&) const {}
    };
    // Keeps the columns that tiles need.
    struct Keep {
        const ByteStrips& strips;
        const int32_t strip;
        int32_t row = 0;
        alignas(64) uint8_t e[ROWS];

        Keep(const ByteStrips& all, int32_t number) : strips(all), strip(number) {}
        // Has a cell in a column that is kept.
        int32_t next(int32_t d) const {
            const int32_t column = d / SUBOPTIMAL_STRIP * SUBOPTIMAL_STRIP;
            return column > 0 && d < column + ROWS ? d : column + SUBOPTIMAL_STRIP;
        }
        void leave(int32_t, Bytes) const {}
        void before(int32_t, const State& state) { store_all(state.e, e); }
        void after(int32_t d, const State& state) const {
            const int32_t i = d % SUBOPTIMAL_STRIP;
            if (d - i > strips.columns_) return;
            alignas(64) uint8_t h[ROWS];
            store_all(state.h, h);
            int16_t* const kept =
                strips.grid_.before(strip, d / SUBOPTIMAL_STRIP) + 2 * (row % SUBOPTIMAL_STRIP + i);
            kept[0] = h[slot(i)], kept[1] = e[slot(i)];
        }
    };

    // Finds the end cell of a strip that has one.
    // Ties: the end cell.
    struct Find {
        const int32_t score;
        SuboptimalEnd& end;
        int32_t row = 0;

        Find(int32_t most, SuboptimalEnd& to) : score(most), end(to) {}
        static int32_t next(int32_t d) { return d; }
        void leave(int32_t, Bytes) const {}
        void before(int32_t, const State&) const {}
        void after(int32_t d, const State& state) {
            const Bytes enough = Bytes::set(score);
            if (!Bytes::any(Bytes::ge(Bytes::max(state.h[0], state.h[1]), enough))) return;
            alignas(64) uint8_t h[ROWS];
            store_all(state.h, h);
            for (int32_t i = 0; i < ROWS; ++i) {
                const int32_t at = row + i + 1, column = d - i;
                if (h[slot(i)] != score) continue;
                if (score > end.score || is_earlier_end(at, column, end.row, end.column))
                    end = {score, at, column};
            }
        }
    };

    void take_above(int32_t strip) {
        const int16_t* const above = grid_.above(strip);
        const int32_t open = job_.pair->gap_open, extend = job_.pair->gap_extend;
        for (int32_t c = 1; c < columns_ + LANES; ++c) {
            const int32_t h = c > columns_ ? 0 : above[2 * c], f = c > columns_ ? 0 : above[2 * c + 1];
            h_[place(c)] = static_cast<uint8_t>(h);
            f_[place(c)] = static_cast<uint8_t>(larger(0, larger(h - open, f - extend)));
        }
    }
    void leave_below(int32_t strip) {
        int16_t* const below = grid_.above(strip + 1);
        int32_t highest = 0;
        for (int32_t c = 1; c <= columns_; ++c) {
            below[2 * c] = h_[place(c)], below[2 * c + 1] = gaps_[place(c)];
            highest = larger(highest, h_[place(c)]);
        }
        grid_.highest[strip + 1] = highest;
    }

    const SuboptimalGrid& grid_;
    const std::unique_ptr<uint8_t[]> gaps_;  // F of the columns, in the last row that was made
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
