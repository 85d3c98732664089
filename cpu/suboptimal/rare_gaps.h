// The most that an alignment scores which uses none of some diagonal steps, where opening a gap costs as much
// as several matches. So gaps begin in few cells of unrelated sequences. All others are made with four
// instructions for as many cells as a vector has lanes: a lane is a diagonal, of which H is known in the row
// before, and nothing else. Cells that score enough to open a gap are looked at one by one. Included by
// kernel_ISA.cpp, once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "byte_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

class RareGaps {
public:
    // The diagonal of a cell is its column less its row, and all rows but one: from 0 on.
    RareGaps(const SuboptimalJob& job, const SuboptimalCell* used, size_t count)
        : job_(job),
          used_(used),
          used_end_(used + count),
          rows_(job.pair->row_count),
          columns_(job.pair->column_count),
          open_(job.pair->gap_open),
          extend_(job.pair->gap_extend),
          size_(static_cast<size_t>(rows_) + static_cast<size_t>(columns_) + 2 * PAD),
          memory_(new uint8_t[size_ + static_cast<size_t>(columns_) + 2 * PAD + ALIGNED]),
          marked_(new int32_t[size_ / PAIR + 1]),
          most_(open_) {
        h_ = memory_.get() + (ALIGNED - reinterpret_cast<uintptr_t>(memory_.get()) % ALIGNED);
        uint8_t* const residues = h_ + size_;
        residues_ = residues + PAD;
        for (size_t k = 0; k < size_; ++k) h_[k] = 0;
        for (int32_t c = -PAD; c < columns_ + PAD; ++c)
            residues_[c] = static_cast<uint8_t>(
                c < 0 || c >= columns_ ? SUBOPTIMAL_NO_COLUMN : job.column_codes[static_cast<size_t>(c)]);
    }

    // -1 where it is more than 8 bits hold, where gaps are not rare, or when cancelled.
    int32_t most() {
        const int64_t most_work = int64_t{rows_} * columns_ / CELLS_A_STEP + FEW_STEPS;
        for (int32_t row = 0; row < rows_; ++row) {
            if (row % 256 == 0 && *const_cast<const volatile int32_t*>(job_.pair->cancelled)) return -1;
            const size_t marks = fill(row);
            for (; used_ != used_end_ && used_->row <= row + 1; ++used_)
                if (used_->row == row + 1) h_[diagonal(row, used_->column - 1)] = 0;
            go_down(row);
            for (size_t k = 0; k < marks; ++k) look_at(row, marked_[k] * PAIR);
            if (most_ > MOST - job_.match || work_ > most_work) return -1;
        }
        return most_;
    }

private:
    static constexpr int LANES = Bytes::LANES, PAIR = 2 * LANES;
    static constexpr int32_t MOST = 255, PAD = 512;
    static constexpr uintptr_t ALIGNED = 64;
    static constexpr int64_t CELLS_A_STEP = 64, FEW_STEPS = 100000;

    // A gap that goes on below a row; `score` there.
    struct Gap {
        int32_t column, score;
    };

    int32_t diagonal(int32_t row, int32_t column) const { return column - row + rows_ - 1; }

    // Makes the cells of a row as if no gap ended there; returns how many pairs of vectors have some from
    // which gaps may begin.
    size_t fill(int32_t row) {
        const Bytes code = Bytes::set(job_.row_codes[static_cast<size_t>(row)]);
        const Bytes match = Bytes::set(job_.match), loss = Bytes::set(job_.match - job_.mismatch);
        const Bytes enough = Bytes::set(open_ + 1);
        const int32_t first = diagonal(row, 0) / PAIR, last = diagonal(row, columns_ - 1) / PAIR;
        const uint8_t* residues = residues_ + (first * PAIR - diagonal(row, 0));
        uint8_t* h = h_ + first * PAIR;
        size_t marks = 0;
        for (int32_t k = first; k <= last; ++k, h += PAIR, residues += PAIR) {
            Bytes two[2];
            for (int half = 0; half < 2; ++half) {
                const auto equal = Bytes::eq(code, Bytes::load_any(residues + half * LANES));
                const Bytes more = Bytes::add(Bytes::load(h + half * LANES), match);
                two[half] = lose_unless(equal, more, loss);
                two[half].store(h + half * LANES);
            }
            marked_[marks] = k;
            marks += Bytes::any(Bytes::ge(Bytes::max(two[0], two[1]), enough));
        }
        return marks;
    }

