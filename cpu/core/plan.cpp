#include "plan.h"

#include <algorithm>

namespace pairalign {

bool fits_narrow(const Scheme& s, int32_t rows, int32_t columns) {
    constexpr int64_t RANGE = 65535;
    if (rows > 32766 || columns > 32766 || s.gap_open > 8000 || s.matrix[PAD][PAD] < -16000) return false;
    const int64_t best = s.highest;
    if (best + 2 * s.gap_extend > 16000) return false;
    const int64_t shift = s.mode == LOCAL ? 0 : (int64_t{rows} + columns) * s.gap_extend;
    return best * std::min(rows, columns) + shift + room_below(s) <= RANGE;
}

bool fits_wide(const Scheme& s, int32_t rows, int32_t columns) {
    const int64_t low = s.matrix[PAD][PAD], high = s.highest;
    const int64_t residues = int64_t{rows} + columns;
    return high * std::min(rows, columns) + (residues + 4) * s.gap_extend - low + 4 * int64_t{s.gap_open} <
           (int64_t{1} << 30);
}

bool fits_bytes(const Scheme& s) {
    const int64_t best = s.highest, o = int64_t{s.gap_open} - s.gap_extend;
    if (s.mode == LOCAL) return byte_offset(s) + 4 * best <= 255;  // there should be room for some residues
    return best + byte_raise(s) <= 127 && 2 * o <= 128 && s.matrix[PAD][PAD] + byte_raise(s) + o >= 0;
}

bool fits_floors(const Scheme& s, int32_t rows, int32_t columns) {
    constexpr int64_t MOST = 32000;  // another byte more is a 16-bit number
    constexpr int32_t RESIDUES = 8;
    const int64_t best = s.highest;
    return s.mode == LOCAL && best > 0 && fits_bytes(s) &&
           best * std::min(rows, columns) + byte_offset(s) <= MOST &&
           byte_offset(s) + floor_margin(s) + (RESIDUES + 1) * best <= 255;
}

bool classes_of(const Scheme& scheme, int unambiguous, uint32_t codes, ResidueClasses& classes) {
    constexpr int BASES =
        4;  // A, C, G, T: those that pair and those that do not, transitions and transversions
    constexpr uint8_t OTHER_ROW = 7, OTHER_COLUMN = 4;  // from bases they differ by 4 to 7, and by 3
    if (unambiguous != BASES) return false;
    const int32_t raise = scheme.mode == LOCAL ? 0 : byte_raise(scheme);
    int32_t scores[16] = {};
    for (int k = 0; k < BASES; k++) scores[k] = scheme.matrix[0][k];
    for (int k = BASES; k < 2 * BASES; k++) scores[k] = scheme.matrix[PAD][PAD];
    for (int a = 0; a < CODES; a++) {
        classes.row[a] = a < BASES ? static_cast<uint8_t>(a) : OTHER_ROW;
        classes.column[a] = a < BASES ? static_cast<uint8_t>(a) : OTHER_COLUMN;
    }
    codes |= 1u << PAD;
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++)
            if ((codes >> a & 1) && (codes >> b & 1) &&
                scores[classes.row[a] ^ classes.column[b]] != scheme.matrix[a][b])
                return false;
    for (int k = 0; k < 16; k++) classes.scores[k] = static_cast<uint8_t>(scores[k] + raise);
    return true;
}

OwnScores scores_of(const FewRows& few) {
    return few.tables() == 1   ? OwnScores::ONE_TABLE
           : few.tables() == 2 ? OwnScores::TWO_TABLES
                               : OwnScores::FOUR_TABLES;
}

double own_rows_factor(OwnScores scores) {
    // Measured: 257 columns, in either detail.
    switch (scores) {
        case OwnScores::CLASSES:
            return 1.25;
        case OwnScores::ONE_TABLE:
            return 1.1;
        case OwnScores::TWO_TABLES:
            return 1.2;
        case OwnScores::FOUR_TABLES:
            return 1.4;
        default:
            return 2.4;
    }
}

BatchPlan plan_batch(const Kernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget) {
    const double cells = double{1} * rows * columns;
    // Measured. 32-bit lanes go with long columns, whose borders and profiles leave the caches, as many flags
    // do.
    const double score_cost = kernel.lane_bytes == 2 ? 2 : 4;
    if (!trace) return {rows, 0, cells * score_cost};
    const double flags_cost = score_cost + (kernel.flags_bytes(rows, columns) > (1 << 20) ? 3 : 2);
    auto bytes = [&](int32_t block) {
        return kernel.flags_bytes(block, columns) +
               (block < rows ? kernel.checkpoint_bytes(rows, block, columns) : 0);
    };
    if (bytes(rows) <= budget) return {rows, bytes(rows), cells * flags_cost};
    // Measured. As cells are filled twice, flags should at least stay in the caches.
    constexpr size_t MOST_OF_SOME_ROWS = 32 << 20;
    budget = std::min(budget, MOST_OF_SOME_ROWS);
    int32_t best = 8;
    for (int64_t next = 8; next < rows; next = next < 64 ? next + 8 : next / 8 * 9 / 8 * 8) {
        const int32_t block = static_cast<int32_t>(next);
        if (bytes(block) <= bytes(best)) best = block;
        if (bytes(block) <= budget) best = block;
    }
    return {best, bytes(best), cells * (score_cost + flags_cost)};
}

