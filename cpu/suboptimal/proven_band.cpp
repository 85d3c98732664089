// The best local alignment of two sequences that are alike in one place, and the proof that it is the best,
// with a bound on all others instead of the matrix with flags.
//
// An alignment P is made within a band R around words that both have. Then T, the most that any alignment
// scores which uses none of P's diagonal steps, is found by a pass over the whole matrix in 8 bits, without
// flags (rare_gaps.h, free_cells.h). Let Q be one of the best alignments of all, and P's
// score be more than T. Then Q shares a diagonal step with P, and between those that they share its parts
// score T at most. Where Q leaves P and comes back, its part scores no less than P's, or Q would not be the
// best: the same holds for what is before the first and after the last shared one.
//
//   Before the first shared step, at (i, j), P has scored T at most. So these steps are known, and a part of
//   R around them, its head, has room above them and left of them. Where Q begins outside the head it comes
//   into it with a score of T at most, and no more than free cells score on the head's border. What that
//   becomes on the way to each of these steps is computed, cell by cell: if it is always less than what P has
//   scored there, no best alignment begins outside. Where Q leaves R first, at a cell with H(c) within R, it
//   has scored H(c) at most, and has H(c) + T at most where it meets P again, or ends; P has scored no more
//   than that there. So if H(c) + T is less than what P has scored at each of its later steps, to the right
//   of c and below it, and less than P's score, for all cells c on the border of R, no best alignment leaves
//   R.
//
// Then all best alignments are in R, all their cells have in R the values that they have in the matrix, and
// the one that is taken in R is the one that is taken in the matrix. Gaps that go on at c or where Q meets P
// do not matter: without their residues the part scores no less.
//
// Where pairs were found by seeds, as a sample, nobody says what is in cells that no seeds point to. So T is
// that of cells near P, and the band goes on along P's diagonals beyond its ends. Where seeds point
// elsewhere, the matrix is filled if free cells score enough to be of use. There is no head: that P begins in
// the middle of the band stands for the proof that nothing comes in there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "anchors.h"
#include "job.h"
#include "path_back.h"
#include "seed_squares.h"
#include "steps.h"
#include "used_runs.h"

namespace pairalign {
namespace {

constexpr int ROUNDS = 6;            // attempts with a band
constexpr int32_t NOISY = 10;        // matches for each other residue, of less noisy sequences
constexpr int32_t BEYOND = 2048;     // residues before and after a noisy alignment that may belong to it
constexpr int32_t USUAL_FREE = 96;   // that free cells score at most, mostly
constexpr int32_t FIRST_WIDTH = 64;  // columns on each side
constexpr int32_t FIRST_HEAD = 192;  // residues after which an alignment has scored more than chance, mostly
constexpr int32_t FIRST_ROOM = 160;  // residues before and after the anchors, where it begins and ends
constexpr size_t EACH = 8;           // steps of an alignment, of which a band follows one
constexpr int32_t HEAD_ROOM = 96;    // residues between the head's border and P
constexpr int32_t BORDER = 768;      // residues of the head's border whose scores are kept
constexpr double WIDEST = 0.3;       // of the matrix
// Where seeds say what is elsewhere:
constexpr int32_t ALONG = 160, ROWS_ALONG = 1024;  // columns and rows beside an alignment that are looked at
constexpr int32_t BESIDE = 48;                     // seeds on diagonals no further away belong to it
constexpr size_t TRIES = 4;                        // squares of seeds that are looked at
constexpr int32_t WIDER = 32, MORE_BESIDE = 64;    // columns of bands
constexpr int32_t DRIFT = 16;                      // rows beyond an alignment for a column more
constexpr int32_t FAR_BEYOND = 4096, ENOUGH_BEYOND = 4000;  // rows before an alignment and after it
constexpr int32_t FEW_FREE = 20;                            // that free cells near it score at most, mostly

// Two columns for each strip, and the memory to fill what is between them.
class ProvenBand {
public:
    ProvenBand(const SuboptimalJob& job, const SuboptimalKernel& kernel, std::vector<Anchor> anchors)
        : job_(job),
          kernel_(kernel),
          has_bytes_(kernel.band_has_bytes(job)),
          rows_(job.pair->row_count),
          columns_(job.pair->column_count),
          anchors_(std::move(anchors)) {
        const Anchor first = anchors_.front();
        head_ = {first.row + FIRST_HEAD, first.column + FIRST_HEAD};
        const size_t padded = static_cast<size_t>(columns_) + 2 * BAND_PAD;
        h_.resize(padded), f_.resize(padded);
        residues_.assign(padded, SUBOPTIMAL_NO_COLUMN);
        std::copy(job.column_codes.rbegin(), job.column_codes.rend(), residues_.begin() + BAND_PAD);
    }

