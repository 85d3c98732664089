// Bitwise scores of a window: its pairs are dealt out to words, words to threads.
//
// A word takes a block of neighbouring rows and columns of the pair matrix: sets are sorted by length, so its pairs are of
// about the same size. Their letters are bit-transposed 64 letters of 64 sequences at a time.

#include "bitwise.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "memory.h"

namespace pairalign {

#if defined(__x86_64__)
extern const BitwiseKernel bitwise_avx512, bitwise_avx2, bitwise_sse41;
#elif defined(__aarch64__)
extern const BitwiseKernel bitwise_neon;
#else
extern const BitwiseKernel bitwise_scalar;
#endif

namespace {

constexpr int ROWS_OF_A_WORD = 16;
constexpr int PLANES = 3;
constexpr int DEFINITE = 4;  // codes below are A, C, G, T

// The kernel of an instruction set that pa_instruction_sets names; its best one if `name` is empty.
const BitwiseKernel* choose_kernel(const char* name) {
    const std::string available = pa_instruction_sets();
    const std::string wanted = name && *name ? name : available.substr(0, available.find(','));
    if (("," + available + ",").find("," + wanted + ",") == std::string::npos) return nullptr;
#if defined(__x86_64__)
    for (const BitwiseKernel* kernel : {&bitwise_avx512, &bitwise_avx2, &bitwise_sse41})
        if (wanted == kernel->name) return kernel;
    return nullptr;
#elif defined(__aarch64__)
    return &bitwise_neon;
#else
    return &bitwise_scalar;
#endif
}

struct Pair {
    int32_t row, column;
    int64_t number;
};

// Bit k of out[j] becomes bit j of out[k].
void transpose_bits(uint64_t* m) {
    uint64_t mask = 0xffffffffull;
    for (int width = 32; width; width /= 2, mask ^= mask << width)
        for (int k = 0; k < 64; k = ((k | width) + 1) & ~width) {
            const uint64_t swap = ((m[k] >> width) ^ m[k | width]) & mask;
            m[k] ^= swap << width;
            m[k | width] ^= swap;
        }
}

// Bit k of each of eight bytes as a byte.
uint64_t gather_bits(uint64_t bytes, int k) {
    return (bytes >> k & 0x0101010101010101ull) * 0x0102040810204080ull >> 56;
}

// Sequences of a word's pairs -> planes [letter][PLANES][quads] for `letters` letters.
class Transposer {
public:
    Transposer(int quads, bool of_rows) : quads_(quads), of_rows_(of_rows) {}

    template <class Codes>  // codes(pair, length&) of the sequence; null beyond the last pair
    void fill(uint64_t* planes, int32_t letters, const Codes& codes) {
        uint64_t block[PLANES][64];
        for (int q = 0; q < quads_; q++)
            for (int32_t first = 0; first < letters; first += 64) {
                for (int s = 0; s < 64; s++) {
                    int32_t length = 0;
                    const uint8_t* from = codes(64 * q + s, length);
                    uint64_t bits[PLANES] = {0, 0, 0};
                    const int32_t here = std::min(64, length - first);
                    for (int32_t k = 0; k < here; k += 8) {
                        uint64_t eight = 0;
                        std::memcpy(&eight, from + first + k, static_cast<size_t>(std::min(8, here - k)));
                        bits[0] |= gather_bits(eight, 0) << k;
                        bits[1] |= gather_bits(eight, 1) << k;
                        bits[2] |= gather_bits(eight | eight >> 1 | eight >> 2, 2) << k;  // codes from 4 to 31
                    }
                    if (here < 64) bits[2] |= here > 0 ? ~uint64_t(0) << here : ~uint64_t(0);
                    for (int plane = 0; plane < 2; plane++)
                        block[plane][s] = of_rows_ ? bits[plane] | bits[2] : bits[plane] & ~bits[2];
                    block[2][s] = bits[2];
                }
                for (int plane = 0; plane < PLANES; plane++) {
                    transpose_bits(block[plane]);
                    for (int k = 0; k < std::min(64, letters - first); k++)
                        planes[(static_cast<int64_t>(first + k) * PLANES + plane) * quads_ + q] = block[plane][k];
                }
            }
    }

private:
    int quads_;
    bool of_rows_;
};

struct Work {
    const pa_set& rows;
    const pa_set& columns;
    const std::vector<Pair>& pairs;
    int32_t strand;
    const pa_linear& costs;
    const BitwiseKernel& kernel;
    const volatile int32_t* cancelled;
    int32_t* scores;
};

class BitwiseWorker {
public:
    explicit BitwiseWorker(const Work& work)
        : work_(work), rows_(work.kernel.quads, true), columns_(work.kernel.quads, false) {}

