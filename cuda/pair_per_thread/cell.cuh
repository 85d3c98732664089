// Arithmetic of one cell of the DP matrix, and how scores travel between tiers of eight rows.
//
//     E(i,j) = max(E(i,j-1) - extend, H(i,j-1) - open)     a gap that consumes a column residue
//     F(i,j) = max(F(i-1,j) - extend, H(i-1,j) - open)     a gap that consumes a row residue
//     H(i,j) = max(H(i-1,j-1) + S, E(i,j), F(i,j) [, 0 when local])
//
// (gpu-pairAlign calls these E and F too; its "up" is our E and its "left" our F.) The kernels keep
// E + open and F + open instead of E and F, so that opening a gap needs no subtraction of its own:
//
//     E' = max(E' - extend, H)     F' = max(F' - extend, H)     H = max(H_diagonal + S, max(E', F') - open)
//
// Traced cells carry their flags in the scores. A score is multiplied by 32 and the five low bits hold
// a tag that says where the value came from; the tags are ordered as ties are broken, so that `max`
// picks the right origin and no comparison is needed:
//
//     | bits | of E'                | of F'                | of H, before it is cleaned             |
//     |------|----------------------|----------------------|----------------------------------------|
//     | 0    | Cup: E goes on       |                      |                                        |
//     | 1    |                      | Cleft: F goes on     |                                        |
//     | 2-4  | 3                    | 3                    | 4 zero, 3 diagonal, 2 E, 1 F           |
//
// Bits 2 and 3 of H are then the paper's Bleft and Bup: both for the diagonal, Bup alone for E, Bleft
// alone for F, none to stop. Flags of eight cells make a word, four bits a cell, the tier's first row
// lowest: bit 0 Cup, 1 Cleft, 2 Bleft, 3 Bup.
#pragma once

#include "tiles.cuh"

enum Mode { GLOBAL, SEMIGLOBAL, LOCAL, END_GAPS };
enum Width { NARROW, WIDE, PLAIN };

#ifndef MODE
#define MODE GLOBAL
#endif
#ifndef WIDTH
#define WIDTH NARROW
#endif

constexpr uint32_t CUP = 1, CLEFT = 2, BLEFT = 4, BUP = 8;

constexpr int TAG_BITS = 5;
constexpr int TAG_MASK = (1 << TAG_BITS) - 1;
constexpr int TAG_ZERO = 4 << 2, TAG_DIAGONAL = 3 << 2, TAG_E = 2 << 2, TAG_F = 1 << 2;
static_assert(TAG_ZERO > TAG_DIAGONAL && TAG_DIAGONAL > TAG_E + CUP && TAG_E > TAG_F + CLEFT,
              "tags are ordered as ties are broken");
static_assert((TAG_DIAGONAL & 15) == (BUP | BLEFT) && TAG_E == BUP && TAG_F == BLEFT && (TAG_ZERO & 15) == 0,
              "tags are the paper's flags");

// How the scores of a tier's eight rows against one column residue are stored in the profile, and how
// H and F' of the tier's last row are stored for the next tier. The host picks the width from the
// score bounds (see pairalign/engines/device/tile_plan.py):
//     NARROW  scores of 16 bits, matrix of 8    border: one word, H in its upper half
//     WIDE    scores of 27 bits, matrix of 16   border: two words
//     PLAIN   scores of 32 bits, matrix of 32   border: two words; flags by comparison, without tags
template <Width width>
struct Store;

// One product of bytes or halves adds a score to `sum`: the multiplier selects it and scales it.
template <>
struct Store<NARROW> {
    using Scores = uint2;  // int8[8]
    using Entry = int8_t;
    using Border = uint32_t;
    static constexpr int MINUS_INFINITY = -(1 << 30);

