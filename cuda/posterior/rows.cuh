// Strips of an x's rows against the y of each lane: the recurrences of cpu/posterior/kernel.h, in the same
// order. A lane goes along all rows of a strip at a time and keeps them in registers, so that the state
// between strips is read and written once for all of them; it is scaled when it is read.
//
// The backward pass needs the M of the forward pass. A strip's are computed again, some columns at a time,
// from the state before the strip and from what its rows had handed to the first of these columns, and lie in
// shared memory meanwhile: that is less to read and to write than all M.
//
// Memory of a warp is [place][number][lane]: what the lanes of a warp read at a time lies together.
#pragma once

#include "numbers.cuh"
#include "posterior.cuh"

constexpr int STRIP = PosteriorScaling::GROUP;  // rows

template <class T, int STATES>
struct Rows {
    using N = Number<T>;

    // A number of each match state.
    struct Matches {
        N v[STATES];
        __device__ __forceinline__ N& operator[](int s) { return v[s]; }
        __device__ __forceinline__ const N& operator[](int s) const { return v[s]; }
    };

    // What the next row needs of this one; see cpu/posterior/kernel.h.
    struct State {
        Matches m;
        N x1, x2, zm, zx;
    };
    // What a row hands to its next column: M of the row before it, and its own gaps of y.
    struct Side {
        Matches m;
        N zm, y1, y2, zy;
    };
    static constexpr int STATE = (STATES + 4) * POSTERIOR_LANES, SIDES = STRIP * STATE;
    static constexpr int COLUMNS = posterior_chunk_bytes(STATES) / static_cast<int>(sizeof(T));  // of a chunk
    static constexpr int KEPT = (STATES + 1) * POSTERIOR_LANES, CHUNK = COLUMNS * STRIP * KEPT;
    static constexpr int TABLE = POSTERIOR_CODES * POSTERIOR_CODES;  // emissions
    static constexpr int TABLES = (STATES + 1) * TABLE;

    // What brings a state to size, and keeps it from 0.
    struct Scaling {
        N hmm, partition, floor;
        static __device__ __forceinline__ Scaling none() { return {{1}, {1}, {0}}; }
        static __device__ __forceinline__ Scaling by(int hmm, int partition) {
            return {{power_of_two<T>(hmm)}, {power_of_two<T>(partition)}, tiny()};
        }
        __device__ __forceinline__ State operator()(State s) const {
            State scaled{{},
                         s.x1 * hmm + floor,
                         s.x2 * hmm + floor,
                         s.zm * partition + floor,
                         s.zx * partition + floor};
            for (int k = 0; k < STATES; k++) scaled.m[k] = s.m[k] * hmm + floor;
            return scaled;
        }
    };
    struct Largest {
        N hmm, partition;
    };
    // Of the first row of a strip going backward: its largest values, and what its posteriors add up to.
    struct Backward {
        Largest largest, sum;
    };
    // What makes posteriors of forward and backward values; see cpu/posterior/kernel.h.
    struct Factors {
        N near, far;
    };

    // Rows first + 1 to first + rows of x, with the state before them and, of each chunk's first column, what
    // its rows were handed (null: nobody asks).
    struct Strip {
        int32_t first, rows;
        const T* before;
        Scaling scaling;
        T* sides;
    };

    const T* tables;  // shared: emissions of the HMM's match states, then of the partition function
    T* kept;          // shared: M of a chunk, [column][row][number][lane]
    Matches stay, leave, enter, open1, open2;
    N extend1, extend2, close1, close2, gap_open, gap_extend, threshold;
    N start_match, start_short, start_long;
    int32_t growth;
    const uint8_t *x, *y;  // y: [place][lane], of this lane
    int32_t length;        // of y
    N hmm_total, partition_total;

    static __device__ __forceinline__ N tiny() { return {power_of_two<T>(PosteriorRange<T>::TINY)}; }
    static __device__ __forceinline__ N unit() { return {power_of_two<T>(PosteriorRange<T>::TOP)}; }

