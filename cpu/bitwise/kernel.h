// The bitwise kernel for one instruction set: included by kernel_bitwise_*.cpp, which say which one.
//
// Strips of BITWISE_STRIP columns, all rows of a strip before the next one. A row's scores are read and
// written in the first-level cache; left and corner stay in registers. The best score looks at max(up, left),
// which a cell has made anyway, in every other column, and at those columns of the last row. Loops over bits
// are unrolled here, or the compiler would make copies of them with string instructions, at a third of the
// time.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(PAIRALIGN_AVX512)
#include <immintrin.h>
#endif

#include "bitwise.h"
#include "../../common/bitwise_cell.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

#if defined(PAIRALIGN_AVX512)

struct Word {
    static constexpr int QUADS = 8;
    __m512i v;
    template <unsigned TABLE>
    static BITWISE_INLINE Word ternary(Word a, Word b, Word c) {
        return {_mm512_ternarylogic_epi64(a.v, b.v, c.v, TABLE)};
    }
    static BITWISE_INLINE Word same(bool bit) { return {_mm512_set1_epi64(-int64_t(bit))}; }
};

#else

#if defined(PAIRALIGN_AVX2)
typedef uint64_t Quads __attribute__((vector_size(32)));
#elif defined(PAIRALIGN_SSE41) || defined(PAIRALIGN_NEON)
typedef uint64_t Quads __attribute__((vector_size(16)));
#else
typedef uint64_t Quads;
#endif

struct Word {
    static constexpr int QUADS = sizeof(Quads) / 8;
    Quads v;
    static BITWISE_INLINE Word same(bool bit) { return {Quads{} - uint64_t(bit)}; }

    // Of two bits, with a table of four: bit 2b + c.
    template <unsigned TABLE>
    static BITWISE_INLINE Quads binary(Quads b, Quads c) {
        switch (TABLE) {
            case 0x0:
                return b ^ b;
            case 0x1:
                return ~(b | c);
            case 0x2:
                return ~b & c;
            case 0x3:
                return ~b;
            case 0x4:
                return b & ~c;
            case 0x5:
                return ~c;
            case 0x6:
                return b ^ c;
            case 0x7:
                return ~(b & c);
            case 0x8:
                return b & c;
            case 0x9:
                return ~(b ^ c);
            case 0xA:
                return c;
            case 0xB:
                return ~b | c;
            case 0xC:
                return b;
            case 0xD:
                return b | ~c;
            case 0xE:
                return b | c;
            default:
                return ~(b ^ b);
        }
    }
    template <unsigned TABLE>
    static BITWISE_INLINE Word ternary(Word a, Word b, Word c) {
        constexpr unsigned YES = TABLE >> 4, NO = TABLE & 15;  // where a is 1, where it is 0
        if constexpr (YES == NO) return {binary<YES>(b.v, c.v)};
        else if constexpr (YES == 0) return {~a.v & binary<NO>(b.v, c.v)};
        else if constexpr (YES == 15) return {a.v | binary<NO>(b.v, c.v)};
        else if constexpr (NO == 0) return {a.v & binary<YES>(b.v, c.v)};
        else if constexpr (NO == 15) return {~a.v | binary<YES>(b.v, c.v)};
        else if constexpr ((YES ^ NO) == 15) return {a.v ^ binary<NO>(b.v, c.v)};
        else return {binary<NO>(b.v, c.v) ^ (a.v & binary<(YES ^ NO)>(b.v, c.v))};
    }
};

#endif

static_assert(sizeof(Word) == 8 * Word::QUADS, "words lie one after the other");

// Scores that are known only when the program runs.
template <int B>
struct AnyScores {
    static constexpr bool FIXED = false, mismatch_is_gaps = false;
    Word gap[B], on_match[B], otherwise[B];

    explicit AnyScores(const pairalign_linear& costs) {
        for (int k = 0; k < B; k++) {
            gap[k] = Word::same(costs.gap >> k & 1);
            on_match[k] = Word::same((costs.match + costs.gap) >> k & 1);
            otherwise[k] = Word::same((costs.gap - costs.mismatch) >> k & 1);
        }
    }
};

