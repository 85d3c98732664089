// Walks back through the flags of every pair, a work-item a pair; gpu-pairAlign's second kernel in OpenCL
// C 1.2.
//
// What it computes
//   measure_pair_per_thread    spans, matches, gaps and the number of CIGAR runs of each pair
//   traceback_pair_per_thread  the runs themselves, written where the host says
//
// Source and inputs: see fill_pair_per_thread.cl, which leaves SCORE, END_ROW, END_COLUMN in the results and
// the flags in `trace`. One source for all modes and widths: flags are the same in all of them. The traceback
// is linear in the lengths and is walked twice, so that runs lie compactly and in order.
// Work-groups of any size; no local memory. -DBLOCK=

#include "tiles.clh"
#include "modes.clh"

enum { IN_H, IN_E, IN_F };

// Counts runs, or writes them from the last to the first.
typedef struct {
    global uint* end;  // past the next run to write; null to count
    uint length, operation;
    int count;
} Runs;

static inline void flush(Runs* runs) {
    if (runs->length == 0) return;
    if (runs->end) *--runs->end = runs->length << 4 | runs->operation;
    ++runs->count;
}

static inline void add(Runs* runs, uint residues, uint operation) {
    if (operation != runs->operation) {
        flush(runs);
        runs->length = 0;
        runs->operation = operation;
    }
    runs->length += residues;
}

// Residues of an end gap that is part of the alignment, or 0 where that is free; mode END_GAPS.
static inline int end_residues(const Batch batch, int residues, int of_query, int end) {
    const int2 costs = end_costs(batch, of_query, end);
    return costs.x == 0 && costs.y == 0 ? 0 : residues;
}

// `runs` is null when `results` are to be written.
// Ties: the walk back.
static inline void walk(const Set first_set, const Set second_set, global const Tile* tiles,
                        global const int* pair_base, global const uint* trace, global int* results,
                        global const long* run_offsets, global uint* runs_out, const Batch batch) {
    const int tile_number = get_global_id(0) / TILE_ITEMS, item = get_global_id(0) % TILE_ITEMS;
    if (tile_number >= batch.tile_count) return;
    const Tile tile = tiles[tile_number];
    const Pair pair = pair_of_item(tile, first_set, second_set, batch, pair_base, item);
    if (!pair.active) return;
    const long pairs = batch.pairs;
    global int* const result = results + pair.number;

    const bool wanted = result[SCORE * pairs] >= batch.minimum;
    int end_row = wanted ? result[END_ROW * pairs] : 0;
    int end_column = wanted ? result[END_COLUMN * pairs] : 0;
    // SAM's codes: I = 1 consumes the query, D = 2 the target.
    const uint row_gap = pair.row_is_query ? 1 : 2, column_gap = 3 - row_gap;
    Runs runs = {0, 0, 0, 0};
    if (runs_out) runs.end = runs_out + run_offsets[pair.number + 1];
    int matches = 0, mismatches = 0, openings = 0, gap_residues = 0;

    int i = end_row, j = end_column, state = IN_H;
    if (batch.mode == END_GAPS && wanted) {
        const int of_row = end_residues(batch, pair.rows - end_row, pair.row_is_query, AT_END);
        const int of_column = end_residues(batch, pair.columns - end_column, !pair.row_is_query, AT_END);
        const int residues = of_row > 0 ? of_row : of_column;
        if (residues > 0) {
            add(&runs, residues, of_row > 0 ? row_gap : column_gap);
            ++openings;
            gap_residues += residues;
        }
        if (of_row > 0) end_row = pair.rows;
        else if (of_column > 0) end_column = pair.columns;
    }
    global const uint* const words = trace + tile.trace + item;
    long at = -1;
    uint word = 0;
    while (i > 0 && j > 0) {
        const long needed = ((long)((i - 1) / TIER) * tile.columns + (j - 1)) * TILE_ITEMS;
        if (needed != at) word = words[at = needed];
        const uint cell = word >> (4 * ((i - 1) % TIER));
        if (state == IN_H) {
            const uint from = cell & (BUP | BLEFT);
            if (from == 0) break;
            if (from == (BUP | BLEFT)) {
                const uchar residue = pair.row_codes[--i];
                const bool match = residue == pair.column_codes[--j] && residue < batch.unambiguous;
                add(&runs, 1, match ? 7 : 8);
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
            add(&runs, 1, column_gap);
            if (!(cell & CUP)) state = IN_H;
        } else {
            --i;
            add(&runs, 1, row_gap);
            if (!(cell & CLEFT)) state = IN_H;
        }
    }
    int of_border = batch.mode == GLOBAL ? i + j : 0;  // residues of the gap along the border
    if (batch.mode == END_GAPS)
        of_border = end_residues(batch, i + j, i > 0 ? pair.row_is_query : !pair.row_is_query, AT_START);
    if (of_border > 0) {
        add(&runs, of_border, i > 0 ? row_gap : column_gap);
        ++openings;
        gap_residues += of_border;
        i = j = 0;
    }
    flush(&runs);
    if (runs_out) return;

    const bool empty = matches + mismatches + gap_residues == 0;
    const int row_start = empty ? 0 : i, row_end = empty ? 0 : end_row;
    const int column_start = empty ? 0 : j, column_end = empty ? 0 : end_column;
    result[QUERY_START * pairs] = pair.row_is_query ? row_start : column_start;
    result[QUERY_END * pairs] = pair.row_is_query ? row_end : column_end;
    result[TARGET_START * pairs] = pair.row_is_query ? column_start : row_start;
    result[TARGET_END * pairs] = pair.row_is_query ? column_end : row_end;
    result[MATCHES * pairs] = matches;
    result[MISMATCHES * pairs] = mismatches;
    result[GAP_OPENINGS * pairs] = openings;
    result[GAP_RESIDUES * pairs] = gap_residues;
    result[RUNS * pairs] = runs.count;
}

kernel void measure_pair_per_thread(SETS, global const Tile* tiles, global const int* pair_base,
                                    global const uint* trace, global int* results, const Batch batch) {
    walk(FIRST_SET, SECOND_SET(batch), tiles, pair_base, trace, results, 0, 0, batch);
}

kernel void traceback_pair_per_thread(SETS, global const Tile* tiles, global const int* pair_base,
                                      global const uint* trace, global int* results, const Batch batch,
                                      global const long* run_offsets, global uint* runs) {
    walk(FIRST_SET, SECOND_SET(batch), tiles, pair_base, trace, results, run_offsets, runs, batch);
}
