// Scores by the striped method: a work-group of 32 work-items a pair, lazy F decided by a vote.
//
// What it computes
//   build_profiles  the scores of each row sequence's letters against every letter, in striped order
//   score_striped   the score of each pair
//
// Source: T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri, "Performance comparison of GPU programming frameworks
// with the striped Smith-Waterman algorithm", HEART 2012, after M. Farrar, "Striped Smith-Waterman speeds
// database searches six times over other SIMD implementations", Bioinformatics 23(2), 2007. From there: work-item
// p owns rows p * segments .. p * segments + segments - 1, so that only the first row of each depends on
// another work-item; F that crosses from one to the next is put right afterwards, as often as a vote finds
// some that matters. The vote is the paper's "simple reduction" through local memory (VOTE=LOCAL_MEMORY, its
// configurations 1 and 6), or one of a sub-group (VOTE=SUB_GROUP) or warp (VOTE=WARP) where a device has it.
// Different here: all three modes, affine gaps where a gap of one kind may follow one of the other (so E is
// put right as well), and many pairs of a set at a time instead of one query.
//
// Inputs: sets as in sets.clh; a rectangle of the pair matrix, rows row_start .. row_start + rows - 1:
//     first_pair      [rows + 1]  number of each row's first pair
//     first_column    [rows]      sorted position of its column
//     chosen          [pairs]     numbers of the pairs to align; read when Rectangle::chosen
//     profile_starts  [rows + 1]  where each row's profile starts, in entries
//     profiles        a row: [32 letters][segments][32 work-items]; rows past the end score 0
// Output: results [3][pairs]: score, query, target.
// H and E of one column: [segments][32] cells, two numbers of 16 bits where the score bounds allow (CELL=short2),
// else of 32; in local memory (STORE=local) while they fit, else in global memory (STORE=global), `pitch` cells a
// work-group (0 when local). Work-groups take every groups-th pair.
// -DMODE= -DENTRY=char|int -DCELL=short2|int2 -DSTORE=local|global -DVOTE=LOCAL_MEMORY|SUB_GROUP|WARP

#include "sets.clh"

#define GLOBAL 0
#define SEMIGLOBAL 1
#define LOCAL 2

#define LOCAL_MEMORY 0
#define SUB_GROUP 1
#define WARP 2

#if VOTE == SUB_GROUP
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

#define ITEMS 32
#define MINUS_INFINITY (-(1 << 30))

typedef struct {
    long shift;              // what to take off `starts` of the second set
    int row_start, rows, pairs, groups;
    int gap_open, gap_extend, one_set, chosen;
    int pitch, unused;
} Rectangle;                 // 48 bytes: RECTANGLE in pairalign/engines/opencl_striped.py

static inline int segments_of(int rows) { return (rows + ITEMS - 1) / ITEMS; }

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void build_profiles(SETS, global const int* matrix, global const long* profile_starts, global ENTRY* profiles,
                    const Rectangle rectangle) {
    const int row = get_group_id(0), item = get_local_id(0);
    const int position = rectangle.row_start + row;
    const int length = lengths_1[position], segments = segments_of(length);
    global const uchar* codes = codes_1 + starts_1[position];
    global ENTRY* profile = profiles + profile_starts[row] + item;
    for (int s = 0; s < segments; ++s) {
        const int at = item * segments + s;
        const int code = at < length ? codes[at] & (LETTERS - 1) : -1;
        for (int letter = 0; letter < LETTERS; ++letter)
            profile[(letter * segments + s) * ITEMS] = code < 0 ? 0 : matrix[code * LETTERS + letter];
    }
}

// What work-items hand to each other. Buffers are taken in turn, so that one barrier an exchange is enough:
// when a buffer comes up again, all have passed a barrier since they read it.
typedef struct {
    local int* buffers;        // [2][ITEMS]
    volatile local int* votes; // [3]; the one to be used next is 0
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
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.any.pred q, p, 0xffffffff;"
                 " selp.s32 %0, 1, 0, q; }" : "=r"(voted) : "r"((int)says));
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