    static __device__ __forceinline__ Matches matches_at(const T* at) {
        Matches m;
        for (int s = 0; s < STATES; s++) m[s] = {at[s * POSTERIOR_LANES]};
        return m;
    }
    static __device__ __forceinline__ void put(T* at, Matches m) {
        for (int s = 0; s < STATES; s++) at[s * POSTERIOR_LANES] = m[s].v;
    }
    static __device__ __forceinline__ N dot(Matches a, Matches b) {
        N sum = a[0] * b[0];
        for (int s = 1; s < STATES; s++) sum = sum + a[s] * b[s];
        return sum;
    }
    static __device__ __forceinline__ N total_of(Matches m) {
        N sum = m[0];
        for (int s = 1; s < STATES; s++) sum = sum + m[s];
        return sum;
    }
    static __device__ __forceinline__ N largest_of(Matches m) {
        N largest = m[0];
        for (int s = 1; s < STATES; s++) largest = larger(largest, m[s]);
        return largest;
    }
    // Shares a `sum` that does not depend on the match state out to the match states.
    __device__ __forceinline__ Matches matches_of(N sum) const {
        Matches m;
        for (int s = 0; s < STATES; s++) m[s] = (STATES == 1 ? sum : enter[s] * sum) + tiny();
        return m;
    }

    static __device__ __forceinline__ State read(const T* states, int32_t j) {
        const T* const at = states + int64_t{j} * STATE;
        const T* const others = at + STATES * POSTERIOR_LANES;
        return {matches_at(at), {others[0]}, {others[32]}, {others[64]}, {others[96]}};
    }
    static __device__ __forceinline__ void write(T* states, int32_t j, State state) {
        T* const at = states + int64_t{j} * STATE;
        T* const others = at + STATES * POSTERIOR_LANES;
        put(at, state.m);
        others[0] = state.x1.v;
        others[32] = state.x2.v;
        others[64] = state.zm.v;
        others[96] = state.zx.v;
    }
    static __device__ __forceinline__ Side read_side(const T* sides, int32_t chunk, int row) {
        const T* const at = sides + int64_t{chunk} * SIDES + row * STATE;
        const T* const others = at + STATES * POSTERIOR_LANES;
        return {matches_at(at), {others[0]}, {others[32]}, {others[64]}, {others[96]}};
    }
    static __device__ __forceinline__ void write_side(T* sides, int32_t chunk, int row, Side side) {
        T* const at = sides + int64_t{chunk} * SIDES + row * STATE;
        T* const others = at + STATES * POSTERIOR_LANES;
        put(at, side.m);
        others[0] = side.zm.v;
        others[32] = side.y1.v;
        others[64] = side.y2.v;
        others[96] = side.zy.v;
    }

    __device__ __forceinline__ void set_numbers(const PosteriorNumbers<T, STATES>& numbers) {
        for (int s = 0; s < STATES; s++) {
            stay[s] = {numbers.stay[s]};
            leave[s] = {numbers.leave[s]};
            enter[s] = {numbers.enter[s]};
            open1[s] = {numbers.open_short[s]};
            open2[s] = {numbers.open_long[s]};
        }
        extend1 = {numbers.extend_short};
        extend2 = {numbers.extend_long};
        close1 = {numbers.close_short};
        close2 = {numbers.close_long};
        gap_open = {numbers.gap_open};
        gap_extend = {numbers.gap_extend};
        threshold = {numbers.threshold};
        start_match = {numbers.start_match};
        start_short = {numbers.start_short};
        start_long = {numbers.start_long};
        growth = static_cast<int32_t>(numbers.growth);
    }

