// Posteriors of pairs: the definition of cpu/posterior/model.h in the order of cpu/posterior/kernel.h, so
// that every bit is the CPU's.
//
// What they compute
//   posteriors_float32_1, posteriors_float64_1, posteriors_float32_4, posteriors_float64_4
//                       the entries of pairs, strip by strip, and which pairs need wider numbers; of models
//                       with one match state and with four
//   expand_posteriors   the entries of pairs in the order of rows and columns
//
// Inputs and outputs: PosteriorArguments and ExpandArguments in posterior.cuh.
//
// Thread mapping: a warp takes tasks, one after the other, the largest first: an x against up to 32 y, a pair
// a lane. A row's scaling waits for all of its columns, so a pair is not cut into parts that run at the same
// time; between the scalings lie eight rows, a strip, which a lane computes together (rows.cuh). The forward
// pass leaves the state before each block of strips; a block's strips are computed again, leaving the state
// before each, when the backward pass comes there; where a task's block is all of its strips there is no
// second pass.
//
// Memory: a warp's own for states, for what is handed on between columns, and for the entries of a strip.
// The models' tables are in shared memory, and lanes with the same x read different banks of them; behind
// them, each warp has the M of some columns of a strip. Reads and writes of a warp are coalesced.
//
// A strip's entries go to where an atomic counter says; which strips lie where differs from run to run, what
// is in them does not.

#include "rows.cuh"

#if defined(PAIRALIGN_EMULATE)
__device__ inline void* shared_memory() { return emulated_shared_memory(); }
#else
extern __shared__ uint4 shared_words[];
__device__ __forceinline__ void* shared_memory() { return shared_words; }
#endif

namespace {

constexpr uint32_t WARP = 0xffffffffu;
constexpr int MODELS = 2;

// What reaches the threshold, in a strip: the sum of both models' squares, row << ROW_SHIFT | column.
template <class T>
struct alignas(2 * sizeof(T)) Reached {
    T squares;
    uint32_t place;
};
constexpr int ROW_SHIFT = 29;
static_assert(STRIP <= 1 << (32 - ROW_SHIFT), "a strip's rows fit");

// Counts, or places, of the entries of a strip's rows: 16 bits a row, four rows a word.
class Counts {
    static constexpr int BITS = 16, ROWS = 4, WORDS = STRIP / ROWS;
    static constexpr unsigned long long ALL = 0x0001000100010001ull;
    unsigned long long words_[WORDS] = {};
    static_assert(WORDS * ROWS == STRIP, "words are full");

public:
    __device__ __forceinline__ void add(uint32_t row) {
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            if (row / ROWS == w) words_[w] += 1ull << (row % ROWS * BITS);
    }
    // Turns counts into the places where rows end.
    __device__ __forceinline__ void sum_up() {
        unsigned long long before = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            words_[w] = words_[w] * ALL + before * ALL;
            before = words_[w] >> ((ROWS - 1) * BITS);
        }
    }
    // Takes the last free place of a row.
    __device__ __forceinline__ int32_t take(uint32_t row) {
        int32_t place = 0;
        const int shift = row % ROWS * BITS;
#pragma unroll
        for (uint32_t w = 0; w < WORDS; w++)
            if (row / ROWS == w) {
                words_[w] -= 1ull << shift;
                place = static_cast<int32_t>(words_[w] >> shift & 0xffff);
            }
        return place;
    }
};

template <class T, int STATES>
struct Task {
    using R = Rows<T, STATES>;
    using N = Number<T>;

    const PosteriorArguments& arguments;
    const PosteriorTask task;
    const int lane;
    uint8_t* const memory;
    R rows;
    int32_t x_length, strips, pair;
    bool is_used, too_wide;
    int32_t entries;  // of the pair
    int32_t backward_exponents[MODELS];
    int32_t in_strip;  // entries
    Counts in_rows;    // of the strip

    __device__ Task(const PosteriorArguments& a, const PosteriorTask& t, int lane_, uint8_t* memory_)
        : arguments(a), task(t), lane(lane_), memory(memory_) {}

    __device__ __forceinline__ T* numbers_at(int64_t offset) const {
        return reinterpret_cast<T*>(memory + offset) + lane;
    }
    // Exponents of forward values: [strip][model][lane].
    __device__ __forceinline__ int32_t& forward_exponent(int32_t strip, int model) const {
        return reinterpret_cast<int32_t*>(
            memory + arguments.exponents)[(int64_t{strip} * MODELS + model) * POSTERIOR_LANES + lane];
    }
    __device__ __forceinline__ int64_t states_size() const { return int64_t{task.longest + 2} * R::STATE; }
    __device__ __forceinline__ T* saved(int32_t block) const {
        return numbers_at(arguments.saved) + block * states_size();
    }

