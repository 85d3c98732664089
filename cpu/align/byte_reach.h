// What a band (lane_bands.h) asks of a row of cells, of all lanes at a time: how far H' of each cell
// can bring H' of its lane's last cell, the cell's reach.
//
// From a column to the next H' rises by what the border says; what the rest can add stays or falls by what
// two residues are worth. So the reach is carried along, in 16 bits for some columns and in 32 from there to
// the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../core/recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// A number a lane: of each half of the lanes first the even ones, then the odd ones, as 16-bit numbers are
// made wider.
template <class V>
struct LaneNumbers {
    static constexpr int LANES = V::LANES;
    using Ints = typename V::Ints;
    using Words = typename V::Words;
    static constexpr int IN_PART = sizeof(Ints) / sizeof(int32_t), PARTS = LANES / IN_PART;

    Ints parts[PARTS];

    static constexpr int part_of(int lane) { return lane / (LANES / 2) * 2 + lane % 2; }
    static constexpr int place_of(int lane) { return lane % (LANES / 2) / 2; }
    PAIRALIGN_INLINE int32_t of(int lane) const { return parts[part_of(lane)][place_of(lane)]; }
    PAIRALIGN_INLINE void set(int lane, int32_t value) { parts[part_of(lane)][place_of(lane)] = value; }
    PAIRALIGN_INLINE void set_all(int32_t value) {
        for (Ints& part : parts) part = Ints{} + value;
    }

    PAIRALIGN_INLINE void add(int half, Words words) {
        Ints two;
        memcpy(&two, &words, sizeof two);
        parts[2 * half] += two << 16 >> 16;
        parts[2 * half + 1] += two >> 16;
    }
    // Adds a signed byte to the number of each lane.
    PAIRALIGN_INLINE void add(const uint8_t* bytes) {
        for (int half = 0; half < 2; half++) add(half, V::words(bytes + half * (LANES / 2)));
    }
    PAIRALIGN_INLINE void subtract(const uint8_t* bytes) {
        for (int half = 0; half < 2; half++) add(half, -V::words(bytes + half * (LANES / 2)));
    }
    // The numbers in 16 bits; those that do not fit become the nearest number that does.
    PAIRALIGN_INLINE Words words(int half) const {
        const Ints both =
            (within_words(parts[2 * half]) & 0xffff) | (within_words(parts[2 * half + 1]) << 16);
        Words words;
        memcpy(&words, &both, sizeof words);
        return words;
    }

private:
    static PAIRALIGN_INLINE Ints within_words(Ints x) {
        const Ints least = Ints{} + INT16_MIN, most = Ints{} + INT16_MAX, raised = x > least ? x : least;
        return raised < most ? raised : most;
    }
};

// The cells of a row. `border` has the differences of H' along it, two vectors a column.
template <class V>
class RowReach {
public:
    using Numbers = LaneNumbers<V>;

    // rows, columns: of the lanes' matrices. each: what two residues are worth.
    PAIRALIGN_INLINE RowReach(const Numbers& rows, const Numbers& columns, int32_t each,
                              const uint8_t* border, int32_t row)
        : to_(columns), each_(each), border_(border) {
        for (int p = 0; p < PARTS; p++) {
            const Ints down = rows.parts[p] - row;
            from_.parts[p] = to_.parts[p] - (down > 0 ? down : Ints{});
        }
    }

    // The most of each lane in the columns low..high, where H' is `h` in column low.
    PAIRALIGN_INLINE Numbers best(const Numbers& h, int32_t low, int32_t high) const {
        Numbers here = reach(h, low), best = here;
        for (int32_t j = low; j < high;) {
            Stretch stretch(*this, j);
            Words most[2] = {};
            for (const int32_t stop = high - j < AT_ONCE ? high : j + AT_ONCE; j < stop;) {
                stretch.to_right(at(++j));
                for (int half = 0; half < 2; half++)
                    most[half] = stretch.change[half] > most[half] ? stretch.change[half] : most[half];
            }
            Numbers peak = here;
            for (int half = 0; half < 2; half++) {
                peak.add(half, most[half]);
                here.add(half, stretch.change[half]);
            }
            for (int p = 0; p < PARTS; p++)
                best.parts[p] = peak.parts[p] > best.parts[p] ? peak.parts[p] : best.parts[p];
        }
        return best;
    }

    // The first of the columns from low to high, where H' is `h` in column low, in which the reach of some
    // lane comes to its bound; or one more than high.
    PAIRALIGN_INLINE int32_t first(const Numbers& h, const Numbers& bounds, int32_t low, int32_t high) const {
        return find(h, bounds, low, high,
                    [this](Stretch& stretch, int32_t& j)
                        __attribute__((always_inline)) { stretch.to_right(at(++j)); });
    }
    // The last of them, where H' is `h` in column high.
    PAIRALIGN_INLINE int32_t last(const Numbers& h, const Numbers& bounds, int32_t low, int32_t high) const {
        return find(h, bounds, high, low,
                    [this](Stretch& stretch, int32_t& j)
                        __attribute__((always_inline)) { stretch.to_left(at(j--)); });
    }