    void widen() { width_ *= 2, room_around_ *= 2; }
    // Takes the diagonal steps of an alignment instead of words, with a head that has one of them.
    void follow(const std::vector<SuboptimalCell>& steps, const SuboptimalCell& head, int32_t most_free) {
        anchors_.clear();
        for (size_t k = 0; k < steps.size(); k += EACH)
            anchors_.push_back({steps[k].row - 1, steps[k].column - 1});
        width_ = std::max(width_, most_free / 2 + FIRST_WIDTH);
        head_ = {head.row + FIRST_HEAD, head.column + FIRST_HEAD};
    }
    // How many residues before the anchors and after them belong to it besides, near the diagonal.
    void look_beyond(int32_t residues) { beyond_ = residues; }
    void leave_room_beside(int32_t residues) { width_ += residues; }
    // Without a head: no more is asked for than that the band goes on where the alignment drifts.
    void be_plain() { head_ = {0, 0}, is_plain_ = true; }
    // Whether an alignment begins in the middle of it, as far as the given cell.
    bool has_in_middle(const std::vector<SuboptimalCell>& cells, SuboptimalCell last) const {
        if (cells.front().row - anchors_.front().row > FIRST_WIDTH) return false;
        for (size_t k = 0; k < cells.size() && cells[k].row <= last.row; k += EACH)
            if (4 * std::abs(cells[k].column - column_at(cells[k].row)) > width_) return false;
        return true;
    }
    // Whether there is room before an alignment and after it.
    bool has_room(const SuboptimalCell& begin, const SuboptimalCell& stop, int32_t room) const {
        const int32_t end = std::min(rows_, first_row_ + static_cast<int32_t>(low_.size()) * BAND_STRIP);
        return (first_row_ == 0 || begin.row - first_row_ >= std::min(room, begin.column)) &&
               (end == rows_ || end - stop.row >= std::min(room, columns_ - stop.column));
    }
    // The residues before the head.
    SuboptimalCell before_head() const {
        const Anchor first = anchors_.front();
        return {std::max(0, first.row - room_around_), std::max(0, first.column - room_around_)};
    }
    bool has_head(const SuboptimalCell& head) const {
        return head.row <= head_.row && head.column <= head_.column;
    }

    // False where it is too large.
    bool lay() {
        low_.clear(), high_.clear(), cells_at_.clear(), last_at_.clear();
        size_t cells = 0, last = 0;
        const SuboptimalCell before = before_head();
        const int32_t end = std::min(rows_, anchors_.back().row + room_around_ + beyond_);
        first_row_ = std::max(0, before.row - beyond_) / BAND_STRIP * BAND_STRIP;
        for (int32_t row = first_row_; row < end; row += BAND_STRIP) {
            int32_t low = column_at(row) - width_, high = column_at(row + BAND_STRIP) + width_;
            if (is_plain_) {
                const int32_t drift = beyond_anchors(row) / DRIFT;
                low -= drift, high += drift;
            } else if (row + BAND_STRIP > before.row && row < head_.row) {
                low = before.column + 1, high = std::max(high, head_.column);
            }
            if (low > columns_) break;
            low = std::max(low, low_.empty() ? 1 : low_.back());
            high = std::min(std::max(high, low), columns_);
            if (!high_.empty()) high = std::max(high, high_.back());
            low_.push_back(low), high_.push_back(high);
            cells_at_.push_back(cells), last_at_.push_back(last);
            cells += static_cast<size_t>(high - low + BAND_STRIP) * BAND_STRIP;
            last += static_cast<size_t>(high - low) + 1;
        }
        if (static_cast<double>(cells) > WIDEST * rows_ * columns_) return false;
        cells_.make_room(cells, has_bytes_);
        bases_.resize(has_bytes_ ? cells / BAND_STRIP : 0);
        last_.resize(last), right_.resize(low_.size() * BAND_STRIP);
        return true;
    }