    __device__ __forceinline__ void compute(const PosteriorNumbers<T, STATES>& numbers, T* shared) {
        begin(numbers, shared);
        const int32_t blocks = (strips + task.block - 1) / task.block;
        // Forward through all blocks, keeping what is between the strips of the last; then backward, with
        // that of each before it is needed.
        for (int32_t step = 0; step < 2 * blocks - 1; step++) {
            const int32_t block = step < blocks ? step : 2 * blocks - 2 - step;
            const bool keeps = step >= blocks - 1;
            forward_block(block, keeps);
            if (keeps) backward_block(block);
        }
        if (is_used) {
            arguments.counts[pair] = too_wide ? 0 : entries;
            arguments.too_wide[pair] = too_wide;
        }
        __syncwarp();
    }

    __device__ __forceinline__ void begin(const PosteriorNumbers<T, STATES>& numbers, T* shared) {
        is_used = lane < task.count;
        pair = task.first + (is_used ? lane : 0);
        const int32_t column = arguments.columns[pair];
        rows.set_numbers(numbers);
        rows.tables = shared;
        rows.kept = shared + R::TABLES + threadIdx.x / 32 * R::CHUNK + lane;
        rows.x = arguments.codes + arguments.starts[task.row];
        rows.length = is_used ? arguments.lengths[column] : 0;
        x_length = arguments.lengths[task.row];
        strips = (x_length + STRIP - 1) / STRIP;
        uint8_t* const y = memory + lane;  // codes are at the beginning
        const uint8_t* const from = arguments.codes + arguments.starts[column];
        for (int32_t j = 1; j <= rows.length; j++) y[j * POSTERIOR_LANES] = from[j - 1];
        y[(rows.length + 1) * POSTERIOR_LANES] = 0;  // read ahead, not used
        rows.y = y;
        rows.begin_forward(saved(0));
        entries = 0;
        too_wide = false;
        for (int model = 0; model < MODELS; model++) {
            forward_exponent(0, model) = PosteriorRange<T>::TOP;
            backward_exponents[model] = PosteriorRange<T>::TOP;
        }
    }

    // A strip of a block; `keeps`: with what lies before it, and what its rows hand on.
    __device__ __forceinline__ typename R::Strip strip_of(int32_t block, int32_t strip, bool keeps) const {
        const int32_t own = strip - block * task.block, first = strip * STRIP;
        typename R::Scaling scaling = R::Scaling::none();
        if (strip > 0)
            scaling = R::Scaling::by(forward_exponent(strip, 0) - forward_exponent(strip - 1, 0),
                                     forward_exponent(strip, 1) - forward_exponent(strip - 1, 1));
        const T* const before = own == 0 ? saved(block) : after_strip(block, strip - 1, keeps);
        const int64_t chunks = task.longest / R::COLUMNS + 1;
        T* const sides = keeps ? numbers_at(arguments.sides) + own * chunks * R::SIDES : nullptr;
        return {first, min(STRIP, x_length - first), before, scaling, sides};
    }
    // Where the state after a strip goes.
    __device__ __forceinline__ T* after_strip(int32_t block, int32_t strip, bool keeps) const {
        const int32_t own = strip - block * task.block;
        if (own == task.block - 1) return saved(block + 1);
        return numbers_at(arguments.between) + (keeps ? own * states_size() : 0);
    }
    __device__ __forceinline__ int32_t end_of(int32_t block) const {
        return min(strips, (block + 1) * task.block);
    }

    // The strips of a block.
    __device__ __forceinline__ void forward_block(int32_t block, bool keeps) {
        for (int32_t k = block * task.block; k < end_of(block); k++) {
            const typename R::Strip strip = strip_of(block, k, keeps);
            if (k == strips - 1) {
                rows.template forward<true>(strip, nullptr);
                continue;
            }
            const typename R::Largest largest =
                rows.template forward<false>(strip, after_strip(block, k, keeps));
            forward_exponent(k + 1, 0) = forward_exponent(k, 0) + scaling_of(largest.hmm);
            forward_exponent(k + 1, 1) = forward_exponent(k, 1) + scaling_of(largest.partition);
        }
    }