    void run(size_t word) {
        const size_t lanes = 64 * static_cast<size_t>(work_.kernel.quads);
        const Pair* const pairs = work_.pairs.data() + word * lanes;
        const int count = static_cast<int>(std::min(lanes, work_.pairs.size() - word * lanes));
        BitwiseJob job = {};
        for (int k = 0; k < count; k++) {
            job.rows = std::max(job.rows, work_.rows.lengths[pairs[k].row]);
            job.columns = std::max(job.columns, work_.columns.lengths[pairs[k].column]);
        }
        job.costs = work_.costs;
        job.cancelled = work_.cancelled;
        const int64_t highest = static_cast<int64_t>(job.costs.match) * std::min(job.rows, job.columns);
        int bits = 1;
        while (highest >> bits) bits++;
        job.bits = work_.kernel.bits(job.costs.low_bits, bits);
        const size_t quads = static_cast<size_t>(work_.kernel.quads), score = quads * static_cast<size_t>(job.bits) * 8;
        const size_t letter = PLANES * quads * 8;
        // A column more than there are: kernels take them in pairs.
        auto* row_planes = static_cast<uint64_t*>(row_planes_.need(letter * static_cast<size_t>(job.rows)));
        auto* column_planes = static_cast<uint64_t*>(column_planes_.need(letter * static_cast<size_t>(job.columns + 1)));
        job.border = static_cast<uint64_t*>(border_.need(score * static_cast<size_t>(job.rows)));
        job.strip = static_cast<uint64_t*>(strip_.need(score * BITWISE_STRIP));
        job.best = static_cast<uint64_t*>(best_.need(score));
        rows_.fill(row_planes, job.rows, [&](int k, int32_t& length) {
            return k < count ? sequence(work_.rows, pairs[k].row, length) : nullptr;
        });
        if (work_.strand < 0) turn_round(pairs, count);
        columns_.fill(column_planes, job.columns + 1, [&](int k, int32_t& length) -> const uint8_t* {
            if (k >= count) return nullptr;
            const uint8_t* codes = sequence(work_.columns, pairs[k].column, length);
            return work_.strand < 0 ? turned_.data() + turned_starts_[static_cast<size_t>(k)] : codes;
        });
        job.row_planes = row_planes;
        job.column_planes = column_planes;
        work_.kernel.score(job);
        for (int k = 0; k < count; k++) {
            int64_t sum = 0;
            for (int b = 0; b < job.bits; b++)
                sum |= static_cast<int64_t>(job.best[static_cast<size_t>(b) * quads + static_cast<size_t>(k / 64)] >> k % 64 & 1) << b;
            work_.scores[pairs[k].number] = static_cast<int32_t>(sum * work_.costs.factor);
        }
    }

private:
    static const uint8_t* sequence(const pa_set& set, int32_t position, int32_t& length) {
        length = set.lengths[position];
        return set.codes + set.starts[position];
    }

