#include "tasks.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace pairalign {
namespace {

// Groups of columns [begin, end) against rows, cut so that threads finish together.
void add_tasks(std::vector<Task>& tasks, const pairalign_engine& engine, bool flipped, int32_t row_begin,
               int32_t row_end, int32_t column_begin, int32_t column_end, bool triangular) {
    const int lanes = engine.lanes();
    const int32_t groups = (column_end - column_begin + lanes - 1) / lanes;
    if (groups == 0 || row_end <= row_begin) return;
    const int32_t pieces = std::max(1, (8 * engine.threads + groups - 1) / groups);
    // Preparing the columns for a task must take little of its time: rows of a thousand letters are enough.
    const int32_t least = std::min(16, 1 + 16000 / engine.rows_of(flipped).length(row_begin));
    const int32_t chunk = std::min(64, std::max(least, (row_end - row_begin + pieces - 1) / pieces));
    for (int32_t c = column_begin; c < column_end; c += lanes) {
        Task task{flipped, 0, 0, {}};
        for (int32_t k = c; k < std::min(column_end, c + lanes); k++) task.columns.push_back(k);
        const int32_t stop = triangular ? std::min(row_end, task.columns.back()) : row_end;
        for (int32_t r = row_begin; r < stop; r += chunk) {
            task.row_begin = r;
            task.row_end = std::min(stop, r + chunk);
            tasks.push_back(task);
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

std::vector<Task> all_tasks(const pairalign_engine& engine, const pairalign_window& w) {
    std::vector<Task> tasks;
    add_tasks(tasks, engine, false, w.row_start, w.row_stop, w.column_start, w.column_stop, w.triangular);
    if (engine.second)
        add_tasks(tasks, engine, true, w.column_start, w.column_stop, w.row_start, w.row_stop, false);
    // So that no thread waits long for another one at the end.
    for (int again = 0; again < 2 && engine.threads > 1; again++) cut_last(tasks, engine.threads);
    return tasks;
}

std::vector<Task> passing_tasks(const pairalign_engine& engine, const pairalign_result& result,
                                const uint8_t* wanted) {
    std::vector<Task> tasks;
    const pairalign_window& w = result.window;
    const size_t lanes = static_cast<size_t>(engine.lanes());
    auto add_row = [&](bool flipped, int32_t row, const std::vector<int32_t>& columns) {
        for (size_t c = 0; c < columns.size(); c += lanes)
            tasks.push_back(
                {flipped,
                 row,
                 row + 1,
                 {columns.begin() + static_cast<std::ptrdiff_t>(c),
                  columns.begin() + static_cast<std::ptrdiff_t>(std::min(columns.size(), c + lanes))}});
    };
    auto turned = [&](int32_t row, int32_t column) {
        return engine.second && engine.first.length(row) < engine.second->length(column);
    };
    std::vector<int32_t> passing;
    for (int32_t r = w.row_start; r < w.row_stop; r++) {
        passing.clear();
        for (int32_t c = result.first_column(r); c < w.column_stop; c++)
            if (wanted[static_cast<size_t>(result.pair(r, c))] && !turned(r, c)) passing.push_back(c);
        add_row(false, r, passing);
    }
    if (!engine.second) return tasks;
    for (int32_t c = w.column_start; c < w.column_stop; c++) {
        passing.clear();
        for (int32_t r = w.row_start; r < w.row_stop; r++)
            if (wanted[static_cast<size_t>(result.pair(r, c))] && turned(r, c)) passing.push_back(r);
        add_row(true, c, passing);
    }
    return tasks;
}

}  // namespace pairalign
