// Bitwise scores of a window: its pairs are dealt out to words, words to threads.
//
// A word takes a block of 64 neighbouring rows and some columns of the pair matrix: sets are sorted by
// length, so its pairs are of about the same size. Residues become bits once a window; 64 residues of 64 rows
// are transposed once for all columns.

#include "bitwise.h"
#include "../align/engine.h"  // the instruction sets

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../instruction_sets.h"
#include "../memory.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const BitwiseKernel bitwise_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

namespace {

constexpr int BLOCK_ROWS = 64;  // of a word: those of its words of 64 pairs
constexpr int PLANES = 3;
constexpr int UNAMBIGUOUS = 4;  // codes below are A, C, G, T

// The kernel of an instruction set that pairalign_instruction_sets names; its best one if `name` is empty.
const BitwiseKernel* choose_kernel(const char* name) {
    const std::string available = pairalign_instruction_sets();
    const std::string wanted = name && *name ? name : available.substr(0, available.find(','));
    if (("," + available + ",").find("," + wanted + ",") == std::string::npos) return nullptr;
#define PAIRALIGN_ADDRESS(NAME) &bitwise_##NAME,
    for (const BitwiseKernel* kernel : {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)})
        if (wanted == kernel->name) return kernel;
#undef PAIRALIGN_ADDRESS
    return nullptr;
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

// Residues of some sequences as bits: 64 residues are a word for each of the PLANES, the rest of the last one
// matches nothing.
class Packed {
public:
    Packed(const pairalign_set& set, int32_t begin, int32_t end, int32_t strand, bool of_rows)
        : set_(set), begin_(begin), of_rows_(of_rows) {
        std::vector<uint8_t> turned;
        for (int32_t s = begin; s < end; s++) {
            starts_.push_back(bits_.size());
            const int32_t length = set.lengths[s];
            const uint8_t* codes = set.codes + set.starts[s];
            if (strand < 0) {
                turned.resize(static_cast<size_t>(length));
                for (int32_t k = 0; k < length; k++)
                    turned[static_cast<size_t>(k)] = complement(codes[length - 1 - k]);
                codes = turned.data();
            }
            for (int32_t first = 0; first < length; first += 64)
                add(codes + first, std::min(64, length - first));
        }
    }
    int32_t length(int32_t sequence) const { return set_.lengths[sequence]; }
    bool of_rows() const { return of_rows_; }
    // Residues 64 * block and on.
    uint64_t bits(int32_t sequence, int32_t block, int plane) const {
        if (64 * block >= length(sequence)) return of_rows_ || plane == 2 ? ~uint64_t(0) : 0;
        return bits_[starts_[static_cast<size_t>(sequence - begin_)] +
                     static_cast<size_t>(block * PLANES + plane)];
    }

private:
    static uint8_t complement(uint8_t code) {
        return code < UNAMBIGUOUS ? static_cast<uint8_t>(UNAMBIGUOUS - 1 - code) : code;
    }

    void add(const uint8_t* codes, int32_t residues) {
        uint64_t bits[PLANES] = {0, 0, 0};
        for (int32_t k = 0; k < residues; k += 8) {
            uint64_t eight = 0;
            std::memcpy(&eight, codes + k, static_cast<size_t>(std::min(8, residues - k)));
            bits[0] |= gather_bits(eight, 0) << k;
            bits[1] |= gather_bits(eight, 1) << k;
            bits[2] |= gather_bits(eight | eight >> 1 | eight >> 2, 2) << k;  // codes from 4 to 31
        }
        if (residues < 64) bits[2] |= ~uint64_t(0) << residues;
        for (int plane = 0; plane < 2; plane++)
            bits_.push_back(of_rows_ ? bits[plane] | bits[2] : bits[plane] & ~bits[2]);
        bits_.push_back(bits[2]);
    }

    const pairalign_set& set_;
    int32_t begin_;
    bool of_rows_;
    std::vector<uint64_t> bits_;
    std::vector<size_t> starts_;
};

// Planes [residue][PLANES][quads] of the sequences of a word's pairs.
class Planes {
public:
    Planes(const Packed& packed, int quads) : packed_(packed), quads_(quads) {}

    // `sequences` are those of the word's pairs; those that are missing match nothing.
    const uint64_t* fill(const std::vector<int32_t>& sequences, int32_t residues) {
        if (sequences == sequences_ && residues == residues_) return planes();  // as for the word before
        sequences_ = sequences;
        residues_ = residues;
        buffer_.need(static_cast<size_t>(residues) * PLANES * static_cast<size_t>(quads_) * 8);
        for (int q = 0; q < quads_; q++) {
            if (q > 0 && same_as_before(q)) {
                for (int64_t k = 0; k < int64_t{residues} * PLANES; k++)
                    planes()[k * quads_ + q] = planes()[k * quads_ + q - 1];
            } else if (all_the_same(q)) {
                spread(q, sequences[static_cast<size_t>(64 * q)]);
            } else {
                transpose(q);
            }
        }
        return planes();
    }

private:
    uint64_t* planes() { return static_cast<uint64_t*>(buffer_.need(0)); }
    int32_t sequence(int lane) const {
        return static_cast<size_t>(lane) < sequences_.size() ? sequences_[static_cast<size_t>(lane)] : -1;
    }
    bool same_as_before(int q) const {
        for (int lane = 64 * q; lane < 64 * q + 64; lane++)
            if (sequence(lane) != sequence(lane - 64)) return false;
        return true;
    }
    bool all_the_same(int q) const {
        for (int lane = 64 * q; lane < 64 * q + 64; lane++)
            if (sequence(lane) < 0 || sequence(lane) != sequence(64 * q)) return false;
        return true;
    }
    void spread(int q, int32_t from) {
        for (int32_t k = 0; k < residues_; k++)
            for (int plane = 0; plane < PLANES; plane++)
                planes()[(int64_t{k} * PLANES + plane) * quads_ + q] =
                    -(packed_.bits(from, k / 64, plane) >> k % 64 & 1);
    }
    void transpose(int q) {
        uint64_t block[64];
        for (int32_t first = 0; first < residues_; first += 64)
            for (int plane = 0; plane < PLANES; plane++) {
                for (int s = 0; s < 64; s++) {
                    const int32_t one = sequence(64 * q + s);
                    const uint64_t nothing = packed_.of_rows() || plane == 2 ? ~uint64_t(0) : 0;
                    block[s] = one < 0 ? nothing : packed_.bits(one, first / 64, plane);
                }
                transpose_bits(block);
                for (int k = 0; k < std::min(64, residues_ - first); k++)
                    planes()[(int64_t{first + k} * PLANES + plane) * quads_ + q] = block[k];
            }
    }

