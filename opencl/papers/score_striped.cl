// Scores by the striped method: a work-group of 32 work-items a pair, lazy F decided by a vote.
//
// What it computes
//   build_profiles  the scores of each row sequence's residues against every residue, in striped order
//   score_striped   the score of each pair
//
// Source: T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri, "Performance comparison of GPU programming frameworks
// with the striped Smith-Waterman algorithm", HEART 2012, after M. Farrar, "Striped Smith-Waterman speeds
// database searches six times over other SIMD implementations", Bioinformatics 23(2), 2007. From there:
// work-item p owns rows p * segments .. p * segments + segments - 1, so that only the first row of each
// depends on another work-item; F that crosses from one to the next is put right after each column, as often
// as a vote finds some that matters. The vote is the paper's "simple reduction" through local memory
// (VOTE=LOCAL_MEMORY, its configurations 1 and 6), or one of a sub-group (VOTE=SUB_GROUP) or of a warp
// (VOTE=WARP, NVIDIA's compiler). Different here: all three modes; E is put right as well, so that a gap may
// follow a gap of the other kind; many queries, the rows of a set. cuda/papers/striped.cu is the same method
// in C++.
//
// Inputs: sets as in sets.clh; a rectangle of the pair matrix, rows row_start .. row_start + rows - 1:
//     first_pair      [rows + 1]  number of each row's first pair
//     first_column    [rows]      sorted position of its column
//     chosen          [pairs]     numbers of the pairs to align; read when Rectangle::chosen
//     profile_starts  [rows + 1]  where each row's profile starts, in entries of four scores
//     profiles        a row: [32 residues][segments / 4, rounded up][32 work-items] entries; rows past the
//                     end score 0
// Output: results [3][pairs]: score, query, target.
// Cells [segments][32]: H of a column and E of the next, in local memory (STORE=local) while they fit, else
// in global memory (STORE=global), `pitch` cells a work-group (0 when local). Work-groups take every
// groups-th pair. -DMODE= -DENTRY=char4|int4 -DSTORE=local|global -DVOTE=LOCAL_MEMORY|SUB_GROUP|WARP

#include "modes.clh"
#include "sets.clh"

#define LOCAL_MEMORY 0
#define SUB_GROUP 1
#define WARP 2

#if VOTE == SUB_GROUP
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

typedef struct {
    long shift;  // what to take off `starts` of the second set
    int row_start, rows, pairs, groups;
    int gap_open, gap_extend, one_set, chosen;
    int pitch, unused;
} Rectangle;  // 48 bytes: RECTANGLE in pairalign/engines/opencl/opencl_striped.py

#define ITEMS 32

static inline int segments_of(int rows) { return (rows + ITEMS - 1) / ITEMS; }

// What work-items hand to each other. Buffers are taken in turn, so that one barrier an exchange is enough:
// when a buffer comes up again, all have passed a barrier since they read it.
typedef struct {
    local int* buffers;         // [2][ITEMS]
    volatile local int* votes;  // [3]; the one to be used next is 0
    int turn, vote;
} Exchange;

