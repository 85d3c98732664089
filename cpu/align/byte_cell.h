// The recurrences of one cell in 8-bit lanes; the words are those of recurrence.h.
//
// Global and semiglobal modes keep differences of neighbours, which do not grow with the sequences (Suzuki
// and Kasahara 2018). With H' of recurrence.h, in which gaps go on at no cost, and o = open - extend:
//
//     U(i,j) = H'(i,j) - H'(i-1,j) + o       A(i,j) = U(i,j) + e'(i,j) - H'(i,j) + o
//     V(i,j) = H'(i,j) - H'(i,j-1) + o       B(i,j) = V(i,j) + f'(i,j) - H'(i,j) + o
//
// a cell is, with A and U of its left and B and V of its upper neighbour, and D = S + 2*extend + 2*o,
//
//     Z = max(D, A, B),   U = Z - V,   V = Z - U,   A = max(A + o, Z) - V,   B = max(B + o, Z) - U
//
// where Z(i,j) = H'(i,j) - H'(i-1,j-1) + 2*o, and A and B are what E and F give instead of H. From a row to
// the next are three operations that wait for each other: a maximum, another, and a subtraction.
//
// Bounds. A path to (i,j), cut where it first leaves the last row or column before it, or a gap less, reaches
// (i-1,j-1): so H'(i,j) - H'(i-1,j-1) is at most the highest S + 2*extend, and Z at most that and 2*o.
// H'(i,j) >= H'(i-1,j) - o, so U and V are not negative, and at most Z; e' - H' + o is between 0 and o, as
// gaps never beat H'. So A and B are not negative, and at most Z of the cell that they arrive at. The largest
// number is A + o. D is not negative where two letters cost at most what two gaps do: fits_bytes.
//
// Local mode keeps H + base, e + base and f + base. Nothing falls below 0, for which base makes room; scores
// may grow beyond 255. The first H that does was at most 255 - highest on its diagonal before, and H there
// was then seen by the best score: if that is at most 255 - highest, nothing wrapped, see `overflows`.
//
// In both, the traceback asks the same of D, A, B (local: the diagonal, e and f that arrive), with
// Z = max(D, A, B): D = Z is DIAGONAL, A >= B is FROM_E, A + o >= Z is CUP_NEXT, B + o >= Z is CLEFT_NEXT.
#pragma once

#include "batch.h"
#include "bytes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteCosts {
    V o;                   // differences: open - extend
    V open, extend, zero;  // local
};

// x and y belong to a row: U and A, or H and e. v and w belong to a column: V and B, or (unused) and f.
template <class V>
struct ByteCell {
    V d, a, b;  // what arrives by diagonal, E and F
    V x, y, v, w;

    // `diagonal` = H(i-1,j-1) + base, of local mode alone.
    template <bool LOCAL_MODE>
    static PAIRALIGN_INLINE ByteCell of(V s, V x, V y, V v, V w, V diagonal, const ByteCosts<V>& c) {
        if constexpr (LOCAL_MODE) {
            const V d = V::add(diagonal, s);
            const V h = V::max(V::max(V::max(d, c.zero), y), w);
            const V opened = V::sub(h, c.open);
            return {d, y, w, h, V::max(V::sub(y, c.extend), opened), v, V::max(V::sub(w, c.extend), opened)};
        } else {
            const V z = V::max(V::max(s, y), w);
            return {s,
                    y,
                    w,
                    V::sub(z, v),
                    V::sub(V::max(V::add(y, c.o), z), v),
                    V::sub(z, x),
                    V::sub(V::max(V::add(w, c.o), z), x)};
        }
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
