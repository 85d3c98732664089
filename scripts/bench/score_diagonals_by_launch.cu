// The paper's own way with block diagonals, to be compared with: one launch a diagonal of blocks.
//
// Computes   H, E, F of affine-gap global alignment, 32 bits; the score.
// In         letters of one pair; table[32][32]; beside, above and corners as start_diagonals leaves
//            them. For d = 0, 1, ..., block rows + block columns - 2: one launch of
//            score_diagonal with as many blocks as the diagonal has.
// Out        above[columns] and beside[rows]: H and E or F of the last row and column; above[columns - 1]
//            ends with the score.
// Threads    A block of threads is a block of the matrix, BLOCK x BLOCK, a thread a cell; the cells of
//            an anti-diagonal are computed between two barriers.
// Shared     the two pieces of sequence, H, E and F of the block and its border.
// After      Huynh et al.: 8, 16 and 32 rows and columns a block. They keep all of H in global memory
//            and count gaps linearly; here only borders are kept.
#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

#ifndef PAIRALIGN_BLOCK
#define PAIRALIGN_BLOCK 16
#endif

namespace {
constexpr int BLOCK = PAIRALIGN_BLOCK;
constexpr int NONE = -(1 << 30);
}  // namespace

// Row 0, column 0 and the corners on them, of which there is one for each diagonal of the matrix that
// goes through corners of blocks: corners[block column - block row + block rows].
extern "C" __global__ void __launch_bounds__(256)
start_diagonals(int2* above, int2* beside, int* corners, int rows, int columns, int gap_open, int gap_extend) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int border = -gap_open - at * gap_extend;
    if (at < columns) above[at] = make_int2(border, NONE);
    if (at < rows) beside[at] = make_int2(border, NONE);
    const int block_rows = (rows + BLOCK - 1) / BLOCK, block_columns = (columns + BLOCK - 1) / BLOCK;
    if (at < block_rows + block_columns) {
        const int blocks = at < block_rows ? block_rows - at : at - block_rows;
        corners[at] = blocks == 0 ? 0 : -gap_open - (blocks * BLOCK - 1) * gap_extend;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
score_diagonal(const uint8_t* row_letters, const uint8_t* column_letters, const int* table, int2* above,
               int2* beside, int* corners, int rows, int columns, int gap_open, int gap_extend, int diagonal) {
    __shared__ int h[BLOCK + 1][BLOCK + 1], e[BLOCK + 1][BLOCK + 1], f[BLOCK + 1][BLOCK + 1];
    __shared__ int row_piece[BLOCK], column_piece[BLOCK];
    const int block_rows = (rows + BLOCK - 1) / BLOCK, block_columns = (columns + BLOCK - 1) / BLOCK;
    const int block_row = max(0, diagonal - (block_columns - 1)) + (int)blockIdx.x;
    const int block_column = diagonal - block_row;
    const int top = block_row * BLOCK, left = block_column * BLOCK;
    const int y = threadIdx.y, x = threadIdx.x;
    if (y == 0 && left + x < columns) {
        const int2 border = above[left + x];
        h[0][x + 1] = border.x;
        f[0][x + 1] = border.y;
        column_piece[x] = column_letters[left + x];
    }
    if (x == 0 && top + y < rows) {
        const int2 border = beside[top + y];
        h[y + 1][0] = border.x;
        e[y + 1][0] = border.y;
        row_piece[y] = row_letters[top + y];
    }
    int& corner = corners[block_column - block_row + block_rows];
    if (x == 0 && y == 0) h[0][0] = corner;
    const bool inside = top + y < rows && left + x < columns;
    for (int step = 0; step < 2 * BLOCK - 1; ++step) {
        __syncthreads();
        if (x + y != step || !inside) continue;
        const int of_e = max(e[y + 1][x] - gap_extend, h[y + 1][x] - gap_open);
        const int of_f = max(f[y][x + 1] - gap_extend, h[y][x + 1] - gap_open);
        const int matched = h[y][x] + table[row_piece[y] * 32 + column_piece[x]];
        e[y + 1][x + 1] = of_e;
        f[y + 1][x + 1] = of_f;
        h[y + 1][x + 1] = max(matched, max(of_e, of_f));
    }
    __syncthreads();
    if (!inside) return;
    if (y == BLOCK - 1 || top + y == rows - 1) above[left + x] = make_int2(h[y + 1][x + 1], f[y + 1][x + 1]);
    if (x == BLOCK - 1 || left + x == columns - 1) beside[top + y] = make_int2(h[y + 1][x + 1], e[y + 1][x + 1]);
    if (x == BLOCK - 1 && y == BLOCK - 1) corner = h[BLOCK][BLOCK];
}
