// Edit distances up to a bound, by the furthest points that so many errors reach on each diagonal.
//
// E. Ukkonen: Algorithms for approximate string matching. Information and Control 64, 1985.
// G. M. Landau, U. Vishkin: Fast parallel and serial approximate string matching. J. Algorithms 10, 1989.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pairalign {

// Sequences are compared eight residues at a time, over their ends: so many bytes before and after each are
// none of its residues and equal nothing. What matches nothing is replaced in one of both.
constexpr int32_t MARGIN = 8;
constexpr uint8_t ROW_MARGIN = 0xfe, COLUMN_MARGIN = 0xff, MATCHES_NOTHING = 0xff;

// Two sequences, or what is before (STEP -1) or after a pair of places in them.
struct ResiduePair {
    const uint8_t *a, *b;
    int32_t a_length, b_length;
};

class EditDistance {
public:
    // The least number of errors of an alignment of both from end to end, or most + 1 where there are more.
    int32_t of(const ResiduePair& pair, int32_t most) {
        const int32_t last = pair.a_length - pair.b_length;
        if (most < (last < 0 ? -last : last)) return most + 1;
        start(most);
        for (int32_t errors = 0; errors <= most; errors++, std::swap(before_, now_)) {
            const int32_t left = most - errors;
            const int32_t first = std::max(-errors, last - left), stop = std::min(errors, last + left);
            for (int32_t d = first; d <= stop; d++)
                if (reach<1>(pair, errors, d, most) == pair.a_length && d == last) return errors;
            clear_beside(first, stop, most);
        }
        return most + 1;
    }

    // The same of an alignment from where both begin to the end of either. STEP -1: both are read backwards.
    template <int STEP>
    int32_t to_an_end(const ResiduePair& pair, int32_t most) {
        start(most);
        for (int32_t errors = 0; errors <= most; errors++, std::swap(before_, now_)) {
            for (int32_t d = -errors; d <= errors; d++) {
                const int32_t reached = reach<STEP>(pair, errors, d, most);
                if (reached == pair.a_length || reached - d == pair.b_length) return errors;
            }
            clear_beside(-errors, errors, most);
        }
        return most + 1;
    }

    // How many residues are equal from a pair of places on.
    template <int STEP>
    static int32_t count_equal(const uint8_t* a, const uint8_t* b) {
        for (int32_t equal = 0;; equal += MARGIN) {
            uint64_t x, y;
            std::memcpy(&x, STEP > 0 ? a + equal : a - equal - MARGIN, sizeof x);
            std::memcpy(&y, STEP > 0 ? b + equal : b - equal - MARGIN, sizeof y);
            x ^= y;
            if (x) return equal + (STEP > 0 ? __builtin_ctzll(x) : __builtin_clzll(x)) / 8;
        }
    }

private:
    static constexpr int32_t NOWHERE = INT32_MIN / 2;

    void start(int32_t most) {
        const size_t diagonals = 2 * static_cast<size_t>(most) + 3;
        before_.assign(diagonals, NOWHERE);
        now_.assign(diagonals, NOWHERE);
    }

    // How far in `a` an alignment with so many errors reaches on diagonal d = place in a - place in b.
    template <int STEP>
    int32_t reach(const ResiduePair& pair, int32_t errors, int32_t d, int32_t most) {
        const size_t at = static_cast<size_t>(d + most + 1);
        int32_t place = 0;
        if (errors > 0) {
            place = std::max({before_[at] + 1, before_[at - 1] + 1, before_[at + 1]});
            place = std::min({place, pair.a_length, pair.b_length + d});
        }
        if (place < std::max(d, 0)) return now_[at] = NOWHERE;
        return now_[at] = place + count_equal<STEP>(pair.a + STEP * place, pair.b + STEP * (place - d));
    }

    // What the next errors look at beside the diagonals first to last.
    void clear_beside(int32_t first, int32_t last, int32_t most) {
        if (first > last) return;
        now_[static_cast<size_t>(first + most)] = NOWHERE;
        now_[static_cast<size_t>(last + most + 2)] = NOWHERE;
    }

    std::vector<int32_t> before_, now_;  // by diagonal, of one error less and of so many
};

}  // namespace pairalign