// The value of the work-item before; `first` for the first.
static inline int from_before(Exchange* exchange, int item, int value, int first) {
    local int* const buffer = exchange->buffers + exchange->turn * ITEMS;
    exchange->turn ^= 1;
    buffer[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return item == 0 ? first : buffer[item - 1];
}

static inline int highest_of_all(Exchange* exchange, int item, int value) {
    local int* const buffer = exchange->buffers + exchange->turn * ITEMS;
    exchange->turn ^= 1;
    buffer[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    int highest = buffer[0];
    for (int k = 1; k < ITEMS; ++k) highest = max(highest, buffer[k]);
    return highest;
}

// Whether any work-item says so.
static inline bool any_of_all(Exchange* exchange, int item, bool says) {
#if VOTE == SUB_GROUP
    return sub_group_any(says);
#elif VOTE == WARP
    int voted;
    asm volatile(
        "{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff;"
        " selp.s32 %0, 1, 0, q; }"
        : "=r"(voted)
        : "r"((int)says));
    return voted;
#else
    const int vote = exchange->vote;
    exchange->vote = (vote + 1) % 3;
    if (says) atomic_or(&exchange->votes[vote], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    // The one before: everybody has read it, and nobody writes it before the next barrier but one.
    if (item == 0) exchange->votes[(vote + 2) % 3] = 0;
    return exchange->votes[vote];
#endif
}

// What goes down a work-item's rows of a column.
typedef struct {
    int diagonal;  // H of the row above in the column before
    int f;         // F of the row to come
    int best;      // local
} Lane;

static inline void advance(Lane* lane, STORE int2* cell, int score, int open, int extend) {
    const int2 before = *cell;
    int h = max(max(lane->diagonal + score, before.y), lane->f);
    if (MODE == LOCAL) {
        h = max(h, 0);
        lane->best = max(lane->best, h);
    }
    *cell = (int2)(h, max(before.y - extend, h - open));
    lane->f = max(lane->f - extend, h - open);
    lane->diagonal = before.x;
}

// The best of this work-item's cells; the highest of all work-items is the score.
static inline int score_pair(global const ENTRY* profile, global const uchar* residues, int rows, int columns,
                             STORE int2* cells, Exchange* exchange, int item, const Rectangle rectangle) {
    const int open = rectangle.gap_open, extend = rectangle.gap_extend;
    const int segments = segments_of(rows), fours = (segments + 3) / 4;
    const int last_item = (rows - 1) / segments, last_segment = (rows - 1) % segments;
    const int least = MODE == LOCAL ? 0 : MINUS_INFINITY;  // F from here on down is never worth a correction
    for (int s = 0; s < segments; ++s) {
        // Rows past the end take the last one's border: they must not leave 32 bits.
        const int h = border_score(min(item * segments + s + 1, rows), open, extend);
        cells[s * ITEMS] = (int2)(h, h - open);
    }
    Lane lane = {0, 0, 0};
    int best = 0;  // semiglobal: of cells (0, n) and (m, 0)
    // A residue is read two columns ahead, scores four segments ahead: neither is then waited for.
    global const ENTRY* scores = profile + (int)residues[0] * fours * ITEMS;
    ENTRY ahead = *scores;
    int next_residue = residues[min(1, columns - 1)];
    for (int column = 1; column <= columns; ++column) {
        lane.diagonal = from_before(exchange, item, cells[(segments - 1) * ITEMS].x,
                                    border_score(column - 1, open, extend));
        lane.f = item == 0 ? border_score(column, open, extend) - open : MINUS_INFINITY;
        STORE int2* cell = cells;
        for (int four = 1; four < fours; ++four, cell += 4 * ITEMS) {
            const ENTRY score = ahead;
            scores += ITEMS;
            ahead = *scores;
            advance(&lane, cell, score.x, open, extend);
            advance(&lane, cell + ITEMS, score.y, open, extend);
            advance(&lane, cell + 2 * ITEMS, score.z, open, extend);
            advance(&lane, cell + 3 * ITEMS, score.w, open, extend);
        }
        const ENTRY score = ahead;  // of the last one to four segments
        scores = profile + next_residue * fours * ITEMS;
        ahead = *scores;
        next_residue = residues[min(column + 1, columns - 1)];
        const int left = segments - 4 * (fours - 1);
        advance(&lane, cell, score.x, open, extend);
        if (left > 1) advance(&lane, cell + ITEMS, score.y, open, extend);
        if (left > 2) advance(&lane, cell + 2 * ITEMS, score.z, open, extend);
        if (left > 3) advance(&lane, cell + 3 * ITEMS, score.w, open, extend);

        // F that left a work-item's last row goes on in the next one's first, as long as it matters there:
        // where F <= H - open, a gap opened at H is no worse from there on.
        int f = lane.f;
        while (true) {
            f = from_before(exchange, item, f, MINUS_INFINITY);
            if (!any_of_all(exchange, item, f > max(cells[0].x - open, least))) break;
            for (int s = 0; s < segments; ++s) {
                const int2 old = cells[s * ITEMS];
                if (f > old.x) cells[s * ITEMS] = (int2)(f, max(old.y, f - open));
                f = max(f - extend, MINUS_INFINITY);
            }
        }
        if (MODE == SEMIGLOBAL && item == last_item) best = max(best, cells[last_segment * ITEMS].x);
    }
    if (MODE == LOCAL) return lane.best;
    if (MODE == GLOBAL) return item == last_item ? cells[last_segment * ITEMS].x : MINUS_INFINITY;
    for (int s = 0; s < segments; ++s)
        if (item * segments + s < rows) best = max(best, cells[s * ITEMS].x);
    return best;
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void build_profiles(
    SETS, global const int* matrix, global const long* profile_starts, global ENTRY* profiles,
    const Rectangle rectangle) {
    const int row = get_group_id(0), item = get_local_id(0);
    const int position = rectangle.row_start + row;
    const int length = lengths_1[position], segments = segments_of(length), fours = (segments + 3) / 4;
    global const uchar* codes = codes_1 + starts_1[position];
    global ENTRY* profile = profiles + profile_starts[row] + item;
    for (int four = 0; four < fours; ++four) {
        int rows_scores[4];  // where the four residues' scores start in the matrix, or -1
        for (int k = 0; k < 4; ++k) {
            const int segment = 4 * four + k, at = item * segments + segment;
            rows_scores[k] = segment < segments && at < length ? (codes[at] & (LETTERS - 1)) * LETTERS : -1;
        }
        for (int residue = 0; residue < LETTERS; ++residue) {
            int score[4];
            for (int k = 0; k < 4; ++k) score[k] = rows_scores[k] < 0 ? 0 : matrix[rows_scores[k] + residue];
            profile[(residue * fours + four) * ITEMS] = (ENTRY)(score[0], score[1], score[2], score[3]);
        }
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void score_striped(
    SETS, global const int* first_pair, global const int* first_column, global const int* chosen,
    global const long* profile_starts, global const ENTRY* profiles, STORE int2* storage, global int* results,
    const Rectangle rectangle) {
    local int buffers[2 * ITEMS], votes[3];
    Exchange exchange = {buffers, votes, 0, 0};
    const int item = get_local_id(0), group = get_group_id(0);
    if (item < 3) votes[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Set row_set = FIRST_SET, column_set = SECOND_SET(rectangle);
    STORE int2* const cells = storage + (long)group * rectangle.pitch + item;
    for (int place = group; place < rectangle.pairs; place += rectangle.groups) {
        const int number = rectangle.chosen ? chosen[place] : place;
        int low = 0, high = rectangle.rows;  // first_pair[low] <= number < first_pair[high]
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (first_pair[middle] <= number) low = middle;
            else high = middle;
        }
        const int row = rectangle.row_start + low;
        const int column = first_column[low] + number - first_pair[low];
        const int rows = row_set.lengths[row];
        const int best = score_pair(profiles + profile_starts[low] + item,
                                    column_set.codes + (column_set.starts[column] - column_set.shift), rows,
                                    column_set.lengths[column], cells, &exchange, item, rectangle);
        const int score = highest_of_all(&exchange, item, best);
        if (item == 0) {
            const long pairs = rectangle.pairs;
            const int of_row = row_set.order[row], of_column = column_set.order[column];
            const bool swapped = rectangle.one_set && of_column < of_row;
            results[place] = score;
            results[pairs + place] = swapped ? of_column : of_row;
            results[2 * pairs + place] = swapped ? of_row : of_column;
        }
    }
}
