// The traceback of the kernel of 8-bit lanes. No flags are kept: cells are filled again where paths are.
//
// The first pass leaves the borders of tiles. Rows of tiles are gone through from the last to the first. In
// each, every lane that is still under way gets a window of its own: some tiles wide, from the left of a tile
// to about where its path is. The lanes have the row residues in common, and the columns of their windows are
// brought side by side; then one fill serves all of them. A path that leaves it on the left has another made.
//
// Of short sequences, whose windows would be most of the matrix, the first pass leaves the codes of all
// cells: then all of it is one window, and no cell is filled twice.
//
// Local mode: the first pass leaves the best score of each tile. In the one that has a lane's best score, the
// cell is looked for when it has been filled again.
#pragma once

#include "byte_state.h"
#include "byte_walk.h"
#include "byte_windows.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V, Scores SCORES>
class ByteTraceback : ByteWindows<V, SCORES> {
    using Windows = ByteWindows<V, SCORES>;

public:
    explicit ByteTraceback(ByteWork<V>& work)
        : Windows(work),
          batch_(work.batch),
          side_bits_(Windows::logarithm(work.batch.side)),
          walk_(cells_, LANES, row_bytes_) {}

    void run() {
        start();
        if (!batch_.has_tiles()) {
            Windows::take_all(under_way_);
            walk();
        }
        if (unclear_) find_unclear_ends();
        for (int32_t tile_row = w_.tile_rows() - 1; under_way_ && tile_row >= 0; tile_row--) {
            while (fill_windows(tile_row, under_way_)) {
                for (uint64_t lanes = active_ & searching_; lanes; lanes &= lanes - 1)
                    begin_at_best(__builtin_ctzll(lanes));
                walk();
                if (*batch_.cancelled) return;
            }
        }
        for (int l = batch_.first_lane; l < batch_.group->used; l++) finish(l);
    }

private:
    static constexpr int LANES = V::LANES;

    using Windows::active_, Windows::cell, Windows::cells_, Windows::left_, Windows::row_bytes_,
        Windows::top_, Windows::w_, Windows::wanted_, Windows::wanted_scores_, Windows::width_bits_;

    // ---------------------------------------------------------------- where paths end

    void start() {
        memset(cells_, ENDS, row_bytes_);
        for (int32_t row = 1; row <= batch_.rows && (row <= batch_.side || !batch_.has_tiles()); row++)
            memset(cells_ + static_cast<size_t>(row) * row_bytes_, ENDS, LANES);
        memset(wanted_, 255, sizeof wanted_);  // which no score is, unless it overflowed
        for (int l = 0; w_.scheme.ties == VSEARCH_TIES && l < LANES; l++)
            wanted_[l] = w_.is_query(l) ? 255 : 0;
        for (int l = batch_.first_lane; l < batch_.group->used; l++) {
            Path& path = batch_.paths[l];
            steps_[l] = batch_.step_room[l];
            last_step_[l] = SAME_MOVE * STEP;
            row_[l] = path.end_row;
            column_[l] = path.end_column;
            if (w_.scheme.mode == END_GAPS) take_end_gap(l);
            if (batch_.overflowed >> l & 1) continue;
            if (w_.scheme.mode == LOCAL ? path.score > 0 : row_[l] > 0 && column_[l] > 0)
                under_way_ |= uint64_t{1} << l;
        }
        if (w_.scheme.mode == LOCAL) find_tiles();
    }

    // The gap to the last cell, if it costs something.
    void take_end_gap(int l) {
        Path& path = batch_.paths[l];
        const bool query = w_.is_query(l);
        const int32_t rows = w_.rows_of(l), columns = batch_.group->lengths[l];
        if (!w_.scheme.of_row(query).end.is_free()) {
            put_gap(l, ROW_MOVE, rows - path.end_row);
            path.end_row = rows;
        }
        if (!w_.scheme.of_column(query).end.is_free()) {
            put_gap(l, COLUMN_MOVE, columns - path.end_column);
            path.end_column = columns;
        }
    }

    void put_gap(int l, Move move, int32_t residues) {
        steps_[l] -= residues;
        memset(steps_[l], move * STEP, static_cast<size_t>(residues));
    }

    // Local: the tile of each lane's best cell, which is in the first column of tiles that has the score.
    // Where more than one tile there has it, it is not clear yet which has the first cell.
    void find_tiles() {
        want_scores(under_way_);
        uint64_t left = under_way_;
        for (int32_t column = 0; left && column < w_.tile_columns(); column++) {
            uint64_t here = 0;
            for (int32_t row = 0; row < w_.tile_rows(); row++) {
                const uint64_t found = lanes_with_best(row, column) & left;
                unclear_ |= found & here;
                here |= found;
                for (uint64_t lanes = found; lanes; lanes &= lanes - 1)
                    to_end_of_tile(__builtin_ctzll(lanes), row, column);
            }
            left &= ~here;
        }
        searching_ = under_way_;
    }

