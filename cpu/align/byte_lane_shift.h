// Beams of lanes that stray to different sides (lane_bands.h): lanes are moved against one another, so
// that they share columns.
//
// A lane that is moved has its column c + shift where another one has c: its residues, differences of H' and
// the column in which it ends are so many columns farther to the left. It loses the columns on the left, and
// on the right finds what a gap from its last one leaves. What a beam finds stays the score of an alignment,
// or less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "byte_reach.h"
#include "byte_state.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class LaneShift {
public:
    using Numbers = LaneNumbers<V>;
    static constexpr int32_t STEP = 16;  // columns that a lane is moved at a time

    explicit LaneShift(const ByteWork<V>& work)
        : codes_(work.own_group + work.own.codes),
          columns_(work.columns),
          opened_(V::set(work.scheme.gap_extend - work.scheme.gap_open)),
          opening_(work.scheme.gap_open - work.scheme.gap_extend) {}

    // What is kept of a row of cells: differences, two vectors a column, of the columns low to high; H' in
    // both of these; and the last columns of the lanes.
    struct Row {
        uint8_t* border;
        int32_t low, high;
        Numbers &left, &right, &ends;
    };

    // Moves lanes to the left by STEP columns.
    void move(uint64_t lanes, const Row& row) {
        alignas(64) uint8_t marks[LANES] = {}, gained[LANES];
        for (uint64_t some = lanes; some; some &= some - 1) {
            const int l = __builtin_ctzll(some);
            marks[l] = 255;
            shifts_[l] += STEP;
            row.ends.set(l, row.ends.of(l) - STEP);
            row.right.set(l, row.right.of(l) - opening_);
        }
        const auto moved = mask(marks);
        for (int32_t c = row.low + 1; c <= row.low + STEP; c++) {
            V::blend(moved, V::load(difference(row, c)), V::set(0)).store(gained);
            row.left.add(gained);
        }
        move_differences(moved, row);
        find_groups();
        move_residues(moved, row.low);
    }

    // Residues of the columns up to `high` are put where moved lanes have them.
    void make_residues(int32_t high) {
        for (int32_t c = ready_ + 1; c <= high && group_count_ > 0; c++) residues(c).store(at(c));
        ready_ = high > ready_ ? high : ready_;
    }

private:
    static constexpr int LANES = V::LANES;
    using Mask = typename V::Mask;

    static Mask mask(const uint8_t* marks) { return V::eq(V::load(marks), V::set(255)); }
    static uint8_t* difference(const Row& row, int32_t column) {
        return row.border + static_cast<size_t>(column) * 2 * LANES;
    }
    uint8_t* at(int32_t column) const { return codes_ + static_cast<size_t>(column) * LANES; }

    void move_differences(Mask moved, const Row& row) const {
        for (int32_t c = row.low; c <= row.high; c++) {
            uint8_t* const to = difference(row, c);
            const uint8_t* const from = difference(row, c + STEP);
            const bool beyond = c + STEP > row.high;
            const V gap = c + STEP == row.high + 1 ? opened_ : V::set(0);
            V::blend(moved, beyond ? gap : V::load(from), V::load(to)).store(to);
            V::blend(moved, beyond ? gap : V::load(from + LANES), V::load(to + LANES)).store(to + LANES);
        }
    }

    void move_residues(Mask moved, int32_t low) const {
        for (int32_t c = low + 1; c <= ready_; c++)
            V::blend(moved, c + STEP <= ready_ ? V::load(at(c + STEP)) : residues(c), V::load(at(c)))
                .store(at(c));
    }

    // Residues of a column from where they were at first: those after the last column that is ready are there
    // still. After the end of a lane's sequence comes what column 0 has.
    V residues(int32_t column) const {
        V found = V::load(at(column));
        for (int k = 0; k < group_count_; k++) {
            const int32_t from = column + group_shifts_[k];
            found = V::blend(mask(groups_[k]), V::load(at(from <= columns_ ? from : 0)), found);
        }
        return found;
    }

    // Which lanes have been moved as far as one another.
    void find_groups() {
        group_count_ = 0;
        for (int l = 0; l < LANES; l++) {
            if (shifts_[l] == 0) continue;
            int k = 0;
            while (k < group_count_ && group_shifts_[k] != shifts_[l]) k++;
            if (k == group_count_) {
                group_shifts_[group_count_++] = shifts_[l];
                memset(groups_[k], 0, LANES);
            }
            groups_[k][l] = 255;
        }
    }

    uint8_t* const codes_;
    const int32_t columns_;  // for which there are residues
    const V opened_;         // a gap begins
    const int32_t opening_;
    int32_t ready_ = 0;  // up to this column residues are where moved lanes have them
    int32_t shifts_[LANES] = {};
    int group_count_ = 0;
    int32_t group_shifts_[LANES];
    alignas(64) uint8_t groups_[LANES][LANES];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