    bool fill(SuboptimalEnd& end) {
        const SuboptimalBand band{first_row_,       static_cast<int32_t>(low_.size()),
                                  low_.data(),      high_.data(),
                                  residues_.data(), h_.data(),
                                  f_.data(),        cells_at_.data(),
                                  last_at_.data(),  cells_.shorts.get(),
                                  bases_.data(),    cells_.bytes.get(),
                                  right_.data(),    last_.data()};
        end = {};
        return kernel_.band(job_, band, end);
    }

    // H of a cell; 0 outside.
    int32_t score(int32_t row, int32_t column) const {
        if (row <= first_row_ || column <= 0) return 0;
        const size_t strip = static_cast<size_t>((row - 1 - first_row_) / BAND_STRIP);
        const bool is_last = row % BAND_STRIP == 0;
        return is_last && (column < low_[strip] || column > high_[strip]) ? 0 : filled(row, column);
    }
    // H of a cell of the band's rows that was filled, in the last row of a strip also outside; 0 elsewhere.
    int32_t filled(int32_t row, int32_t column) const {
        if (column <= 0) return 0;
        const size_t strip = static_cast<size_t>((row - 1 - first_row_) / BAND_STRIP);
        const int32_t i = (row - 1) % BAND_STRIP, d = i + column;
        if (d < low_[strip]) return 0;
        const size_t diagonal = cells_at_[strip] / BAND_STRIP + static_cast<size_t>(d - low_[strip]);
        const size_t at = diagonal * BAND_STRIP + static_cast<size_t>(i);
        return has_bytes_ ? bases_[diagonal] + static_cast<int8_t>(cells_.bytes[at]) : cells_.shorts[at];
    }

    // H of cells in a row or, if `is_down`, in a column, from which a step leads to a cell outside.
    struct Side {
        const int16_t* scores;
        int32_t count, row, column;  // of the first
        bool is_down;

        int32_t most() const {
            int16_t most = scores[0];
            for (int32_t k = 1; k < count; ++k) most = std::max(most, scores[k]);
            return most;
        }
        SuboptimalCell cell(int32_t k) const {
            return is_down ? SuboptimalCell{row + k, column} : SuboptimalCell{row, column + k};
        }
    };
    // Calls take(side) for all sides, while it returns true.
    template <typename Take>
    bool for_each_side(Take take) const {
        for (size_t s = 0; s < low_.size(); ++s) {
            const int32_t row = first_row_ + static_cast<int32_t>(s) * BAND_STRIP;
            const int32_t rows = std::min(BAND_STRIP, rows_ - row);
            if (high_[s] < columns_ && !take(Side{&right_[s * BAND_STRIP], rows, row + 1, high_[s], true}))
                return false;
            if (row + BAND_STRIP >= rows_) continue;
            const auto take_below = [&](int32_t column, int32_t stop) {
                const int16_t* const last = &last_[last_at_[s]];
                return column >= stop ||
                       take(Side{last + (column - low_[s]), stop - column, row + BAND_STRIP, column, false});
            };
            const bool goes_on = s + 1 < low_.size();
            const int32_t end = goes_on ? std::min(low_[s + 1], high_[s] + 1) : high_[s] + 1;
            if (!take_below(low_[s], end)) return false;
            if (goes_on && high_[s + 1] >= end && high_[s + 1] <= high_[s] && high_[s + 1] < columns_ &&
                !take_below(high_[s + 1], high_[s + 1] + 1))
                return false;
        }
        return true;
    }

private:
    int32_t beyond_anchors(int32_t row) const {
        return std::max({0, anchors_.front().row - row, row - anchors_.back().row});
    }
    // Where the anchors, and diagonals beyond them, are in a row.
    int32_t column_at(int32_t row) const {
        const auto after = std::lower_bound(anchors_.begin(), anchors_.end(), row,
                                            [](const Anchor& one, int32_t at) { return one.row < at; });
        if (after == anchors_.end()) return anchors_.back().column + row - anchors_.back().row;
        if (after == anchors_.begin()) return after->column + row - after->row;
        const Anchor before = *(after - 1);
        return before.column + static_cast<int32_t>(int64_t{after->column - before.column} *
                                                    (row - before.row) / (after->row - before.row));
    }

