// What the kernels for long pairs share: parameters, border words, and a strip of cells.
//
// A pair's matrix is cut into strips of 32 * K rows, one a warp; lane l has K of its rows in registers
// and is l columns behind lane 0, so that what a lane hands down (H and F of its last row) is what the
// next one needs a step later. Strips follow each other through the columns like the diagonals of
// blocks of Huynh et al.: as soon as a strip has a chunk of columns of its last row, the next one takes
// it.
//
//     words[columns]     the row between two strips, in global memory, in place: strip s reads what
//                        strip s - 1 wrote and writes what strip s + 1 reads
//
//     | bits  | of a word                                                                       |
//     |-------|---------------------------------------------------------------------------------|
//     | 0-31  | H                                                                               |
//     | 32-51 | H less the gap state handed on (E or F of the next cell): 0 to gap_open         |
//     | 52-63 | which strip may read it: 1 + strip % 4095; 0: nobody                            |
//
// A word is loaded and stored as one, so no fence and no flag beside it is needed: who waits looks at
// the words that he needs. Warps take strips by an atomic ticket in their order, so who is waited for
// is always under way already, however few blocks a device holds at a time. No more than 4,094 warps
// may run: then a word never looks as if it were for a later strip. Strips that have long to wait,
// which they see by whom the first word is for, sleep: all looking at one word would slow down those
// whose turn it is.
//
// For a traceback the borders of tiles stay: the row below every `tile` rows, and H and E right of
// every `tile` columns. A tile on the path is a small matrix of its own, with borders from there.
//
// Stored scores. Global and semiglobal: H + (i + j) * gap_extend; gaps then go on at no cost, and
// opening one costs gap_open - gap_extend. Local: H. Borders hand on a gap that they open; there is no
// minus infinity. Rows beyond the last score `low` with everything; nothing flows up from them.
#pragma once

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

#ifndef PAIRALIGN_MODE
#define PAIRALIGN_MODE 0  // 0 global, 1 semiglobal, 2 local
#endif
#ifndef PAIRALIGN_WORDS
#define PAIRALIGN_WORDS 0  // 1: scores of letters need 32 bits, else 8
#endif
#ifndef PAIRALIGN_CHUNK
#define PAIRALIGN_CHUNK 32  // columns handed on at a time: 16 or 32
#endif

typedef unsigned long long word;

struct Pair {
    const uint8_t* row_letters;  // codes
    const uint8_t* column_letters;
    word* handed;        // [columns]: the row between strips
    word* kept_rows;     // [(rows - 1) / tile][columns]: matrix rows tile, 2 * tile, ...
    word* kept_columns;  // [(columns - 1) / tile][padded_rows]: matrix columns tile, 2 * tile, ...
    int32_t* best;       // local: [strips][tile columns], the highest score
    uint32_t* runs;      // one past the room for CIGAR runs, which come last run first
    int32_t rows, columns;
    int32_t padded_rows;  // whole strips
    int32_t strips;
    int32_t row_is_query;
    int32_t unused;
};
static_assert(sizeof(Pair) == 80, "PAIR in pairalign/engines/cuda_block_diagonals_plan.py has the same layout");

// All zero at first. Keys are compared as numbers: a score above 0 in the upper half.
struct Progress {
    word row_key;     // semiglobal: the best cell of the last row but its last; low half: ~column
    word column_key;  // semiglobal: the best cell of the last column; low half: ~row
    word place;       // local: ~(column << 32 | row) of the end cell
    int32_t score;
    int32_t tile_column;  // local: where the end cell is
    int32_t row, column, state, active;  // of the walker
    int32_t operation, length;           // of the run being collected
    int32_t matches, diagonals, openings, runs;
    int32_t end_row, end_column;
};
static_assert(sizeof(Progress) == 80, "PROGRESS in pairalign/engines/cuda_block_diagonals_plan.py has the same layout");

