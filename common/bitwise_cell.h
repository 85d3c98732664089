// One cell of linear-gap local alignment as a circuit: bit k of a word belongs to pair k of the word's pairs.
//
// What it computes, for score bits S = B + HI, match m > 0, mismatch -x, gap g (after `linear_scores` of
// pairalign/engines/bitwise_scoring.py: x <= 2g, no common factor):
//     T = max(up, left);  H = max(0, T - g, corner + (m or -x))
// A score is a word for each of its bits, lowest first. Neighbouring scores differ by little (see
// docs/bitwise.md):
//     up - corner, left - corner in [-g, m + g];  H - corner in [-x, m]
// so both maxima are decided on the B lowest bits: a - b is negative where the top bit of (a - b) mod 2^B is
// set. The HI upper bits follow corner's by a step of -1, 0 or 1, which is read off the two top bits of
// corner and H mod 2^B; a step down from upper bits that are all 0 means that H is negative, and sets it to
// 0. This needs
//     m + 2g < 2^(B-1), m <= 2^(B-2), x <= 2^(B-2)
//
// Shared by cuda/bitwise/score.cu and cpu/bitwise/kernel.h. A word type W has
//     static W ternary<TABLE>(W a, W b, W c)   any function of three bits, by its truth table
// After T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
// bitwise parallel bulk computation technique on GPU (IPDPS Workshops 2017), whose circuit works on all S
// bits throughout.
#pragma once

#ifdef __CUDACC__
#define BITWISE_INLINE __device__ __forceinline__
#define BITWISE_UNROLL _Pragma("unroll")
#else
#define BITWISE_INLINE inline __attribute__((always_inline))
#define BITWISE_UNROLL _Pragma("GCC unroll 64")
#endif

// Truth tables: write the function of these three.
enum : unsigned { BIT_A = 0xF0, BIT_B = 0xCC, BIT_C = 0xAA };
#define BITWISE_TABLE(expression) ((expression) & 0xFFu)

enum : unsigned {
    XOR3 = BITWISE_TABLE(BIT_A ^ BIT_B ^ BIT_C),
    MAJORITY = BITWISE_TABLE((BIT_A & BIT_B) | (BIT_A & BIT_C) | (BIT_B & BIT_C)),
    BORROW = BITWISE_TABLE((~BIT_A & BIT_B) | (~BIT_A & BIT_C) | (BIT_B & BIT_C)),  // of a - b - c
    CHOOSE = BITWISE_TABLE((BIT_A & BIT_B) | (~BIT_A & BIT_C)),                     // a ? b : c
    XOR2 = BITWISE_TABLE(BIT_A ^ BIT_B),
    XNOR2 = BITWISE_TABLE(~(BIT_A ^ BIT_B)),
    AND2 = BITWISE_TABLE(BIT_A & BIT_B),
    OR2 = BITWISE_TABLE(BIT_A | BIT_B),
    BELOW2 = BITWISE_TABLE(~BIT_A & BIT_B),
    ABOVE2 = BITWISE_TABLE(BIT_A & ~BIT_B),
    OR_NOT2 = BITWISE_TABLE(BIT_A | ~BIT_B),
    NOT = BITWISE_TABLE(~BIT_A),
    XOR_UNLESS = BITWISE_TABLE((BIT_A ^ BIT_B) & ~BIT_C),
    XNOR_UNLESS = BITWISE_TABLE(~(BIT_A ^ BIT_B) & ~BIT_C),
    AND_XOR = BITWISE_TABLE(BIT_A & (BIT_B ^ BIT_C)),
    STEPS = BITWISE_TABLE((BIT_A ^ BIT_B) & ~(BIT_B ^ BIT_C)),
    XOR_OR = BITWISE_TABLE((BIT_A ^ BIT_B) | BIT_C),
    NEITHER_XOR = BITWISE_TABLE(~((BIT_A ^ BIT_B) | BIT_C)),
};

// Scores known when the kernel is compiled.
template <int PLUS, int MINUS, int LESS>
struct FixedScores {
    static constexpr bool FIXED = true;
    static constexpr unsigned gap = LESS, on_match = PLUS + LESS, otherwise = unsigned(LESS - MINUS);
    static constexpr bool mismatch_is_gaps = MINUS == 2 * LESS;  // then it never beats the gaps
};

