// What posteriors keep of a row, and the match states of the pair HMM in it; see model.h.
//
// With one match state the products by 1 and 0 are left out.
#pragma once

#include "lanes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// A value of each match state.
template <class V, int STATES>
struct Values {
    V of[STATES];

    PAIRALIGN_INLINE V& operator[](int s) { return of[s]; }
    PAIRALIGN_INLINE const V& operator[](int s) const { return of[s]; }
    PAIRALIGN_INLINE Values plus(V x) const {
        Values sum;
        for (int s = 0; s < STATES; s++) sum[s] = of[s] + x;
        return sum;
    }
};

// What the next row needs of this one: going forward, what each match state of the next row and column takes;
// going backward, the match states with their emissions. Gaps of x, short and long; the same of the partition
// function.
template <class V, int STATES>
struct RowState {
    Values<V, STATES> m;
    V x1, x2, zm, zx;
};

// The match states of both models in a cell going forward.
template <class V, int STATES>
struct KeptCell {
    Values<V, STATES> m;
    V zm;

    // With those going backward the HMM's posterior; see set_factors.
    PAIRALIGN_INLINE V match(const Values<V, STATES>& back, V near, V far) const {
        V sum = V::settled((m[0] * near) * (back[0] * far));
#pragma GCC unroll 4
        for (int s = 1; s < STATES; s++) sum = sum + V::settled((m[s] * near) * (back[s] * far));
        return sum;
    }
};

template <class V>
struct ColumnGaps {
    V open, extend, floor;  // of the partition function's gaps of x; what keeps values from 0
};

template <class V, int STATES>
PAIRALIGN_INLINE V dot(const Values<V, STATES>& a, const Values<V, STATES>& b) {
    V sum = a[0] * b[0];
#pragma GCC unroll 4
    for (int s = 1; s < STATES; s++) sum = sum + a[s] * b[s];
    return sum;
}
template <class V, int STATES>
PAIRALIGN_INLINE V sum_of(const Values<V, STATES>& m) {
    V sum = m[0];
#pragma GCC unroll 4
    for (int s = 1; s < STATES; s++) sum = sum + m[s];
    return sum;
}
template <class V, int STATES>
PAIRALIGN_INLINE V largest_of(const Values<V, STATES>& m) {
    V largest = m[0];
#pragma GCC unroll 4
    for (int s = 1; s < STATES; s++) largest = V::max(largest, m[s]);
    return largest;
}

// What gaps cost in both models, and how a pair begins and ends.
template <class V>
struct Gaps {
    V start_match, start_short, start_long, extend_short, extend_long, close_short, close_long;
    V gap_open, gap_extend;

    void set(const pairalign_posterior_model& model) {
        start_match = V::all(model.start_match);
        start_short = V::all(model.start_short);
        start_long = V::all(model.start_long);
        extend_short = V::all(model.extend_short);
        extend_long = V::all(model.extend_long);
        close_short = V::all(model.close_short);
        close_long = V::all(model.close_long);
        gap_open = V::all(model.gap_open);
        gap_extend = V::all(model.gap_extend);
    }
};

template <class V, int STATES>
struct MatchStates {
    using M = Values<V, STATES>;
    M stay, leave, enter, open_short, open_long;

    void set(const pairalign_posterior_model& model) {
#pragma GCC unroll 4
        for (int s = 0; s < STATES; s++) {
            stay[s] = V::all(model.stay[s]);
            leave[s] = V::all(model.leave[s]);
            enter[s] = V::all(model.enter[s]);
            open_short[s] = V::all(model.open_short[s]);
            open_long[s] = V::all(model.open_long[s]);
        }
    }

    // Shares a `sum` that does not depend on the match state out to the match states.
    PAIRALIGN_INLINE void enter_all(M& m, V sum, V floor) const {
#pragma GCC unroll 4
        for (int s = 0; s < STATES; s++) m[s] = (STATES == 1 ? sum : enter[s] * sum) + floor;
    }
    // Match states of the next cell on the diagonal, from those of a cell and from the gaps that close there.
    PAIRALIGN_INLINE void go_on(M& next, const M& m, V closed, V floor) const {
        const V hub = STATES == 1 ? closed : dot(leave, m) + closed;
#pragma GCC unroll 4
        for (int s = 0; s < STATES; s++)
            next[s] = (stay[s] * m[s] + (STATES == 1 ? hub : enter[s] * hub)) + floor;
    }
    // Going backward: match states from the `matched` ones and the gaps that follow. Returns what gaps get
    // from `matched`.
    PAIRALIGN_INLINE V come_back(M& m, const M& matched, V short_gaps, V long_gaps) const {
        const V entered = STATES == 1 ? matched[0] : dot(enter, matched);
#pragma GCC unroll 4
        for (int s = 0; s < STATES; s++) {
            const V gaps = open_short[s] * short_gaps + open_long[s] * long_gaps;
            m[s] = stay[s] * matched[s] + (STATES == 1 ? gaps : leave[s] * entered + gaps);
        }
        return entered;
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
