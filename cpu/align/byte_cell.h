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
// where Z(i,j) = H'(i,j) - H'(i-1,j-1) + 2*o, and A and B are what E and F give instead of H. All are kept
// less o: then one subtraction serves both gaps, and with Y = Z - o
//
//     Z = max(D, A, B),   U = Y - V,   V = Y - U,   A = max(A, Y) - V,   B = max(B, Y) - U
//
// are nine operations, of which four wait for each other from a row to the next; byte_levels.h has six.
//
// Bounds. A path to (i,j), cut where it first leaves the last row or column before it, or a gap less, reaches
// (i-1,j-1): so H'(i,j) - H'(i-1,j-1) is at most the highest S + 2*extend, and Z at most that and 2*o.
// H'(i,j) >= H'(i-1,j) - o, so U and V are not negative, and at most Z; e' - H' + o is between 0 and o, as
// gaps never beat H'. So A and B are not negative, and at most Z of the cell that they arrive at. D is
// not negative where two residues cost at most what two gaps do. Less o, Y 2*o, all are between -2*o and
// highest + open + extend: signed bytes, where fits_bytes says so. In the border U and V, less o, are what a
// residue of a start gap costs less than `extend`: between -o and extend, as no such gap costs more than
// others.
//
// Local mode keeps H + base, e + base and f + base. An e below 0 is kept as 0, and with that H is never below
// it: one maximum less where a comparison and a subtraction do the same, see sub_not_below. On a path, which
// has more than 0 everywhere, e is what it would be. No byte falls below 0, for which base makes room; scores
// may grow beyond 255. The first H that does was at most 255 - highest on its diagonal before, and H there
// was then seen by the best score: if that is at most 255 - highest, nothing wrapped, see `overflows`.
//
// In both, the traceback asks the same of D, A, B (local: the diagonal, e and f that arrive), with
// Z = max(D, A, B): D = Z is DIAGONAL, A >= B is FROM_E, A >= Y is CUP_NEXT, B >= Y is CLEFT_NEXT.
// `code` makes a byte of them, from which byte_walk.h reads the next step.
#pragma once

#include "../core/batch.h"
#include "../simd/bytes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
struct ByteCosts {
    V o;                   // differences: open - extend
    V open, extend, zero;  // local
};

// What a path does next, coming in H and not in a gap: residues that are equal and unambiguous, other
// residues, a gap that takes a column residue, one that takes a row residue; or it ends.
enum Move { SAME_MOVE = 0, OTHER_MOVE = 1, COLUMN_MOVE = 2, ROW_MOVE = 3, STOP_MOVE = 4 };

// Bits of a cell's code: whether a gap goes on, coming in one; twice the move; whether the path ends; and, of
// local mode, whether H is the best score looked for. A walk does not look at the last.
enum CodeBit { COLUMN_GOES_ON = 1, TWICE_MOVE = 6, ROW_GOES_ON = 8, ENDS = 16, IS_BEST = 32 };

// What codes say: of local mode IS_BEST too; of vsearch's ties other moves.
enum class Codes { USUAL, LOCAL, VSEARCH };

// How a move is written as a step of a path: above the bits of a code that a walk looks at.
constexpr int STEP = 32;
constexpr uint8_t STOP_STEP = STOP_MOVE * STEP;

// x and y belong to a row: U and A, or H and e. v and w belong to a column: V and B, or (unused) and f.
template <class V>
struct ByteCell {
    using Mask = typename V::Mask;
    V d, a, b;       // what arrives by diagonal, E and F
    V best;          // Z, or H
    V a_on, b_on;    // what E and F are if they go on, as A + o or e - extend
    V a_max, b_max;  // the same or what opens one, whichever is more
    V x, y, v, w;

    // `diagonal` = H(i-1,j-1) + base, of local mode alone.
    template <bool LOCAL_MODE>
    static PAIRALIGN_INLINE ByteCell of(V s, V x, V y, V v, V w, V diagonal, const ByteCosts<V>& c) {
        if constexpr (LOCAL_MODE) {
            const V d = V::add(diagonal, s);
            const V h = V::max(V::max(d, y), w);
            const V opened = V::sub(h, c.open);
            const V a = V::sub_not_below(y, c.extend, c.zero), b = V::sub(w, c.extend);
            const V a_max = V::max(a, opened), b_max = V::max(b, opened);
            return {d, y, w, h, a, b, a_max, b_max, h, a_max, v, b_max};
        } else {
            const V z = V::max_signed(V::max_signed(s, y), w);
            const V opened = V::as_it_is(V::sub(z, c.o));
            const V a_max = V::max_signed(y, opened), b_max = V::max_signed(w, opened);
            return {s,
                    y,
                    w,
                    z,
                    y,
                    w,
                    a_max,
                    b_max,
                    V::sub(opened, v),
                    V::sub(a_max, v),
                    V::sub(opened, x),
                    V::sub(b_max, x)};
        }
    }

    // `residues`: twice the move of a path that comes by the diagonal. `wanted`: of local mode, see IS_BEST;
    // of vsearch's ties 255 in lanes whose row sequence is the query.
    // Ties: the walk back.
    template <Codes CODES>
    PAIRALIGN_INLINE V code(V residues, V wanted, const ByteCosts<V>& c) const {
        if constexpr (CODES == Codes::VSEARCH) return code_of_vsearch(residues, wanted, c);
        const V gaps = V::blend(V::eq(a, best), V::set(2 * COLUMN_MOVE), V::set(2 * ROW_MOVE));
        V code = V::blend(V::eq(d, best), residues, gaps);
        code = V::one_more(V::eq(a_on, a_max), code);
        code = V::with(V::eq(b_on, b_max), V::set(ROW_GOES_ON), code);
        if constexpr (CODES == Codes::LOCAL) {
            code = V::blend(V::eq(best, c.zero), V::set(ENDS), code);
            code = V::with(V::eq(best, wanted), V::set(IS_BEST), code);
        }
        return code;
    }

private:
    // A gap goes on only where closing it is worse, and of E and F the one that consumes a residue of the
    // query is preferred.
    PAIRALIGN_INLINE V code_of_vsearch(V residues, V row_is_query, const ByteCosts<V>& c) const {
        const V opened = V::sub(best, c.o);
        const Mask f = V::both(V::eq(row_is_query, V::set(255)), V::eq(b, best));
        const V gaps = V::blend(V::but_not(V::eq(a, best), f), V::set(2 * COLUMN_MOVE), V::set(2 * ROW_MOVE));
        V code = V::blend(V::eq(d, best), residues, gaps);
        code = V::blend(V::eq(opened, a_max), code, V::add(code, V::set(COLUMN_GOES_ON)));
        return V::blend(V::eq(opened, b_max), code, V::add(code, V::set(ROW_GOES_ON)));
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