    // The strips of a block from its last to its first.
    __device__ __forceinline__ void backward_block(int32_t block) {
        T* const states = numbers_at(arguments.backward);
        const auto found = [this](uint32_t row, int32_t j, N squares) { add(row, j, squares); };
        for (int32_t k = end_of(block) - 1; k >= block * task.block; k--) {
            const typename R::Factors hmm = factors(k, 0, rows.hmm_total);
            const typename R::Factors partition = factors(k, 1, rows.partition_total);
            const typename R::Strip strip = strip_of(block, k, true);
            in_strip = 0;
            in_rows = {};
            const typename R::Backward row =
                k == strips - 1 ? rows.template backward<true>(strip, task.longest, states, backward_scaling_,
                                                               hmm, partition, found)
                                : rows.template backward<false>(strip, task.longest, states,
                                                                backward_scaling_, hmm, partition, found);
            const N most{static_cast<T>(PosteriorScaling::MOST_OF_ROW)};
            if (!(row.sum.hmm.v < most.v && row.sum.partition.v < most.v)) too_wide = true;
            hand_over(k);
            const int by = scaling_of(row.largest.hmm), z_by = scaling_of(row.largest.partition);
            backward_exponents[0] += by;
            backward_exponents[1] += z_by;
            backward_scaling_ = R::Scaling::by(by, z_by);
        }
    }

    // near * far * forward * backward is a posterior; see set_factors in cpu/posterior/kernel.h.
    __device__ __forceinline__ typename R::Factors factors(int32_t strip, int model, N whole) {
        if (!(whole.v > 0) || !is_finite(whole.v)) {
            too_wide = true;
            return {{0}, {0}};
        }
        const double total = static_cast<double>(whole.v);
        const int exponent = exponent_of(total) + 1;
        const double mantissa = ldexp(total, -exponent);
        const int power = forward_exponent(strips - 1, model) - exponent - forward_exponent(strip, model) -
                          backward_exponents[model];
        constexpr int TOP = PosteriorRange<T>::TOP, TINY = PosteriorRange<T>::TINY;
        const int cells = exponent_of(static_cast<double>(x_length) * rows.length) + 1;
        if (power + 2 * TOP > TOP - TINY - PosteriorScaling::SPARE_BITS - rows.growth - cells) {
            too_wide = true;
            return {{0}, {0}};
        }
        return {{static_cast<T>(ldexp(1.0, power / 2))},
                {static_cast<T>(ldexp(inverse_of(mantissa), power - power / 2))}};
    }

    // What reaches the threshold in a strip, as it is found: [lane][entry], since what a lane finds in a
    // column is written together.
    __device__ __forceinline__ Reached<T>& reached(int32_t k) const {
        return reinterpret_cast<Reached<T>*>(memory + arguments.in_strip)[lane * arguments.strip_entries + k];
    }

    // Few instructions, for they stand in the loop once for each row; hand_over does the rest.
    __device__ __forceinline__ void add(uint32_t row, int32_t j, N squares) {
        if (in_strip < arguments.strip_entries)
            reached(in_strip) = {squares.v, row << ROW_SHIFT | static_cast<uint32_t>(j - 1)};
        in_strip++;
        in_rows.add(row);
    }

    static __device__ __forceinline__ PosteriorFound entry_of(Reached<T> reached) {
        const N root{root_of(product_of(reached.squares, T(0.5)))};
        const N value = root * N{65535} + N{T(0.5)};
        const uint32_t rounded = value.v < T(65535) ? static_cast<uint32_t>(value.v) : 65535u;
        const uint32_t row = reached.place >> ROW_SHIFT;
        return {static_cast<int32_t>(reached.place & ((1u << ROW_SHIFT) - 1)), row << 16 | rounded};
    }

