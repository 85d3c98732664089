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

template <class T>
struct Rows {
    using N = Number<T>;

    // What the next row needs of this one; see cpu/posterior/kernel.h.
    struct State {
        N m, x1, x2, zm, zx;
    };
    // What a row hands to its next column: M of the row before it, and its own gaps of y.
    struct Side {
        N m, zm, y1, y2, zy;
    };
    static constexpr int STATE = 5 * POSTERIOR_LANES, SIDES = STRIP * STATE;
    static constexpr int COLUMNS = POSTERIOR_CHUNK_BYTES / static_cast<int>(sizeof(T));  // of a chunk
    static constexpr int KEPT = 2 * POSTERIOR_LANES, CHUNK = COLUMNS * STRIP * KEPT;

    // What brings a state to size, and keeps it from 0.
    struct Scaling {
        N hmm, partition, floor;
        static __device__ __forceinline__ Scaling none() { return {{1}, {1}, {0}}; }
        static __device__ __forceinline__ Scaling by(int hmm, int partition) {
            return {{power_of_two<T>(hmm)}, {power_of_two<T>(partition)}, tiny()};
        }
        __device__ __forceinline__ State operator()(State s) const {
            return {s.m * hmm + floor, s.x1 * hmm + floor, s.x2 * hmm + floor, s.zm * partition + floor,
                    s.zx * partition + floor};
        }
    };
    struct Largest {
        N hmm, partition;
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

    const T* tables;  // shared: emissions of the HMM, then of the partition function
    T* kept;          // shared: M of a chunk, [column][row][model][lane]
    N stay, open1, open2, extend1, extend2, close1, close2, gap_open, gap_extend, threshold;
    N start_match, start_short, start_long;
    const uint8_t *x, *y;  // y: [place][lane], of this lane
    int32_t length;        // of y
    N hmm_total, partition_total;

    static __device__ __forceinline__ N tiny() { return {power_of_two<T>(PosteriorRange<T>::TINY)}; }
    static __device__ __forceinline__ N unit() { return {power_of_two<T>(PosteriorRange<T>::TOP)}; }

    static __device__ __forceinline__ State read(const T* states, int32_t j) {
        const T* const at = states + int64_t{j} * STATE;
        return {{at[0]}, {at[32]}, {at[64]}, {at[96]}, {at[128]}};
    }
    static __device__ __forceinline__ void write(T* states, int32_t j, State state) {
        T* const at = states + int64_t{j} * STATE;
        at[0] = state.m.v;
        at[32] = state.x1.v;
        at[64] = state.x2.v;
        at[96] = state.zm.v;
        at[128] = state.zx.v;
    }
    static __device__ __forceinline__ Side read_side(const T* sides, int32_t chunk, int row) {
        const T* const at = sides + int64_t{chunk} * SIDES + row * STATE;
        return {{at[0]}, {at[32]}, {at[64]}, {at[96]}, {at[128]}};
    }
    static __device__ __forceinline__ void write_side(T* sides, int32_t chunk, int row, Side side) {
        T* const at = sides + int64_t{chunk} * SIDES + row * STATE;
        at[0] = side.m.v;
        at[32] = side.zm.v;
        at[64] = side.y1.v;
        at[96] = side.y2.v;
        at[128] = side.zy.v;
    }

    __device__ __forceinline__ void set_numbers(const PosteriorNumbers<T>& numbers) {
        stay = {numbers.stay};
        open1 = {numbers.open_short};
        open2 = {numbers.open_long};
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
    }