    template <int scale>
    static __device__ int add_score(const Scores& scores, int k, int sum) {
        const uint32_t word = k < 4 ? scores.x : scores.y;
        return __dp4a(int(word), scale << (8 * (k & 3)), sum);
    }
    template <int scale>
    static __device__ Border pack(int h, int f) {
        constexpr int SHIFT = scale == 1 ? 16 : 16 - TAG_BITS;
        return __byte_perm(uint32_t(f) << SHIFT, uint32_t(h) << SHIFT, 0x7632);
    }
    template <int scale>
    static __device__ int unpack_h(Border word, int tag) {
        return __dp2a_lo(int(word), scale << 8, tag);
    }
    template <int scale>
    static __device__ int unpack_f(Border word) {
        return __dp2a_lo(int(word), scale, 0);
    }
    template <int scale, int tag>
    static __device__ Border first_row(int score) {
        return (uint32_t(score) << 16) | 0x8000u;  // F' = -32768 there: below any score less an extension
    }
};

template <>
struct Store<WIDE> {
    using Scores = uint4;  // int16[8]
    using Entry = int16_t;
    using Border = int2;
    static constexpr int MINUS_INFINITY = -(1 << 30);

    template <int scale>
    static __device__ int add_score(const Scores& scores, int k, int sum) {
        const uint32_t word = k < 2 ? scores.x : k < 4 ? scores.y : k < 6 ? scores.z : scores.w;
        return __dp2a_lo(int(word), scale << (8 * (k & 1)), sum);
    }
    template <int scale>
    static __device__ Border pack(int h, int f) {
        return make_int2(h, f);
    }
    template <int scale>
    static __device__ int unpack_h(Border word, int) {
        return word.x;
    }
    template <int scale>
    static __device__ int unpack_f(Border word) {
        return word.y;
    }
    template <int scale, int tag>
    static __device__ Border first_row(int score) {
        return make_int2(score * scale + tag, MINUS_INFINITY);
    }
};

template <>
struct Store<PLAIN> {
    struct alignas(16) Scores {
        int32_t of[TIER];
    };
    using Entry = int32_t;
    using Border = int2;
    static constexpr int MINUS_INFINITY = -(1 << 30);

    template <int scale>
    static __device__ int add_score(const Scores& scores, int k, int sum) {
        return sum + scores.of[k];
    }
    template <int scale>
    static __device__ Border pack(int h, int f) {
        return make_int2(h, f);
    }
    template <int scale>
    static __device__ int unpack_h(Border word, int) {
        return word.x;
    }
    template <int scale>
    static __device__ int unpack_f(Border word) {
        return word.y;
    }
    template <int scale, int tag>
    static __device__ Border first_row(int score) {
        return make_int2(score * scale + tag, MINUS_INFINITY);
    }
};

// The bits of `a` where `mask` has ones, those of `b` elsewhere: one LOP3, which the compiler, left to
// itself, takes apart again.
template <uint32_t mask>
__device__ inline uint32_t merge(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    uint32_t merged;
    asm("lop3.b32 %0, %1, %2, %3, 0xB8;" : "=r"(merged) : "r"(b), "n"(mask), "r"(a));
    return merged;
#else
    return (a & mask) | (b & ~mask);
#endif
}

// The scores of a tier's rows against a residue, in shared memory. The address is worked out once: left
// to itself the compiler does so in every column, to save a register.
template <class Scores>
class Profile {
#ifdef __CUDA_ARCH__
    uint32_t address;

public:
    __device__ explicit Profile(const Scores* scores) : address(__cvta_generic_to_shared(scores)) {
        asm volatile("" : "+r"(address));
    }
    __device__ Scores operator[](uint32_t residue) const {
        const uint32_t at = address + residue * uint32_t(sizeof(Scores));
        Scores scores;
        if constexpr (sizeof(Scores) == 8) {
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(scores.x), "=r"(scores.y) : "r"(at));
        } else if constexpr (sizeof(Scores) == 16) {
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(scores.x), "=r"(scores.y), "=r"(scores.z), "=r"(scores.w)
                         : "r"(at));
        } else {
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(scores.of[0]), "=r"(scores.of[1]), "=r"(scores.of[2]), "=r"(scores.of[3])
                         : "r"(at));
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + 16];"
                         : "=r"(scores.of[4]), "=r"(scores.of[5]), "=r"(scores.of[6]), "=r"(scores.of[7])
                         : "r"(at));
        }
        return scores;
    }
#else
    const Scores* scores;

public:
    explicit Profile(const Scores* scores) : scores(scores) {}
    Scores operator[](uint32_t residue) const { return scores[residue]; }
#endif
};

