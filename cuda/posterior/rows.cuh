// Rows of one x against the y of each lane, some at a time: the recurrences of cpu/posterior/kernel.h, in the
// same order. A lane keeps the rows that it goes along in registers, so that the state between rows is read
// and written once for all of them; it is scaled when it is read.
//
// Memory of a warp is [place][number][lane]: what the lanes of a warp read at a time lies together.
#pragma once

#include "numbers.cuh"
#include "posterior.cuh"

constexpr int STRIP = PosteriorScaling::GROUP;  // rows of a strip

template <class T>
struct Rows {
    using N = Number<T>;

    // What the next row needs of this one; see cpu/posterior/kernel.h.
    struct State {
        N m, x1, x2, zm, zx;
    };
    static constexpr int STATE = 5 * POSTERIOR_LANES, KEPT = 2 * POSTERIOR_LANES;

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

    const T *hmm_table, *partition_table;  // shared
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

    // Rows i to i + ROWS - 1 from the state before them; their M go to `kept` where it is not null. Returns the
    // largest values of the last one. LAST: it is x's last.
    template <int ROWS, bool LAST>
    __device__ __forceinline__ Largest forward(int32_t i, const T* from, T* to, Scaling scaling, T* kept) {
        const N one{1};
        const N z_open = LAST ? one : gap_open, z_extend = LAST ? one : gap_extend;
        const T *hmm[ROWS], *partition[ROWS];
        N m_before[ROWS], zm_before[ROWS], y1[ROWS], y2[ROWS], zy[ROWS];
        State above = scaling(read(from, 0));
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int code = x[i - 1 + r];
            hmm[r] = hmm_table + code * POSTERIOR_CODES;
            partition[r] = partition_table + code * POSTERIOR_CODES;
            m_before[r] = above.m;
            zm_before[r] = above.zm;
            above = {(close1 * above.x1 + close2 * above.x2) + tiny(), extend1 * above.x1 + tiny(),
                     extend2 * above.x2 + tiny(), above.zx, above.zx};
            y1[r] = y2[r] = zy[r] = {0};
        }
        write(to, 0, above);
        Largest largest{above.m, above.zm};
        State coming = read(from, 1);  // a column ahead, and its code
        int code_coming = y[POSTERIOR_LANES];
        for (int32_t j = 1; j <= length; j++) {
            above = scaling(coming);
            coming = read(from, j + 1);
            const int code = code_coming;
            code_coming = y[(j + 1) * POSTERIOR_LANES];
            const N open = j == length ? one : gap_open, extend = j == length ? one : gap_extend;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const N m = N{hmm[r][code]} * m_before[r], zm = N{partition[r][code]} * zm_before[r];
                const N x1 = above.x1, x2 = above.x2, zx = above.zx;
                m_before[r] = above.m;
                zm_before[r] = above.zm;
                if (kept) {
                    T* const at = kept + kept_place(j) + r * KEPT;
                    at[0] = m.v;
                    at[32] = zm.v;
                }
                const N gaps1 = x1 + y1[r], gaps2 = x2 + y2[r];
                if (LAST && j == length) {
                    hmm_total = start_match * m + (start_short * gaps1 + start_long * gaps2);
                    partition_total = zm + (zx + zy[r]);
                }
                const N next = (stay * m + (close1 * gaps1 + close2 * gaps2)) + tiny();
                const N z_next = (zm + (zx + zy[r])) + tiny();
                const N opened1 = open1 * m, opened2 = open2 * m;
                const N next2 = extend2 * x2 + opened2;
                y1[r] = extend1 * y1[r] + opened1;
                y2[r] = extend2 * y2[r] + opened2;
                above = {next, extend1 * x1 + opened1, next2, z_next, extend * zx + open * zm};
                zy[r] = z_extend * zy[r] + z_open * zm;
                if (r == ROWS - 1) {
                    largest.hmm = larger(largest.hmm, larger(next, larger(next2, y2[r])));
                    largest.partition = larger(largest.partition, z_next);
                }
            }
            write(to, j, above);
        }
        return largest;
    }

    // M that are kept lie by strip, column and row, so that a warp goes through one stretch of memory.
    static __device__ __forceinline__ int64_t kept_place(int32_t j) { return int64_t{j} * (STRIP * KEPT); }

    // M that the forward pass kept of a column, from a row on back.
    template <int ROWS>
    struct Kept {
        N m[ROWS], zm[ROWS];
    };
    template <int ROWS>
    static __device__ __forceinline__ Kept<ROWS> read_kept(const T* kept, int32_t j) {
        Kept<ROWS> found;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const T* const at = kept + kept_place(j) - r * KEPT;
            found.m[r] = {at[0]};
            found.zm[r] = {at[32]};
        }
        return found;
    }

    // Rows i down to i - ROWS + 1, of which the forward pass kept M: `kept` is that of row i. `found` is told
    // the row in its strip, column and squares of what reaches the threshold. Returns the largest values of the
    // last row done.
    template <int ROWS, bool LAST, class Found>
    __device__ __forceinline__ Largest backward(int32_t i, T* states, Scaling scaling, Factors hmm_factors,
                                                Factors partition_factors, const T* kept, Found found) {
        const N one{1}, least{static_cast<T>(PosteriorScaling::LEAST)};
        const N z_open = LAST ? one : gap_open, z_extend = LAST ? one : gap_extend;
        const T *hmm[ROWS], *partition[ROWS];
        N m_before[ROWS], zm_before[ROWS], y1[ROWS], y2[ROWS], zy[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int code = x[i - 1 - r];
            hmm[r] = hmm_table + code * POSTERIOR_CODES;
            partition[r] = partition_table + code * POSTERIOR_CODES;
            m_before[r] = zm_before[r] = y1[r] = y2[r] = zy[r] = {0};
        }
        Largest largest{{0}, {0}};
        State below{}, coming = LAST ? State{} : read(states, length);
        Kept<ROWS> kept_coming{};  // a column ahead, too
        if (length > 0) kept_coming = read_kept<ROWS>(kept, length);
        int code_coming = y[length * POSTERIOR_LANES];
        for (int32_t j = length; j >= 1; j--) {
            if (!LAST) {
                below = scaling(coming);
                coming = read(states, j - 1);
            } else {
                below = {{0}, {0}, {0}, {0}, {0}};
            }
            const int code = code_coming;
            code_coming = y[(j - 1) * POSTERIOR_LANES];
            const N open = j == length ? one : gap_open, extend = j == length ? one : gap_extend;
            const Kept<ROWS> known = kept_coming;
            if (j > 1) kept_coming = read_kept<ROWS>(kept, j - 1);
            N squares[ROWS], most{0};
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const N matched = m_before[r] + tiny(), z_matched = zm_before[r] + tiny();
                const N x1 = below.x1, x2 = below.x2, zx = below.zx;
                m_before[r] = below.m;
                zm_before[r] = below.zm;
                N m = stay * matched + (open1 * (x1 + y1[r]) + open2 * (x2 + y2[r]));
                const N closed1 = close1 * matched, closed2 = close2 * matched;
                N next1 = extend1 * x1 + closed1, next2 = extend2 * x2 + closed2;
                y1[r] = extend1 * y1[r] + closed1;
                y2[r] = extend2 * y2[r] + closed2;
                N zm = z_matched + (open * zx + z_open * zy[r]);
                N z_next = z_matched + extend * zx;
                zy[r] = z_matched + z_extend * zy[r];
                if (LAST && j == length) {
                    m = start_match * unit();
                    next1 = y1[r] = start_short * unit();
                    next2 = y2[r] = start_long * unit();
                    zm = z_next = zy[r] = unit();
                }
                below = {N{hmm[r][code]} * m, next1, next2, N{partition[r][code]} * zm, z_next};
                if (r == ROWS - 1) {
                    largest.hmm = larger(largest.hmm, larger(m, larger(next2, y2[r])));
                    largest.partition = larger(largest.partition, larger(zm, larger(z_next, zy[r])));
                }
                const N p = larger((known.m[r] * hmm_factors.near) * (m * hmm_factors.far), least);
                const N z =
                    larger((known.zm[r] * partition_factors.near) * (zm * partition_factors.far), least);
                squares[r] = p * p + z * z;
                most = larger(most, squares[r]);
            }
            if (most.v > threshold.v) {  // of few columns
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    if (squares[r].v > threshold.v)
                        found(ROWS == STRIP ? STRIP - 1 - r : (i - 1 - r) % STRIP, j, squares[r]);
            }
            write(states, j, below);
        }
        return largest;
    }
};
