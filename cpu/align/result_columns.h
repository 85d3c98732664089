// Copies what a window's pairs gave to the caller's arrays, on the engine's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../threads.h"
#include "engine.h"
#include "../core/state.h"

namespace pairalign {

// Pairs [begin, end) of those kept, whose CIGARs begin at `run`.
inline void copy_pairs(const pairalign_result& result, const pairalign_columns& out, int64_t begin,
                       int64_t end, int64_t run) {
    const pairalign_engine& engine = *result.engine;
    const Set& rows = engine.first;
    const Set& others = engine.columns_of(false);
    const bool traced = !result.traced.empty();
    const pairalign_window& w = result.window;
    const auto number = [&](int64_t k) {
        return result.is_whole ? k : result.numbers[static_cast<size_t>(k)];
    };
    const auto& offsets = result.row_offsets;
    size_t row = 0;
    if (begin < end)
        row = static_cast<size_t>(std::upper_bound(offsets.begin(), offsets.end(), number(begin)) -
                                  offsets.begin()) -
              1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t p = number(k);
        while (p >= offsets[row + 1]) row++;
        const int32_t r = w.row_start + static_cast<int32_t>(row);
        const int32_t c = result.first_column(r) + static_cast<int32_t>(p - offsets[row]);
        const int32_t a = rows.given.inputs[r], b = others.given.inputs[c];
        const bool row_first = engine.second || a < b;
        out.query[k] = row_first ? a : b;
        out.target[k] = row_first ? b : a;
        out.raw_score[k] = result.scores[static_cast<size_t>(k)];
        if (!traced || !out.query_start) continue;
        const Traced& t = result.traced[static_cast<size_t>(k)];
        out.query_start[k] = t.query_start;
        out.query_end[k] = t.query_end;
        out.target_start[k] = t.target_start;
        out.target_end[k] = t.target_end;
        out.matches[k] = t.summary.matches;
        out.mismatches[k] = t.summary.mismatches;
        out.gap_openings[k] = t.summary.gap_openings;
        out.gap_residues[k] = t.summary.gap_residues;
        if (!out.cigar_offsets) continue;
        if (t.run_count) std::copy(t.runs, t.runs + t.run_count, out.cigar + run);
        run += t.run_count;
        out.cigar_offsets[k + 1] = run;
    }
}

inline void copy_columns(const pairalign_result& result, const pairalign_columns& out) {
    constexpr int64_t LEAST = 1 << 14;  // pairs that are worth a thread
    const int64_t count = result.count();
    const int32_t parts =
        static_cast<int32_t>(std::max<int64_t>(1, std::min<int64_t>(result.engine->threads, count / LEAST)));
    const auto begin = [&](int32_t part) { return count * part / parts; };
    std::vector<int64_t> runs(static_cast<size_t>(parts) + 1, 0);
    if (out.cigar_offsets) {
        out.cigar_offsets[0] = 0;
        if (parts > 1)
            on_threads(parts, parts, [&](int32_t part) {
                int64_t sum = 0;
                for (int64_t k = begin(part); k < begin(part + 1); k++)
                    sum += result.traced[static_cast<size_t>(k)].run_count;
                runs[static_cast<size_t>(part) + 1] = sum;
            });
        for (size_t part = 0; part < runs.size() - 1; part++) runs[part + 1] += runs[part];
    }
    on_threads(parts, parts, [&](int32_t part) {
        copy_pairs(result, out, begin(part), begin(part + 1), runs[static_cast<size_t>(part)]);
    });
}

}  // namespace pairalign