struct Params {
    const Pair* pairs;
    Progress* progress;
    const int2* items;      // (pair, strip), strips of a pair in their order
    uint32_t* ticket;
    const int32_t* table;   // [32][32]: stored scores of two dense letters
    const uint8_t* dense;   // [32]: code -> dense letter
    word* scratch;          // [pairs][rooms][tile]: rows between strips of a tile
    uint16_t* flags;        // [pairs][slots][tile / TILE_STRIP][tile + 32][32]
    int32_t first_item, items_stop;
    int32_t pair_count, letters;
    int32_t gap_open, gap_extend;
    int32_t tile, slots;
    int32_t rooms, low;
    int32_t definite, traced;
    int32_t min_score, want_runs;
    int32_t rows_a_lane;  // of the filling kernel
    int32_t warp_words;   // shared memory of a warp
};
static_assert(sizeof(Params) == 128, "PARAMETERS in pairalign/engines/cuda_block_diagonals_plan.py has the same layout");

namespace {

constexpr bool GLOBAL = PAIRALIGN_MODE == 0;
constexpr bool SEMIGLOBAL = PAIRALIGN_MODE == 1;
constexpr bool LOCAL = PAIRALIGN_MODE == 2;
constexpr bool WORDS = PAIRALIGN_WORDS != 0;
constexpr int TILE_ROWS = 4;  // rows a lane, when tiles are filled again
constexpr int TILE_STRIP = 32 * TILE_ROWS;
constexpr int CHUNK = PAIRALIGN_CHUNK;
static_assert(CHUNK == 16 || CHUNK == 32, "a chunk is handed on by the lanes of one warp");
constexpr int GAP_BITS = 20, TAGS = 4095;
static_assert(GAP_BITS + 12 == 32 && TAGS < 1 << 12, "H's difference and a tag fill 32 bits");
constexpr unsigned ALL = 0xffffffffu;

// Four bits of a cell. NEXT: whether the gap that the cell hands on goes on rather than opens.
constexpr int E_NEXT = 1, F_NEXT = 2, ORIGIN = 4;
enum Origin { FROM_DIAGONAL, FROM_E, FROM_F, FROM_NOTHING };

enum Use { FILL, REFILL, LOCATE };

// Words that other warps read or write at the same time: from and to the cache that all share.
__device__ __forceinline__ word load_word(const word* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    word value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
#else
    return *(const volatile word*)from;
#endif
}
__device__ __forceinline__ void store_word(word* to, word value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
    *(volatile word*)to = value;
#endif
}

__device__ __forceinline__ word make_word(int h, int gap, int tag) {
    return (word)(uint32_t)(h - gap | tag << GAP_BITS) << 32 | (uint32_t)h;
}
__device__ __forceinline__ int h_of(word w) { return (int)(uint32_t)w; }
__device__ __forceinline__ int gap_of(word w) { return h_of(w) - (int)((w >> 32) & ((1 << GAP_BITS) - 1)); }
__device__ __forceinline__ int tag_of(word w) { return (int)(w >> (32 + GAP_BITS)); }
__device__ __forceinline__ int tag_for(int strip) { return 1 + strip % TAGS; }

__device__ __forceinline__ int opening_of(const Params& p) { return LOCAL ? p.gap_open : p.gap_open - p.gap_extend; }

// H of row 0 in column n, or of column 0 in row n.
__device__ __forceinline__ int border(const Params& p, int n) {
    return LOCAL ? 0 : SEMIGLOBAL ? n * p.gap_extend : n == 0 ? 0 : p.gap_extend - p.gap_open;
}

template <class T> __device__ __forceinline__ T warp_max(T value) {
    for (int lanes = 16; lanes > 0; lanes /= 2) value = max(value, __shfl_xor_sync(ALL, value, lanes));
    return value;
}

// The part of the matrix that strips are counted in: the rows below `top`, the columns right of `left`.
struct Piece {
    int top, left, rows, columns;
    const word* above;  // row `top`, from column left + 1 on; unless top = 0
    const word* beside; // column `left`, from row 1 on; unless left = 0
    word* handed;       // the row between strips, from column left + 1 on
};

// Shared memory of a warp, in words of 32 bits. Fixed places come first: steps then reach them without
// computing addresses.
constexpr int RING = 128;   // column letters, as offsets into the profile;
constexpr int MIRROR = 32;  // the first of them again behind the last, for those who read across the end
constexpr int SHARED_LETTERS = 0, SHARED_IN = RING + MIRROR, SHARED_OUT = SHARED_IN + 64;
constexpr int SHARED_PROFILE = SHARED_OUT + 64;
static_assert(SHARED_PROFILE % 4 == 0, "scores are loaded 16 bytes at a time");

#if defined(PAIRALIGN_EMULATE)
__device__ inline int* shared_memory() { return (int*)emulated_shared_memory(); }
#else
extern __shared__ uint4 shared_words[];
__device__ inline int* shared_memory() { return (int*)shared_words; }
#endif

// The scores of K rows against a letter.
template <int K> struct Scores {
    static constexpr int COUNT = WORDS ? K : K / 4;
    int of[COUNT];

    __device__ __forceinline__ void load(const int* at) {
        if constexpr (COUNT % 4 == 0) {
#pragma unroll
            for (int k = 0; k < COUNT; k += 4) {
                const int4 four = *(const int4*)(at + k);
                of[k] = four.x, of[k + 1] = four.y, of[k + 2] = four.z, of[k + 3] = four.w;
            }
        } else if constexpr (COUNT == 2) {
            const int2 two = *(const int2*)at;
            of[0] = two.x, of[1] = two.y;
        } else {
            of[0] = *at;
        }
    }
    template <int k> __device__ __forceinline__ int add(int sum) const {
        return WORDS ? sum + of[k] : __dp4a(of[k / 4], 1 << (8 * (k % 4)), sum);
    }
};

// What may happen in the steps of a chunk besides filling cells.
enum Kind { PLAIN, BEGINNING, SAVING, GENERAL };  // nothing; lanes not begun; borders kept; anything
template <Kind kind> struct As { static constexpr Kind value = kind; };

// Sleeps while the strip that is waited for cannot have begun: some hundred nanoseconds for each strip
// between. `first` is the word of the row's first column.
__device__ __forceinline__ void rest(word first, int strip) {
    const int tag = tag_of(first);
    const int strips = tag == 0 ? strip : (strip % TAGS - (tag - 1) + TAGS) % TAGS;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    if (strips > 1) __nanosleep(min(strips - 1, 20) * 700);
#else
    (void)strips;
#endif
}

template <int K> struct Lane {
    int h[K], e[K];  // H of the column before, E of the column to come
    int above;       // H of the row above, a column before
    int f;           // what the last row hands down
    int best;        // local: the highest score
};

template <int k, int K, class Function> __device__ __forceinline__ void each(Function&& function) {
    if constexpr (k < K) {
        function.template operator()<k>();
        each<k + 1, K>(function);
    }
}

// One column of a lane's cells. Returns their flags, four bits a row.
template <int K, Use USE> struct Column {
    Lane<K>& lane;
    const Scores<K>& scores;
    int diagonal, f, opening, extension;
    uint32_t flags;

    template <int k> __device__ __forceinline__ void operator()() {
        const int d = scores.template add<k>(diagonal);
        diagonal = lane.h[k];
        int& e = lane.e[k];
        int h;
        if constexpr (USE == REFILL) {
            h = max(max(d, e), f);
            if (LOCAL) h = max(h, 0);
            const int opened = h - opening;
            const int e_on = LOCAL ? e - extension : e, f_on = LOCAL ? f - extension : f;
            uint32_t cell = d >= h ? FROM_DIAGONAL * ORIGIN : e >= f ? FROM_E * ORIGIN : FROM_F * ORIGIN;
            if (LOCAL && h == 0) cell = FROM_NOTHING * ORIGIN;
            if (e_on >= opened) cell |= E_NEXT;
            if (f_on >= opened) cell |= F_NEXT;
            flags |= cell << (4 * k);
            e = max(e_on, opened);
            f = max(f_on, opened);
        } else if constexpr (LOCAL) {
            h = __vimax3_s32_relu(d, e, f);
            const int opened = h - opening;
            e = __viaddmax_s32(e, -extension, opened);
            f = __viaddmax_s32(f, -extension, opened);
            if constexpr (USE == FILL && k % 2 == 1) lane.best = __vimax3_s32(lane.best, lane.h[k - 1], h);
        } else if constexpr (K <= 8) {  // f's chain is one operation a cell: few warps wait for it
            const int without_f = max(d, e);
            h = max(without_f, f);
            e = __viaddmax_s32(h, -opening, e);
            f = __viaddmax_s32(without_f, -opening, f);
        } else {
            h = __vimax3_s32(d, e, f);
            e = __viaddmax_s32(h, -opening, e);
            f = __viaddmax_s32(h, -opening, f);
        }
        lane.h[k] = h;
    }
};

template <int K> struct Selected {  // value of a register that is known at run time only
    const Lane<K>& lane;
    int wanted, h;
    template <int k> __device__ __forceinline__ void operator()() { h = k == wanted ? lane.h[k] : h; }
};

// Fills one strip of a piece.
//
// FILL     tiles' borders are kept (when traced), the best cells go to `progress`
// REFILL   `flags` [piece.columns + 32][32] of this strip
// LOCATE   the cell with progress.score in the smallest column, of these the smallest row
template <int K, Use USE>
__device__ void fill_strip(const Params& p, const Pair& pair, Progress& progress, const Piece& piece, int strip,
                           uint16_t* flags) {
    constexpr int STRIP = 32 * K;
    const int lane_id = threadIdx.x % 32;
    const int base = piece.top + strip * STRIP;  // the row above
    const int first = base + lane_id * K;        // the row above the lane
    const bool is_last = base + STRIP >= piece.top + piece.rows;
    const int opening = opening_of(p), extension = p.gap_extend;
    const int columns = piece.columns;

    int* const shared = shared_memory() + threadIdx.x / 32 * p.warp_words;
    constexpr int PITCH = 32 * Scores<K>::COUNT;  // words a letter
    int* const letters = shared + SHARED_LETTERS;
    int2* const in = (int2*)(shared + SHARED_IN);
    int2* const out = (int2*)(shared + SHARED_OUT);
    int* const profile = shared + SHARED_PROFILE;
    int* const last_row = profile + p.letters * PITCH;  // [CHUNK][K], of the matrix

    __syncwarp();
    for (int k = 0; k < K; ++k) {
        const int row = first + k;
        const int letter = row < pair.rows ? p.dense[pair.row_letters[row]] : -1;
        for (int b = 0; b < p.letters; ++b) {
            const int score = letter < 0 ? p.low : p.table[letter * 32 + b];
            if (WORDS) profile[b * PITCH + lane_id * K + k] = score;
            else ((int8_t*)profile)[4 * b * PITCH + lane_id * K + k] = (int8_t)score;
        }
    }

    Lane<K> lane;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int row = first + k + 1;
        if (piece.left == 0) {
            lane.h[k] = border(p, row);
            lane.e[k] = lane.h[k] - opening;
        } else {
            const word w = piece.beside[row - 1];
            lane.h[k] = h_of(w);
            lane.e[k] = gap_of(w);
        }
    }
    lane.above = piece.left == 0 ? border(p, first)
                 : first == 0    ? border(p, piece.left)
                                 : h_of(piece.beside[first - 1]);
    lane.f = 0;
    lane.best = 0;