static inline int border_score(int letters, const Rectangle rectangle) {
    if (MODE != GLOBAL || letters == 0) return 0;
    return -rectangle.gap_open - (letters - 1) * rectangle.gap_extend;
}

// Scores one pair; the same result in every work-item.
static inline int score_pair(global const ENTRY* profile, global const uchar* column_codes, int rows, int columns,
                             STORE CELL* cells, Exchange* exchange, int item,
                             const Rectangle rectangle) {
    const int open = rectangle.gap_open, extend = rectangle.gap_extend;
    const int segments = segments_of(rows);
    const int first_row = item * segments;
    const int last_item = (rows - 1) / segments, last_segment = (rows - 1) % segments;
    for (int s = 0; s < segments; ++s) {
        const int h = border_score(first_row + s + 1, rectangle);
        cells[s * ITEMS] = (CELL)(h, h - open);  // E is that of the next column
    }
    int best = 0;  // local, and semiglobal: cells (0, n) and (m, 0)
    for (int j = 1; j <= columns; ++j) {
        global const ENTRY* scores = profile + (column_codes[j - 1] & (LETTERS - 1)) * segments * ITEMS;
        int h = from_before(exchange, item, cells[(segments - 1) * ITEMS].x, border_score(j - 1, rectangle));
        int f = item == 0 ? border_score(j, rectangle) - open : MINUS_INFINITY;
        for (int s = 0; s < segments; ++s) {
            const CELL before = cells[s * ITEMS];
            const int e = before.y;
            h = max(h + scores[s * ITEMS], max(e, f));
            if (MODE == LOCAL) h = max(h, 0);
            if (MODE == LOCAL) best = max(best, h);
            cells[s * ITEMS] = (CELL)(h, max(e - extend, h - open));
            f = max(f - extend, h - open);
            h = before.x;
        }
        // F that left a work-item's last row goes on in the next one's first, as long as it matters there:
        // where F <= H - open, a gap opened at H is no worse from there on.
        while (true) {
            f = from_before(exchange, item, f, MINUS_INFINITY);
            if (!any_of_all(exchange, item, f > cells[0].x - open)) break;
            for (int s = 0; s < segments; ++s) {
                const CELL cell = cells[s * ITEMS];
                if (f > cell.x) cells[s * ITEMS] = (CELL)(f, max((int)cell.y, f - open));
                f = max(f - extend, MINUS_INFINITY);
                }
        }
        if (MODE == SEMIGLOBAL && item == last_item) best = max(best, (int)cells[last_segment * ITEMS].x);
    }
    if (MODE == SEMIGLOBAL)
        for (int s = 0; s < segments; ++s)
            if (first_row + s < rows) best = max(best, (int)cells[s * ITEMS].x);
    if (MODE == GLOBAL) best = item == last_item ? cells[last_segment * ITEMS].x : MINUS_INFINITY;
    return highest_of_all(exchange, item, best);
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void score_striped(SETS, global const int* first_pair, global const int* first_column, global const int* chosen,
                   global const long* profile_starts, global const ENTRY* profiles, STORE CELL* storage,
                   global int* results, const Rectangle rectangle) {
    local int buffers[2 * ITEMS], votes[3];
    Exchange exchange = {buffers, votes, 0, 0};
    const int item = get_local_id(0), group = get_group_id(0);
    if (item < 3) votes[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Set row_set = FIRST_SET, column_set = SECOND_SET(rectangle);
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
        const int rows = row_set.lengths[row], columns = column_set.lengths[column];
        STORE CELL* const cells = storage + (long)group * rectangle.pitch + item;
        const int score = score_pair(profiles + profile_starts[low] + item,
                                     column_set.codes + (column_set.starts[column] - column_set.shift), rows,
                                     columns, cells, &exchange, item,
                                     rectangle);
        if (item == 0) {
            const long pairs = rectangle.pairs;
            const int of_row = row_set.order[row], of_column = column_set.order[column];
            const bool turned = rectangle.one_set && of_column < of_row;
            results[place] = score;
            results[pairs + place] = turned ? of_column : of_row;
            results[2 * pairs + place] = turned ? of_row : of_column;
        }
    }
}