    const SuboptimalJob& job_;
    const SuboptimalKernel& kernel_;
    const bool has_bytes_;
    const int32_t rows_, columns_;
    std::vector<Anchor> anchors_;
    int32_t width_ = FIRST_WIDTH, room_around_ = FIRST_ROOM, beyond_ = 0, first_row_ = 0;
    bool is_plain_ = false;
    SuboptimalCell head_{};  // all cells from before_head() to it are in the band
    std::vector<int32_t> low_, high_;
    std::vector<size_t> cells_at_, last_at_;
    std::vector<int16_t> h_, f_, residues_, right_, last_, bases_;
    struct Cells {
        std::unique_ptr<uint8_t[]> bytes;  // not cleared
        std::unique_ptr<int16_t[]> shorts;
        size_t room[2] = {0, 0};

        void make_room(size_t cells, bool of_bytes) {
            if (cells <= room[of_bytes]) return;
            of_bytes ? bytes.reset(new uint8_t[cells]) : shorts.reset(new int16_t[cells]);
            room[of_bytes] = cells;
        }
    };
    // A thread's pairs use the same memory: new pages take a tenth of the time.
    static thread_local Cells cells_;
};

thread_local ProvenBand::Cells ProvenBand::cells_;

void trace_in(const ProvenBand& band, const SuboptimalJob& job, const SuboptimalEnd& end,
              pairalign_suboptimal_found& found, uint32_t* runs) {
    trace_scores(
        *job.pair, end, found, runs, [&](int32_t row, int32_t column) { return band.score(row, column); },
        [&](int32_t row, int32_t column) { return band.filled(row, column); },
        [](int32_t, int32_t) { return true; });
}

// What two sequences have elsewhere than where an alignment is, as far as their seeds say.
class SeedsElsewhere {
public:
    SeedsElsewhere(const SuboptimalJob& job, const SuboptimalKernel& kernel)
        : pair_(*job.pair), kernel_(kernel), hits_(shared_words(pair_, pair_.word)) {
        squares_.find(hits_.data(), hits_.data() + hits_.size(), pair_.row_count, pair_.column_count,
                      pair_.least_seeds);
    }

    // The seeds of the square that has most of them, both numbers rising.
    std::vector<Anchor> best() const {
        std::vector<Anchor> found;
        if (squares_.empty()) return found;
        const Square& most = squares_.most();
        for (const Anchor& one : hits_)
            if (most.has(one) &&
                (found.empty() || (one.row > found.back().row && one.column > found.back().column)))
                found.push_back(one);
        return found;
    }

    // Whether an alignment may score enough that is not near the given one.
    bool any(const std::vector<SuboptimalCell>& cells) {
        const std::vector<Square> squares =
            squares_apart(squares_.all(), TRIES, [&](const Square& one) { return is_beside(one, cells); });
        return std::any_of(squares.begin(), squares.end(), [&](const Square& one) {
            return scores_near(pair_, kernel_, one.middle, pair_.least_near, cells.data(), cells.size());
        });
    }

private:
    static bool is_beside(const Square& one, const std::vector<SuboptimalCell>& cells) {
        const auto after = std::partition_point(cells.begin(), cells.end(), [&](const SuboptimalCell& cell) {
            return cell.row < one.middle.row;
        });
        const SuboptimalCell near = after == cells.end() ? cells.back() : *after;
        const int32_t rows = std::abs(near.row - one.middle.row);
        return rows <= ROWS_ALONG &&
               std::abs(near.row - near.column - one.diagonal()) <= BESIDE + rows / DRIFT;
    }

