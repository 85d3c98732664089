// Fills the matrix of every pair of a window, a work-item a pair; gpu-pairAlign's first kernel in OpenCL
// C 1.2.
//
// What it computes
//   -DTRACED=0  the score of each pair
//   -DTRACED=1  also its end cell, and the flags CUP, CLEFT, BLEFT, BUP of every cell
//
// Source: J. Blazewicz, W. Frohmberg, M. Kierzynka, E. Pesch, P. Wojciechowski, "Protein alignment algorithms
// with an efficient backtracking routine on multiple GPUs", BMC Bioinformatics 12:181 (2011). From there: a
// thread a pair, 16 x 16 pairs a block, eight rows at a time, H and F of a tier's last row in global memory.
// As in cuda/pair_per_thread/pair_per_thread.cu, flags travel in the low bits of scores, and the scores of
// the row sequences against every residue are shared as a profile.
//
// Inputs and outputs: see tiles.clh; arrays of a tile have the work-item fastest, so that neighbours touch
// neighbouring words:
//     border_entries  [columns + 1][32]       Border: H and F' of a tier's last row
//     trace           [tiers][columns][32]    uint: flags of eight cells (TRACED only)
//     results         [14][pairs]             SCORE, QUERY, TARGET, and when TRACED END_ROW, END_COLUMN
// Work-groups: GROUP_TILES tiles of 32 work-items; barriers once a tier of eight rows, between building the
// profile and reading it. Local memory: GROUP_TILES x TILE_ROWS x 32 entries of eight scores (NARROW: 512
// bytes a tile). Nothing depends on how many work-items run in step.
// -DMODE= -DWIDTH= -DTRACED= -DBLOCK= -DGROUP_TILES=

#include "tiles.clh"
#include "cell.clh"

// End cell of an alignment that is not global: the highest score, then the smallest column, then the
// smallest row. Scores are kept H values; row and column count from 1. Mode END_GAPS: scores less the gap
// from there to the last cell, not as they are kept, since they may need all 32 bits.
typedef struct {
    int h, row, column;
} EndCell;

// The scores of rows first .. first + 7 of a tile's row sequences against the residue `item`. Rows past the
// end score 0, which lets no cell there exceed those before it.
static inline void build_profile(local Scores* profile, global const int* matrix, const Set row_set,
                                 const Tile tile, int first, int item) {
    for (int r = 0; r < TILE_ROWS; ++r) {
        if (((tile.lanes >> (r * BLOCK)) & (0xffffffffu >> (32 - BLOCK))) == 0) continue;
        const int length = row_set.lengths[tile.row + r];
        if (first >= length) continue;
        global const uchar* codes = row_set.codes + (row_set.starts[tile.row + r] - row_set.shift + first);
        const uchar8 residues = vload8(0, codes);  // sequences are padded to 16 bytes
        int score[TIER];
        uchar residue[TIER];
        vstore8(residues, 0, residue);
        for (int k = 0; k < TIER; ++k)
            score[k] = first + k < length ? matrix[(residue[k] & (LETTERS - 1)) * LETTERS + item] : 0;
        const int8 scores = vload8(0, score);
#if WIDTH == NARROW
        profile[r * LETTERS + item] = convert_char8(scores);
#elif WIDTH == WIDE
        profile[r * LETTERS + item] = convert_short8(scores);
#else
        profile[r * LETTERS + item] = scores;
#endif
    }
}

// H of a border cell in any mode. `start`: costs of the gap there in mode END_GAPS.
static inline int edge_score(const Batch batch, int2 start, int residues) {
    return MODE == END_GAPS ? -cost_of(start, residues)
                            : border_score(residues, batch.gap_open, batch.gap_extend);
}