    // Row 0: gaps alone.
    __device__ __forceinline__ void begin_forward(T* states) const {
        N y1 = start_short * unit(), y2 = start_long * unit();
        write(states, 0, {start_match * unit(), y1, y2, unit(), unit()});
        for (int32_t j = 1; j <= length; j++) {
            write(states, j, {(close1 * y1 + close2 * y2) + tiny(), tiny(), tiny(), unit(), tiny()});
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
        N m, zm, gaps1, gaps2, z_gaps;
    };
    // `side` and `above` become what the row's next column and the next row need. IS_LAST: of x's rows.
    __device__ __forceinline__ Cell forward_cell(int emission, bool is_last_row, bool is_last_column,
                                                 Side& side, State& above) const {
        const N one{1};
        const N m = N{tables[emission]} * side.m, zm = N{tables[MODEL + emission]} * side.zm;
        side.m = above.m;
        side.zm = above.zm;
        const Cell cell{m, zm, above.x1 + side.y1, above.x2 + side.y2, above.zx + side.zy};
        const N opened1 = open1 * m, opened2 = open2 * m;
        side.y1 = extend1 * side.y1 + opened1;
        side.y2 = extend2 * side.y2 + opened2;
        side.zy = (is_last_row ? one : gap_extend) * side.zy + (is_last_row ? one : gap_open) * zm;
        above = {(stay * m + (close1 * cell.gaps1 + close2 * cell.gaps2)) + tiny(),
                 extend1 * above.x1 + opened1, extend2 * above.x2 + opened2, (zm + cell.z_gaps) + tiny(),
                 (is_last_column ? one : gap_extend) * above.zx + (is_last_column ? one : gap_open) * zm};
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
            above = {(close1 * above.x1 + close2 * above.x2) + tiny(), extend1 * above.x1 + tiny(),
                     extend2 * above.x2 + tiny(), above.zx, above.zx};
        }
        if (!FINAL) write(after, 0, above);
        Largest largest{above.m, above.zm};
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
                    hmm_total = start_match * cell.m + (start_short * cell.gaps1 + start_long * cell.gaps2);
                    partition_total = cell.zm + cell.z_gaps;
                }
                if (!FINAL && r == STRIP - 1) {
                    largest.hmm = larger(largest.hmm, larger(above.m, larger(above.x2, sides[r].y2)));
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
        for (int r = 0; r < STRIP; r++) sides[r] = read_side(strip.sides, begin / COLUMNS, r);
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
                to[r * KEPT] = cell.m.v;
                to[r * KEPT + POSTERIOR_LANES] = cell.zm.v;
            }
        }
    }

    // A cell going backward: M without its emission. `side` and `below` become what the row's next column and
    // the row before need. IS_LAST: of x's rows.
    __device__ __forceinline__ Cell backward_cell(int emission, bool is_last_row, bool is_last_column,
                                                  Side& side, State& below) const {
        const N one{1};
        const N matched = side.m + tiny(), z_matched = side.zm + tiny();
        side.m = below.m;
        side.zm = below.zm;
        N m = stay * matched + (open1 * (below.x1 + side.y1) + open2 * (below.x2 + side.y2));
        N zm = z_matched +
               ((is_last_column ? one : gap_open) * below.zx + (is_last_row ? one : gap_open) * side.zy);
        const N closed1 = close1 * matched, closed2 = close2 * matched;
        N x1 = extend1 * below.x1 + closed1, x2 = extend2 * below.x2 + closed2;
        side.y1 = extend1 * side.y1 + closed1;
        side.y2 = extend2 * side.y2 + closed2;
        N zx = z_matched + (is_last_column ? one : gap_extend) * below.zx;
        side.zy = z_matched + (is_last_row ? one : gap_extend) * side.zy;
        if (is_last_row && is_last_column) {
            m = start_match * unit();
            x1 = side.y1 = start_short * unit();
            x2 = side.y2 = start_long * unit();
            zm = zx = side.zy = unit();
        }
        below = {N{tables[emission]} * m, x1, x2, N{tables[MODEL + emission]} * zm, zx};
        return {m, zm, {0}, {0}, zx};
    }

    // A strip's rows from its last to its first, from the states below them to those of its first row.
    // `found` is told the row in the strip, column and squares of what reaches the threshold. All lanes go
    // along the same columns, of which `longest` is the last. Returns the largest values of the first row.
    template <bool FINAL, class Found>
    __device__ __forceinline__ Largest backward(const Strip& strip, int32_t longest, T* states,
                                                Scaling scaling, Factors hmm, Factors partition,
                                                Found found) {
        int emissions[STRIP];
        set_emissions<FINAL>(strip, emissions);
        Side sides[STRIP];
#pragma unroll
        for (int r = 0; r < STRIP; r++) sides[r] = {{0}, {0}, {0}, {0}, {0}};
        Largest largest{{0}, {0}};
        State coming{};
        if (!FINAL && length > 0) coming = read(states, length);
        for (int32_t begin = (longest - 1) / COLUMNS * COLUMNS + 1; begin >= 1; begin -= COLUMNS) {
            const int32_t end = min(length, begin + COLUMNS - 1);
            if (begin > end) continue;
            keep_chunk<FINAL>(strip, emissions, begin, end);
            for (int32_t j = end; j >= begin; j--) {
                State below{{0}, {0}, {0}, {0}, {0}};
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
                        largest.hmm = larger(largest.hmm, larger(cell.m, larger(below.x2, sides[r].y2)));
                        largest.partition =
                            larger(largest.partition, larger(cell.zm, larger(below.zx, sides[r].zy)));
                    }
                    squares[r] = squares_of(N{known[r * KEPT]}, cell.m, hmm,
                                            N{known[r * KEPT + POSTERIOR_LANES]}, cell.zm, partition);
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
        return largest;
    }

    // The sum of both models' squares.
    static __device__ __forceinline__ N squares_of(N m, N back, Factors hmm, N zm, N z_back,
                                                   Factors partition) {
        const N least{static_cast<T>(PosteriorScaling::LEAST)};
        const N p = larger((m * hmm.near) * (back * hmm.far), least);
        const N z = larger((zm * partition.near) * (z_back * partition.far), least);
        return p * p + z * z;
    }

    static constexpr int MODEL = POSTERIOR_CODES * POSTERIOR_CODES;  // emissions of a table
};