    // Row 0: gaps alone.
    __device__ __forceinline__ void begin_forward(T* states) const {
        N y1 = start_short * unit(), y2 = start_long * unit();
        Matches first;
        for (int s = 0; s < STATES; s++)
            first[s] = STATES == 1 ? start_match * unit() : enter[s] * (start_match * unit());
        write(states, 0, {first, y1, y2, unit(), unit()});
        for (int32_t j = 1; j <= length; j++) {
            write(states, j, {matches_of(close1 * y1 + close2 * y2), tiny(), tiny(), unit(), tiny()});
            y1 = y1 * extend1 + tiny();
            y2 = y2 * extend2 + tiny();
        }
    }

    // Where the emissions of a strip's rows begin in each table.
    template <bool FINAL>
    __device__ __forceinline__ void set_emissions(const Strip& strip, int (&emissions)[STRIP]) const {
#pragma unroll
        for (int r = 0; r < STRIP; r++)
            emissions[r] = FINAL && r >= strip.rows ? 0 : x[strip.first + r] * POSTERIOR_CODES;
    }

    // A cell going forward.
    struct Cell {
        Matches m;
        N zm, gaps1, gaps2, z_gaps;
    };
    // `side` and `above` become what the row's next column and the next row need. IS_LAST: of x's rows.
    __device__ __forceinline__ Cell forward_cell(int emission, bool is_last_row, bool is_last_column,
                                                 Side& side, State& above) const {
        const N one{1};
        Matches m;
        for (int s = 0; s < STATES; s++) m[s] = N{tables[s * TABLE + emission]} * side.m[s];
        const N zm = N{tables[STATES * TABLE + emission]} * side.zm;
        side.m = above.m;
        side.zm = above.zm;
        const Cell cell{m, zm, above.x1 + side.y1, above.x2 + side.y2, above.zx + side.zy};
        const N opened1 = dot(open1, m), opened2 = dot(open2, m);
        side.y1 = extend1 * side.y1 + opened1;
        side.y2 = extend2 * side.y2 + opened2;
        side.zy = (is_last_row ? one : gap_extend) * side.zy + (is_last_row ? one : gap_open) * zm;
        const N closed = close1 * cell.gaps1 + close2 * cell.gaps2;
        const N hub = STATES == 1 ? closed : dot(leave, m) + closed;
        for (int s = 0; s < STATES; s++)
            above.m[s] = (stay[s] * m[s] + (STATES == 1 ? hub : enter[s] * hub)) + tiny();
        above.x1 = extend1 * above.x1 + opened1;
        above.x2 = extend2 * above.x2 + opened2;
        above.zm = (zm + cell.z_gaps) + tiny();
        above.zx = (is_last_column ? one : gap_extend) * above.zx + (is_last_column ? one : gap_open) * zm;
        return cell;
    }

    // A strip's rows; the state after them goes to `after`. Returns the largest values of the last row.
    // FINAL: the last strip, whose rows may be fewer, and whose last cell is the pair's.
    template <bool FINAL>
    __device__ __forceinline__ Largest forward(const Strip& strip, T* after) {
        int emissions[STRIP];
        set_emissions<FINAL>(strip, emissions);
        Side sides[STRIP];
        State above = strip.scaling(read(strip.before, 0));
#pragma unroll
        for (int r = 0; r < STRIP; r++) {
            sides[r] = {above.m, above.zm, {0}, {0}, {0}};
            above = {matches_of(close1 * above.x1 + close2 * above.x2), extend1 * above.x1 + tiny(),
                     extend2 * above.x2 + tiny(), above.zx, above.zx};
        }
        if (!FINAL) write(after, 0, above);
        Largest largest{largest_of(above.m), above.zm};
        State coming = read(strip.before, min(1, length));  // a column ahead, and its code
        int code_coming = y[POSTERIOR_LANES];
        for (int32_t j = 1; j <= length; j++) {
            above = strip.scaling(coming);
            coming = read(strip.before, min(j + 1, length));
            const int code = code_coming;
            code_coming = y[(j + 1) * POSTERIOR_LANES];
            if (strip.sides != nullptr && (j - 1) % COLUMNS == 0) {
#pragma unroll
                for (int r = 0; r < STRIP; r++) write_side(strip.sides, (j - 1) / COLUMNS, r, sides[r]);
            }
#pragma unroll
            for (int r = 0; r < STRIP; r++) {
                if (FINAL && r >= strip.rows) break;
                const bool is_last = FINAL && r == strip.rows - 1;
                const Cell cell = forward_cell(emissions[r] + code, is_last, j == length, sides[r], above);
                if (is_last && j == length) {
                    hmm_total =
                        start_match * total_of(cell.m) + (start_short * cell.gaps1 + start_long * cell.gaps2);
                    partition_total = cell.zm + cell.z_gaps;
                }
                if (!FINAL && r == STRIP - 1) {
                    largest.hmm =
                        larger(largest.hmm, larger(largest_of(above.m), larger(above.x2, sides[r].y2)));
                    largest.partition = larger(largest.partition, above.zm);
                }
            }
            if (!FINAL) write(after, j, above);
        }
        return largest;
    }