    const Packed& packed_;
    int quads_;
    std::vector<int32_t> sequences_;
    int32_t residues_ = -1;
    Buffer buffer_;
};

struct Work {
    const Packed &rows, &columns;
    const std::vector<Pair>& pairs;
    const pairalign_linear& costs;
    const BitwiseKernel& kernel;
    const volatile int32_t* cancelled;
    int32_t* scores;
};

class BitwiseWorker {
public:
    explicit BitwiseWorker(const Work& work)
        : work_(work), rows_(work.rows, work.kernel.quads), columns_(work.columns, work.kernel.quads) {}

    void run(size_t word) {
        const size_t quads = static_cast<size_t>(work_.kernel.quads), lanes = 64 * quads;
        const Pair* const pairs = work_.pairs.data() + word * lanes;
        const size_t count = std::min(lanes, work_.pairs.size() - word * lanes);
        BitwiseJob job = {};
        row_of_.clear();
        column_of_.clear();
        for (size_t k = 0; k < count; k++) {
            row_of_.push_back(pairs[k].row);
            column_of_.push_back(pairs[k].column);
            job.rows = std::max(job.rows, work_.rows.length(pairs[k].row));
            job.columns = std::max(job.columns, work_.columns.length(pairs[k].column));
        }
        job.costs = work_.costs;
        job.cancelled = work_.cancelled;
        const int64_t highest = static_cast<int64_t>(job.costs.match) * std::min(job.rows, job.columns);
        int bits = 1;
        while (highest >> bits) bits++;
        job.bits = work_.kernel.bits(job.costs.low_bits, bits);
        const size_t score = quads * static_cast<size_t>(job.bits) * 8;
        job.border = static_cast<uint64_t*>(border_.need(score * static_cast<size_t>(job.rows)));
        job.strip = static_cast<uint64_t*>(strip_.need(score * BITWISE_STRIP));
        job.best = static_cast<uint64_t*>(best_.need(score));
        job.row_planes = rows_.fill(row_of_, job.rows);
        job.column_planes = columns_.fill(column_of_, job.columns + 1);  // kernels take columns in pairs
        work_.kernel.score(job);
        for (size_t k = 0; k < count; k++) {
            int64_t sum = 0;
            for (size_t b = 0; b < static_cast<size_t>(job.bits); b++)
                sum |= static_cast<int64_t>(job.best[b * quads + k / 64] >> k % 64 & 1) << b;
            work_.scores[pairs[k].number] = static_cast<int32_t>(sum * work_.costs.factor);
        }
    }

private:
    const Work& work_;
    Planes rows_, columns_;
    std::vector<int32_t> row_of_, column_of_;
    Buffer border_, strip_, best_;
};

// The window's pairs, neighbours in the pair matrix together.
std::vector<Pair> deal_out(const pairalign_window& w, const uint8_t* pair_mask) {
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
    for (int32_t first = w.row_start; first < w.row_stop; first += BLOCK_ROWS)
        for (int32_t column = first_column(first); column < w.column_stop; column++)
            for (int32_t row = first; row < std::min(first + BLOCK_ROWS, w.row_stop); row++) {
                if (column < first_column(row)) break;
                const int64_t number = bases[static_cast<size_t>(row - w.row_start)] + column;
                if (!pair_mask || pair_mask[number]) dealt.push_back({row, column, number});
            }
    return dealt;
}

}  // namespace
}  // namespace pairalign

using namespace pairalign;

int32_t pairalign_bitwise_scores(const pairalign_set* first, const pairalign_set* second,
                                 const pairalign_window* window, const pairalign_linear* costs,
                                 const uint8_t* pair_mask, int32_t threads, const char* instruction_set,
                                 const int32_t* cancelled, int32_t* scores) {
    const BitwiseKernel* kernel = choose_kernel(instruction_set);
    if (!kernel) return PAIRALIGN_CAPACITY;
    try {
        const std::vector<Pair> pairs = deal_out(*window, pair_mask);
        const Packed rows(*first, window->row_start, window->row_stop, 1, true);
        const Packed columns(second ? *second : *first, window->column_start, window->column_stop,
                             window->strand, false);
        const Work work{rows, columns, pairs, *costs, *kernel, cancelled, scores};
        const size_t lanes = 64 * static_cast<size_t>(kernel->quads),
                     words = (pairs.size() + lanes - 1) / lanes;
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
        return *work.cancelled ? PAIRALIGN_CANCELLED : PAIRALIGN_DONE;
    } catch (const std::bad_alloc&) {
        return PAIRALIGN_NO_MEMORY;
    }
}
