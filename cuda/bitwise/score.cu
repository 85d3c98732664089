// Linear-gap local scores of 32 pairs at a time, one pair in each bit of a word.
//
// What it computes
//   transpose_columns   residues of 32 sequences a group -> a word for each residue and column: who has it
//   score_rows          every row sequence against every group: 32 scores a word; columns that are one strip
//   score_rows_in_passes   the same for columns of any length
//   transpose_pairs     residues of 32 pairs a word -> three planes for rows and columns (see RESIDUE PLANES)
//   score_pairs         pair k of the columns against pair k of the rows, as in the paper
//
// Source: T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano, "Accelerating the Smith-Waterman algorithm using
// bitwise parallel bulk computation technique on GPU" (IPDPS Workshops 2017). From there: scores and residues
// bit-transposed, 32 pairs to a word, the recurrence as a circuit. Different here: the circuit
// (common/bitwise_cell.h), three inputs an operation, a strip of columns instead of one row a thread, and,
// of all against all, a row sequence that all 32 pairs of a word share: which pairs match is then a word read
// from a table by the row's residue, and costs nothing.
//
// Thread mapping: LANES lanes (16 or 32) share a word, see strip.cuh, which also says what stays in
// registers.
//
// Shared memory: score_rows, the words of a strip's columns for each residue, [LETTERS][COLUMNS /
// 4][LANES][4]. Compiled for scores and sizes: -DMATCH -DMISMATCH -DGAP (positive, less gap costs; see
// common/bitwise_cell.h) -DLOW -DHIGH (bits of a score in which cells are compared, and above those)
// -DCOLUMNS -DLANES.

#include "strip.cuh"

namespace {

constexpr int BLOCK_THREADS = 128;
constexpr int TEAMS = BLOCK_THREADS / LANES;  // of a block
constexpr int LETTERS = 5;                    // A, C, G, T and what matches nothing
constexpr int NOTHING = 4;

// A team: the lanes that share a word.
struct Team {
    int lane, number;  // number within the block
    __device__ Team() : lane(int(threadIdx.x) % LANES), number(int(threadIdx.x) / LANES) {}
};

}  // namespace

struct Sequences {
    const uint8_t* codes;
    const int64_t* starts;  // by sorted position, multiples of 16
    const int32_t* lengths;
    const int32_t* inputs;
};

// ---------------------------------------------------------------------------------- every row against groups
// of 32

struct RowsArguments {
    Sequences rows, columns;
    uint32_t* planes;      // [groups][4][pitch]
    uint4* border;         // [blocks][2][chunk][border_rows][BORDER_WORDS / 4]
    const int64_t* bases;  // [row - first_row] number of its pair with the column 0 (which there need not be)
    int32_t* results;      // [3][pairs]: score, input index of query, of target
    int64_t pairs, stride;  // a column further is so many pairs further
    int32_t first_row, row_stop, first_column, column_stop;
    int32_t pitch;  // columns of a plane: a multiple of STRIP
    int32_t chunk;  // rows of a block
    int32_t border_rows;
    int32_t factor;  // scores are multiples of it
    int32_t triangular, one_set, rows_are_queries;
    int32_t first_chunk;
};

// Block: 128 threads; grid: (pitch / 64, groups). A warp takes 16 columns of a group; lane = sequence.
extern "C" __global__ void __launch_bounds__(128) transpose_columns(RowsArguments a) {
    const int lane = int(threadIdx.x) % 32, group = int(blockIdx.y);
    const int first = (int(blockIdx.x) * 4 + int(threadIdx.x) / 32) * 16;
    const int column = a.first_column + group * 32 + lane;
    int length = 0;
    uint32_t residues[4] = {0, 0, 0, 0};
    if (column < a.column_stop) {
        length = a.columns.lengths[column];
        if (first < length) {
            const uint4 read =
                *reinterpret_cast<const uint4*>(a.columns.codes + a.columns.starts[column] + first);
            residues[0] = read.x, residues[1] = read.y, residues[2] = read.z, residues[3] = read.w;
        }
    }
    uint32_t mine[2] = {0, 0};
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int residue = first + k < length ? int(residues[k / 4] >> (8 * (k % 4)) & 0xff) : NOTHING;
#pragma unroll
        for (int l = 0; l < 4; l++) {
            const uint32_t word = __ballot_sync(ALL, residue == l);
            if (lane == l * 8 + k / 2) mine[k & 1] = word;
        }
    }
    if (first >= a.pitch) return;
    uint32_t* plane = a.planes + (int64_t(group) * 4 + lane / 8) * a.pitch + first + lane % 8 * 2;
    plane[0] = mine[0];
    plane[1] = mine[1];
}

namespace {

struct SharedResidues {
    const uint8_t* codes;
    int rows;
    const uint4 *table, *now;  // of this lane; of this lane and residue
    int residue;
    uint4 words;