    // M of some columns of a strip go to `kept`.
    template <bool FINAL>
    __device__ __forceinline__ void keep_chunk(const Strip& strip, const int (&emissions)[STRIP],
                                               int32_t begin, int32_t end) const {
        Side sides[STRIP];
#pragma unroll
        for (int r = 0; r < STRIP; r++) sides[r] = read_side(strip.sides, (begin - 1) / COLUMNS, r);
        State coming = read(strip.before, begin);
        T* to = kept;
        for (int32_t j = begin; j <= end; j++, to += STRIP * KEPT) {
            State above = strip.scaling(coming);
            coming = read(strip.before, min(j + 1, length));
            const int code = y[j * POSTERIOR_LANES];
#pragma unroll
            for (int r = 0; r < STRIP; r++) {
                if (FINAL && r >= strip.rows) break;
                const bool is_last = FINAL && r == strip.rows - 1;
                const Cell cell = forward_cell(emissions[r] + code, is_last, j == length, sides[r], above);
                put(to + r * KEPT, cell.m);
                to[r * KEPT + STATES * POSTERIOR_LANES] = cell.zm.v;
            }
        }
    }

    // A cell going backward: M without its emission. `side` and `below` become what the row's next column and
    // the row before need. IS_LAST: of x's rows.
    __device__ __forceinline__ Cell backward_cell(int emission, bool is_last_row, bool is_last_column,
                                                  Side& side, State& below) const {
        const N one{1};
        Matches matched, m;
        for (int s = 0; s < STATES; s++) matched[s] = side.m[s] + tiny();
        const N z_matched = side.zm + tiny();
        side.m = below.m;
        side.zm = below.zm;
        const N gaps1 = below.x1 + side.y1, gaps2 = below.x2 + side.y2;
        const N entered = STATES == 1 ? matched[0] : dot(enter, matched);
        for (int s = 0; s < STATES; s++) {
            const N gaps = open1[s] * gaps1 + open2[s] * gaps2;
            m[s] = stay[s] * matched[s] + (STATES == 1 ? gaps : leave[s] * entered + gaps);
        }
        N zm = z_matched +
               ((is_last_column ? one : gap_open) * below.zx + (is_last_row ? one : gap_open) * side.zy);
        const N closed1 = close1 * entered, closed2 = close2 * entered;
        N x1 = extend1 * below.x1 + closed1, x2 = extend2 * below.x2 + closed2;
        side.y1 = extend1 * side.y1 + closed1;
        side.y2 = extend2 * side.y2 + closed2;
        N zx = z_matched + (is_last_column ? one : gap_extend) * below.zx;
        side.zy = z_matched + (is_last_row ? one : gap_extend) * side.zy;
        if (is_last_row && is_last_column) {
            for (int s = 0; s < STATES; s++) m[s] = start_match * unit();
            x1 = side.y1 = start_short * unit();
            x2 = side.y2 = start_long * unit();
            zm = zx = side.zy = unit();
        }
        below = {{}, x1, x2, N{tables[STATES * TABLE + emission]} * zm, zx};
        for (int s = 0; s < STATES; s++) below.m[s] = N{tables[s * TABLE + emission]} * m[s];
        return {m, zm, {0}, {0}, zx};
    }

