// The join of two alignments as profiles: posteriors between some of their sequences, substitution scores of
// all, and gaps that cost what they cost there. A(i), B(j) are columns; summed over all pairs of a sequence
// of the first alignment and one of the second
//     s(i,j) = substitution scores + posteriors               of the residues of A(i) and B(j)
//     M(i,j) = s(i,j) + max(M(i-1,j-1), X(i-1,j-1) - end(i-1 | j-1), Y(i-1,j-1) - end(j-1 | i-1))
//     X(i,j) = max(X(i-1,j), max(M(i-1,j), Y(i-1,j) - end(j | i-1)) - end(i | j))     A(i) has no column of B
//     Y(i,j) = max(Y(i,j-1), M(i,j-1) - end(j | i))                                   B(j) has none of A
// An end of a gap costs end(i | j): half of opening, for each sequence with a residue in A(i), and each
// with residues in both B(j) and B(j+1), whose neighbours the gap parts. So a gap is cheap where sequences
// have gaps, and a column that few have is passed by at little cost.
//
// Sums are exact, not rounded means: in an end that few of thousands have, these few decide.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"

extern "C" {

// ProfileSide in Python: an aligned set of sequences.
struct pairalign_msa_side {
    const uint8_t* codes;    // of the residues, one sequence after the other
    const int32_t* columns;  // of the residues
    const int64_t* starts;   // where the residues of each sequence begin; where the last one's end
    int32_t count, width;
};

// ProfileCosts in Python.
struct pairalign_msa_costs {
    int32_t scores[32 * 32];  // of codes
    int32_t gap_open;
    int32_t posterior;  // what a posterior of 1 scores
};
}

namespace pairalign {
namespace {

constexpr int CODES = 32;
constexpr int64_t NEVER = -(int64_t{1} << 60);

enum State : uint8_t { BOTH = 0, FIRST = 1, SECOND = 2 };

struct Profile {
    explicit Profile(const pairalign_msa_side& side)
        : width(side.width),
          residues(static_cast<size_t>(side.width) * CODES),
          present(static_cast<size_t>(side.width)),
          through(static_cast<size_t>(side.width) + 1) {
        for (int32_t s = 0; s < side.count; s++) {
            int32_t before = -2;
            for (int64_t g = side.starts[s]; g < side.starts[s + 1]; g++) {
                const int32_t column = side.columns[g];
                residues[static_cast<size_t>(column) * CODES + side.codes[g]]++;
                present[static_cast<size_t>(column)]++;
                through[static_cast<size_t>(column)] += 2 * (before == column - 1);
                before = column;
            }
        }
        // A gap at an end costs half as much.
        through.front() = present.empty() ? 0 : present.front();
        through.back() = present.empty() ? 0 : present.back();
    }

    int32_t width;
    std::vector<int32_t> residues;  // sequences: with each code in each column,
    std::vector<int32_t> present;   // with a residue in a column,
    std::vector<int32_t> through;   // twice: with residues in the column before and in this one; ends: once
};

// The posteriors between the columns of two alignments, by the column of the first.
class Posteriors {
public:
    Posteriors(const int32_t* first, const int32_t* second, const uint16_t* values, int64_t count,
               int32_t width)
        : second_(second),
          values_(values),
          starts_(static_cast<size_t>(width) + 1),
          order_(static_cast<size_t>(count)) {
        for (int64_t k = 0; k < count; k++) starts_[static_cast<size_t>(first[k]) + 1]++;
        for (size_t i = 1; i < starts_.size(); i++) starts_[i] += starts_[i - 1];
        std::vector<int64_t> next(starts_);
        for (int64_t k = 0; k < count; k++)
            order_[static_cast<size_t>(next[static_cast<size_t>(first[k])]++)] = k;
    }