template <class W>
BITWISE_INLINE W bitwise_xor(W a, W b) {
    return W::template ternary<XOR2>(a, b, b);
}
template <class W>
BITWISE_INLINE W bitwise_and(W a, W b) {
    return W::template ternary<AND2>(a, b, b);
}
template <class W>
BITWISE_INLINE W bitwise_not(W a) {
    return W::template ternary<NOT>(a, a, a);
}

// Whether a < b, for N-bit numbers; with SIGNED_STEP for numbers mod 2^N that differ by less than half of
// that.
template <int N, bool SIGNED_STEP, class W>
BITWISE_INLINE W bitwise_less(const W* a, const W* b) {
    W borrow = W::template ternary<BELOW2>(a[0], b[0], b[0]);
    BITWISE_UNROLL
    for (int k = 1; k < N - SIGNED_STEP; k++) borrow = W::template ternary<BORROW>(a[k], b[k], borrow);
    if (SIGNED_STEP) borrow = W::template ternary<XOR3>(a[N - 1], b[N - 1], borrow);
    return borrow;
}

// out = a + (match ? scores.on_match : scores.otherwise), mod 2^N
template <int N, class S, class W>
BITWISE_INLINE void bitwise_add(const S& scores, const W* a, W match, W* out) {
    if constexpr (S::FIXED) {
        bool carrying = false;
        W carry = match;
        BITWISE_UNROLL
        for (int k = 0; k < N; k++) {
            const bool yes = S::on_match >> k & 1,
                       no = (S::mismatch_is_gaps ? S::on_match : S::otherwise) >> k & 1;
            if (!yes && !no) {
                out[k] = carrying ? bitwise_xor(a[k], carry) : a[k];
                if (carrying && k < N - 1) carry = bitwise_and(a[k], carry);
            } else if (yes && no) {
                out[k] = carrying ? W::template ternary<XNOR2>(a[k], carry, carry) : bitwise_not(a[k]);
                if (k < N - 1) carry = carrying ? W::template ternary<OR2>(a[k], carry, carry) : a[k];
                carrying = true;
            } else if (yes) {
                out[k] = carrying ? W::template ternary<XOR3>(a[k], match, carry) : bitwise_xor(a[k], match);
                if (k < N - 1)
                    carry = carrying ? W::template ternary<MAJORITY>(a[k], match, carry)
                                     : bitwise_and(a[k], match);
                carrying = true;
            } else {
                out[k] = carrying
                             ? W::template ternary<BITWISE_TABLE(BIT_A ^ ~BIT_B ^ BIT_C)>(a[k], match, carry)
                             : W::template ternary<XNOR2>(a[k], match, match);
                if (k < N - 1)
                    carry = carrying
                                ? W::template ternary<BITWISE_TABLE((BIT_A & ~BIT_B) | (BIT_A & BIT_C) |
                                                                    (~BIT_B & BIT_C))>(a[k], match, carry)
                                : W::template ternary<ABOVE2>(a[k], match, match);
                carrying = true;
            }
        }
    } else {
        W carry = match;
        BITWISE_UNROLL
        for (int k = 0; k < N; k++) {
            const W step = W::template ternary<CHOOSE>(match, scores.on_match[k], scores.otherwise[k]);
            out[k] = k ? W::template ternary<XOR3>(a[k], step, carry) : bitwise_xor(a[k], step);
            if (k < N - 1)
                carry = k ? W::template ternary<MAJORITY>(a[k], step, carry) : bitwise_and(a[k], step);
        }
    }
}

// A number q of N bits less the gap cost: the borrow into each bit.
template <int N, class S, class W>
struct LessGap {
    const W* q;
    W borrows[N];
    bool borrowing[N];  // known when compiled, where the scores are
    W gap[N];

