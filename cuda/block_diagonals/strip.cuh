// A strip of cells, which a warp fills: 32 * K rows of a piece of the matrix, through all its columns.
//
// Computes   fill_strip: the cells of strip number `strip` of a Piece, and by Use what is told there.
// In         Pair: residues, kept rows and columns; Piece: borders above and beside; the row below the
//            strip before in Piece::handed[columns], waited for word by word.
// Out        Piece::handed[columns] for the strip after; Pair::kept_rows, kept_columns, best;
//            Progress: keys, score, place.
// Threads    a warp; lane l has K rows in registers and is in column t - l in step t. Columns go by
//            chunks of CHUNK: their words and residues are fetched a lane a column, a chunk ahead.
// Shared     of a warp, Params::warp_words words: RING + MIRROR residues, CHUNK words (H, gap) in and
//            out, the profile [residues][32][K] of 8 or 32 bits, and the last row [CHUNK][K].
#pragma once

#include "cells.cuh"

namespace {

// The part of the matrix that strips are counted in: the rows below `top`, the columns right of `left`.
struct Piece {
    int top, left, rows, columns;
    const word* above;   // row `top`, from column left + 1 on; unless top = 0
    const word* beside;  // column `left`, from row 1 on; unless left = 0
    word* handed;        // the row between strips, from column left + 1 on
};

// Shared memory of a warp, in words of 32 bits. Fixed places come first: steps then reach them without
// computing addresses.
constexpr int RING = 128;   // column residues, as offsets into the profile;
constexpr int MIRROR = 32;  // the first of them again behind the last, for those who read across the end
constexpr int SHARED_RESIDUES = 0, SHARED_IN = RING + MIRROR, SHARED_OUT = SHARED_IN + 64;
constexpr int SHARED_PROFILE = SHARED_OUT + 64;
static_assert(SHARED_PROFILE % 4 == 0, "scores are loaded 16 bytes at a time");

#if defined(PAIRALIGN_EMULATE)
__device__ inline int* shared_memory() { return (int*)emulated_shared_memory(); }
#else
extern __shared__ uint4 shared_words[];
__device__ inline int* shared_memory() { return (int*)shared_words; }
#endif

// What may happen in the steps of a chunk besides filling cells.
enum Kind { PLAIN, BEGINNING, SAVING, GENERAL };  // nothing; lanes not begun; borders kept; anything
template <Kind kind>
struct As {
    static constexpr Kind value = kind;
};

// How long a strip sleeps for each strip between it and the one it waits for, and for how many at most.
constexpr int NANOSECONDS_A_STRIP = 700, MOST_STRIPS_SLEPT = 20;

// Sleeps while the strip that is waited for cannot have begun: some hundred nanoseconds for each strip
// between. `first` is the word of the row's first column.
__device__ __forceinline__ void rest(word first, int strip) {
    const int tag = tag_of(first);
    const int strips = tag == 0 ? strip : (strip % TAGS - (tag - 1) + TAGS) % TAGS;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    if (strips > 1) __nanosleep(min(strips - 1, MOST_STRIPS_SLEPT) * NANOSECONDS_A_STRIP);
#else
    (void)strips;
#endif
}

// The profile of a warp's rows, `first` being the one above the lane: [residues][32][K], scores of each
// residue.
template <int K>
__device__ __forceinline__ void build_profile(const Params& p, const Pair& pair, int first, int* profile) {
    constexpr int PITCH = 32 * Scores<K>::COUNT;  // words a residue
    const int lane_id = threadIdx.x % 32;
    for (int k = 0; k < K; ++k) {
        const int row = first + k;
        const int residue = row < pair.rows ? p.dense[pair.row_residues[row]] : -1;
        for (int b = 0; b < p.letters; ++b) {
            const int score = residue < 0 ? p.low : p.table[residue * 32 + b];
            if (WORDS) profile[b * PITCH + lane_id * K + k] = score;
            else ((int8_t*)profile)[4 * b * PITCH + lane_id * K + k] = (int8_t)score;
        }
    }
}

// A lane's cells left of the piece, in the rows after `first`.
template <int K>
__device__ __forceinline__ void start_lane(const Params& p, const Piece& piece, int first, int opening,
                                           Lane<K>& lane) {
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
}

// Global: H of the matrix's last cell, row `last_k` of the lane that calls.
template <int K>
__device__ __forceinline__ int corner_score(const Params& p, const Pair& pair, const Lane<K>& lane,
                                            int last_k) {
    Selected<K> selected{lane, last_k, 0};
    each<0, K>(selected);
    return selected.h - (pair.rows + pair.columns) * p.gap_extend;
}

// Semiglobal: the best of the strip's rows in the matrix's last column, of equals the smallest row.
// Ties: the end cell.
template <int K>
__device__ __forceinline__ void report_last_column(const Params& p, const Pair& pair, int first,
                                                   const Lane<K>& lane, Progress& progress) {
    word key = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int row = first + k + 1;
        const int score = lane.h[k] - (row + pair.columns) * p.gap_extend;
        if (row <= pair.rows && score > 0) key = max(key, (word)score << 32 | (uint32_t)~row);
    }
    key = warp_max(key);
    if (threadIdx.x % 32 == 0 && key) atomicMax(&progress.column_key, key);
}

