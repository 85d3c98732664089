// Which pairs of those that filter_pairs has left of a window have a common subsequence as long as they need.
//
// Computes   what cpu/filters/subsequences.h describes: the length of the longest common subsequence of a
//            row's sequence, the pattern, and a column's, the text; or enough of it to tell. A bit of x is
//            a residue of the pattern; it is 0 where the longest common subsequence with the pattern up to
//            there is longer than with the pattern before (Hyyro 2004):
//
//                u = x & M[residue],   x = (x + u) | (x & ~M[residue])
//
// In         FilterArguments: residues, lengths, what lengths say; mask[pairs].
// Out        mask[pairs] without those that have not; how many are left.
// Threads    A warp takes SEGMENT columns of a row. It gathers 32 of those that are left, and each lane looks
//            at one: x in WORDS registers, the sum with the carry of the processor.
// Shared     M of the row's sequence, a table a warp: [code][word], the last row for codes that match
//            nothing. Rows are so far apart that lanes with different codes read different banks.
// Ways       Whole: the pattern has up to MOST_WORDS words.
//            Moving: matches lie on so few diagonals that WORDS words are enough which move along the
//            pattern, a word for each 32 residues of the text (subsequences.h has the proof). Strips:
//            MOST_WORDS of the pattern's words at a time. The carries out of a strip into the next are a bit
//            for each residue of the text, in local memory: longer texts are left to the host. All lanes go
//            the same way, that of the lane which needs most.
#include "pair_filter.cuh"

namespace {

constexpr int WARPS = 4, SEGMENT = 2048;
constexpr int MOST_WORDS = 16, BITS = 32;
constexpr int LONGEST_TEXT = 4096;  // as in pairalign/engines/cuda/cuda_pair_filter.py
constexpr int NONE = -1;
constexpr unsigned ALL = 0xffffffffu;

// Sums with a carry from one word to the next, in the order in which they are called.
#ifdef PAIRALIGN_EMULATE
uint32_t carry_flag;
inline uint32_t add_with_carry(uint32_t a, uint32_t b) {
    const uint64_t sum = uint64_t{a} + b + carry_flag;
    carry_flag = static_cast<uint32_t>(sum >> 32);
    return static_cast<uint32_t>(sum);
}
inline uint32_t add_first(uint32_t a, uint32_t b) {
    carry_flag = 0;
    return add_with_carry(a, b);
}
inline uint32_t last_carry() { return carry_flag; }
inline uint32_t* shared_memory() { return static_cast<uint32_t*>(emulated_shared_memory()); }
#else
__device__ __forceinline__ uint32_t add_first(uint32_t a, uint32_t b) {
    uint32_t sum;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ __forceinline__ uint32_t add_with_carry(uint32_t a, uint32_t b) {
    uint32_t sum;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ __forceinline__ uint32_t last_carry() {
    uint32_t carry;
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(carry));
    return carry;
}
extern __shared__ uint4 tables[];
__device__ __forceinline__ uint32_t* shared_memory() { return reinterpret_cast<uint32_t*>(tables); }
#endif

// M of some words of a pattern: word k is at `ahead` + k of each row, zeros around.
struct Table {
    uint32_t* words;
    int stride, ahead;
};

// What a row's sequence and the text of a lane need of each other.
struct Need {
    int32_t length;   // of the text; 0: there is none
    int32_t matches;  // so many at least
};

__device__ __forceinline__ int words_for(int32_t residues) { return (residues + BITS - 1) / BITS; }

// Fills a table of `words` words with those of the pattern from word `first` on, `ahead` words of zeros
// before.
__device__ void fill(const Table& table, const uint8_t* pattern, int32_t length, int first, int words,
                     int32_t unambiguous, int lane) {
    __syncwarp();
    for (int k = lane; k < (unambiguous + 1) * table.stride; k += 32) table.words[k] = 0;
    __syncwarp();
    for (int k = 0; k < words && (first + k) * BITS < length; ++k) {
        const int32_t at = (first + k) * BITS + lane;
        const int32_t code = at < length ? pattern[at] : unambiguous;
        uint32_t own = 0;
        for (int32_t c = 0; c < unambiguous; ++c) {
            const uint32_t equal = __ballot_sync(ALL, code == c);
            if (lane == c) own = equal;
        }
        if (lane < unambiguous) table.words[lane * table.stride + table.ahead + k] = own;
    }
    __syncwarp();
}

template <int WORDS>
struct State {
    uint32_t x[WORDS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int k = 0; k < WORDS; ++k) x[k] = ALL;
    }
    __device__ __forceinline__ int zeros() const {
        int ones = 0;
#pragma unroll
        for (int k = 0; k < WORDS; ++k) ones += __popc(x[k]);
        return BITS * WORDS - ones;
    }
    // Takes a residue of the text whose words begin at m. `carry`: into the first word, and out of the last.
    template <bool MOVES, bool CARRIES>
    __device__ __forceinline__ void take(const uint32_t* m, uint32_t& carry) {
        uint32_t of[WORDS];
#pragma unroll
        for (int k = 0; k < WORDS; k += 4) {
            if (MOVES) {  // to any word
#pragma unroll
                for (int i = k; i < k + 4; ++i) of[i] = m[i];
            } else {
                const uint4 four = *reinterpret_cast<const uint4*>(m + k);
                of[k] = four.x, of[k + 1] = four.y, of[k + 2] = four.z, of[k + 3] = four.w;
            }
        }
        if (CARRIES) add_first(carry, ALL);
#pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            const uint32_t common = x[k] & of[k];
            const uint32_t sum = k == 0 && !CARRIES ? add_first(x[k], common) : add_with_carry(x[k], common);
            x[k] = sum | (x[k] & ~of[k]);
        }
        if (CARRIES) carry = last_carry();
    }
    // Takes up to 32 residues of the text; behind its end are codes that match nothing, or nothing is read.
    template <bool MOVES, bool CARRIES>
    __device__ __forceinline__ void take_word(const uint8_t* text, int32_t left, const uint32_t* m,
                                              int stride, int32_t unambiguous, uint32_t& carries) {
        uint32_t in = carries, out = 0;
#pragma unroll 1
        for (int half = 0; half < 2; ++half) {
            uint4 codes{ALL, ALL, ALL, ALL};
            if (16 * half < left) codes = *reinterpret_cast<const uint4*>(text + 16 * half);
#pragma unroll 1
            for (int k = 0; k < 4; ++k) {
#pragma unroll
                for (int byte = 0; byte < 4; ++byte) {
                    const int32_t code = min((int32_t)(codes.x >> (8 * byte) & 255), unambiguous);
                    uint32_t carry = in & 1;
                    take<MOVES, CARRIES>(m + code * stride, carry);
                    if (CARRIES) {
                        in >>= 1;
                        out = out >> 1 | carry << 31;
                    }
                }
                codes.x = codes.y, codes.y = codes.z, codes.z = codes.w;
            }
        }
        carries = out;
    }
    __device__ __forceinline__ int move() {
        const int passed = BITS - __popc(x[0]);
#pragma unroll
        for (int k = 0; k + 1 < WORDS; ++k) x[k] = x[k + 1];
        x[WORDS - 1] = ALL;
        return passed;
    }
};

