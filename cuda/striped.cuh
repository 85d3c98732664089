// The score of a pair by the striped method: source text that CUDA and OpenCL programs include alike.
//
// Computes   the score of a query (whose letters are rows, as a profile) and a target (columns), gaps
//            affine. A pair is done by LANES lanes that run together; each returns its own best, the
//            caller takes the highest of all lanes.
// Layout     striped: lane l has rows l * segments .. (l + 1) * segments - 1, segment j being its row
//            j. A column is done segment by segment, all lanes at once; a lane needs H of the lane
//            before only for its first row. F does not cross from lane to lane meanwhile: where it
//            should have, the lazy loop after the column puts that right.
// Memory     h, e [segments][LANES]: H of the column before, and E of the column to come,
//            max(E - extend, H - open); a lane reads and writes its own entries only.
//            profile [letter][fours][LANES][4]: scores of a lane's rows against a letter, four
//            segments a load; rows behind the query's end score 0.
// Source     M. Farrar, "Striped Smith-Waterman speeds database searches six times over other SIMD
//            implementations", Bioinformatics 23 (2007); T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri,
//            "Performance comparison of GPU programming frameworks with the striped Smith-Waterman
//            algorithm", ACM SIGARCH Computer Architecture News 40 (2012). Different here: all modes;
//            E is corrected too where F raises H, so that a gap may follow a gap; and the lazy loop
//            can end at any segment.
//
// The including program defines
//     LANES              lanes of a pair, 32 where a pair has a warp
//     STRIPED_MODE       0 global, 1 semiglobal, 2 local
//     STRIPED_EVERY_STEP 1: the lazy loop asks at each segment whether F still matters (Farrar)
//                        0: once before each pass over all segments (Kakimoto et al.)
//     STRIPED_FUNCTION   what comes before a function: __device__ inline
//     STRIPED_PROFILE    a type that points to the profile, four scores an entry (.x .y .z .w)
//     STRIPED_READ(p)    reads an entry of it
//     STRIPED_LETTERS    a type that points to letters' codes
//     STRIPED_STORE      a type that points to the int entries of h and e
//     STRIPED_SCRATCH    a type for what the next two need; passed on as it is
//     STRIPED_SHIFT(value, first, lane, scratch)   the value of the lane before; `first` in lane 0
//     STRIPED_ANY(predicate, lane, scratch)        whether it holds in any lane
// All lanes reach STRIPED_SHIFT and STRIPED_ANY together.

#define STRIPED_MINUS_INFINITY (-(1 << 30))  // no score is below it, and extending a gap from it fits 32 bits

STRIPED_FUNCTION int striped_border(int letters, int gap_open, int gap_extend) {
    return STRIPED_MODE == 0 && letters > 0 ? -gap_open - (letters - 1) * gap_extend : 0;
}

STRIPED_FUNCTION int striped_segments(int rows) { return (rows + LANES - 1) / LANES; }

STRIPED_FUNCTION int striped_score(STRIPED_PROFILE profile, int rows, STRIPED_LETTERS letters, int columns,
                                   int gap_open, int gap_extend, STRIPED_STORE h, STRIPED_STORE e, int lane,
                                   STRIPED_SCRATCH scratch) {
    const int segments = striped_segments(rows), fours = (segments + 3) / 4;
    const int last_lane = (rows - 1) / segments, last_segment = (rows - 1) % segments;
    for (int j = 0; j < segments; ++j) {
        // Rows behind the end take the last row's border: they must not leave 32 bits.
        const int border = striped_border(min(lane * segments + j + 1, rows), gap_open, gap_extend);
        h[j * LANES + lane] = border;
        e[j * LANES + lane] = border - gap_open;
    }
    int best = 0;  // semiglobal: of cells (0, n) and (m, 0)
    const int least = STRIPED_MODE == 2 ? 0 : STRIPED_MINUS_INFINITY;
    // Letters are read two columns ahead, scores four segments ahead: neither is then waited for.
    STRIPED_PROFILE scores = profile + (int)letters[0] * fours * LANES + lane;
    STRIPED_FOUR ahead = STRIPED_READ(scores);
    int next_letter = letters[min(1, columns - 1)];
    for (int column = 1; column <= columns; ++column) {
        int diagonal = STRIPED_SHIFT(h[(segments - 1) * LANES + lane],
                                     striped_border(column - 1, gap_open, gap_extend), lane, scratch);
        int f = lane == 0 ? striped_border(column, gap_open, gap_extend) - gap_open : STRIPED_MINUS_INFINITY;

#define STRIPED_CELL(score)                                                             \
    do {                                                                                \
        const int before = h[j * LANES + lane], old_e = e[j * LANES + lane];            \
        int value = max(max(diagonal + (int)(score), old_e), f);                        \
        if (STRIPED_MODE == 2) value = max(value, 0);                                   \
        const int opened = value - gap_open;                                            \
        diagonal = before;                                                              \
        h[j * LANES + lane] = value;                                                    \
        e[j * LANES + lane] = max(old_e - gap_extend, opened);                          \
        f = max(f - gap_extend, opened);                                                \
        if (STRIPED_MODE == 2) best = max(best, value);                                 \
        ++j;                                                                            \
    } while (0)

        int j = 0;
        for (int four = 1; four < fours; ++four) {
            const STRIPED_FOUR score = ahead;
            scores += LANES;
            ahead = STRIPED_READ(scores);
            STRIPED_CELL(score.x);
            STRIPED_CELL(score.y);
            STRIPED_CELL(score.z);
            STRIPED_CELL(score.w);
        }
        const STRIPED_FOUR score = ahead;  // of the last one to four segments
        scores = profile + next_letter * fours * LANES + lane;
        ahead = STRIPED_READ(scores);
        next_letter = letters[min(column + 1, columns - 1)];
        STRIPED_CELL(score.x);
        if (j < segments) STRIPED_CELL(score.y);
        if (j < segments) STRIPED_CELL(score.z);
        if (j < segments) STRIPED_CELL(score.w);
#undef STRIPED_CELL

        // Lazy F: what leaves a lane's last row goes on in the next lane, as long as it is more than
        // a gap opened there would be (local: and more than nothing). It then also raises H, and E of
        // the next column.
        f = STRIPED_SHIFT(f, STRIPED_MINUS_INFINITY, lane, scratch);
        j = 0;
        while (STRIPED_ANY(f > max(h[j * LANES + lane] - gap_open, least), lane, scratch)) {
            do {
                const int value = max(h[j * LANES + lane], f);
                h[j * LANES + lane] = value;
                e[j * LANES + lane] = max(e[j * LANES + lane], value - gap_open);
                f = max(f - gap_extend, STRIPED_MINUS_INFINITY);
                ++j;
            } while (!STRIPED_EVERY_STEP && j < segments);
            if (j == segments) {
                j = 0;
                f = STRIPED_SHIFT(f, STRIPED_MINUS_INFINITY, lane, scratch);
            }
        }
        if (STRIPED_MODE == 1 && lane == last_lane) best = max(best, h[last_segment * LANES + lane]);
    }
    if (STRIPED_MODE == 0) return lane == last_lane ? h[last_segment * LANES + lane] : STRIPED_MINUS_INFINITY;
    if (STRIPED_MODE == 1) {
        for (int j = 0; j < segments; ++j)
            if (lane * segments + j < rows) best = max(best, h[j * LANES + lane]);
    }
    return best;
}