    __device__ __forceinline__ void load(int row) {
        residue = NOTHING;
        if (unsigned(row) < unsigned(rows)) residue = min(int(codes[row]), NOTHING);
    }
    __device__ __forceinline__ void take() { now = table + residue * (COLUMNS / 4 * LANES); }
    __device__ __forceinline__ Word operator()(int c) {  // column after column
        if (c % 4 == 0) words = now[c / 4 * LANES];
        return {c % 4 == 0 ? words.x : c % 4 == 1 ? words.y : c % 4 == 2 ? words.z : words.w};
    }
};

template <bool PASSES>
__device__ __forceinline__ void score_all_rows(const RowsArguments& a, uint4* table) {
    const Team team;
    const int group = int(blockIdx.x), columns_first = a.first_column + group * 32;
    const int chunk_first = a.first_row + (a.first_chunk + int(blockIdx.y)) * a.chunk;
    int chunk_stop = min(chunk_first + a.chunk, a.row_stop);
    if (a.triangular) chunk_stop = min(chunk_stop, min(columns_first + 31, a.column_stop - 1));
    if (chunk_first >= chunk_stop) return;
    const int strips = PASSES ? (a.columns.lengths[columns_first] + STRIP - 1) / STRIP : 1;  // longest first
    const int64_t block = int64_t(blockIdx.y) * gridDim.x + blockIdx.x;

    for (int strip_number = 0; strip_number < strips; strip_number++) {
        __syncthreads();
        for (int k = int(threadIdx.x); k < LETTERS * STRIP; k += BLOCK_THREADS) {
            const int residue = k / STRIP, column = k % STRIP, lane = column / COLUMNS, c = column % COLUMNS;
            uint32_t word = 0;
            if (residue < NOTHING)
                word = a.planes[(int64_t(group) * 4 + residue) * a.pitch + strip_number * STRIP + column];
            reinterpret_cast<uint32_t*>(
                table)[((residue * (COLUMNS / 4) + c / 4) * LANES + lane) * 4 + c % 4] = word;
        }
        __syncthreads();
        for (int first = chunk_first + team.number / (32 / LANES) * (32 / LANES); first < chunk_stop;
             first += TEAMS) {
            const int row = first + team.number % (32 / LANES);  // the warp's teams take neighbours
            SharedResidues residues;
            residues.rows = 0;
            residues.codes = nullptr;
            residues.table = table + team.lane;
            if (row < chunk_stop) {
                residues.rows = a.rows.lengths[row];
                residues.codes = a.rows.codes + a.rows.starts[row];
            }
            const int steps = a.rows.lengths[first] + LANES;  // rows are sorted longest first
            Borders borders = {nullptr, nullptr};
            if constexpr (PASSES) {
                const int64_t entries = int64_t(a.border_rows) * (BORDER_WORDS / 4);
                uint4* border = a.border + (block * 2 * a.chunk + (row - chunk_first)) * entries;
                if (strip_number > 0) borders.in = border + (strip_number & 1) * a.chunk * entries;
                if (strip_number < strips - 1) borders.out = border + (~strip_number & 1) * a.chunk * entries;
            }
            Strip strip;
            stream_rows<PASSES>(strip, residues, residues.rows, steps, team.lane, borders);
            __syncwarp();  // the next strip's first lane reads what the last one wrote
            strip.join_lanes();
            if (row >= chunk_stop) continue;
#pragma unroll
            for (int pair = team.lane; pair < 32; pair += LANES) {
                const int column = columns_first + pair;
                if (column >= a.column_stop || (a.triangular && column <= row)) continue;
                const int64_t number = a.bases[row - a.first_row] + column * a.stride;
                int score = strip.score(pair) * a.factor;
                if (strip_number > 0) {
                    a.results[number] = max(a.results[number], score);
                    continue;
                }
                a.results[number] = score;
                const int one = a.rows.inputs[row], other = a.columns.inputs[column];
                const bool row_first = a.one_set ? one < other : a.rows_are_queries;
                a.results[a.pairs + number] = row_first ? one : other;
                a.results[2 * a.pairs + number] = row_first ? other : one;
            }
        }
    }
}

}  // namespace

// Block: 128 threads; grid: (groups, chunks of rows). For columns that are one strip.
extern "C" __global__ void __launch_bounds__(128) score_rows(RowsArguments a) {
    __shared__ uint4 table[LETTERS * STRIP / 4];
    score_all_rows<false>(a, table);
}

// The same for columns of any length: a strip after the other.
extern "C" __global__ void __launch_bounds__(128) score_rows_in_passes(RowsArguments a) {
    __shared__ uint4 table[LETTERS * STRIP / 4];
    score_all_rows<true>(a, table);
}

// --------------------------------------------------------------------------------------------- pair k
// against pair k

