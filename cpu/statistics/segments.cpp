// Segments of low complexity: SEG (Wootton and Federhen 1993, Computers & Chemistry 17:149-163; 1996, Methods
// in Enzymology 266:554-571).
//
// The complexity of a window is the entropy of its residues in bits. A window of at most `low` bits triggers:
// it grows to both sides while windows have at most `high` bits. Of what is found the part stays that is the
// least likely by chance, which may be all of it: with L residues, n(i) of each kind i of N and r(k) kinds
// that occur k times, the probability of the numbers n, in any order of the kinds, is
//
//     P0 = L! / product n(i)!  N! / product r(k)!  N^-L
//
// What stands before that part is searched again, if the window that triggered is in it. The declarations in
// Python are in pairalign/base/native.py.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../export.h"

namespace pairalign::statistics {
namespace {

constexpr int32_t kKinds = 20;    // codes from here on are ambiguous residues, which count for nothing
constexpr double kSame = 1e-9;    // logarithms that differ by less are of equal probabilities
constexpr int32_t kMostCut = 50;  // residues that the least likely part is shorter by at most

using Counts = std::array<int32_t, kKinds>;

class Segments {
public:
    Segments(int32_t window, double low, double high, int32_t most_unknown, int64_t longest)
        : window_(window), most_unknown_(most_unknown), low_(low), high_(high) {
        for (int64_t k = 1; k <= std::max<int64_t>(longest, kKinds); ++k)
            log_factorials_.push_back(log_factorials_.back() + std::log(static_cast<double>(k)));
        for (int32_t k = 0; k <= window; ++k) terms_.push_back(k == 0 ? 0 : k * std::log2(k));
    }

    void find(const uint8_t* sequence, int64_t length, uint8_t* masked) {
        sequence_ = sequence;
        masked_ = masked;
        find_in(0, length);
    }

private:
    // Marks the segments of [begin, end).
    void find_in(int64_t begin, int64_t end) {
        const int64_t windows = end - begin - window_ + 1;
        if (windows <= 0) return;
        const std::vector<double> entropies = entropies_of(begin, windows);
        int64_t from = 0;
        for (int64_t trigger = 0; trigger < windows; ++trigger) {
            if (entropies[trigger] > low_) continue;
            int64_t left = trigger, right = trigger;
            while (left > from && entropies[left - 1] <= high_) --left;
            while (right + 1 < windows && entropies[right + 1] <= high_) ++right;
            const auto [first, stop] = least_likely(begin + left, begin + right + window_);
            if (begin + trigger + window_ <= first) find_in(begin + left, first);
            std::fill(masked_ + first, masked_ + stop, uint8_t{1});
            trigger = std::min(right, stop - 1 - begin);
            from = trigger + 1;
        }
    }

    // The bits of each window; more than any has where too many residues are unknown.
    std::vector<double> entropies_of(int64_t begin, int64_t windows) const {
        std::vector<double> found;
        found.reserve(static_cast<size_t>(windows));
        Counts counts{};
        int32_t known = 0;
        const auto add = [&](int64_t place, int32_t step) {
            const uint8_t code = sequence_[place];
            if (code >= kKinds) return;
            counts[code] += step;
            known += step;
        };
        for (int64_t place = begin; place < begin + window_ - 1; ++place) add(place, 1);
        for (int64_t k = 0; k < windows; ++k) {
            add(begin + k + window_ - 1, 1);
            double sum = 0;
            for (const int32_t count : counts) sum += terms_[count];
            const bool usable = window_ - known <= most_unknown_;
            found.push_back(usable ? std::log2(known) - sum / known : HUGE_VAL);
            add(begin + k, -1);
        }
        return found;
    }

    // The part of [begin, end) with the least P0: of equal ones the longest, of these the first.
    std::pair<int64_t, int64_t> least_likely(int64_t begin, int64_t end) const {
        const int64_t length = end - begin;
        std::pair<int64_t, int64_t> best{begin, end};
        double least = 0;
        Counts whole{};
        for (int64_t place = begin; place < end; ++place) count(whole, place, 1);
        for (int64_t size = length; size > std::max<int64_t>(0, length - kMostCut - 1); --size) {
            Counts counts = whole;  // of the part that begins first
            for (int64_t first = begin;; ++first) {
                const double value = log_probability(counts, size);
                if (value < least - kSame) {
                    least = value;
                    best = {first, first + size};
                }
                if (first + size == end) break;
                count(counts, first, -1);
                count(counts, first + size, 1);
            }
            count(whole, begin + size - 1, -1);
        }
        return best;
    }

    void count(Counts& counts, int64_t place, int32_t step) const {
        if (sequence_[place] < kKinds) counts[sequence_[place]] += step;
    }

    double log_probability(Counts counts, int64_t size) const {
        double value = log_factorials_[size] + log_factorials_[kKinds] - size * std::log(double{kKinds});
        for (const int32_t one : counts) value -= log_factorials_[one];
        std::sort(counts.begin(), counts.end());
        for (int32_t k = 0; k < kKinds;) {
            const auto next = static_cast<int32_t>(
                std::upper_bound(counts.begin() + k, counts.end(), counts[k]) - counts.begin());
            value -= log_factorials_[next - k];
            k = next;
        }
        return value;
    }

    int32_t window_, most_unknown_;
    double low_, high_;
    std::vector<double> log_factorials_{0}, terms_;
    const uint8_t* sequence_ = nullptr;
    uint8_t* masked_ = nullptr;
};

}  // namespace
}  // namespace pairalign::statistics

// Which residues are in segments of low complexity, into masked[residues], which holds zeros.
//   offsets      [sequences + 1] where sequences begin in codes
//   low, high    bits of a window that triggers, and of those that it grows by
//   most_unknown ambiguous residues of a window at most
PAIRALIGN_API void pairalign_low_complexity(int64_t sequences, const int64_t* offsets, const uint8_t* codes,
                                            int32_t window, double low, double high, int32_t most_unknown,
                                            uint8_t* masked) {
    int64_t longest = 0;
    for (int64_t k = 0; k < sequences; ++k) longest = std::max(longest, offsets[k + 1] - offsets[k]);
    pairalign::statistics::Segments segments(window, low, high, most_unknown, longest);
    for (int64_t k = 0; k < sequences; ++k)
        segments.find(codes + offsets[k], offsets[k + 1] - offsets[k], masked + offsets[k]);
}