namespace {

// In tiles, however short the sequences are.
BytePlan plan_tiles(const ByteKernel& kernel, Mode mode, int32_t rows, int32_t columns, bool trace,
                    size_t budget, bool floors) {
    const double cells = double{1} * rows * columns;
    // Measured in 257 columns. A cell that is filled again: with all that traceback takes.
    constexpr double SCORE_COST = 2.5, AGAIN_COST = 13;
    // Measured. Smaller tiles have borders that leave the caches; to write and to read these again takes
    // longer than to fill more cells again.
    constexpr int32_t MOST_ACROSS = 32;
    constexpr double FLOORS = 1.15;  // measured
    int32_t least = 16;
    while (least < 1024 && columns / MOST_ACROSS > least) least *= 2;
    BytePlan best{least, 0, 0};
    for (int32_t side = least;; side *= 2) {
        const ByteLayout layout(kernel.lanes, mode, rows, columns, trace, side, floors);
        best = {side, layout.bytes, cells * SCORE_COST * (floors ? FLOORS : 1)};
        if (!trace) return best;
        best.cost += double{1} * rows * layout.window_columns * AGAIN_COST;
        if (best.bytes <= budget || side >= rows || side >= (1 << 20)) return best;
    }
}

}  // namespace

BytePlan plan_floors(const ByteKernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget) {
    return plan_tiles(kernel, LOCAL, rows, columns, trace, budget, true);
}

BytePlan plan_bytes(const ByteKernel& kernel, Mode mode, int32_t rows, int32_t columns, bool trace,
                    size_t budget, int32_t least_bits) {
    const BytePlan tiles = plan_tiles(kernel, mode, rows, columns, trace, budget, false);
    // Measured. Codes of so many cells stay in the caches; of more, to fill some again takes less.
    constexpr size_t MOST_BYTES_OF_CODES = size_t{1} << 19;
    constexpr int64_t MOST_CELLS = int64_t{1} << 14;
    constexpr double COST = 6.5;  // of a cell, with all that traceback takes
    if (least_bits == 8 || (mode != GLOBAL && mode != SEMIGLOBAL)) return tiles;
    if (!trace || int64_t{rows} * columns > MOST_CELLS) return tiles;
    const ByteLayout layout(kernel.lanes, mode, rows, columns, trace, ByteBatch::ALL_CELLS);
    if (layout.bytes > budget || layout.bytes > MOST_BYTES_OF_CODES) return tiles;
    return {ByteBatch::ALL_CELLS, layout.bytes, COST * rows * columns};
}

LongPlan plan_long_pair(const LongKernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget) {
    // Vectors of cells to be filled. Lanes start and stop one after the other, in steps that do more.
    auto vectors = [&](int32_t height, int32_t width, int32_t starts) {
        return static_cast<double>(kernel.strips(height)) * kernel.lane_rows *
               (width + 2.0 * starts * kernel.lanes);
    };
    if (!trace) return {{rows, columns}, 0, vectors(rows, columns, 1) * kernel.score_cost};
    auto plan = [&](const Tile& tile) -> LongPlan {
        const size_t flags = kernel.flags_bytes(tile, rows, columns);
        if (kernel.whole(tile, rows, columns))
            return {tile, flags, vectors(rows, columns, 1) * kernel.flags_cost};
        const int32_t down = (rows - 1) / tile.rows + 1, across = (columns - 1) / tile.columns + 1;
        // A path goes through so many tiles at most, and of each two thirds are needed.
        const double each = vectors(std::min(tile.rows, rows), std::min(tile.columns, columns), 1);
        const double again = (int64_t{down} + across - 1) * each * 2 / 3;
        return {tile, flags + kernel.checkpoint_bytes(tile, rows, columns),
                vectors(rows, columns, across) * kernel.score_cost + again * kernel.flags_cost};
    };
    LongPlan best = plan({rows, columns});
    const int32_t strip = kernel.strip_rows();
    for (int64_t side = 64; side < std::max(rows, columns); side *= 2) {
        const int64_t height = std::min<int64_t>((side + strip - 1) / strip * strip, INT32_MAX);
        const LongPlan other = plan({static_cast<int32_t>(height), static_cast<int32_t>(side)});
        const bool fits = other.bytes <= budget;
        if (best.bytes <= budget ? fits && other.cost < best.cost : fits || other.bytes < best.bytes)
            best = other;
    }
    return best;
}

}  // namespace pairalign
