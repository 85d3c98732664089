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

#include "byte_batch.h"
#include "byte_cell.h"
#include "recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class ByteWalk {
public:
    static constexpr int SIDE_BY_SIDE = ByteLayout::WALKS;

    // `across`, `down`: bytes from a cell to the next one. `room`: for steps, see ByteLayout.
    ByteWalk(const uint8_t* cells, size_t across, size_t down, uint8_t* room, size_t room_bytes)
        : cells_(cells), room_(room), room_bytes_(room_bytes) {
        for (int before = 0; before <= STOP_MOVE; before++)
            for (int code = 0; code < STEP; code++) {
                const int move = next(before, code);
                const size_t back = (move == ROW_MOVE || move <= OTHER_MOVE ? down : 0) +
                                    (move == COLUMN_MOVE || move <= OTHER_MOVE ? across : 0);
                table_[before * STEP + code] = static_cast<uint64_t>((move - before) * STEP) -
                                               (uint64_t{back} << 32) -
                                               (move == STOP_MOVE ? 0 : uint64_t{1} << 8);
            }
    }

    struct Walk {
        size_t at;      // offset of a cell
        uint8_t step;   // the last one; of a walk that begins or stands still, a SAME_MOVE
        int32_t steps;  // how many there were
    };

    // Walks until all stand still. Their steps are in `steps_of`.
    void run(Walk* walks) const {
        uint64_t now[SIDE_BY_SIDE];
        // Copies that no store of a byte can touch.
        const uint8_t* const cells = cells_;
        const uint64_t* const table = table_;
        uint8_t* const room = room_ - 1;
        unrolled<0, SIDE_BY_SIDE>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            now[k] = uint64_t{walks[k].at} << 32 | uint64_t{(k + 1) * room_bytes_} << 8 | walks[k].step;
        });
        uint64_t stopped;
        do {
            unrolled<0, 4>([&](auto) __attribute__((always_inline)) {
                unrolled<0, SIDE_BY_SIDE>([&](auto which) __attribute__((always_inline)) {
                    constexpr int k = decltype(which)::value;
                    const uint64_t here = now[k];
                    const unsigned code = cells[here >> 32];
                    now[k] = here + table[(here & 255) | code];
                    // Where a walk stands still, it writes again and again below its last step.
                    room[static_cast<uint32_t>(here) >> 8] = static_cast<uint8_t>(now[k]);
                });
            });
            stopped = STOP_STEP;
            unrolled<0, SIDE_BY_SIDE>(
                [&](auto which) __attribute__((always_inline)) { stopped &= now[decltype(which)::value]; });
        } while (!stopped);
        unrolled<0, SIDE_BY_SIDE>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            walks[k].at = now[k] >> 32;
            walks[k].steps =
                static_cast<int32_t>((k + 1) * room_bytes_ - (static_cast<uint32_t>(now[k]) >> 8));
            if (walks[k].steps)
                walks[k].step = room_[(k + 1) * room_bytes_ - static_cast<size_t>(walks[k].steps)];
        });
    }

    // Copies the steps of walk k to where they end before `to`. Returns where they begin.
    uint8_t* copy_steps(int k, int32_t steps, uint8_t* to) const {
        const uint8_t* from = room_ + static_cast<size_t>(k + 1) * room_bytes_;
        for (int32_t done = 0; done < steps; done += 16) memcpy(to - done - 16, from - done - 16, 16);
        return to - steps;
    }

private:
    static int next(int before, int code) {
        if (before == STOP_MOVE || (code & ENDS)) return STOP_MOVE;
        if (before == COLUMN_MOVE && (code & COLUMN_GOES_ON)) return COLUMN_MOVE;
        if (before == ROW_MOVE && (code & ROW_GOES_ON)) return ROW_MOVE;
        return (code & TWICE_MOVE) / 2;
    }

    const uint8_t* const cells_;
    uint8_t* const room_;
    const size_t room_bytes_;
    uint64_t table_[(STOP_MOVE + 1) * STEP];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