    void look_at(int32_t row, int32_t first) {
        const Bytes enough = Bytes::set(open_ + 1);
        for (int32_t from = first; from < first + PAIR; from += LANES) {
            uint64_t bits = Bytes::bits(Bytes::ge(Bytes::load(h_ + from), enough));
            for (; bits != 0; bits &= bits - 1) {
                const int32_t at = from + __builtin_ctzll(bits), score = h_[at];
                if (score > most_) most_ = score;
                go_right(row, at, score);
                begin_down(row, at, score);
            }
        }
    }

    // Gaps to the right of a cell end in others, from which gaps may begin downwards.
    void go_right(int32_t row, int32_t at, int32_t score) {
        for (int32_t left = score - open_; left > 0; left -= extend_) {
            ++at, ++work_;
            if (left <= h_[at]) continue;
            h_[at] = static_cast<uint8_t>(left);
            begin_down(row, at, left);
        }
    }

    void begin_down(int32_t row, int32_t at, int32_t score) {
        if (score > open_) next_.add({at + row - (rows_ - 1), score - open_});
    }

    // Ends the gaps that come from above in a row, and goes on with them.
    void go_down(int32_t row) {
        gaps_.swap(next_), next_.clear();
        work_ += static_cast<int64_t>(gaps_.size());
        for (const Gap gap : gaps_) {
            const int32_t at = diagonal(row, gap.column);
            if (gap.score > extend_) next_.add({gap.column, gap.score - extend_});
            if (gap.score <= h_[at]) continue;
            h_[at] = static_cast<uint8_t>(gap.score);
            go_right(row, at, gap.score);
        }
    }

    // Not a vector: what is compiled for an instruction set shares no inline code with the rest.
    class Gaps {
    public:
        void add(Gap gap) {
            if (size_ == room_) grow();
            all_[size_++] = gap;
        }
        void clear() { size_ = 0; }
        size_t size() const { return size_; }
        const Gap* begin() const { return all_.get(); }
        const Gap* end() const { return all_.get() + size_; }
        void swap(Gaps& other) {
            all_.swap(other.all_);
            const size_t size = size_, room = room_;
            size_ = other.size_, room_ = other.room_;
            other.size_ = size, other.room_ = room;
        }

    private:
        void grow() {
            room_ = 2 * room_ + 256;
            std::unique_ptr<Gap[]> more(new Gap[room_]);
            for (size_t k = 0; k < size_; ++k) more[k] = all_[k];
            all_.swap(more);
        }
        std::unique_ptr<Gap[]> all_;
        size_t size_ = 0, room_ = 0;
    };

    const SuboptimalJob& job_;
    const SuboptimalCell *used_, *used_end_;
    const int32_t rows_, columns_, open_, extend_;
    const size_t size_;
    std::unique_ptr<uint8_t[]> memory_;
    uint8_t *h_, *residues_;  // H by diagonal; codes by column
    std::unique_ptr<int32_t[]> marked_;
    Gaps gaps_, next_;
    int32_t most_;
    int64_t work_ = 0;
};

// Of no use where gaps are cheap, or go on for nothing; unrelated residues must lose.
inline bool has_rare_gaps(const SuboptimalJob& job) {
    const pairalign_suboptimal_pair& pair = *job.pair;
    return pair.gap_extend > 0 && pair.gap_open >= 5 * job.match && -job.mismatch >= 2 * job.match;
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