    const word* const from = strip == 0 ? piece.above : piece.handed;
    const bool from_border = strip == 0 && piece.top == 0;
    const int tag = tag_for(strip);
    const bool keeps = USE == FILL && p.traced;
    word* const kept_row = keeps && !is_last && (base + STRIP) % p.tile == 0
                               ? pair.kept_rows + (long long)((base + STRIP) / p.tile - 1) * pair.columns
                               : nullptr;
    // Where the matrix's last row is.
    const bool finds_row = SEMIGLOBAL && USE == FILL && is_last;
    const int last_lane = (pair.rows - 1 - base) / K, last_k = (pair.rows - 1 - base) % K;
    int row_score = 0, row_column = 0;
    const int across = keeps ? (pair.columns - 1) / p.tile + 1 : 1;
    int segment_best = 0, strip_best = 0;
    // The first column of the next tile, which lanes come to in 32 steps from then on, and where their
    // H and E left of it go.
    constexpr int NEVER = 1 << 30;
    int boundary = keeps && p.tile < columns ? p.tile : NEVER;
    word* kept_column = pair.kept_columns + first;
    word place = 0;

    const auto fetch = [&](int column) {
        return from_border || column >= columns ? 0 : load_word(from + column);
    };
    const auto fetch_letter = [&](int column) {
        return column < columns ? (int)pair.column_letters[piece.left + column] : 0;
    };
    const int chunks = (columns + 31 + CHUNK - 1) / CHUNK;
    const bool hands = lane_id < CHUNK;  // a lane a column, when words and letters come and go
    word next = fetch(lane_id);
    // Letters are a chunk ahead, so that scores can be a step ahead. Lanes that have not begun look at
    // letters that are not there: any will do.
    const auto put_letter = [&](int column, int code) {
        const int offset = p.dense[code] * (4 * PITCH), at = column & (RING - 1);
        letters[at] = offset;
        if (at < MIRROR) letters[RING + at] = offset;
    };
    for (int at = MIRROR; at < RING; at += 32) letters[at + lane_id] = 0;
    put_letter(lane_id, fetch_letter(lane_id));
    int next_letter = fetch_letter(CHUNK + lane_id);
    __syncwarp();
    const char* const my_profile = (const char*)(profile + lane_id * Scores<K>::COUNT);
    Scores<K> ahead;
    ahead.load((const int*)(my_profile + letters[-lane_id & (RING - 1)]));

    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int start = CHUNK * chunk;  // lane 0's first column in this chunk, counted from 0
        const int my_column = start + lane_id;
        if (strip > 0) {
            while (!__all_sync(ALL, !hands || my_column >= columns || tag_of(next) == tag)) {
                if (chunk == 0) rest(__shfl_sync(ALL, next, 0), strip);
                next = fetch(my_column);
            }
        }
        if (hands) {
            const int h_border = border(p, piece.left + my_column + 1);
            in[lane_id] = from_border ? make_int2(h_border, h_border - opening) : make_int2(h_of(next), gap_of(next));
            put_letter(my_column + CHUNK, next_letter);
        }
        __syncwarp();
        next = fetch(my_column + CHUNK);
        next_letter = fetch_letter(my_column + 2 * CHUNK);