    BITWISE_INLINE LessGap(const S& scores, const W* from) : q(from) {
        bool any = false;
        W borrow = q[0];
        BITWISE_UNROLL
        for (int k = 0; k < N; k++) {
            borrows[k] = borrow;
            borrowing[k] = any;
            if constexpr (S::FIXED) {
                const bool one = S::gap >> k & 1;
                if (one)
                    borrow = any ? W::template ternary<BITWISE_TABLE(~BIT_A | BIT_B)>(q[k], borrow, borrow)
                                 : bitwise_not(q[k]);
                else if (any) borrow = W::template ternary<BELOW2>(q[k], borrow, borrow);
                any = any || one;
            } else {
                gap[k] = scores.gap[k];
                borrow = k ? W::template ternary<BORROW>(q[k], gap[k], borrow)
                           : W::template ternary<BELOW2>(q[k], gap[k], gap[k]);
                any = true;
            }
        }
    }
    BITWISE_INLINE W bit(int k) const {
        if constexpr (S::FIXED) {
            const bool one = S::gap >> k & 1;
            if (!borrowing[k]) return one ? bitwise_not(q[k]) : q[k];
            return one ? W::template ternary<XNOR2>(q[k], borrows[k], borrows[k])
                       : bitwise_xor(q[k], borrows[k]);
        } else {
            return borrowing[k] ? W::template ternary<XOR3>(q[k], gap[k], borrows[k])
                                : bitwise_xor(q[k], gap[k]);
        }
    }
    // The same bit, but 0 where `negative`.
    BITWISE_INLINE W bit_unless(int k, W negative) const {
        if constexpr (S::FIXED) {
            const bool one = S::gap >> k & 1;
            if (!borrowing[k])
                return one ? W::template ternary<BITWISE_TABLE(~BIT_A & ~BIT_B)>(q[k], negative, negative)
                           : W::template ternary<ABOVE2>(q[k], negative, negative);
            return one ? W::template ternary<XNOR_UNLESS>(q[k], borrows[k], negative)
                       : W::template ternary<XOR_UNLESS>(q[k], borrows[k], negative);
        } else {
            return W::template ternary<ABOVE2>(bit(k), negative, negative);
        }
    }
};

// One cell: up, left and corner (B + HI words each) become out, which may be where up or left or corner is.
// TRACK: best becomes max(best, up, left).
template <int B, int HI, bool TRACK, class S, class W>
BITWISE_INLINE void bitwise_cell(const S& scores, const W* up, const W* left, const W* corner, W match,
                                 W* out, W* best) {
    W highest[B + HI];  // T
    const W left_wins = bitwise_less<B, true>(up, left);
    BITWISE_UNROLL
    for (int k = 0; k < B; k++) highest[k] = W::template ternary<CHOOSE>(left_wins, left[k], up[k]);

    W other[B], q[B];  // corner with its residues, plus the gap cost
    bitwise_add<B>(scores, corner, match, other);
    bool gaps_win_mismatches = false;
    if constexpr (S::FIXED) gaps_win_mismatches = S::mismatch_is_gaps;
    const W other_wins = gaps_win_mismatches ? match : bitwise_less<B, true>(highest, other);
    BITWISE_UNROLL
    for (int k = 0; k < B; k++) q[k] = W::template ternary<CHOOSE>(other_wins, other[k], highest[k]);

    if constexpr (TRACK) {
        BITWISE_UNROLL
        for (int k = B; k < B + HI; k++) highest[k] = W::template ternary<CHOOSE>(left_wins, left[k], up[k]);
        const W better = bitwise_less<B + HI, false>(best, highest);
        BITWISE_UNROLL
        for (int k = 0; k < B + HI; k++) best[k] = W::template ternary<CHOOSE>(better, highest[k], best[k]);
    }

    const LessGap<B, S, W> less(scores, q);
    const W top = less.bit(B - 1);
    W step = W::template ternary<STEPS>(corner[B - 1], top, less.bit(B - 2));
    W steps[HI + 1];
    BITWISE_UNROLL
    for (int k = 0; k < HI; k++) {
        steps[k] = step;
        step = W::template ternary<AND_XOR>(step, corner[B + k], top);
    }
    const W negative = bitwise_and(step, top);
    BITWISE_UNROLL
    for (int k = 0; k < HI; k++)
        out[B + k] = W::template ternary<XOR_UNLESS>(corner[B + k], steps[k], negative);
    BITWISE_UNROLL
    for (int k = 0; k < B; k++) out[k] = less.bit_unless(k, negative);
}