template <int B, int HI, class S>
void bitwise_score(const BitwiseJob& job, const S& scores) {
    constexpr int BITS = B + HI;
    Word* const strip = reinterpret_cast<Word*>(job.strip);
    Word* const border = reinterpret_cast<Word*>(job.border);
    const Word zero = Word::same(false);
    Word best[BITS];
    BITWISE_UNROLL
    for (int k = 0; k < BITS; k++) best[k] = zero;
    for (int32_t first = 0; first < job.columns && !*job.cancelled; first += BITWISE_STRIP) {
        // An odd number of columns gets one more: it matches nothing.
        const int32_t columns =
            (job.columns - first < BITWISE_STRIP ? job.columns - first + 1 : BITWISE_STRIP) & ~1;
        const Word* const residues = reinterpret_cast<const Word*>(job.column_planes) + int64_t(first) * 3;
        Word before[BITS];  // the row before, in the column before
        BITWISE_UNROLL
        for (int k = 0; k < BITS; k++) before[k] = zero;
        for (int32_t c = 0; c < columns; c++) BITWISE_UNROLL
        for (int k = 0; k < BITS; k++) strip[c * BITS + k] = zero;
        for (int32_t row = 0; row < job.rows; row++) {
            const Word* const own = reinterpret_cast<const Word*>(job.row_planes) + int64_t(row) * 3;
            const Word r0 = own[0], r1 = own[1], r2 = own[2];
            Word* const edge = border + int64_t(row) * BITS;
            Word left[BITS], corner[BITS];
            BITWISE_UNROLL
            for (int k = 0; k < BITS; k++) {
                corner[k] = before[k];
                before[k] = left[k] = first ? edge[k] : zero;
            }
            const auto matches = [&](const Word* residue) __attribute__((always_inline)) {
                Word differ = bitwise_xor(residue[0], r0);
                differ = Word::ternary<XOR_OR>(residue[1], r1, differ);
                return Word::ternary<NEITHER_XOR>(residue[2], r2, differ);
            };
            for (int32_t c = 0; c < columns; c += 2) {
                Word* const even = strip + c * BITS;
                Word* const odd = even + BITS;
                Word up[BITS], middle[BITS];
                BITWISE_UNROLL
                for (int k = 0; k < BITS; k++) up[k] = even[k];
                bitwise_cell<B, HI, false>(scores, up, left, corner, matches(residues + 3 * c), middle, best);
                BITWISE_UNROLL
                for (int k = 0; k < BITS; k++) {
                    even[k] = middle[k];
                    corner[k] = odd[k];
                }
                bitwise_cell<B, HI, true>(scores, corner, middle, up, matches(residues + 3 * c + 3), left,
                                          best);
                BITWISE_UNROLL
                for (int k = 0; k < BITS; k++) odd[k] = left[k];
            }
            BITWISE_UNROLL
            for (int k = 0; k < BITS; k++) edge[k] = left[k];
        }
        for (int32_t c = 1; c < columns; c += 2) {
            const Word better = bitwise_less<BITS, false>(best, strip + c * BITS);
            BITWISE_UNROLL
            for (int k = 0; k < BITS; k++)
                best[k] = Word::ternary<CHOOSE>(better, strip[c * BITS + k], best[k]);
        }
    }
    BITWISE_UNROLL
    for (int k = 0; k < BITS; k++) reinterpret_cast<Word*>(job.best)[k] = best[k];
}

// What is compiled: the bits on which cells are compared, and those above. Costs that take more than 8 are
// rare.
using LowBits = std::integer_sequence<int, 3, 4, 5, 8, 12>;
template <int B>
using HighBits = std::conditional_t<(B <= 8), std::integer_sequence<int, 3, 4, 5, 6, 9, 14, 24>,
                                    std::integer_sequence<int, 9, 24>>;

template <int... N>
int at_least(std::integer_sequence<int, N...>, int wanted) {
    int found = 0;
    ((found = found ? found : N >= wanted ? N : 0), ...);
    return found;
}

inline int bits_for(int low_bits, int bits) {
    const int low = at_least(LowBits(), low_bits);
    return low + (low <= 8 ? at_least(HighBits<8>(), bits - low) : at_least(HighBits<12>(), bits - low));
}

// Scores known to the compiler make it a quarter faster: those of the presets of
// pairalign/jobs/overlaps/presets.py, and the paper's example.
template <int B, int HI, int MATCH, int MISMATCH, int GAP>
bool bitwise_score_fixed(const BitwiseJob& job) {
    if constexpr (HI <= 9 && B <= 4 && MATCH + 2 * GAP < 1 << (B - 1) &&
                  (B == 3 || MATCH + 2 * GAP >= 1 << (B - 2))) {
        const pairalign_linear& c = job.costs;
        if (c.match == MATCH && c.mismatch == MISMATCH && c.gap == GAP) {
            bitwise_score<B, HI>(job, FixedScores<MATCH, MISMATCH, GAP>());
            return true;
        }
    }
    return false;
}

template <int B, int HI>
void bitwise_score_any(const BitwiseJob& job) {
    if (bitwise_score_fixed<B, HI, 1, 3, 2>(job) || bitwise_score_fixed<B, HI, 1, 2, 1>(job) ||
        bitwise_score_fixed<B, HI, 1, 1, 1>(job) || bitwise_score_fixed<B, HI, 2, 1, 1>(job))
        return;
    bitwise_score<B, HI>(job, AnyScores<B>(job.costs));
}

template <int B, int... HI>
void choose_high(const BitwiseJob& job, std::integer_sequence<int, HI...>) {
    ((job.bits == B + HI ? bitwise_score_any<B, HI>(job) : void()), ...);
}

template <int... B>
void choose_low(const BitwiseJob& job, std::integer_sequence<int, B...> all) {
    const int low = at_least(all, job.costs.low_bits);
    ((low == B ? choose_high<B>(job, HighBits<B>()) : void()), ...);
}

inline void score(const BitwiseJob& job) { choose_low(job, LowBits()); }

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
