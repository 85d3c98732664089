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

// As pairalign_take says.
struct Columns {
    int32_t* fields;
    int64_t* cigar_offsets;
    uint32_t* cigar;
};

// Pairs [begin, end) of those kept, whose CIGARs begin at `run`.
inline void copy_pairs(const pairalign_result& result, const Columns& out, int64_t begin, int64_t end,
                       int64_t run) {
    const pairalign_engine& engine = *result.engine;
    const Set& rows = engine.first;
    const Set& others = engine.columns_of(false);
    const bool traced = !result.traced.empty();
    const pairalign_window& w = result.window;
    const auto number = [&](int64_t k) {
        return result.is_whole ? k : result.numbers[static_cast<size_t>(k)];
    };
    const auto& offsets = result.row_offsets;
    const int64_t count = result.count();
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
        int32_t* field = out.fields + k;
        const auto put = [&](int32_t value) {
            *field = value;
            field += count;
        };
        put(row_first ? a : b);
        put(row_first ? b : a);
        put(result.scores[static_cast<size_t>(k)]);
        if (!traced) continue;
        const Traced& t = result.traced[static_cast<size_t>(k)];
        for (const int32_t value :
             {t.query_start, t.query_end, t.target_start, t.target_end, t.summary.matches,
              t.summary.mismatches, t.summary.gap_openings, t.summary.gap_residues})
            put(value);
        if (!out.cigar_offsets) continue;
        if (t.run_count) std::copy(t.runs, t.runs + t.run_count, out.cigar + run);
        run += t.run_count;
        out.cigar_offsets[k + 1] = run;
    }
}

inline void copy_columns(const pairalign_result& result, const Columns& out) {
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
