// Long pairs, local: the end cell of each, in the tiles that may hold it.
//
// In         score and tile column of each pair, Pair::best, the borders of tiles. scratch cleared, ticket =
// 0. Out        progress[].place. Threads    A warp a strip, by ticket.
#include "tiles.cuh"

#define ENTRY extern "C" __global__ void __launch_bounds__

// Local: fills the tiles that may hold the end cell and finds it.
ENTRY(128) locate_end(const Params p) {
    if constexpr (LOCAL) {
        const int strips = p.tile / TILE_STRIP, strips_filled = p.tile / (32 * p.rows_a_lane);
        for (;;) {
            const int ticket = take_ticket(p, p.pair_count * p.scratch_tiles * strips);
            if (ticket < 0) break;
            const int strip = ticket % strips, tile_row = ticket / strips % p.scratch_tiles;
            const int number = ticket / strips / p.scratch_tiles;
            Progress& progress = p.progress[number];
            const Pair pair = p.pairs[number];
            if (progress.score <= 0 || progress.score < p.min_score || tile_row * p.tile >= pair.rows)
                continue;
            const int across = (pair.columns - 1) / p.tile + 1;
            bool candidate = false;
            for (int of_tile = 0; of_tile < strips_filled; ++of_tile) {
                const int filled = tile_row * strips_filled + of_tile;
                candidate |= filled < pair.strips &&
                             pair.best[filled * across + progress.tile_column] == progress.score;
            }
            if (!candidate) continue;
            word* handed = p.scratch + ((long long)number * p.scratch_tiles + tile_row) * p.tile;
            const Piece piece = piece_of(p, pair, tile_row, progress.tile_column, handed);
            if (strip * TILE_STRIP >= piece.rows) continue;
            fill_strip<TILE_ROWS, LOCATE>(p, pair, progress, piece, strip, nullptr);
        }
    }
}
