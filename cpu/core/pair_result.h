// What is kept of a pair that was aligned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../memory.h"
#include "batch.h"
#include "byte_batch.h"
#include "cigar.h"
#include "state.h"

namespace pairalign {

// A pair as it is aligned: positions in the sorted sets of its row and column sequence. `flipped`: the row
// sequence is of the second set. `index`: its number in the window.
struct PairPosition {
    bool flipped;
    int32_t row, column;
    int64_t index;
};

// The query is the sequence of the first set, or the one that comes earlier in the input.
inline bool row_is_query(const pairalign_result& result, bool flipped, int32_t row, int32_t column) {
    if (result.engine->second) return !flipped;
    return result.rows_of(flipped).given.inputs[row] < result.columns_of(flipped).given.inputs[column];
}

// Writes the score and, when `traced`, the alignment of a pair; CIGAR runs go to the arena. `columns`: of the
// alignment, at least. write(is_query, out, summary) writes the runs where `out` is not null, and counts.
template <class Write>
void keep_pair(pairalign_result& result, Arena& arena, bool traced, const PairPosition& pair,
               const Path& path, size_t columns, Write write) {
    const size_t index = result.slot(pair.index);
    result.scores[index] = path.score;
    if (!traced || columns == 0) return;
    const bool is_query = row_is_query(result, pair.flipped, pair.row, pair.column);
    Traced& t = result.traced[index];
    uint32_t* out = result.detail == CIGAR ? arena.reserve(columns + ByteKernel::RUNS_AT_ONCE) : nullptr;
    t.run_count = write(is_query, out, t.summary);
    if (out) {
        arena.commit(static_cast<size_t>(t.run_count));
        t.runs = out;
    } else {
        t.run_count = 0;
    }
    t.query_start = is_query ? path.start_row : path.start_column;
    t.query_end = is_query ? path.end_row : path.end_column;
    t.target_start = is_query ? path.start_column : path.start_row;
    t.target_end = is_query ? path.end_column : path.end_row;
    if (t.summary.matches + t.summary.mismatches + t.summary.gap_residues == 0)
        t.query_start = t.query_end = t.target_start = t.target_end = 0;
}

// Room for the steps of the lanes [first, used) of a batch of pairs of such lengths, at most.
inline void make_steps(ByteBatch& batch, Buffer& memory, int32_t rows, int32_t columns, int first, int used) {
    const size_t room = ByteBatch::steps_room(rows, columns);
    uint8_t* const steps = static_cast<uint8_t*>(memory.need(room * static_cast<size_t>(used) + 64));
    for (int l = first; l < used; l++) batch.step_room[l] = steps + static_cast<size_t>(l + 1) * room;
}

// A pair whose path has runs.
inline void keep_path(pairalign_result& result, Arena& arena, bool traced, const PairPosition& pair,
                      const Path& path) {
    size_t steps = 0;
    for (int32_t r = 0; traced && r < path.run_count; r++) steps += path.runs[r] >> 2;
    keep_pair(result, arena, traced, pair, path, steps, [&](bool is_query, uint32_t* out, Summary& summary) {
        return write_cigar(path, result.rows_of(pair.flipped).codes(pair.row),
                           result.columns_of(pair.flipped).codes(pair.column), result.engine->unambiguous,
                           is_query, out, summary);
    });
}

// A pair whose path is a byte a column.
inline void keep_steps(pairalign_result& result, Arena& arena, bool traced, const PairPosition& pair,
                       const ByteBatch& batch, int lane, const ByteKernel& kernel) {
    const size_t steps = traced ? static_cast<size_t>(batch.step_count[lane]) : 0;
    keep_pair(result, arena, traced, pair, batch.paths[lane], steps,
              [&](bool is_query, uint32_t* out, Summary& summary) {
                  return kernel.write_runs(batch.steps[lane], batch.step_count[lane], is_query, out, summary);
              });
}

}  // namespace pairalign