// Whether each lane's pair has the matches that it needs; whole, or in words that move.
template <int WORDS, bool MOVES>
__device__ __forceinline__ bool has_matches(const Need& need, const uint8_t* text, const Table& table,
                                            int32_t unambiguous) {
    State<WORDS> state;
    state.clear();
    int common = 0, passed = 0;  // zeros that moving words have left behind
    uint32_t none = 0;
    const uint32_t* m = table.words;
    for (int32_t j = 0;; j += BITS) {
        common = passed + state.zeros();
        const int32_t left = max(need.length - j, 0);
        if (!__any_sync(ALL, left > 0 && common + left >= need.matches)) break;
        state.template take_word<MOVES, false>(text + j, left, m, table.stride, unambiguous, none);
        if (MOVES) {
            passed += state.move();
            ++m;
        }
    }
    return common >= need.matches;
}

// The same in strips.
__device__ __forceinline__ bool has_matches_in_strips(const Need& need, const uint8_t* text,
                                                      const Table& table, const uint8_t* pattern,
                                                      int32_t pattern_length, int32_t unambiguous, int lane) {
    uint32_t carries[LONGEST_TEXT / BITS];
    const int32_t longest = __reduce_max_sync(ALL, need.length);
    int common = 0;
    for (int first = 0; first * BITS < pattern_length; first += MOST_WORDS) {
        fill(table, pattern, pattern_length, first, MOST_WORDS, unambiguous, lane);
        State<MOST_WORDS> state;
        state.clear();
        for (int32_t j = 0; j < longest; j += BITS) {
            uint32_t word = first > 0 ? carries[j / BITS] : 0;
            state.take_word<false, true>(text + j, need.length - j, table.words, table.stride, unambiguous,
                                         word);
            carries[j / BITS] = word;
        }
        common += state.zeros();
    }
    return common >= need.matches;
}

struct Row {
    const FilterArguments& a;
    const int32_t row;
    const int lane;
    const uint8_t* const pattern;
    const int32_t length;
    uint8_t* const mask;  // by column
    Table table;
    int filled;  // words of a pattern's table that is there: -1 none, 0 whole, else with so many before
    int kept, score;

    __device__ Row(const FilterArguments& arguments, int32_t row_, int lane_, uint32_t* words)
        : a(arguments),
          row(row_),
          lane(lane_),
          pattern(a.codes[0] + a.starts[0][row_]),
          length(a.lengths[0][row_]),
          mask(a.mask + a.row_offsets[row_ - a.row_start] - first_column(a, row_)),
          table{words, 0, 0},
          filled(NONE),
          kept(0),
          score(NO_SCORE) {}