kernel __attribute__((reqd_work_group_size(GROUP_TILES * TILE_ITEMS, 1, 1)))
#if TRACED
void fill_pair_per_thread(
#else
void score_pair_per_thread(
#endif
    SETS, global const Tile* tiles, global const int* pair_base, global const int* matrix,
    global Border* border_entries, global uint* trace, global int* results, const Batch batch) {
    local Scores profiles[GROUP_TILES][TILE_ROWS * LETTERS];

    const Set first_set = FIRST_SET, second_set = SECOND_SET(batch);
    const int place = get_local_id(0) / TILE_ITEMS, item = get_local_id(0) % TILE_ITEMS;
    const int group_tile = get_group_id(0) * GROUP_TILES;
    const int tile_number = min(group_tile + place, batch.tile_count - 1);
    const bool inside = group_tile + place < batch.tile_count;
    const Tile tile = tiles[tile_number];

    // All work-items of a group pass as many barriers, so all go on to the end of its longest row sequence.
    int longest = 0;
    for (int t = 0; t < GROUP_TILES; ++t) {
        global const Tile* other = tiles + min(group_tile + t, batch.tile_count - 1);
        longest = max(longest, (other->swapped ? lengths_2 : lengths_1)[other->row]);
    }

    const Pair pair = pair_of_item(tile, first_set, second_set, batch, pair_base, item);
    bool wanted = inside && pair.active;
#if TRACED
    if (batch.scored && wanted) wanted = results[SCORE * (long)batch.pairs + pair.number] >= batch.minimum;
#endif
    const int rows = wanted ? pair.rows : 0, columns = wanted ? pair.columns : 0;
    local Scores* const profile = profiles[place] + item / BLOCK * LETTERS;
    global Border* const border = border_entries + tile.border + item;
    const Steps steps = steps_of(batch.gap_open, batch.gap_extend);
    const int2 before_row = end_costs(batch, pair.row_is_query, AT_START);
    const int2 before_column = end_costs(batch, !pair.row_is_query, AT_START);
    const int2 after_row = end_costs(batch, pair.row_is_query, AT_END);
    const int2 after_column = end_costs(batch, !pair.row_is_query, AT_END);

    if (rows > 0) {
        for (int j = 0; j <= columns; ++j) {  // one more than columns: the loop reads ahead
            const int score = edge_score(batch, before_column, j + 1);
#if WIDTH == NARROW
            border[(long)j * TILE_ITEMS] = (short2)((short)score, FIRST_F);
#else
            border[(long)j * TILE_ITEMS] = (int2)(KEEP(score), FIRST_F);
#endif
        }
    }

    // Local: the best cell so far. Semiglobal: the best of the last column so far; cell (0, n) is the first.
    EndCell best = {KEEP(0), 0, MODE == SEMIGLOBAL ? columns : 0};
    EndCell last_row = {KEEP(0), rows, 0};  // semiglobal: from cell (m, 0)
    if (MODE == END_GAPS) {
        best.h = -cost_of(before_column, columns) - cost_of(after_row, rows);
        best.column = columns;
        last_row.h = -cost_of(before_row, rows) - cost_of(after_column, columns);
    }

    for (int first = 0; first < longest; first += TIER) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside)
            build_profile(profiles[place], matrix, tile.swapped ? second_set : first_set, tile, first, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first < rows) {
            const int last = rows - 1 - first;  // the pair's last row, when in this tier
            Column cells;
#pragma unroll
            for (int k = 0; k < TIER; ++k) {
                cells.h[k] = KEEP(edge_score(batch, before_row, first + k + 1));
                cells.e[k] = MINUS_INFINITY;
            }
            int diagonal = KEEP(edge_score(batch, before_row, first));
            global Border* edge = border;
#if TRACED
            global uint* word = trace + tile.trace + (long)(first / TIER) * tile.columns * TILE_ITEMS + item;
#endif
            Border above = *edge;
            global const uint* next_codes = (global const uint*)pair.column_codes;
            uint residues = 0;  // of four columns
            for (int j = 1; j <= columns; ++j) {
                if ((j & 3) == 1) residues = *next_codes++;
                const Border entry = above;
                above = edge[TILE_ITEMS];  // of the next column; the array has one entry more than columns
                const Scores scores = profile[residues & (LETTERS - 1)];
                residues >>= 8;
                int up = unpack_h(entry), f = unpack_f(entry);
                const int next_diagonal = up;
                const uint flags = advance(&cells, steps, scores, diagonal, &up, &f);
                diagonal = next_diagonal;
                *edge = pack(up, f);
                edge += TILE_ITEMS;
#if TRACED
                *word = flags;
                word += TILE_ITEMS;
#endif
                if (MODE == LOCAL) {
                    const int top = highest(&cells);
                    if (TRACED && (top > best.h || (top == best.h && j < best.column))) {
                        best.column = j;
#pragma unroll
                        for (int k = TIER - 1; k >= 0; --k)
                            if (cells.h[k] == top) best.row = first + k + 1;
                    }
                    best.h = max(best.h, top);
                }
                if ((MODE == SEMIGLOBAL || MODE == END_GAPS) && last < TIER && j < columns) {
                    int h = row_of(&cells, last);
                    if (MODE == END_GAPS) h = SCORE_OF(h) - cost_of(after_column, columns - j);
                    if (h > last_row.h) {
                        last_row.h = h;
                        last_row.column = j;
                    }
                }
            }
            if (MODE == SEMIGLOBAL) {
#pragma unroll
                for (int k = 0; k < TIER; ++k)
                    if (k <= last && cells.h[k] > best.h) {
                        best.h = cells.h[k];
                        best.row = first + k + 1;
                    }
            }
            if (MODE == END_GAPS) {
#pragma unroll
                for (int k = 0; k < TIER; ++k) {
                    const int h = SCORE_OF(cells.h[k]) - cost_of(after_row, last - k);
                    if (k <= last && h > best.h) {
                        best.h = h;
                        best.row = first + k + 1;
                    }
                }
            }
            if (MODE == GLOBAL && last < TIER) {
                best.h = row_of(&cells, last);
                best.row = rows;
                best.column = columns;
            }
        }
    }
    if (rows == 0) return;
    // Ties: the end cell.
    if ((MODE == SEMIGLOBAL || MODE == END_GAPS) && last_row.h >= best.h) best = last_row;

    const long pairs = batch.pairs;
    global int* const result = results + pair.number;
    result[SCORE * pairs] = MODE == END_GAPS ? best.h : SCORE_OF(best.h);
    result[QUERY * pairs] = pair.query;
    result[TARGET * pairs] = pair.target;
#if TRACED
    result[END_ROW * pairs] = best.row;
    result[END_COLUMN * pairs] = best.column;
#endif
}