    // Local: codes are to say which cells have the scores of these lanes, of the others none.
    void want_scores(uint64_t lanes) {
        constexpr uint16_t NONE = 32767;  // more than a byte above any score
        uint16_t scores[LANES];
        for (uint16_t& score : scores) score = NONE;
        memset(wanted_, 255, sizeof wanted_);
        for (; lanes; lanes &= lanes - 1) {
            const int l = __builtin_ctzll(lanes);
            scores[l] = static_cast<uint16_t>(batch_.paths[l].score + w_.offset);
            wanted_[l] = static_cast<uint8_t>(scores[l]);
        }
        if (batch_.floors) WideLanes<V>::written(scores).store(wanted_scores_);
    }

    // The lanes whose wanted score is the best of a tile.
    uint64_t lanes_with_best(int32_t tile_row, int32_t tile_column) const {
        const uint8_t* const best = w_.best(tile_row, tile_column);
        if (!batch_.floors) return V::bits(V::eq(V::load(best), V::load(wanted_)));
        using Wide = WideLanes<V>;
        const Wide found = Wide::load(best), wanted = Wide::load(wanted_scores_);
        const V differs = V::max(found.above(wanted), wanted.above(found));
        return V::bits(V::eq(differs, V::set(0)));
    }

    void to_end_of_tile(int l, int32_t tile_row, int32_t tile_column) {
        row_[l] = batch_.rows >> side_bits_ > tile_row ? (tile_row + 1) << side_bits_ : batch_.rows;
        column_[l] = w_.columns >> width_bits_ > tile_column ? (tile_column + 1) << width_bits_ : w_.columns;
    }

    // Fills all tiles of a column of tiles again that have a lane's best score.
    void find_unclear_ends() {
        int32_t tile_column[MAX_LANES], row[MAX_LANES], column[MAX_LANES];
        for (uint64_t lanes = unclear_; lanes; lanes &= lanes - 1) {
            const int l = __builtin_ctzll(lanes);
            tile_column[l] = (column_[l] - 1) >> width_bits_;
            column[l] = INT32_MAX;
        }
        for (int32_t tile_row = 0; tile_row < w_.tile_rows(); tile_row++) {
            uint64_t some = 0;
            want_scores(unclear_);
            for (uint64_t lanes = unclear_; lanes; lanes &= lanes - 1) {
                const int l = __builtin_ctzll(lanes);
                if (!(lanes_with_best(tile_row, tile_column[l]) >> l & 1)) continue;
                to_end_of_tile(l, tile_row, tile_column[l]);
                some |= uint64_t{1} << l;
            }
            if (!fill_windows(tile_row, some)) continue;
            for (uint64_t lanes = some; lanes; lanes &= lanes - 1) {
                const int l = __builtin_ctzll(lanes);
                begin_at_best(l);
                searching_ |= uint64_t{1} << l;
                if (column_[l] >= column[l]) continue;  // rows rise
                column[l] = column_[l];
                row[l] = row_[l];
            }
            if (*batch_.cancelled) return;
        }
        for (uint64_t lanes = unclear_; lanes; lanes &= lanes - 1) {
            const int l = __builtin_ctzll(lanes);
            end_at(l, row[l], column[l]);
        }
    }

    void end_at(int l, int32_t row, int32_t column) {
        Path& path = batch_.paths[l];
        path.end_row = row_[l] = row;
        path.end_column = column_[l] = column;
        searching_ &= ~(uint64_t{1} << l);
    }

    // The best cell of a tile that has been filled again: the first column, then the first row that has it.
    // Ties: the end cell.
    void begin_at_best(int l) {
        const int32_t first = (column_[l] - 1) >> width_bits_ << width_bits_;
        for (int32_t column = first + 1; column <= column_[l]; column++)
            for (int32_t row = top_ + 1; row <= row_[l]; row++) {
                uint8_t& code = cells_[cell(row - top_, column - left_[l]) + static_cast<size_t>(l)];
                if (!(code & IS_BEST)) continue;
                code &= static_cast<uint8_t>(~IS_BEST);  // no other cell of the path has it
                return end_at(l, row, column);
            }
    }

    // ---------------------------------------------------------------- windows