        const bool saves = start >= boundary;
        const int* const my_letters = letters + ((start - lane_id) & (RING - 1));
        const auto step = [&](auto kind_, int x) __attribute__((always_inline)) {
            constexpr Kind kind = decltype(kind_)::value;
            const int at = start + x - lane_id;
            int h_in = __shfl_up_sync(ALL, lane.h[K - 1], 1);
            int f_in = __shfl_up_sync(ALL, lane.f, 1);
            const int2 from_above = in[x];
            if (lane_id == 0) {
                h_in = from_above.x;
                f_in = from_above.y;
            }
            if ((kind == SAVING || kind == GENERAL) && at == boundary) {
#pragma unroll
                for (int k = 0; k < K; ++k) kept_column[k] = make_word(lane.h[k], lane.e[k], 0);
                segment_best = lane.best;
                lane.best = 0;
            }
            const Scores<K> scores = ahead;
            ahead.load((const int*)(my_profile + my_letters[x + 1]));
            uint32_t cells = 0;
            if (kind == PLAIN || kind == SAVING || (at >= 0 && (kind == BEGINNING || at < columns))) {
                Column<K, USE> column{lane, scores, lane.above, f_in, opening, extension, 0};
                lane.above = h_in;
                each<0, K>(column);
                lane.f = column.f;
                cells = column.flags;
                if constexpr (USE == LOCATE) {
#pragma unroll
                    for (int k = 0; k < K; ++k)
                        if (lane.h[k] == progress.score && first + k < pair.rows)
                            place = max(place, ~((word)(piece.left + at + 1) << 32 | (uint32_t)(first + k + 1)));
                }
            }
            if (USE == REFILL && (kind != GENERAL || start + x < columns + 31))
                flags[(start + x) * 32 + lane_id] = (uint16_t)cells;
            if (lane_id == 31) out[x] = make_int2(lane.h[K - 1], lane.f);
            if (SEMIGLOBAL && USE == FILL && finds_row && lane_id == last_lane) {
#pragma unroll
                for (int k = 0; k < K; ++k) last_row[x * K + k] = lane.h[k];
            }
        };
        if (start + CHUNK > columns) {
            for (int x = 0; x < CHUNK; ++x) step(As<GENERAL>(), x);
        } else if (saves) {
#pragma unroll 2
            for (int x = 0; x < CHUNK; ++x) step(As<SAVING>(), x);
        } else if (start < 32) {
#pragma unroll 2
            for (int x = 0; x < CHUNK; ++x) step(As<BEGINNING>(), x);
        } else {
#pragma unroll
            for (int x = 0; x < CHUNK; ++x) step(As<PLAIN>(), x);
        }
        __syncwarp();
        const int done = my_column - 31;  // the column that the last lane did in step `lane_id`
        if (!is_last && hands && done >= 0 && done < columns) {
            const int2 of_last = out[lane_id];
            const word w = make_word(of_last.x, of_last.y, tag_for(strip + 1));
            store_word(piece.handed + done, w);
            if (kept_row) kept_row[done] = w;
        }
        if (finds_row && hands) {
            const int at = my_column - last_lane;
            const int h = last_row[lane_id * K + last_k];
            const int score = h - (pair.rows + at + 1) * extension;
            if (at >= 0 && at + 1 < columns && score > row_score) {
                row_score = score;
                row_column = at + 1;
            }
        }
        if (saves && start + CHUNK >= boundary + 32) {  // all lanes have come across it
            if (LOCAL) {
                const int highest = warp_max(segment_best);
                strip_best = max(strip_best, highest);
                if (lane_id == 0) pair.best[strip * across + boundary / p.tile - 1] = highest;
            }
            boundary = boundary + p.tile < columns ? boundary + p.tile : NEVER;
            kept_column += pair.padded_rows;
        }
    }

    if constexpr (USE == LOCATE) {
        place = warp_max(place);
        if (lane_id == 0 && place) atomicMax(&progress.place, place);
    }
    if constexpr (USE == FILL) {
        if (GLOBAL && is_last && lane_id == last_lane) {
            Selected<K> selected{lane, last_k, 0};
            each<0, K>(selected);
            progress.score = selected.h - (pair.rows + pair.columns) * extension;
        }
        if (SEMIGLOBAL) {
            word key = 0;
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const int row = first + k + 1;
                const int score = lane.h[k] - (row + pair.columns) * extension;
                if (row <= pair.rows && score > 0) key = max(key, (word)score << 32 | (uint32_t)~row);
            }
            key = warp_max(key);
            if (lane_id == 0 && key) atomicMax(&progress.column_key, key);
            if (finds_row) {
                key = row_score > 0 ? (word)row_score << 32 | (uint32_t)~row_column : 0;
                key = warp_max(key);
                if (lane_id == 0) progress.row_key = key;
            }
        }
        if (LOCAL) {
            const int highest = warp_max(lane.best);
            if (lane_id == 0) {
                if (keeps) pair.best[strip * across + across - 1] = highest;
                atomicMax(&progress.score, max(strip_best, highest));
            }
        }
    }
}

}  // namespace