// RESIDUE PLANES: three bits of a residue, so that a row's and a column's agree only where residues match.
//     A 0, C 1, G 2, T 3 in bits 0 and 1 on both sides;  nothing: columns 4, rows 7
struct PairsArguments {
    const uint8_t* row_codes;       // [pairs][row_pitch]
    const uint8_t* column_codes;    // [pairs][column_pitch]
    uint32_t* row_planes;           // [words][3][row_pitch]
    uint32_t* column_planes;        // [words][3][column_pitch]
    int32_t* scores;                // [pairs]
    const int32_t* row_lengths;     // [pairs]
    const int32_t* column_lengths;  // [pairs]
    int32_t pairs, words, row_pitch,
        column_pitch;  // pitches: multiples of 64; column_pitch of STRIP too, and at most it
    int32_t factor;
};

// Block: 128 threads; grid: (pitch / 64, words). A warp takes 16 residues of 32 pairs; lane = pair.
extern "C" __global__ void __launch_bounds__(128) transpose_pairs(PairsArguments a, int of_columns) {
    const int lane = int(threadIdx.x) % 32, pitch = of_columns ? a.column_pitch : a.row_pitch;
    const int first = (int(blockIdx.x) * 4 + int(threadIdx.x) / 32) * 16;
    const int pair = int(blockIdx.y) * 32 + lane;
    int length = 0;
    uint32_t residues[4] = {0, 0, 0, 0};
    if (pair < a.pairs && first < pitch) {
        length = of_columns ? a.column_lengths[pair] : a.row_lengths[pair];
        const uint8_t* codes = of_columns ? a.column_codes : a.row_codes;
        const uint4 read = *reinterpret_cast<const uint4*>(codes + int64_t(pair) * pitch + first);
        residues[0] = read.x, residues[1] = read.y, residues[2] = read.z, residues[3] = read.w;
    }
    uint32_t mine[3] = {0, 0, 0};
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int code = int(residues[k / 4] >> (8 * (k % 4)) & 0xff);
        const int residue = first + k < length && code < NOTHING ? code : of_columns ? 4 : 7;
#pragma unroll
        for (int plane = 0; plane < 3; plane++) {
            const uint32_t word = __ballot_sync(ALL, residue >> plane & 1);
            if (lane == k) mine[plane] = word;
        }
    }
    if (first >= pitch || lane >= 16) return;
    uint32_t* planes =
        (of_columns ? a.column_planes : a.row_planes) + int64_t(blockIdx.y) * 3 * pitch + first + lane;
#pragma unroll
    for (int plane = 0; plane < 3; plane++) planes[int64_t(plane) * pitch] = mine[plane];
}

namespace {

struct OwnResidues {
    const uint32_t* planes;
    int rows;
    int64_t pitch;
    Word columns[COLUMNS][3];
    Word waiting[3], now[3];

    __device__ __forceinline__ void load(int row) {
#pragma unroll
        for (int plane = 0; plane < 3; plane++) waiting[plane] = {ALL};
        if (unsigned(row) < unsigned(rows)) {
#pragma unroll
            for (int plane = 0; plane < 3; plane++) waiting[plane] = {planes[plane * pitch + row]};
        }
    }
    __device__ __forceinline__ void take() {
#pragma unroll
        for (int plane = 0; plane < 3; plane++) now[plane] = waiting[plane];
    }
    __device__ __forceinline__ Word operator()(int c) const {
        Word differ = bitwise_xor(columns[c][0], now[0]);
        differ = Word::ternary<XOR_OR>(columns[c][1], now[1], differ);
        return Word::ternary<NEITHER_XOR>(columns[c][2], now[2], differ);
    }
};

}  // namespace

// Block: 128 threads, a team a word; grid: (words / teams of a block).
extern "C" __global__ void __launch_bounds__(128) score_pairs(PairsArguments a) {
    const Team team;
    const int word = int(blockIdx.x) * TEAMS + team.number;
    OwnResidues residues;
    residues.rows = 0;
    residues.pitch = a.row_pitch;
    residues.planes = a.row_planes;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
#pragma unroll
        for (int plane = 0; plane < 3; plane++) residues.columns[c][plane] = {plane == 2 ? ALL : 0};
    if (word < a.words) {
        residues.rows = a.row_pitch;
        residues.planes = a.row_planes + int64_t(word) * 3 * a.row_pitch;
        const uint32_t* columns = a.column_planes + int64_t(word) * 3 * a.column_pitch + team.lane * COLUMNS;
#pragma unroll
        for (int plane = 0; plane < 3; plane++)
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                if (team.lane * COLUMNS + c < a.column_pitch)
                    residues.columns[c][plane] = {columns[int64_t(plane) * a.column_pitch + c]};
    }
    Strip strip;
    stream_rows<false>(strip, residues, residues.rows, a.row_pitch + LANES, team.lane,
                       Borders{nullptr, nullptr});
    strip.join_lanes();
    if (word >= a.words) return;
#pragma unroll
    for (int pair = team.lane; pair < 32; pair += LANES)
        if (word * 32 + pair < a.pairs) a.scores[word * 32 + pair] = strip.score(pair) * a.factor;
}