// The eight cells of one column of a tier. `scale` is 32 when tags are carried, else 1.
template <Mode mode, Width width, bool traced>
struct Column {
    static constexpr bool TAGGED = traced && width != PLAIN;
    static constexpr int SCALE = TAGGED ? 1 << TAG_BITS : 1;
    static constexpr int H_TAG = TAGGED ? TAG_DIAGONAL : 0;  // what a kept H carries in its low bits
    using Storage = Store<width>;

    // A score as kept in registers, and back.
    static __device__ int keep(int score) { return score * SCALE + H_TAG; }
    static __device__ int score(int h) { return TAGGED ? h >> TAG_BITS : h; }

    int h[TIER];  // H of the column before, with H_TAG
    int e[TIER];  // E' of the column before, without a tag
    int e_step, f_step, close, h_tag;

    __device__ Column(int gap_open, int gap_extend)
        : e_step(-gap_extend * SCALE + (TAGGED ? TAG_DIAGONAL + CUP : 0)),
          f_step(-gap_extend * SCALE + (TAGGED ? TAG_DIAGONAL + CLEFT : 0)),
          close(-gap_open * SCALE + (TAGGED ? TAG_F - TAG_DIAGONAL : 0)),
          h_tag(H_TAG + (gap_open >> 31)) {}  // costs are not negative; a constant would cost a second LOP3

    // In: `up` and `f` are H and F' of the row above in this column, `diagonal` H of the row above in
    // the column before. Out: `up` and `f` of the tier's last row, h and e of this column. Returns the flags.
    __device__ uint32_t advance(const typename Storage::Scores& scores, int diagonal, int& up, int& f) {
        uint32_t flags = 0;
#pragma unroll
        for (int k = 0; k < TIER; ++k) {
            const int matched = Storage::template add_score<SCALE>(scores, k, diagonal);
            diagonal = h[k];
            // Ties: the walk back.
            if constexpr (TAGGED) {
                const int new_e = __viaddmax_s32(e[k], e_step, h[k]);
                const int new_f = __viaddmax_s32(f, f_step, up);
                const int gap = __viaddmax_s32(new_e, TAG_E - TAG_F, new_f);
                int new_h = __viaddmax_s32(gap, close, matched);
                if constexpr (mode == LOCAL) new_h = max(new_h, TAG_ZERO);
                const uint32_t cell = merge<CUP | CLEFT>(merge<CUP>(new_e, new_f), new_h);
                flags = __funnelshift_r(flags, cell, 4);
                e[k] = new_e & ~TAG_MASK;
                f = new_f & ~TAG_MASK;
                up = merge<TAG_MASK>(h_tag, new_h);
            } else if constexpr (traced) {
                const int longer_e = e[k] + e_step, longer_f = f + f_step;
                const int new_e = max(longer_e, h[k]), new_f = max(longer_f, up);
                const int closed_e = new_e + close, closed_f = new_f + close;
                int new_h = max(matched, max(closed_e, closed_f));
                if constexpr (mode == LOCAL) new_h = max(new_h, 0);
                uint32_t cell = new_h == matched    ? BUP | BLEFT
                                : new_h == closed_e ? BUP
                                : new_h == closed_f ? BLEFT
                                                    : 0;
                if (mode == LOCAL && new_h == 0) cell = 0;
                if (new_e == longer_e) cell |= CUP;
                if (new_f == longer_f) cell |= CLEFT;
                flags |= cell << (4 * k);
                e[k] = new_e;
                f = new_f;
                up = new_h;
            } else {
                e[k] = __viaddmax_s32(e[k], e_step, h[k]);
                f = __viaddmax_s32(f, f_step, up);
                const int gap = max(e[k], f);
                up = mode == LOCAL ? __viaddmax_s32_relu(gap, close, matched)
                                   : __viaddmax_s32(gap, close, matched);
            }
            h[k] = up;
        }
        return flags;
    }

    __device__ int highest() const {
        return max(max(max(h[0], h[1]), max(h[2], h[3])), max(max(h[4], h[5]), max(h[6], h[7])));
    }

    __device__ int row(int k) const {  // h[k] without an indexed register
        int value = h[0];
#pragma unroll
        for (int i = 1; i < TIER; ++i) value = k == i ? h[i] : value;
        return value;
    }
};
