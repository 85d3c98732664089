#include "tasks.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "../set_bytes.h"
#include "plan.h"

namespace pairalign {
namespace {

// Of a set against another or itself.
struct Rectangle {
    bool flipped;
    int32_t row_begin, row_end, column_begin, column_end;
    bool triangular;
};

// The first row of a task that makes pairs with fewer than `few` of its columns. Rows become shorter: so do
// all after it.
int32_t first_thin_row(const pairalign_engine& engine, const Task& task, int32_t few) {
    int32_t low = task.row_begin, high = task.row_end;
    while (low < high) {
        const int32_t row = low + (high - low) / 2;
        const auto lanes = static_cast<int32_t>(task.columns.size()) - first_lane(engine, task, row);
        if (lanes < few) high = row;
        else low = row + 1;
    }
    return low;
}

// Groups of columns against rows, cut so that threads finish together; and rows with few columns.
void add_tasks(std::vector<Task>& tasks, std::vector<Task>& thin, const pairalign_engine& engine,
               const Rectangle& of, int few) {
    const int lanes = engine.lanes();
    const int32_t groups = (of.column_end - of.column_begin + lanes - 1) / lanes;
    if (groups == 0 || of.row_end <= of.row_begin) return;
    const int32_t pieces = std::max(1, (8 * engine.threads + groups - 1) / groups);
    // Preparing the columns for a task must take little of its time: rows of a thousand residues are enough.
    const int32_t least = std::min(16, 1 + 16000 / engine.rows_of(of.flipped).length(of.row_begin));
    const int32_t chunk = std::min(64, std::max(least, (of.row_end - of.row_begin + pieces - 1) / pieces));
    for (int32_t c = of.column_begin; c < of.column_end; c += lanes) {
        Task task{of.flipped, of.row_begin, of.row_end, {}};
        for (int32_t k = c; k < std::min(of.column_end, c + lanes); k++) task.columns.push_back(k);
        const int32_t stop = of.triangular ? std::min(of.row_end, task.columns.back()) : of.row_end;
        const int32_t filled = std::min(stop, first_thin_row(engine, task, few));
        for (int32_t r = of.row_begin; r < filled; r += chunk) {
            task.row_begin = r;
            task.row_end = std::min(filled, r + chunk);
            tasks.push_back(task);
        }
        for (int32_t r = filled; r < stop; r++) {
            const auto first = task.columns.begin() + first_lane(engine, task, r);
            if (first < task.columns.end())
                thin.push_back({of.flipped, r, r + 1, {first, task.columns.end()}});
        }
    }
}

// Cuts the last tasks.
void cut_last(std::vector<Task>& tasks, int threads) {
    constexpr int32_t PIECES = 4;
    const size_t whole = tasks.size() - std::min(tasks.size(), PIECES * static_cast<size_t>(threads));
    std::vector<Task> last(std::make_move_iterator(tasks.begin() + static_cast<std::ptrdiff_t>(whole)),
                           std::make_move_iterator(tasks.end()));
    tasks.resize(whole);
    for (const Task& task : last) {
        const int32_t rows = (task.row_end - task.row_begin + PIECES - 1) / PIECES;
        for (int32_t r = task.row_begin; r < task.row_end; r += rows) {
            tasks.push_back(task);
            tasks.back().row_begin = r;
            tasks.back().row_end = std::min(task.row_end, r + rows);
        }
    }
}

}  // namespace

int first_lane(const pairalign_engine& engine, const Task& task, int32_t row) {
    int lane = 0;
    const int count = static_cast<int>(task.columns.size());
    if (!engine.second) {
        while (lane < count && task.columns[static_cast<size_t>(lane)] <= row) lane++;
        return lane;
    }
    const Set& first = engine.rows_of(task.flipped);
    const Set& second = engine.columns_of(task.flipped);
    const int32_t least = first.rank(row) + (task.flipped ? 1 : 0);
    while (lane < count && second.rank(task.columns[static_cast<size_t>(lane)]) < least) lane++;
    return lane;
}

std::vector<Task> all_tasks(const pairalign_engine& engine, const pairalign_result& result, int few) {
    std::vector<Task> tasks, thin;
    const pairalign_window& w = result.window;
    add_tasks(tasks, thin, engine,
              {false, w.row_start, w.row_stop, w.column_start, w.column_stop, w.triangular != 0}, few);
    if (engine.second)
        add_tasks(tasks, thin, engine, {true, w.column_start, w.column_stop, w.row_start, w.row_stop, false},
                  few);
    // So that no thread waits long for another one at the end.
    for (int again = 0; again < 2 && engine.threads > 1; again++) cut_last(tasks, engine.threads);
    std::move(thin.begin(), thin.end(), std::back_inserter(tasks));
    return tasks;
}

std::vector<Task> passing_tasks(const pairalign_engine& engine, const pairalign_result& result,
                                const uint8_t* wanted) {
    std::vector<Task> tasks;
    const pairalign_window& w = result.window;
    const size_t lanes = static_cast<size_t>(engine.lanes());
    std::vector<int32_t> passing;
    auto add_row = [&](bool flipped, int32_t row) {
        for (size_t c = 0; c < passing.size(); c += lanes)
            tasks.push_back(
                {flipped,
                 row,
                 row + 1,
                 {passing.begin() + static_cast<std::ptrdiff_t>(c),
                  passing.begin() + static_cast<std::ptrdiff_t>(std::min(passing.size(), c + lanes))}});
        passing.clear();
    };
    std::vector<std::pair<int32_t, int32_t>> flipped;  // column and row, row by row
    for (int32_t r = w.row_start; r < w.row_stop; r++) {
        const int32_t first = result.first_column(r);
        if (first >= w.column_stop) continue;
        const uint8_t* own = wanted + result.pair(r, first);
        for_each_set(own, w.column_stop - first, [&](int32_t k) {
            if (engine.is_flipped(r, first + k)) flipped.emplace_back(first + k, r);
            else passing.push_back(first + k);
        });
        add_row(false, r);
    }
    if (flipped.empty()) return tasks;
    std::vector<size_t> ends(static_cast<size_t>(w.column_stop - w.column_start) + 1, 0);
    const auto column_of = [&](const auto& pair) { return static_cast<size_t>(pair.first - w.column_start); };
    for (const auto& pair : flipped) ends[column_of(pair) + 1]++;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<int32_t> rows(flipped.size());
    for (const auto& pair : flipped) rows[ends[column_of(pair)]++] = pair.second;
    auto row = rows.begin();
    for (int32_t c = w.column_start; c < w.column_stop; c++) {
        const auto end =
            rows.begin() + static_cast<std::ptrdiff_t>(ends[static_cast<size_t>(c - w.column_start)]);
        passing.assign(row, end);
        add_row(true, c);
        row = end;
    }
    return tasks;
}

bool classes_of_window(const pairalign_engine& engine, const pairalign_result& result,
                       ResidueClasses& classes) {
    const pairalign_window& w = result.window;
    uint32_t codes = 0;
    const auto add = [&codes](const Set& set, int32_t begin, int32_t end) {
        for (int32_t k = begin; k < end; k++) codes |= set.residues[static_cast<size_t>(k)];
    };
    add(result.rows_of(false), w.row_start, w.row_stop);
    add(result.columns_of(false), w.column_start, w.column_stop);
    return classes_of(engine.scheme, engine.unambiguous, codes, classes);
}

}  // namespace pairalign
