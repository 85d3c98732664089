#include "band_filler.h"

#include <cstring>
#include <vector>

namespace pairalign {
namespace {

// Antidiagonals between saved lanes: the lanes that a cell depends on so far back fit few vectors.
constexpr int32_t SAVE_EVERY = 64;
constexpr int FEW_VECTORS = 2;
// Of the room, what is for lanes that are saved; for those of them that the way back saves; and for flags.
constexpr size_t saved_part(size_t room) { return room - room / 4; }
constexpr size_t halfway_part(size_t room) { return room / 32; }
constexpr size_t flags_part(size_t room) { return room / 4; }

}  // namespace

// Drops every other of what was saved, to make room. False: there is nothing to drop.
bool BandFiller::thin_out(PrunedPair& pair) {
    if (pair.block_count < 2) return false;
    size_t used = 0;
    int32_t kept = 0;
    for (int32_t k = 0; k < pair.block_count; k += 2) {
        const size_t end = k + 1 < pair.block_count ? pair.blocks[k + 1].flags : pair.saved_used;
        const size_t begin = pair.blocks[k].flags, bytes = end - begin;
        std::memmove(pair.saved + used, pair.saved + begin, bytes);
        pair.blocks[kept] = pair.blocks[k];
        pair.blocks[kept++].flags = used;
        used += bytes;
    }
    pair.block_count = kept;
    pair.saved_used = used;
    pair.save_every *= 2;
    pair.save_at = pair.blocks[kept - 1].step + pair.save_every;
    return true;
}

Progress BandFiller::fill_and_trace(const PrunedKernel& kernel, PrunedPair& pair, double most_cells,
                                    bool trace_it, Path& path, int64_t& cells) {
    const bool forced = options_.use == Pruning::FORCED;
    const double steps = static_cast<double>(pair.rows) + pair.columns;
    const double lanes = triangle_of(pair) * pair.columns / 2;  // on average
    const double flag_bytes = (lanes + 2 * kernel.lanes) / kernel.lanes * steps * kernel.flag_bytes;
    bool keep_flags = lanes <= FEW_VECTORS * kernel.lanes && 2 * flag_bytes <= static_cast<double>(room_);
    pair.cell_limit = forced ? INT64_MAX : static_cast<int64_t>(matrix_of(pair) * most_cells) + (1 << 16);
    pair.bound += options_.lower_bound;  // the same as a bound that is lower by so much
    pair.free_until = has_free_ends(pair) ? last_begin(pair) : 0;
    pair.save_every = SAVE_EVERY;
    Progress progress = Progress::MORE;
    for (bool again = true; again; keep_flags = false) {
        pair.flags = pair.saved = nullptr;
        pair.flags_room = static_cast<size_t>(2 * flag_bytes) + (1 << 16);
        pair.saved_room = saved_part(room_) - halfway_part(room_);
        if (trace_it && keep_flags) pair.flags = static_cast<uint8_t*>(flags_.need(pair.flags_room));
        if (trace_it && !keep_flags) pair.saved = static_cast<uint8_t*>(saved_.need(saved_part(room_)));
        kernel.start(pair);
        pair.score = INT64_MIN;
        pair.end_row = pair.end_column = INT32_MAX;
        do {
            progress = kernel.fill(pair);
        } while (progress == Progress::MORE && pair.saved && thin_out(pair));
        again = progress == Progress::MORE && pair.flags;
    }
    cells += pair.cells;
    if (progress == Progress::MORE) progress = Progress::TOO_MANY;
    if (progress != Progress::DONE) return progress;
    path.score = static_cast<int32_t>(pair.score);
    const bool free = has_free_ends(pair);
    path.end_row = free ? pair.end_row : pair.rows;
    path.end_column = free ? pair.end_column : pair.columns;
    pair.score_left = path.score;
    path.start_row = path.start_column = path.run_count = 0;
    return trace_it ? trace(kernel, pair, path) : progress;
}

Progress BandFiller::trace(const PrunedKernel& kernel, PrunedPair& pair, Path& path) {
    int32_t row = path.end_row, column = path.end_column;
    int state = 0;
    if (pair.flags) return kernel.trace(pair, row, column, state, path);
    // Filling again goes over everything but the list of what was saved.
    std::vector<Block> saved(pair.blocks, pair.blocks + pair.block_count);
    pair.saved_room = saved_part(room_);
    pair.flags_room = flags_part(room_);
    pair.flags = static_cast<uint8_t*>(flags_.need(pair.flags_room));
    Progress progress = Progress::MORE;
    while (progress == Progress::MORE) {
        if (*cancelled_) return Progress::CANCELLED;
        while (saved.back().step >= row + column) saved.pop_back();
        progress = kernel.refill(pair, saved.back(), row, column);
        if (progress == Progress::DONE) {
            progress = kernel.trace(pair, row, column, state, path);
        } else if (progress == Progress::MORE) {
            progress = kernel.save_halfway(pair, saved.back(), row, column);
            if (progress != Progress::DONE) break;
            saved.push_back(pair.blocks[0]);
            progress = Progress::MORE;
        }
    }
    return progress;
}

}  // namespace pairalign
