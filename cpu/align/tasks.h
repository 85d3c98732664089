// How a window is cut into tasks for the engine's threads.
#pragma once

#include <cstdint>
#include <vector>

#include "state.h"

namespace pairalign {

// A group of columns against rows. `flipped`: rows come from the second set, columns from the first.
struct Task {
    bool flipped;
    int32_t row_begin, row_end;
    std::vector<int32_t> columns;  // sorted positions, longest first, at most MAX_LANES
};

// All pairs of a window.
std::vector<Task> all_tasks(const pairalign_engine& engine, const pairalign_window& window);

// Tasks for the few pairs that are `wanted`, a flag a pair of the window: per row, its columns.
std::vector<Task> passing_tasks(const pairalign_engine& engine, const pairalign_result& result,
                                const uint8_t* wanted);

}  // namespace pairalign