    // Reverse complements of the columns of some pairs; neighbours often share one.
    void turn_round(const Pair* pairs, int count) {
        turned_.clear();
        turned_starts_.resize(static_cast<size_t>(count));
        for (int k = 0; k < count; k++) {
            if (k && pairs[k].column == pairs[k - 1].column) {
                turned_starts_[static_cast<size_t>(k)] = turned_starts_[static_cast<size_t>(k - 1)];
                continue;
            }
            int32_t length;
            const uint8_t* codes = sequence(work_.columns, pairs[k].column, length);
            turned_starts_[static_cast<size_t>(k)] = turned_.size();
            for (int32_t c = length; c-- > 0;)
                turned_.push_back(codes[c] < DEFINITE ? static_cast<uint8_t>(DEFINITE - 1 - codes[c]) : codes[c]);
        }
    }

    const Work& work_;
    Transposer rows_, columns_;
    Buffer row_planes_, column_planes_, border_, strip_, best_;
    std::vector<uint8_t> turned_;
    std::vector<size_t> turned_starts_;
};

// The window's pairs, neighbours in the pair matrix together.
std::vector<Pair> deal_out(const pa_window& w, const uint8_t* keep) {
    std::vector<int64_t> bases;  // number of a row's pair with column 0
    int64_t pairs = 0;
    const auto first_column = [&](int32_t row) {
        return w.triangular ? std::min(std::max(w.column_start, row + 1), w.column_stop) : w.column_start;
    };
    for (int32_t row = w.row_start; row < w.row_stop; row++) {
        bases.push_back(pairs - first_column(row));
        pairs += w.column_stop - first_column(row);
    }
    std::vector<Pair> dealt;
    dealt.reserve(static_cast<size_t>(pairs));
    for (int32_t first = w.row_start; first < w.row_stop; first += ROWS_OF_A_WORD)
        for (int32_t column = first_column(first); column < w.column_stop; column++)
            for (int32_t row = first; row < std::min(first + ROWS_OF_A_WORD, w.row_stop); row++) {
                if (column < first_column(row)) break;
                const int64_t number = bases[static_cast<size_t>(row - w.row_start)] + column;
                if (!keep || keep[number]) dealt.push_back({row, column, number});
            }
    return dealt;
}

}  // namespace
}  // namespace pairalign

using namespace pairalign;

int32_t pa_bitwise_scores(const pa_set* first, const pa_set* second, const pa_window* window, const pa_linear* costs,
                          const uint8_t* keep, int32_t threads, const char* instruction_set,
                          const int32_t* cancelled, int32_t* scores) {
    const BitwiseKernel* kernel = choose_kernel(instruction_set);
    if (!kernel) return PA_CAPACITY;
    try {
        const std::vector<Pair> pairs = deal_out(*window, keep);
        const Work work{*first, second ? *second : *first, pairs, window->strand, *costs, *kernel, cancelled, scores};
        const size_t lanes = 64 * static_cast<size_t>(kernel->quads), words = (pairs.size() + lanes - 1) / lanes;
        std::atomic<size_t> next{0};
        std::mutex mutex;
        std::exception_ptr error;
        const auto work_on = [&] {
            try {
                BitwiseWorker worker(work);
                for (size_t word; !*work.cancelled && (word = next++) < words;) worker.run(word);
            } catch (...) {
                std::lock_guard<std::mutex> guard(mutex);
                if (!error) error = std::current_exception();
                next = words;
            }
        };
        std::vector<std::thread> helpers;
        try {
            for (size_t t = 1; t < std::min(static_cast<size_t>(std::max(1, threads)), words); t++)
                helpers.emplace_back(work_on);
        } catch (...) {
            // The system allows no more threads: those that there are, and this one, do the work.
        }
        work_on();
        for (std::thread& helper : helpers) helper.join();
        if (error) std::rethrow_exception(error);
        return *work.cancelled ? PA_CANCELLED : PA_DONE;
    } catch (const std::bad_alloc&) {
        return PA_NO_MEMORY;
    }
}
