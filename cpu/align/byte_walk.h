// Walks along the paths of 8-bit lanes, some side by side.
//
// A window's cells have codes (ByteCell::code); cells of the row above it and of the column left of it have
// ENDS. From the step before and the code of a cell follow the next step and where that leads: a table
// says so, and nothing has to be foreseen by the processor. Steps are written from the end of a path to its
// start, downwards in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "byte_cell.h"
#include "../simd/bytes.h"
#include "../core/recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class ByteWalk {
public:
    static constexpr int SIDE_BY_SIDE = 8;

    // `across`, `down`: bytes from a cell to the next one.
    ByteWalk(const uint8_t* cells, size_t across, size_t down) : cells_(cells) {
        for (int before = 0; before <= STOP_MOVE; before++)
            for (int code = 0; code < STEP; code++) {
                const int move = next(before, code);
                const size_t back = (move == ROW_MOVE || move <= OTHER_MOVE ? down : 0) +
                                    (move == COLUMN_MOVE || move <= OTHER_MOVE ? across : 0);
                table_[before * STEP + code] =
                    static_cast<uint64_t>((move - before) * STEP) - (uint64_t{back} << 8);
            }
    }

    struct Walk {
        size_t at;       // offset of a cell
        uint8_t step;    // the last one; of a walk that begins, a SAME_MOVE
        uint8_t* steps;  // where they begin; 64 bytes before that may be written
    };

    // Walks until all stand still, or for a number of steps. Returns the bit set of those that go on.
    unsigned run(Walk* walks) {
        uint64_t now[SIDE_BY_SIDE];
        // A copy that no store of a byte can touch. The table and the room are at fixed places: registers are
        // few.
        const uint8_t* const cells = cells_;
        unrolled<0, SIDE_BY_SIDE>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            now[k] = uint64_t{walks[k].at} << 8 | walks[k].step;
        });
        uint64_t stopped;
        std::ptrdiff_t to = ROOM - 1;
        do {
            unrolled<0, AT_ONCE>([&](auto number) __attribute__((always_inline)) {
                constexpr int i = decltype(number)::value;
                unrolled<0, SIDE_BY_SIDE>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const uint64_t here = now[k];
                    const unsigned code = cells[here >> 8];
                    now[k] = here + table_[(here & 255) | code];
                    room_[k][to - i] = static_cast<uint8_t>(now[k]);
                });
            });
            to -= AT_ONCE;
            stopped = STOP_STEP;
            unrolled<0, SIDE_BY_SIDE>(
                [&](auto which) __attribute__((always_inline)) { stopped &= now[decltype(which)::value]; });
        } while (!stopped && to >= 2 * AT_ONCE);
        unsigned going = 0;
        for (int k = 0; k < SIDE_BY_SIDE; k++) {
            going |= (now[k] & STOP_STEP ? 0u : 1u) << k;
            walks[k].at = now[k] >> 8;
            hand_over(walks[k], room_[k], (uint64_t{2} << to) - 1);
        }
        return going;
    }

private:
    static constexpr int ROOM = 64, AT_ONCE = 4;

    // The steps of a walk are at the end of its room; `not_written` is the bit set of the bytes before them.
    static void hand_over(Walk& walk, const uint8_t* room, uint64_t not_written) {
        const V stop = V::set(STOP_STEP);
        uint64_t not_steps = not_written;
        for (int from = 0; from < ROOM; from += V::LANES) {
            const V steps = V::load(room + from);
            not_steps |= V::bits(V::eq(steps, stop)) << from;
            steps.store_any(walk.steps - ROOM + from);
        }
        const int count = __builtin_clzll(not_steps);
        if (count) walk.step = room[ROOM - count];
        walk.steps -= count;
    }

    // Ties: the walk back.
    static int next(int before, int code) {
        if (before == STOP_MOVE || (code & ENDS)) return STOP_MOVE;
        if (before == COLUMN_MOVE && (code & COLUMN_GOES_ON)) return COLUMN_MOVE;
        if (before == ROW_MOVE && (code & ROW_GOES_ON)) return ROW_MOVE;
        return (code & TWICE_MOVE) / 2;
    }

    const uint8_t* const cells_;
    uint64_t table_[(STOP_MOVE + 1) * STEP];
    alignas(64) uint8_t room_[SIDE_BY_SIDE][ROOM];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
