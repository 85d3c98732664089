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
    bool overflowed = false;       // 8 bits do not hold their scores
};

// The first lane of a task whose column makes a pair with a row: as columns are longest first, so do all
// after it. The number of columns if none does.
int first_lane(const pairalign_engine& engine, const Task& task, int32_t row);

// All pairs of a window. A row that makes pairs with fewer than `few` columns of a group, as near the
// diagonal and at the end of a set, is a task of its own.
std::vector<Task> all_tasks(const pairalign_engine& engine, const pairalign_result& result, int few);

// Tasks for the few pairs that are `wanted`, a flag a pair of the window: per row, its columns.
std::vector<Task> passing_tasks(const pairalign_engine& engine, const pairalign_result& result,
                                const uint8_t* wanted);

// Classes of the residues of all sequences of the window, or false, see classes_of.
bool classes_of_window(const pairalign_engine& engine, const pairalign_result& result,
                       ResidueClasses& classes);

}  // namespace pairalign