    // Rows of 4, 12, 20... words: lanes that read 16 bytes of different rows read different banks.
    __device__ __forceinline__ void make_whole(int words) {
        if (filled == 0) return;
        filled = 0;
        table.stride = (words / 4 | 1) * 4;
        table.ahead = 0;
        fill(table, pattern, length, 0, words, a.unambiguous, lane);
    }
    __device__ __forceinline__ void make_moving(int ahead, int stride) {
        if (filled == ahead && table.stride == stride) return;
        filled = table.ahead = ahead;
        table.stride = stride;
        fill(table, pattern, length, 0, words_for(length), a.unambiguous, lane);
    }

    // Looks at the pair of each lane with a column, or with NONE.
    __device__ __forceinline__ void look(int32_t column) {
        Need need{0, 0};
        const uint8_t* text = nullptr;
        bool passes = true;
        if (column != NONE) {
            const int32_t matches = bound_of(a, row, column).matches[row_is_query(a, row, column)];
            const int32_t residues = a.lengths[1][column];
            if (matches > 0 && residues <= LONGEST_TEXT) {
                need = {residues, matches};
                text = a.codes[1] + a.starts[1][column];
            }
        }
        if (__any_sync(ALL, need.length > 0)) passes = has_enough(need, text);
        if (column == NONE) return;
        if (!passes) {
            mask[column] = 0;
            return;
        }
        ++kept;
        score = min(score, bound_of(a, row, column).score[row_is_query(a, row, column)]);
    }

    __device__ __forceinline__ bool has_enough(const Need& need, const uint8_t* text) {
        const bool is_used = need.length > 0;
        // The words of the pattern before the text's, and all, that hold the diagonals of matches.
        const int32_t behind = __reduce_max_sync(ALL, is_used ? need.length - need.matches : 0);
        const int32_t beyond = __reduce_max_sync(ALL, is_used ? length - need.matches : 0);
        const int ahead = words_for(behind), whole = (words_for(length) + 3) / 4 * 4;
        const int moving = (ahead + (BITS - 1 + beyond) / BITS + 1 + 3) / 4 * 4;
        const int stride = (words_for(length) + ahead + moving + 1) | 1;
        if (moving < whole && moving <= MOST_WORDS && (a.unambiguous + 1) * stride <= a.table_words) {
            make_moving(ahead, stride);
            if (moving == 4) return has_matches<4, true>(need, text, table, a.unambiguous);
            if (moving == 8) return has_matches<8, true>(need, text, table, a.unambiguous);
            if (moving == 12) return has_matches<12, true>(need, text, table, a.unambiguous);
            return has_matches<16, true>(need, text, table, a.unambiguous);
        }
        if (whole <= MOST_WORDS) {
            make_whole(whole);
            if (whole == 4) return has_matches<4, false>(need, text, table, a.unambiguous);
            if (whole == 8) return has_matches<8, false>(need, text, table, a.unambiguous);
            if (whole == 12) return has_matches<12, false>(need, text, table, a.unambiguous);
            return has_matches<16, false>(need, text, table, a.unambiguous);
        }
        filled = NONE;
        table.stride = MOST_WORDS + 4;
        table.ahead = 0;
        return has_matches_in_strips(need, text, table, pattern, length, a.unambiguous, lane);
    }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * WARPS) look_at_subsequences(const FilterArguments a) {
    __shared__ int32_t queues[WARPS][64];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int32_t segments = (a.column_stop - a.column_start + SEGMENT - 1) / SEGMENT;
    const int64_t unit = (int64_t)blockIdx.x * WARPS + warp;
    if (unit >= (int64_t)segments * (a.row_stop - a.row_start)) return;
    const int32_t place = a.row_start + (int32_t)(unit / segments);
    const int32_t from = a.column_start + (int32_t)(unit % segments) * SEGMENT;
    const int32_t begin = max(from, first_column(a, place)), stop = min(from + SEGMENT, a.column_stop);
    if (begin >= stop) return;
    Row row(a, place, lane, shared_memory() + warp * a.table_words);
    int32_t* const queue = queues[warp];
    int waiting = 0;
    for (int32_t column = begin; column < stop || waiting > 0; column += 32) {
        const bool is_left = column + lane < stop && row.mask[column + lane];
        const uint32_t left = __ballot_sync(ALL, is_left);
        if (is_left) queue[waiting + __popc(left & ((1u << lane) - 1))] = column + lane;
        waiting += __popc(left);
        __syncwarp();
        if (waiting == 0 || (waiting < 32 && column + 32 < stop)) continue;
        const int now = min(waiting, 32);
        waiting -= now;
        const int32_t own = lane < now ? queue[waiting + lane] : NONE;
        __syncwarp();
        row.look(own);
    }
    int32_t kept = row.kept;
    for (int d = 16; d > 0; d /= 2) kept += __shfl_xor_sync(ALL, kept, d);
    const int score = __reduce_min_sync(ALL, row.score);
    if (lane > 0 || kept == 0) return;
    atomicAdd(&a.counts->left, (unsigned long long)kept);
    atomicMin(&a.counts->score, score);
}