    // The lanes whose reach comes to their bound in one of `count` columns, few of them, from `column` on,
    // where H' is `h`.
    PAIRALIGN_INLINE uint64_t any_of(const Numbers& h, const Numbers& bounds, int32_t column,
                                     int32_t count) const {
        Numbers missing = reach(h, column);
        for (int p = 0; p < PARTS; p++) missing.parts[p] = bounds.parts[p] - missing.parts[p];
        Stretch stretch(*this, column);
        Words found[2];
        for (int half = 0; half < 2; half++) found[half] = stretch.change[half] >= missing.words(half);
        for (int32_t j = column + 1; j < column + count; j++) {
            stretch.to_right(at(j));
            for (int half = 0; half < 2; half++) found[half] |= stretch.change[half] >= missing.words(half);
        }
        uint64_t lanes = 0;
        for (int l = 0; l < LANES; l++)
            lanes |= static_cast<uint64_t>(found[l / (LANES / 2)][l % (LANES / 2)] & 1) << l;
        return lanes;
    }

private:
    using Ints = typename V::Ints;
    using Words = typename V::Words;
    static constexpr int LANES = V::LANES, PARTS = Numbers::PARTS;
    // Columns in which a change fits 16 bits: it is less than 256 in each.
    static constexpr int32_t AT_ONCE = 127;

    // From a column on: by how much the reach has changed.
    struct Stretch {
        Words change[2] = {}, from[2], to[2], each, column = {};

        PAIRALIGN_INLINE Stretch(const RowReach& row, int32_t begin) {
            each = Words{} + static_cast<int16_t>(row.each_);
            Numbers from_here, to_here;
            for (int p = 0; p < PARTS; p++) {
                from_here.parts[p] = row.from_.parts[p] - begin;
                to_here.parts[p] = row.to_.parts[p] - begin;
            }
            for (int half = 0; half < 2; half++) {
                from[half] = from_here.words(half);
                to[half] = to_here.words(half);
            }
        }
        PAIRALIGN_INLINE Words fall(int half) const {
            return (column > from[half]) & (column <= to[half]) & each;
        }
        PAIRALIGN_INLINE void to_right(const uint8_t* border) {
            column += 1;
            for (int half = 0; half < 2; half++)
                change[half] += V::words(border + half * (LANES / 2)) - fall(half);
        }
        PAIRALIGN_INLINE void to_left(const uint8_t* border) {
            for (int half = 0; half < 2; half++)
                change[half] -= V::words(border + half * (LANES / 2)) - fall(half);
            column -= 1;
        }
        // Whether some lane's is at least so much.
        PAIRALIGN_INLINE bool any(const Words (&least)[2]) const {
            const Words low = (change[0] < least[0]) & 1, high = (change[1] < least[1]) & 1;
            return V::any(V::eq(V::narrow(low, high), V::set(0)));
        }
    };

    PAIRALIGN_INLINE const uint8_t* at(int32_t column) const {
        return border_ + static_cast<size_t>(column) * 2 * LANES;
    }
    PAIRALIGN_INLINE Numbers reach(const Numbers& h, int32_t column) const {
        Numbers reach;
        for (int p = 0; p < PARTS; p++) {
            const Ints across = to_.parts[p] - column, down = to_.parts[p] - from_.parts[p],
                       least = across < down ? across : down;
            reach.parts[p] = h.parts[p] + each_ * (least > 0 ? least : Ints{});
        }
        return reach;
    }

    template <class Go>
    PAIRALIGN_INLINE int32_t find(const Numbers& h, const Numbers& bounds, int32_t begin, int32_t end,
                                  Go&& go) const {
        const int32_t beyond = begin <= end ? end + 1 : end - 1, sign = begin <= end ? 1 : -1;
        Numbers missing = reach(h, begin);
        for (int p = 0; p < PARTS; p++) missing.parts[p] = bounds.parts[p] - missing.parts[p];
        for (int32_t j = begin;;) {
            Stretch stretch(*this, j);
            const Words least[2] = {missing.words(0), missing.words(1)};
            const int32_t left = sign * (end - j), stop = left < AT_ONCE ? end : j + sign * AT_ONCE;
            while (!stretch.any(least)) {
                if (j == end) return beyond;
                if (j == stop) break;
                go(stretch, j);
            }
            if (stretch.any(least)) return j;
            for (int half = 0; half < 2; half++) missing.add(half, -stretch.change[half]);
        }
    }

    Numbers from_, to_;  // columns: after the first, up to the last the rest's worth falls with the column
    const int32_t each_;
    const uint8_t* const border_;
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