    // Gives the lanes' strips room, and puts their entries there by row and column.
    __device__ __forceinline__ void hand_over(int32_t strip) {
        // A row's posteriors add up to more than they can.
        if (in_strip > arguments.strip_entries) too_wide = true;
        const int32_t count = is_used && !too_wide ? in_strip : 0;
        int32_t until = count;
        for (int d = 1; d < POSTERIOR_LANES; d *= 2) {
            const int32_t before = __shfl_up_sync(WARP, until, d);
            if (lane >= d) until += before;
        }
        const int32_t all = __shfl_sync(WARP, until, POSTERIOR_LANES - 1);
        unsigned long long start = 0;
        if (lane == 0) start = atomicAdd(arguments.counters + 1, static_cast<unsigned long long>(all));
        start = __shfl_sync(WARP, start, 0);
        if (!is_used) return;
        const int64_t own = static_cast<int64_t>(start) + until - count;
        const int64_t at = arguments.first_strips[pair] + strip;
        arguments.strip_starts[at] = own;
        arguments.strip_counts[at] = count;
        entries += count;
        if (static_cast<int64_t>(start) + all > arguments.found_size) return;  // the host will see
        Counts ends = in_rows;
        ends.sum_up();
        for (int32_t k = 0; k < count; k++) {  // the last column first
            const PosteriorFound entry = entry_of(reached(k));
            arguments.found[own + ends.take(entry.row_and_value >> 16)] = entry;
        }
    }

    typename R::Scaling backward_scaling_ = R::Scaling::none();
};

template <class T, int STATES>
__device__ __forceinline__ void compute_tasks(const PosteriorArguments& arguments) {
    using R = Rows<T, STATES>;
    T* const tables = static_cast<T*>(shared_memory());
    const auto& numbers = *static_cast<const PosteriorNumbers<T, STATES>*>(arguments.numbers);
    for (int k = threadIdx.x; k < R::TABLES; k += blockDim.x)
        tables[k] = k < STATES * R::TABLE ? numbers.hmm_emission[k]
                                          : numbers.partition_emission[k - STATES * R::TABLE];
    __syncthreads();
    const int lane = threadIdx.x % 32;
    const int64_t warp = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
    uint8_t* const memory = arguments.memory + warp * arguments.warp_bytes;
    for (;;) {
        int32_t next = 0;
        if (lane == 0) next = static_cast<int32_t>(atomicAdd(arguments.counters, 1ull));
        next = __shfl_sync(WARP, next, 0);
        if (next >= arguments.task_count) return;
        Task<T, STATES>(arguments, arguments.tasks[next], lane, memory).compute(numbers, tables);
    }
}

}  // namespace

// A run needs two of these, which are compiled at the same time: Kernel.part in
// pairalign/engines/cuda/posterior_plan.py. Without definitions all are.
#ifndef PAIRALIGN_NUMBER_BITS
#define PAIRALIGN_NUMBER_BITS 0
#define PAIRALIGN_MATCH_STATES 0
#endif
#define IS_WANTED(BITS, STATES) \
    (PAIRALIGN_NUMBER_BITS == 0 || (PAIRALIGN_NUMBER_BITS == BITS && PAIRALIGN_MATCH_STATES == STATES))

#if IS_WANTED(32, 1)
extern "C" __global__ void __launch_bounds__(128, 3)
    posteriors_float32_1(const PosteriorArguments arguments) {
    compute_tasks<float, 1>(arguments);
}
#endif

#if IS_WANTED(64, 1)
extern "C" __global__ void __launch_bounds__(128) posteriors_float64_1(const PosteriorArguments arguments) {
    compute_tasks<double, 1>(arguments);
}
#endif

#if IS_WANTED(32, 4)
extern "C" __global__ void __launch_bounds__(96) posteriors_float32_4(const PosteriorArguments arguments) {
    compute_tasks<float, MOST_MATCH_STATES>(arguments);
}
#endif

#if IS_WANTED(64, 4)
extern "C" __global__ void __launch_bounds__(96) posteriors_float64_4(const PosteriorArguments arguments) {
    compute_tasks<double, MOST_MATCH_STATES>(arguments);
}
#endif

// A warp a pair.
extern "C" __global__ void __launch_bounds__(128) expand_posteriors(const ExpandArguments arguments) {
    const int lane = threadIdx.x % 32;
    const int64_t pair = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
    if (pair >= arguments.pairs) return;
    int64_t to = arguments.offsets[pair];
    const int64_t first = arguments.first_strips[pair];
    for (int32_t strip = 0; strip < arguments.strips[pair]; strip++) {
        const int32_t count = arguments.strip_counts[first + strip];
        const PosteriorFound* const from = arguments.found + arguments.strip_starts[first + strip];
        for (int32_t k = lane; k < count; k += 32) {
            const PosteriorFound entry = from[k];
            arguments.rows[to + k] = strip * STRIP + static_cast<int32_t>(entry.row_and_value >> 16);
            arguments.columns[to + k] = entry.column;
            arguments.values[to + k] = static_cast<uint16_t>(entry.row_and_value & 0xffff);
        }
        to += count;
    }
}
