// Tiles that are filled again: which strip a warp takes next, and the piece of the matrix that a tile is.
#pragma once

#include "strip.cuh"

namespace {

__device__ inline Piece piece_of(const Params& p, const Pair& pair, int tile_row, int tile_column,
                                 word* handed) {
    Piece piece;
    piece.top = tile_row * p.tile;
    piece.left = tile_column * p.tile;
    piece.rows = min(p.tile, pair.rows - piece.top);
    piece.columns = min(p.tile, pair.columns - piece.left);
    piece.above = pair.kept_rows + (long long)(tile_row - 1) * pair.columns + piece.left;
    piece.beside = pair.kept_columns + (long long)(tile_column - 1) * pair.padded_rows;
    piece.handed = handed;
    return piece;
}

// The next ticket of those below `count`, or -1.
__device__ inline int take_ticket(const Params& p, int count) {
    uint32_t ticket = 0;
    if (threadIdx.x % 32 == 0) ticket = atomicAdd(p.ticket, 1u);
    ticket = __shfl_sync(ALL, ticket, 0);
    return (int)ticket < count ? (int)ticket : -1;
}

}  // namespace