    // Adds those of a column to its sums with all columns of the second alignment.
    void add(int32_t column, std::vector<int64_t>& sums) const {
        const auto [start, stop] = range(column);
        for (int64_t k = start; k < stop; k++) sums[place(k)] += values_[order_[static_cast<size_t>(k)]];
    }
    template <typename Act>
    void take(int32_t column, std::vector<int64_t>& sums, const Act& act) const {
        const auto [start, stop] = range(column);
        for (int64_t k = start; k < stop; k++) {
            int64_t& sum = sums[place(k)];
            if (sum != 0) act(place(k), sum);
            sum = 0;
        }
    }

private:
    std::pair<int64_t, int64_t> range(int32_t column) const {
        return {starts_[static_cast<size_t>(column)], starts_[static_cast<size_t>(column) + 1]};
    }
    size_t place(int64_t k) const { return static_cast<size_t>(second_[order_[static_cast<size_t>(k)]]); }

    const int32_t* second_;
    const uint16_t* values_;
    std::vector<int64_t> starts_, order_;
};

class ProfileJoin {
public:
    ProfileJoin(const pairalign_msa_side& first, const pairalign_msa_side& second,
                const pairalign_msa_costs& costs)
        : a_(first),
          b_(second),
          costs_(costs),
          all_(int64_t{first.count} * second.count),
          columns_(static_cast<size_t>(second.width) + 1),
          moves_((static_cast<size_t>(first.width) + 1) * columns_),
          scores_(static_cast<size_t>(second.width)),
          sums_(static_cast<size_t>(second.width)) {
        for (auto* row : {&both_, &first_, &second_, &next_both_, &next_first_, &next_second_})
            row->assign(columns_, NEVER);
        for (auto* row : {&first_ends_, &second_ends_, &next_first_ends_, &next_second_ends_})
            row->assign(columns_, 0);
        score_codes();
    }

    // Fills the matrices; pairs: how many the posteriors are of.
    void fill(const Posteriors& posteriors, int64_t pairs) {
        both_[0] = 0;
        price_ends(0);
        step_second(0, both_, second_);
        for (int32_t i = 1; i <= a_.width; i++) {
            score_column(i, posteriors, pairs);
            first_ends_.swap(next_first_ends_);
            second_ends_.swap(next_second_ends_);
            price_ends(i);
            next_both_[0] = next_second_[0] = NEVER;
            step_both(i);
            step_first(i);
            step_second(i, next_both_, next_second_);
            both_.swap(next_both_);
            first_.swap(next_first_);
            second_.swap(next_second_);
        }
    }

    // Writes where the columns of both are in the join, and returns its width.
    int32_t trace(int32_t* first_places, int32_t* second_places) const {
        int32_t i = a_.width, j = b_.width;
        uint8_t state = best(both_.back(), first_.back() - next_first_ends_.back(),
                             second_.back() - next_second_ends_.back());
        std::vector<uint8_t> path;
        while (i > 0 || j > 0) {
            const uint8_t moves = moves_[static_cast<size_t>(i) * columns_ + static_cast<size_t>(j)];
            path.push_back(state);
            const uint8_t before = moves >> 2 * state & 3;
            i -= state != SECOND;
            j -= state != FIRST;
            state = before;
        }
        int32_t width = 0;
        for (size_t k = path.size(); k-- > 0; width++) {
            if (path[k] != SECOND) first_places[i++] = width;
            if (path[k] != FIRST) second_places[j++] = width;
        }
        return width;
    }

private:
    static uint8_t best(int64_t both, int64_t first, int64_t second) {
        const uint8_t one = second > both ? SECOND : BOTH;
        return (first > both) & (first >= second) ? uint8_t{FIRST} : one;
    }

    // Writes what an end of a gap costs at column i of the first alignment where column j of the second is
    // parted from the next, and the other way round; i, j from 0, before the first.
    void price_ends(int32_t i) {
        const int64_t end = costs_.gap_open / 4;
        const int64_t present = i > 0 ? end * a_.present[static_cast<size_t>(i - 1)] : 0;
        const int64_t through = end * a_.through[static_cast<size_t>(i)];
        for (size_t j = 0; j < columns_; j++) next_first_ends_[j] = present * b_.through[j];
        for (size_t j = 1; j < columns_; j++) next_second_ends_[j] = through * b_.present[j - 1];
    }