    // Chooses and fills the windows of those of the lanes that have a path in this row of tiles. False when
    // none has.
    bool fill_windows(int32_t tile_row, uint64_t lanes) {
        top_ = tile_row << side_bits_;
        if (w_.band) lanes = inside(tile_row, lanes);
        if (!Windows::choose_windows(lanes, row_, column_, low_)) return false;
        Windows::fetch_left();
        Windows::gather_border(tile_row);
        if (w_.scheme.mode == LOCAL) {
            want_scores(active_ & searching_);
            if (batch_.floors) fill_above_floors(tile_row);
            else Windows::template fill<Codes::LOCAL>();
        } else if (w_.scheme.ties == VSEARCH_TIES) {
            Windows::template fill<Codes::VSEARCH>();
        } else {
            Windows::template fill<Codes::USUAL>();
        }
        return true;
    }

    // Of a band: drops lanes whose path has left it, which takes an unsound bound.
    uint64_t inside(int32_t tile_row, uint64_t lanes) {
        low_ = w_.band[tile_row].before;
        for (uint64_t left = lanes; left; left &= left - 1) {
            const int l = __builtin_ctzll(left);
            if (row_[l] > top_ && w_.is_outside(tile_row, column_[l])) batch_.overflowed |= uint64_t{1} << l;
        }
        return lanes & (under_way_ &= ~batch_.overflowed);
    }

    // Drops lanes whose values were too high for their floors.
    void fill_above_floors(int32_t tile_row) {
        Windows::gather_floors(tile_row);
        const uint64_t lost = Windows::fill_above_floors();
        batch_.overflowed |= lost;
        under_way_ &= ~lost;
        active_ &= ~lost;
    }

    // ---------------------------------------------------------------- paths

    void walk() {
        uint8_t nothing[64];
        for (uint64_t left = active_; left;) {
            int lanes[ByteWalk<V>::SIDE_BY_SIDE], count = 0;
            typename ByteWalk<V>::Walk walks[ByteWalk<V>::SIDE_BY_SIDE];
            for (; left && count < ByteWalk<V>::SIDE_BY_SIDE; left &= left - 1) {
                const int l = lanes[count] = __builtin_ctzll(left);
                walks[count++] = {cell(row_[l] - top_, column_[l] - left_[l]) + static_cast<size_t>(l),
                                  last_step_[l], steps_[l]};
            }
            for (int k = count; k < ByteWalk<V>::SIDE_BY_SIDE; k++)
                walks[k] = {0, 0, nothing + 64};  // an edge
            while (walk_.run(walks)) {
            }
            for (int k = 0; k < count; k++) arrive(lanes[k], walks[k]);
        }
    }

    // Lane l has come to the upper or left edge of its window, or to the end of its path.
    void arrive(int l, const typename ByteWalk<V>::Walk& walk) {
        steps_[l] = walk.steps;
        last_step_[l] = walk.step;
        const uint32_t at = static_cast<uint32_t>(walk.at / LANES),
                       across = static_cast<uint32_t>(row_bytes_ / LANES), row = at / across,
                       column = at - row * across;
        row_[l] = top_ + static_cast<int32_t>(row);
        column_[l] = left_[l] + static_cast<int32_t>(column);
        if ((row && column) || row_[l] == 0 || column_[l] == 0) under_way_ &= ~(uint64_t{1} << l);
    }

    // What is left of a path is one gap, if that costs something.
    void finish(int l) {
        Path& path = batch_.paths[l];
        const bool query = w_.is_query(l), ends = w_.scheme.mode == END_GAPS;
        if (w_.scheme.mode == GLOBAL || (ends && !w_.scheme.of_row(query).start.is_free())) {
            put_gap(l, ROW_MOVE, row_[l]);
            row_[l] = 0;
        }
        if (w_.scheme.mode == GLOBAL || (ends && !w_.scheme.of_column(query).start.is_free())) {
            put_gap(l, COLUMN_MOVE, column_[l]);
            column_[l] = 0;
        }
        batch_.steps[l] = steps_[l];
        batch_.step_count[l] = static_cast<int32_t>(batch_.step_room[l] - steps_[l]);
        path.start_row = row_[l];
        path.start_column = column_[l];
    }

    ByteBatch& batch_;
    const int side_bits_;  // logarithm of the rows of a tile
    ByteWalk<V> walk_;

    uint64_t under_way_ = 0;  // lanes whose paths have not come to their start
    uint64_t searching_ = 0;  // of these, lanes whose end is known but for its tile
    uint64_t unclear_ = 0;    // lanes of which more than one tile may have the end
    int32_t row_[MAX_LANES], column_[MAX_LANES];
    uint8_t last_step_[MAX_LANES];
    uint8_t* steps_[MAX_LANES];
    int32_t low_ = 0;  // of a band, in a row of tiles: the column before the first one filled
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