    // A strip's rows from its last to its first, from the states below them to those of its first row.
    // `found` is told the row in the strip, column and squares of what reaches the threshold. All lanes go
    // along the same columns, of which `longest` is the last.
    template <bool FINAL, class Found>
    __device__ __forceinline__ Backward backward(const Strip& strip, int32_t longest, T* states,
                                                 Scaling scaling, Factors hmm, Factors partition,
                                                 Found found) {
        int emissions[STRIP];
        set_emissions<FINAL>(strip, emissions);
        Side sides[STRIP];
#pragma unroll
        for (int r = 0; r < STRIP; r++) sides[r] = {};
        Largest largest{{0}, {0}}, sum{{0}, {0}};
        State coming{};
        if (!FINAL && length > 0) coming = read(states, length);
        for (int32_t begin = (longest - 1) / COLUMNS * COLUMNS + 1; begin >= 1; begin -= COLUMNS) {
            const int32_t end = min(length, begin + COLUMNS - 1);
            if (begin > end) continue;
            keep_chunk<FINAL>(strip, emissions, begin, end);
            for (int32_t j = end; j >= begin; j--) {
                State below{};
                if (!FINAL) {
                    below = scaling(coming);
                    if (j > 1) coming = read(states, j - 1);
                }
                const int code = y[j * POSTERIOR_LANES];
                const T* const known = kept + (j - begin) * (STRIP * KEPT);
                N squares[STRIP], most{0};
#pragma unroll
                for (int r = STRIP - 1; r >= 0; r--) {
                    squares[r] = {0};
                    if (FINAL && r >= strip.rows) continue;
                    const bool is_last = FINAL && r == strip.rows - 1;
                    const Cell cell =
                        backward_cell(emissions[r] + code, is_last, j == length, sides[r], below);
                    if (r == 0) {
                        largest.hmm =
                            larger(largest.hmm, larger(largest_of(cell.m), larger(below.x2, sides[r].y2)));
                        largest.partition =
                            larger(largest.partition, larger(cell.zm, larger(below.zx, sides[r].zy)));
                    }
                    const N p = match_of(matches_at(known + r * KEPT), cell.m, hmm);
                    const N z = (N{known[r * KEPT + STATES * POSTERIOR_LANES]} * partition.near) *
                                (cell.zm * partition.far);
                    if (r == 0) {
                        sum.hmm = sum.hmm + p;
                        sum.partition = sum.partition + z;
                    }
                    squares[r] = squares_of(p, z);
                    most = larger(most, squares[r]);
                }
                write(states, j, below);
                if (most.v > threshold.v) {  // of few columns
#pragma unroll
                    for (int r = STRIP - 1; r >= 0; r--)
                        if (squares[r].v > threshold.v) found(r, j, squares[r]);
                }
            }
        }
        return {largest, sum};
    }

    // The sum of both models' squares.
    static __device__ __forceinline__ N squares_of(N p, N z) {
        const N least{static_cast<T>(PosteriorScaling::LEAST)};
        const N hmm = larger(p, least), partition = larger(z, least);
        return hmm * hmm + partition * partition;
    }
    // The pair HMM's posterior.
    static __device__ __forceinline__ N match_of(Matches m, Matches back, Factors hmm) {
        N both = (m[0] * hmm.near) * (back[0] * hmm.far);
        for (int s = 1; s < STATES; s++) both = both + (m[s] * hmm.near) * (back[s] * hmm.far);
        return both;
    }
};