    const pairalign_suboptimal_pair& pair_;
    const SuboptimalKernel& kernel_;
    const std::vector<Anchor> hits_;
    Squares squares_;
};

// Further to the right and below, `least_after` is never less: what is known of the first cell of a side, as
// if it scored most, holds for the others.

bool leaves_nothing(const ProvenBand& band, const Steps& steps, int32_t most_free) {
    const auto is_less = [&](int32_t h, SuboptimalCell at) { return h + most_free < steps.least_after(at); };
    return band.for_each_side([&](const ProvenBand::Side& side) {
        if (is_less(side.most(), side.cell(0))) return true;
        for (int32_t k = 0; k < side.count; ++k)
            if (!is_less(side.scores[k], side.cell(k))) return false;
        return true;
    });
}

// How much too high scores are on a band's border beside an alignment, of those that more than free cells
// have, so that they come from it; 0: by nothing.
int32_t too_high_beside(const ProvenBand& band, const Steps& steps, int32_t most_free) {
    int32_t most = 0;
    const auto by = [&](int32_t h, SuboptimalCell at) { return h + most_free + 1 - steps.least_after(at); };
    band.for_each_side([&](const ProvenBand::Side& side) {
        const int32_t highest = side.most();
        if (highest <= most_free || by(highest, side.cell(0)) <= most) return true;
        for (int32_t k = 0; k < side.count; ++k)
            if (side.scores[k] > most_free) most = std::max(most, by(side.scores[k], side.cell(k)));
        return true;
    });
    return most;
}

// Whether an alignment that comes into a part of the matrix, with what its border scores on free cells or T
// where that is not known, scores less at each of P's steps there than P does, before it.
class Beginnings {
public:
    Beginnings(const SuboptimalJob& job, const Steps& steps, const SuboptimalBorder& border,
               SuboptimalCell last)
        : job_(job), steps_(steps), border_(border), before_(border.corner), last_(last) {}

    bool are_worse(int32_t most_free) {
        const pairalign_suboptimal_pair& pair = *job_.pair;
        const size_t width = static_cast<size_t>(last_.column - before_.column) + 1;
        // Cells of the matrix's border are within, and do not count.
        h_.assign(width, NOTHING);
        for (size_t k = 0; k < width && before_.row > 0; ++k) h_[k] = known(border_.row, k, most_free);
        f_ = h_;
        if (before_.column <= 0) h_[0] = NOTHING;
        for (int32_t row = before_.row + 1; row <= last_.row; ++row) {
            if (!is_worse_before(row)) return false;
            const size_t down = static_cast<size_t>(row - before_.row);
            const int32_t left = before_.column > 0 ? known(border_.column, down, most_free) : NOTHING;
            int32_t diagonal = h_[0], e = left;
            h_[0] = left;
            const uint8_t code = job_.row_codes[static_cast<size_t>(row - 1)];
            for (size_t k = 1; k < width; ++k) {
                const size_t column = static_cast<size_t>(before_.column) + k;
                const int32_t score = code == job_.column_codes[column - 1] ? job_.match : job_.mismatch;
                e = std::max(e - pair.gap_extend, h_[k - 1] - pair.gap_open);
                f_[k] = std::max(f_[k] - pair.gap_extend, h_[k] - pair.gap_open);
                const int32_t aligned = diagonal + score;
                diagonal = h_[k];
                h_[k] = std::max({aligned, e, f_[k]});
            }
        }
        return true;
    }

private:
    static constexpr int32_t NOTHING = -(1 << 29);

    int32_t known(const uint8_t* scores, size_t k, int32_t most_free) const {
        return k < static_cast<size_t>(border_.size) ? std::min<int32_t>(scores[k], most_free) : most_free;
    }
    bool is_worse_before(int32_t row) {
        const std::vector<SuboptimalCell>& cells = steps_.cells();
        for (; next_ < cells.size() && cells[next_].row <= row; ++next_)
            if (cells[next_].row == row && cells[next_].column <= last_.column &&
                h_[static_cast<size_t>(cells[next_].column - 1 - before_.column)] >=
                    steps_.scored_before(next_))
                return false;
        return true;
    }

