// What the host hands to the kernels that give each pair a warp: a rectangle of the pair matrix, whose
// pairs the warps take one after the other from a common counter, the longest first.
#pragma once

#include <cstdint>

enum Mode { GLOBAL, SEMIGLOBAL, LOCAL };

constexpr int WARP = 32;
constexpr int LETTERS = 32;                 // codes an alphabet may have
constexpr int PADDING_CODE = 31;            // never a residue; it scores as the host's table says
constexpr int MINUS_INFINITY = -(1 << 30);  // no score is below it, and extending a gap from it fits 32 bits
constexpr unsigned EVERY_LANE = 0xffffffffu;

struct ScoreArguments {
    const uint8_t* codes[2];      // of the first and the second set: residues' codes,
    const int64_t* starts[2];     //   each sorted position's first byte (a multiple of 16),
    const int32_t* lengths[2];    //   its length,
    const int32_t* order[2];      //   and its input index
    const int32_t* first_pair;    // [rows + 1]: number of each row's first pair
    const int32_t* first_column;  // [rows]: sorted position of its column
    const int32_t* chosen;        // [pairs] numbers of the pairs to align, or null for all
    const void* table;            // [32][32] scores, PADDING_CODE's included: int8 or int32
    void* storage;                // a warp's own global memory, `pitch` entries each
    const void* profiles;         // striped: query profiles of the rows
    const int64_t* profile_starts;
    int32_t* results;  // [3][pairs]: score, query, target
    int32_t* next;     // the first pair that no warp has taken
    int64_t pitch;
    int32_t row_start, rows, pairs, warps;
    int32_t gap_open, gap_extend, one_set, unused;
};
static_assert(sizeof(ScoreArguments) == 176,
              "ARGUMENTS in pairalign/engines/cuda/papers/scores.py has the same layout");

// H and E of a cell in a word: scores of 16 bits, H in the upper half.
struct PackedShorts {
    using Word = int32_t;
    static __device__ Word pack(int h, int e) {
        return int32_t(__byte_perm(uint32_t(e), uint32_t(h), 0x5410));
    }
    static __device__ void unpack(Word word, int& h, int& e) {
        h = word >> 16;
        e = int16_t(word);
    }
};

struct PairOfInts {
    using Word = int2;
    static __device__ Word pack(int h, int e) { return make_int2(h, e); }
    static __device__ void unpack(Word word, int& h, int& e) {
        h = word.x;
        e = word.y;
    }
};

struct ScorePair {
    int row, column;    // sorted positions
    int rows, columns;  // lengths
    const uint8_t* row_codes;
    const uint8_t* column_codes;
};

// The next pair of this warp, or -1: its place in the results.
__device__ inline int take_pair(const ScoreArguments& arguments, int lane) {
    int place = 0;
    if (lane == 0) place = atomicAdd(arguments.next, 1);
    place = __shfl_sync(EVERY_LANE, place, 0);
    return place < arguments.pairs ? place : -1;
}

__device__ inline ScorePair find_pair(const ScoreArguments& arguments, int place) {
    const int number = arguments.chosen ? arguments.chosen[place] : place;
    int low = 0, high = arguments.rows;  // first_pair[low] <= number < first_pair[high]
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (arguments.first_pair[middle] <= number) low = middle;
        else high = middle;
    }
    ScorePair pair;
    pair.row = arguments.row_start + low;
    pair.column = arguments.first_column[low] + number - arguments.first_pair[low];
    pair.rows = arguments.lengths[0][pair.row];
    pair.columns = arguments.lengths[1][pair.column];
    pair.row_codes = arguments.codes[0] + arguments.starts[0][pair.row];
    pair.column_codes = arguments.codes[1] + arguments.starts[1][pair.column];
    return pair;
}

// By one lane. The query is the sequence that comes earlier in the input.
__device__ inline void write_result(const ScoreArguments& arguments, const ScorePair& pair, int place,
                                    int score) {
    const int64_t pairs = arguments.pairs;
    const int of_row = arguments.order[0][pair.row], of_column = arguments.order[1][pair.column];
    const bool swapped = arguments.one_set && of_column < of_row;
    arguments.results[place] = score;
    arguments.results[pairs + place] = swapped ? of_column : of_row;
    arguments.results[2 * pairs + place] = swapped ? of_row : of_column;
}

__device__ inline int highest_of_warp(int value) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(EVERY_LANE, value, step));
    return value;
}
