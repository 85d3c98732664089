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
    const int64_t letters = int64_t{rows} + columns;
    return high * std::min(rows, columns) + (letters + 4) * s.gap_extend - low + 4 * int64_t{s.gap_open} <
           (int64_t{1} << 30);
}

bool fits_bytes(const Scheme& s) {
    const int64_t best = s.highest, o = int64_t{s.gap_open} - s.gap_extend;
    if (s.mode == END_GAPS) return false;  // their borders differ from lane to lane, and by any number
    if (s.mode == LOCAL) return byte_offset(s) + 4 * best <= 255;  // there should be room for some letters
    return best + byte_raise(s) <= 127 && 2 * o <= 128 && s.matrix[PAD][PAD] + byte_raise(s) + o >= 0;
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
    int32_t best = 8;
    for (int64_t next = 8; next < rows; next = next < 64 ? next + 8 : next / 8 * 9 / 8 * 8) {
        const int32_t block = static_cast<int32_t>(next);
        if (bytes(block) <= bytes(best)) best = block;
        if (bytes(block) <= budget) best = block;
    }
    return {best, bytes(best), cells * (score_cost + flags_cost)};
}

BytePlan plan_bytes(const ByteKernel& kernel, Mode mode, int32_t rows, int32_t columns, bool trace,
                    size_t budget) {
    const double cells = double{1} * rows * columns;
    // Measured in 257 columns. A cell that is filled again: with all that traceback takes.
    constexpr double SCORE_COST = 2.5, AGAIN_COST = 13;
    BytePlan best{16, 0, 0};
    for (int32_t side = 16;; side *= 2) {
        const ByteLayout layout(kernel.lanes, mode, rows, columns, trace, side);
        best = {side, layout.bytes, cells * SCORE_COST};
        if (!trace) return best;
        best.cost += double{1} * rows * layout.window_columns * AGAIN_COST;
        if (best.bytes <= budget || side >= rows || side >= (1 << 20)) return best;
    }
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
