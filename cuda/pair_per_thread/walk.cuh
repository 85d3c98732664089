// The way back through the flags of a pair's cells: its CIGAR runs, and what is counted on the way.
#pragma once

#include "cell.cuh"

namespace {

constexpr Mode mode = MODE;

// Counts runs, or writes them from the last to the first.
template <bool writes>
struct Runs {
    uint32_t* end;  // past the next run to write
    uint32_t length = 0, operation = 0;
    int count = 0;

    __device__ void flush() {
        if (length == 0) return;
        if (writes) *--end = length << 4 | operation;
        ++count;
    }
    __device__ void add(uint32_t residues, uint32_t next_operation) {
        if (next_operation != operation) {
            flush();
            length = 0;
            operation = next_operation;
        }
        length += residues;
    }
};

// The way back through the flags of a lane's pair, and what is counted on it.
template <bool writes>
struct Walk {
    const Arguments& arguments;
    const Pair& pair;
    const uint32_t row_gap, column_gap;  // SAM's codes: I = 1 consumes the query, D = 2 the target
    Runs<writes> runs;
    int i, j;  // where it is
    int end_row, end_column, matches = 0, mismatches = 0, openings = 0, gap_residues = 0;

    __device__ Walk(const Arguments& a, const Pair& p, int row, int column)
        : arguments(a),
          pair(p),
          row_gap(p.row_is_query ? 1 : 2),
          column_gap(3 - row_gap),
          runs{writes ? a.runs + a.run_offsets[p.number + 1] : nullptr},
          i(row),
          j(column),
          end_row(row),
          end_column(column) {}

    // Mode END_GAPS: adds an end gap, unless it is free and so no part of the alignment.
    __device__ bool add_end_gap(int residues, bool of_row, End end) {
        if (residues == 0 || is_free(end_costs(arguments, of_row == pair.row_is_query, end))) return false;
        runs.add(residues, of_row ? row_gap : column_gap);
        ++openings;
        gap_residues += residues;
        return true;
    }
    __device__ void add_last_gap() {
        if (add_end_gap(pair.rows - end_row, true, AT_END)) end_row = pair.rows;
        else if (add_end_gap(pair.columns - end_column, false, AT_END)) end_column = pair.columns;
    }
    __device__ void add_first_gaps() {
        if (mode == GLOBAL && i + j > 0) {  // along the border
            runs.add(i + j, i > 0 ? row_gap : column_gap);
            ++openings;
            gap_residues += i + j;
            i = j = 0;
        }
        if (mode == END_GAPS) {
            if (add_end_gap(i, true, AT_START)) i = 0;
            if (add_end_gap(j, false, AT_START)) j = 0;
        }
    }

    // From the end cell to where the alignment starts or a border: one word for up to eight rows.
    __device__ void follow(const uint32_t* words, int columns_of_tile) {
        enum State { IN_H, IN_E, IN_F } state = IN_H;
        int64_t at = -1;
        uint32_t word = 0;
        while (i > 0 && j > 0) {
            const int64_t needed = (int64_t((i - 1) / TIER) * columns_of_tile + (j - 1)) * WARP;
            if (needed != at) word = words[at = needed];
            const uint32_t cell = word >> (4 * ((i - 1) % TIER));
            if (state == IN_H) {
                const uint32_t from = cell & (BUP | BLEFT);
                if (from == 0) break;
                // Ties: the walk back.
                if (from == (BUP | BLEFT)) {
                    const uint8_t residue = pair.row_codes[--i];
                    const bool match = residue == pair.column_codes[--j] && residue < arguments.unambiguous;
                    runs.add(1, match ? 7 : 8);
                    matches += match;
                    mismatches += !match;
                    continue;
                }
                state = from == BUP ? IN_E : IN_F;
                ++openings;
            }
            ++gap_residues;
            if (state == IN_E) {
                --j;
                runs.add(1, column_gap);
                if (!(cell & CUP)) state = IN_H;
            } else {
                --i;
                runs.add(1, row_gap);
                if (!(cell & CLEFT)) state = IN_H;
            }
        }
    }

    __device__ void write_counts(int32_t* results, int64_t pairs) const {
        const bool empty = matches + mismatches + gap_residues == 0;
        const int row_start = empty ? 0 : i, row_end = empty ? 0 : end_row;
        const int column_start = empty ? 0 : j, column_end = empty ? 0 : end_column;
        results[QUERY_START * pairs] = pair.row_is_query ? row_start : column_start;
        results[QUERY_END * pairs] = pair.row_is_query ? row_end : column_end;
        results[TARGET_START * pairs] = pair.row_is_query ? column_start : row_start;
        results[TARGET_END * pairs] = pair.row_is_query ? column_end : row_end;
        results[MATCHES * pairs] = matches;
        results[MISMATCHES * pairs] = mismatches;
        results[GAP_OPENINGS * pairs] = openings;
        results[GAP_RESIDUES * pairs] = gap_residues;
        results[RUNS * pairs] = runs.count;
    }
};

}  // namespace
