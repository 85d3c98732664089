// The recurrences of one cell, on the vector types of vector.h: shared by kernel.h (a lane a pair) and
// long_pair.h (all lanes one pair).
//
// Gotoh's recurrences (docs/conventions.md). Rows run over the residues of the row sequence, columns
// over those of the column sequences; E ends in a gap that consumes a column residue, F in one that
// consumes a row residue.
//
// What is stored is not E(i,j) and F(i,j) but the gap states of the next cells,
//     e = E(i,j+1) = max(E(i,j) - ext, H(i,j) - open),   f = F(i+1,j) = max(F(i,j) - ext, H(i,j) - open)
// so that H - open is computed once for both. CUP_NEXT and CLEFT_NEXT of cell (i,j) say whether those
// gaps go on: they are Cup(i,j+1) and Cleft(i+1,j) of gpu-pairAlign (Blazewicz et al. 2011). Its Bup and
// Bleft are DIAGONAL|FROM_E and DIAGONAL|!FROM_E.
//
// Global and semiglobal modes keep H'(i,j) = H(i,j) + (i+j)*ext + base. Then gaps go on at no cost,
//     e' = max(e', H' - (open-ext)),   H'(i,j) = max(H'(i-1,j-1) + S + 2*ext, e', f'),
// two subtractions fewer a cell. Local mode keeps H + base. There is no minus infinity: a border cell hands
// on a gap that it opens, so every value has a finite bound, base makes room for the lowest, and nothing
// saturates or wraps (fits_narrow, fits_wide).
#pragma once

#include <utility>

#include "batch.h"
#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Which end cells a fill keeps track of.
enum class End {
    NONE,         // only the last row, which the border holds when the fill ends
    LAST_COLUMN,  // semiglobal, end gaps: the best H of each lane's last column
    LAST_ROW,     // the same in long_pair.h, whose border does not hold it: the best H of the last row
    BEST_SCORE,   // local: the best H anywhere
    BEST_CELL,    // local: and where it is
};

template <int K>
struct Index {
    static constexpr int value = K;
};

template <int FIRST, class Function, int... K>
static PAIRALIGN_INLINE void unrolled_from(Function&& function, std::integer_sequence<int, K...>) {
    (function(Index<FIRST + K>()), ...);
}

// Calls function(Index<K>()) ... function(Index<N - 1>()). Unlike a loop that is unrolled later, this lets
// the compiler keep arrays indexed by K in registers.
template <int K, int N, class Function>
static PAIRALIGN_INLINE void unrolled(Function&& function) {
    unrolled_from<K>(function, std::make_integer_sequence<int, N - K>());
}

// A copy of H of ROWS rows, for functions that are rarely called: the array itself must not leave the
// registers.
template <class V, int ROWS>
struct Rows {
    V h[ROWS];
    PAIRALIGN_INLINE explicit Rows(const V (&from)[ROWS]) {
        unrolled<0, ROWS>([&](auto k) __attribute__((always_inline)) { h[k.value] = from[k.value]; });
    }
};

// The cells of row 0 and column 0.
template <class V>
struct Border {
    using Lane = typename V::Lane;
    Mode mode;
    int32_t open, extend;
    Lane base;  // H'(0,0); what stands for 0 in local mode

    // H'(i,0); by symmetry also H'(0,i). Mode END_GAPS: `start` is what its gap costs.
    PAIRALIGN_INLINE Lane h(int32_t i, const GapCost& start = {}) const {
        if (mode == LOCAL) return base;
        if (mode == SEMIGLOBAL) return static_cast<Lane>(base + i * extend);
        if (mode == END_GAPS) return static_cast<Lane>(base + i * extend - start.of(i));
        return static_cast<Lane>(i == 0 ? base : base - (open - extend));
    }
    // The gap state that a border cell hands on: it can only open a gap.
    PAIRALIGN_INLINE Lane gap(int32_t i, const GapCost& start = {}) const {
        if (mode == LOCAL) return static_cast<Lane>(base - open);
        return static_cast<Lane>(h(i, start) - (open - extend));
    }
};

// What a residue pair's score is raised by in H'.
inline int32_t shift_of(const Scheme& s) { return s.mode == LOCAL ? 0 : 2 * s.gap_extend; }

// The costs that a cell needs: opening = open (in H': open - extend), extending = extend, zero = base. Made
// anew for each cell: as an object that lives through a loop, GCC would keep it in memory.
// VSEARCH: flags for that program's ties. A gap goes on only where closing it is worse, and of E and F the
// one that consumes a residue of the query is preferred: `zero` is then 1 in lanes where E is the other one,
// else 0.
template <class V, bool SHIFTED, bool VSEARCH = false>
struct Recurrence {
    V opening, extending, zero;

    struct Cell {
        V h, e, f;  // H, and the gap states of the right and the lower neighbour
    };

    // One cell: `s` is its score, shifted; diagonal = H(i-1,j-1); e and f are what the left and the upper
    // neighbour hand on. (By value: references would keep GCC from holding everything in registers.)
    template <bool FLAGS>
    PAIRALIGN_INLINE Cell cell(V s, V diagonal, V e, V f, uint8_t* flags) const {
        // H = max(with_e, f), but f's next value needs only with_e: opening a gap from a gap is
        // never better than going on. So the chain down a column is one maximum a cell.
        const V d = V::add(diagonal, s);
        V with_e = V::max(d, e);
        if constexpr (!SHIFTED) with_e = V::max(with_e, zero);
        const V h = V::max(with_e, f);
        const V e_opened = V::sub(h, opening), f_opened = V::sub(with_e, opening);
        const V e_on = SHIFTED ? e : V::sub(e, extending);
        const V f_on = SHIFTED ? f : V::sub(f, extending);
        // Ties: the walk back.
        if constexpr (FLAGS && VSEARCH) {
            const auto from_e = V::both(V::ge(e, f), V::either(V::gt(e, f), V::gt(V::set(1), zero)));
            V::store_flags(flags, V::gt(e_on, e_opened), V::gt(f_on, f_opened), V::ge(d, h), from_e);
        } else if constexpr (FLAGS) {
            V::store_flags(flags, V::ge(e_on, e_opened), V::ge(f_on, f_opened), V::ge(d, h), V::ge(e, f));
        }
        return {h, V::max(e_on, e_opened), V::max(f_on, f_opened)};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