    const SuboptimalJob& job_;
    const Steps& steps_;
    const SuboptimalBorder& border_;
    const SuboptimalCell before_, last_;
    std::vector<int32_t> h_, f_;
    size_t next_ = 0;
};

// What is known of the border of P's head: all scores may be T at first.
class Border {
public:
    Border(const ProvenBand& band, const Steps& steps) : row_(BORDER, 255), column_(BORDER, 255) {
        const SuboptimalCell first = steps.cells().front(), most = band.before_head();
        is_free_ = first.row > most.row && first.column > most.column;
        border_ = {
            {std::max(most.row, first.row - HEAD_ROOM), std::max(most.column, first.column - HEAD_ROOM)},
            BORDER,
            row_.data(),
            column_.data()};
    }
    const SuboptimalBorder& get() const { return border_; }
    bool has_room() const { return is_free_; }

private:
    std::vector<uint8_t> row_, column_;
    SuboptimalBorder border_;
    bool is_free_;
};

bool begins_within(const SuboptimalJob& job, const Border& border, const Steps& steps, SuboptimalCell last,
                   int32_t most_free) {
    if (last.row == 0) return true;  // of tests, with less than no score
    return border.has_room() && Beginnings(job, steps, border.get(), last).are_worse(most_free);
}

bool is_same(const pairalign_suboptimal_found& a, const pairalign_suboptimal_found& b,
             const std::vector<uint32_t>& known, const uint32_t* runs) {
    return a.row_start == b.row_start && a.column_start == b.column_start && a.run_count == b.run_count &&
           std::equal(known.begin(), known.end(), runs);
}

// Whether it is known that no alignment scores enough to be of use.
bool is_useless(const SuboptimalJob& job, const SuboptimalKernel& kernel) {
    const int32_t most = kernel.most_free(job, nullptr, 0, nullptr, job.pair->least);
    return most >= 0 && most < job.pair->least;
}

constexpr int32_t ANY_SCORE = std::numeric_limits<int32_t>::max();
constexpr int32_t TO_FILL = 0, ALIGNED = 1, USELESS = 2, UNPROVEN = 3;  // what the C ABI returns

// Whether a narrow band may have missed a part of an alignment.
bool is_noisy(const pairalign_suboptimal_found& found) {
    return found.mismatches + found.gap_residues > found.matches / NOISY;
}

// Aligns where seeds say what is elsewhere. The band follows what was found until this is known to have what
// is near it, and nothing comes back to it from beside the band.
int32_t align_by_seeds(const SuboptimalJob& job, const SuboptimalKernel& kernel, SeedsElsewhere& seeds,
                       ProvenBand& band, pairalign_suboptimal_found& found, uint32_t* runs, int32_t& rest) {
    int32_t most = -1;
    band.be_plain();
    band.leave_room_beside(WIDER);
    band.look_beyond(FAR_BEYOND);
    for (int round = 0; round < ROUNDS; ++round) {
        SuboptimalEnd end;
        if (!band.lay()) return TO_FILL;
        if (!band.fill(end)) return SUBOPTIMAL_CANCELLED;
        if (end.score == 0) return TO_FILL;
        trace_in(band, job, end, found, runs);
        const Steps steps(job, found, runs);
        const std::vector<SuboptimalCell>& cells = steps.cells();
        if (!steps.is_whole()) return TO_FILL;
        const bool has_room = band.has_in_middle(cells, steps.last_below(USUAL_FREE)) &&
                              band.has_room(cells.front(), cells.back(), ENOUGH_BEYOND);
        int32_t by = too_high_beside(band, steps, FEW_FREE);
        if (has_room && by <= 0) {
            most = kernel.most_along(job, cells.data(), cells.size(), nullptr, ROWS_ALONG, ALONG);
            if (most < 0 || most >= found.score) return TO_FILL;
            by = too_high_beside(band, steps, most);
            if (by <= 0) {
                rest = std::max(most, job.pair->least_near);
                if (!seeds.any(cells)) return ALIGNED;
                const int32_t enough = std::min(found.score, job.pair->least);
                rest = kernel.most_free(job, cells.data(), cells.size(), nullptr, enough);
                return rest >= 0 && rest < enough ? ALIGNED : TO_FILL;
            }
        }
        band.follow(cells, {0, 0}, 0);
        if (by > 0) band.leave_room_beside(by + MORE_BESIDE);
    }
    return TO_FILL;
}

// `lowered`: for tests, is taken from what free cells score, so that nothing is proven.
int32_t align_in_band(const SuboptimalJob& job, const SuboptimalKernel& kernel,
                      pairalign_suboptimal_found& found, uint32_t* runs, int32_t& rest, int32_t lowered) {
    std::vector<Anchor> anchors = find_anchors(*job.pair);
    std::unique_ptr<SeedsElsewhere> seeds;
    if (job.pair->word > 0) seeds.reset(new SeedsElsewhere(job, kernel));
    if (anchors.empty() && seeds) anchors = seeds->best();
    if (anchors.empty()) return is_useless(job, kernel) ? USELESS : TO_FILL;
    ProvenBand band(job, kernel, std::move(anchors));
    if (seeds) {
        const int32_t done = align_by_seeds(job, kernel, *seeds, band, found, runs, rest);
        if (done != TO_FILL) return done;
        rest = std::numeric_limits<int32_t>::max();
        const int64_t at = 0;
        const int32_t status =
            pairalign_suboptimal_alignments(job.pair, 1, kernel.name, 1, &found, runs, &at);
        return status < 0 ? status : found.score == 0 ? USELESS : 1;
    }
    pairalign_suboptimal_found known{};
    std::vector<uint32_t> known_runs;
    std::unique_ptr<Border> border;  // once the rest is known
    bool noisy = false;
    for (int round = 0; round < ROUNDS; ++round) {
        SuboptimalEnd end;
        if (!band.lay()) return border ? UNPROVEN : TO_FILL;
        if (!band.fill(end)) return SUBOPTIMAL_CANCELLED;
        if (round == 0 && end.score < job.pair->least && is_useless(job, kernel)) return USELESS;
        if (end.score == 0) return TO_FILL;
        trace_in(band, job, end, found, runs);
        const Steps steps(job, found, runs);
        if (!steps.is_whole()) return TO_FILL;
        noisy = round == 0 ? is_noisy(found) : noisy;
        if (noisy && round < 2) {  // the whole of it is found before anything is proven
            band.follow(steps.cells(), steps.last_below(USUAL_FREE), USUAL_FREE);
            band.look_beyond(round == 0 ? BEYOND : 0);
            continue;
        }
        if (!border || !border->has_room() || !is_same(found, known, known_runs, runs)) {
            border.reset(new Border(band, steps));
            rest =
                kernel.most_free(job, steps.cells().data(), steps.cells().size(), &border->get(), ANY_SCORE);
            if (rest < 0) return TO_FILL;
            rest -= lowered;
            known = found;
            known_runs.assign(runs, runs + found.run_count);
        }
        if (rest >= found.score) return UNPROVEN;
        const SuboptimalCell head = steps.last_below(rest);
        if (band.has_head(head) && begins_within(job, *border, steps, head, rest) &&
            leaves_nothing(band, steps, rest))
            return ALIGNED;
        band.follow(steps.cells(), head, rest);
        if (round > 0) band.widen();
    }
    return UNPROVEN;
}

}  // namespace
}  // namespace pairalign

PAIRALIGN_API int32_t pairalign_band_alignment(const pairalign_suboptimal_pair* pair,
                                               const char* instruction_set, pairalign_suboptimal_found* found,
                                               uint32_t* runs, int32_t* rest, int32_t lowered) {
    using namespace pairalign;
    const SuboptimalKernel* kernel = suboptimal_kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        const SuboptimalJob job = make_job(*pair);
        if (!has_strips(job) || !fits_bytes(job)) return 0;
        const int32_t done = align_in_band(job, *kernel, *found, runs, *rest, lowered);
        return *pair->cancelled ? SUBOPTIMAL_CANCELLED : done;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