    // code_scores_[code][j]: the scores of a code with the residues of a column of b.
    void score_codes() {
        const size_t width = static_cast<size_t>(b_.width);
        code_scores_.assign(CODES * width, 0);
        for (size_t code = 0; code < CODES; code++) {
            for (size_t j = 0; j < width; j++) {
                int64_t sum = 0;
                for (size_t other = 0; other < CODES; other++)
                    sum += int64_t{costs_.scores[code * CODES + other]} * b_.residues[j * CODES + other];
                code_scores_[code * width + j] = sum;
            }
        }
    }

    void score_column(int32_t i, const Posteriors& posteriors, int64_t pairs) {
        std::fill(scores_.begin(), scores_.end(), 0);
        for (size_t code = 0; code < CODES; code++) {
            const int64_t count = a_.residues[static_cast<size_t>(i - 1) * CODES + code];
            if (count == 0) continue;
            const int64_t* const of_code = code_scores_.data() + code * scores_.size();
            for (size_t j = 0; j < scores_.size(); j++) scores_[j] += count * of_code[j];
        }
        posteriors.add(i - 1, sums_);
        const double worth =
            static_cast<double>(costs_.posterior * all_) / static_cast<double>(65535 * pairs);
        posteriors.take(i - 1, sums_, [&](size_t j, int64_t sum) {
            scores_[j] += static_cast<int64_t>(static_cast<double>(sum) * worth);
        });
    }

    uint8_t* moves(int32_t i) { return moves_.data() + static_cast<size_t>(i) * columns_; }

    void step_both(int32_t i) {
        uint8_t* const moves = this->moves(i) + 1;
        int64_t* const next = next_both_.data() + 1;
        for (size_t k = 0; k + 1 < columns_; k++) {
            const int64_t both = both_[k], first = first_[k] - first_ends_[k],
                          second = second_[k] - second_ends_[k];
            moves[k] = best(both, first, second);
            next[k] = scores_[k] + std::max(both, std::max(first, second));
        }
    }

    void step_first(int32_t i) {
        uint8_t* const moves = this->moves(i);
        for (size_t k = 0; k < columns_; k++) {
            const int64_t begin = next_first_ends_[k];
            const int64_t both = both_[k] - begin, first = first_[k],
                          second = second_[k] - second_ends_[k] - begin;
            moves[k] |= static_cast<uint8_t>(best(both, first, second) << 2);
            next_first_[k] = std::max(both, std::max(first, second));
        }
    }

    void step_second(int32_t i, const std::vector<int64_t>& both, std::vector<int64_t>& second) {
        uint8_t* const moves = this->moves(i);
        for (size_t k = 1; k < columns_; k++) {
            const int64_t begun = both[k - 1] - next_second_ends_[k], gone_on = second[k - 1];
            moves[k] |= static_cast<uint8_t>((gone_on > begun ? SECOND : BOTH) << 4);
            second[k] = std::max(begun, gone_on);
        }
    }

    Profile a_, b_;
    const pairalign_msa_costs& costs_;
    const int64_t all_;  // pairs of sequences
    size_t columns_;
    std::vector<uint8_t> moves_;  // of each cell the states before M, X and Y, two bits each
    std::vector<int64_t> both_, first_, second_, next_both_, next_first_, next_second_;
    // What ends of gaps cost in the row before, and in this one.
    std::vector<int64_t> first_ends_, second_ends_, next_first_ends_, next_second_ends_;
    std::vector<int64_t> code_scores_, scores_;
    std::vector<int64_t> sums_;
};

}  // namespace
}  // namespace pairalign

// Writes where the columns of two alignments are in their join, and returns its width; -1: no memory.
// Posterior k is between column first[k] of the first alignment and second[k] of the second; they are of
// `pairs` pairs of sequences.
PAIRALIGN_API int32_t pairalign_msa_join_profiles(const pairalign_msa_side* one,
                                                  const pairalign_msa_side* other,
                                                  const pairalign_msa_costs* costs, const int32_t* first,
                                                  const int32_t* second, const uint16_t* values,
                                                  int64_t count, int64_t pairs, int32_t* first_places,
                                                  int32_t* second_places) try {
    using namespace pairalign;
    const Posteriors posteriors(first, second, values, count, one->width);
    ProfileJoin join(*one, *other, *costs);
    join.fill(posteriors, pairs);
    return join.trace(first_places, second_places);
} catch (const std::bad_alloc&) {
    return -1;
}