// Semiglobal: the best of the matrix's last row of what the lanes have found, of equals the smallest column.
// Ties: the end cell.
__device__ __forceinline__ void report_last_row(int score, int column, Progress& progress) {
    word key = score > 0 ? (word)score << 32 | (uint32_t)~column : 0;
    key = warp_max(key);
    if (threadIdx.x % 32 == 0) progress.row_key = key;
}

// Fills one strip of a piece: the lanes' cells left of it, then its columns chunk by chunk, then the ends.
//
// FILL     tiles' borders are kept (when traced), the best cells go to `progress`
// REFILL   `flags` [piece.columns + 32][32] of this strip
// LOCATE   the cell with progress.score in the smallest column, of these the smallest row
// Ties: the end cell.
template <int K, Use USE>
__device__ void fill_strip(const Params& p, const Pair& pair, Progress& progress, const Piece& piece,
                           int strip, uint16_t* flags) {
    constexpr int STRIP = 32 * K;
    const int lane_id = threadIdx.x % 32;
    const int base = piece.top + strip * STRIP;  // the row above
    const int first = base + lane_id * K;        // the row above the lane
    const bool is_last = base + STRIP >= piece.top + piece.rows;
    const int opening = opening_of(p), extension = p.gap_extend;
    const int columns = piece.columns;

    int* const shared = shared_memory() + threadIdx.x / 32 * p.warp_words;
    constexpr int PITCH = 32 * Scores<K>::COUNT;  // words a residue
    int* const residues = shared + SHARED_RESIDUES;
    int2* const in = (int2*)(shared + SHARED_IN);
    int2* const out = (int2*)(shared + SHARED_OUT);
    int* const profile = shared + SHARED_PROFILE;
    int* const last_row = profile + p.letters * PITCH;  // [CHUNK][K], of the matrix

    __syncwarp();
    build_profile<K>(p, pair, first, profile);
    Lane<K> lane;
    start_lane(p, piece, first, opening, lane);

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
    const auto fetch_residue = [&](int column) {
        return column < columns ? (int)pair.column_residues[piece.left + column] : 0;
    };
    const int chunks = (columns + 31 + CHUNK - 1) / CHUNK;
    const bool hands = lane_id < CHUNK;  // a lane a column, when words and residues come and go
    word next = fetch(lane_id);
    // Residues are a chunk ahead, so that scores can be a step ahead. Lanes that have not begun look at
    // residues that are not there: any will do.
    const auto put_residue = [&](int column, int code) {
        const int offset = p.dense[code] * (4 * PITCH), at = column & (RING - 1);
        residues[at] = offset;
        if (at < MIRROR) residues[RING + at] = offset;
    };
    for (int at = MIRROR; at < RING; at += 32) residues[at + lane_id] = 0;
    put_residue(lane_id, fetch_residue(lane_id));
    int next_residue = fetch_residue(CHUNK + lane_id);
    __syncwarp();
    const char* const my_profile = (const char*)(profile + lane_id * Scores<K>::COUNT);
    Scores<K> ahead;
    ahead.load((const int*)(my_profile + residues[-lane_id & (RING - 1)]));

    // The chunk's words of the row above, and the residues of the next chunk; then asks for those after them.
    const auto take_words = [&](int chunk, int my_column) {
        if (strip > 0) {
            while (!__all_sync(ALL, !hands || my_column >= columns || tag_of(next) == tag)) {
                if (chunk == 0) rest(__shfl_sync(ALL, next, 0), strip);
                next = fetch(my_column);
            }
        }
        if (hands) {
            const int h_border = border(p, piece.left + my_column + 1);
            in[lane_id] =
                from_border ? make_int2(h_border, h_border - opening) : make_int2(h_of(next), gap_of(next));
            put_residue(my_column + CHUNK, next_residue);
        }
        __syncwarp();
        next = fetch(my_column + CHUNK);
        next_residue = fetch_residue(my_column + 2 * CHUNK);
    };
    // One column a lane: from the left lane's last row, or the row above.
    const auto step = [&](auto kind_, int start, const int* my_residues,
                          int x) __attribute__((always_inline)) {
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
        ahead.load((const int*)(my_profile + my_residues[x + 1]));
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
    // All columns of a chunk, with as little besides cells as there is to do in it.
    const auto take_steps = [&](int start, bool saves) {
        const int* const my_residues = residues + ((start - lane_id) & (RING - 1));
        if (start + CHUNK > columns) {
            for (int x = 0; x < CHUNK; ++x) step(As<GENERAL>(), start, my_residues, x);
        } else if (saves) {
#pragma unroll 2
            for (int x = 0; x < CHUNK; ++x) step(As<SAVING>(), start, my_residues, x);
        } else if (start < 32) {
#pragma unroll 2
            for (int x = 0; x < CHUNK; ++x) step(As<BEGINNING>(), start, my_residues, x);
        } else {
#pragma unroll
            for (int x = 0; x < CHUNK; ++x) step(As<PLAIN>(), start, my_residues, x);
        }
        __syncwarp();
    };
    // The strip's last row to the strip after it, and to where it is kept.
    const auto hand_on_row = [&](int my_column) {
        const int done = my_column - 31;  // the column that the last lane did in step `lane_id`
        if (!is_last && hands && done >= 0 && done < columns) {
            const int2 of_last = out[lane_id];
            const word w = make_word(of_last.x, of_last.y, tag_for(strip + 1));
            store_word(piece.handed + done, w);
            if (kept_row) kept_row[done] = w;
        }
    };
    // Semiglobal: the best of the matrix's last row.
    const auto look_at_last_row = [&](int my_column) {
        if (!hands) return;
        const int at = my_column - last_lane;
        const int h = last_row[lane_id * K + last_k];
        const int score = h - (pair.rows + at + 1) * extension;
        if (at >= 0 && at + 1 < columns && score > row_score) {
            row_score = score;
            row_column = at + 1;
        }
    };
    // When all lanes have come across a tile's border: its best cell, and where the next one is.
    const auto cross_boundary = [&]() {
        if (LOCAL) {
            const int highest = warp_max(segment_best);
            strip_best = max(strip_best, highest);
            if (lane_id == 0) pair.best[strip * across + boundary / p.tile - 1] = highest;
        }
        boundary = boundary + p.tile < columns ? boundary + p.tile : NEVER;
        kept_column += pair.padded_rows;
    };

    // Before each chunk lane l has done the columns before start - l: its h and `above` are H of the last of
    // them and, a row further up, of that column; e is E of the next one. `next` is the word above column
    // start + l as far as it has come, `residues` has those before column start + CHUNK, `next_residue`
    // that of column start + CHUNK + l, and `ahead` the scores of the lane's next column.
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int start = CHUNK * chunk;  // lane 0's first column in this chunk, counted from 0
        const int my_column = start + lane_id;
        const bool saves = start >= boundary;
        take_words(chunk, my_column);
        take_steps(start, saves);
        hand_on_row(my_column);
        if (finds_row) look_at_last_row(my_column);
        if (saves && start + CHUNK >= boundary + 32) cross_boundary();
    }

    if constexpr (USE == LOCATE) {
        place = warp_max(place);
        if (lane_id == 0 && place) atomicMax(&progress.place, place);
    }
    if constexpr (USE == FILL) {
        if (GLOBAL && is_last && lane_id == last_lane) progress.score = corner_score(p, pair, lane, last_k);
        if (SEMIGLOBAL) report_last_column(p, pair, first, lane, progress);
        if (finds_row) report_last_row(row_score, row_column, progress);
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
