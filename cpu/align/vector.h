// Small vector types: one per instruction set and lane width, all with the same members, so that
// the kernels are written once. In kernel.h a lane is one pair of sequences, in long_pair.h all lanes are one
// pair.
//
//   Lane            int16_t or int32_t; additions wrap
//   LANES, ROWS     lanes in a vector; rows of the matrix that a band takes at a time
//   Mask            result of a comparison
//   FLAG_BYTES      bytes that the four traceback flags of all lanes of one cell take
//   store_flags / flag      their layout, private to the type
//   GATHER          true: scores come from a table lookup by code (`lookup`);
//                   false: from a profile in memory, one vector per row letter and column
//
// Wide has, for long_pair.h:
//
//   shifted_in(v, x, last)  every lane moves up by one, x comes into lane 0, the last lane goes to *last
//   gather(table, index)    table[index[lane]]
//   byte<K>(v)              the byte K of every lane, with its sign
//
// This header is included by sources compiled for different instruction sets. Everything in it
// lives in a namespace named after the instruction set and uses no inline function of the standard
// library: the linker must never pick one set's copy for another.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(PAIRALIGN_AVX512) || defined(PAIRALIGN_AVX2) || defined(PAIRALIGN_SSE41)
#include <immintrin.h>
#elif defined(PAIRALIGN_NEON)
#include <arm_neon.h>
#endif

#define PAIRALIGN_INLINE inline __attribute__((always_inline))

namespace pairalign {
namespace PAIRALIGN_ISA {

// The flags of one cell, in the order in which they are stored. CUP_NEXT and CLEFT_NEXT speak of the
// gap states of the right and the lower neighbour (see recurrence.h).
enum Flag { CUP_NEXT = 0, CLEFT_NEXT = 1, DIAGONAL = 2, FROM_E = 3 };

#if defined(PAIRALIGN_AVX512)

// Straight from the mask register: left to itself GCC goes through general registers and the stack.
static PAIRALIGN_INLINE void store_mask(uint32_t* p, __mmask32 m) { asm("kmovd %1, %0" : "=m"(*p) : "k"(m)); }
static PAIRALIGN_INLINE void store_mask(uint16_t* p, __mmask16 m) { asm("kmovw %1, %0" : "=m"(*p) : "k"(m)); }

struct Narrow {
    using Lane = int16_t;
    using Mask = __mmask32;
    static constexpr int LANES = 32, ROWS = 8, FLAG_BYTES = 16;
    static constexpr bool GATHER = true;
    __m512i v;

    static PAIRALIGN_INLINE Narrow load(const void* p) { return {_mm512_load_si512(p)}; }
    static PAIRALIGN_INLINE Narrow set(Lane x) { return {_mm512_set1_epi16(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm512_store_si512(p, v); }
    // The table stays in memory (it is in the first-level cache): the registers are needed for H and E.
    static PAIRALIGN_INLINE Narrow lookup(const Lane* scores, Narrow codes) {
        Narrow r;
        asm("vpermw %2, %1, %0" : "=v"(r.v) : "v"(codes.v), "m"(*reinterpret_cast<const __m512i*>(scores)));
        return r;
    }
    static PAIRALIGN_INLINE Narrow add(Narrow a, Narrow b) { return {_mm512_add_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow sub(Narrow a, Narrow b) { return {_mm512_sub_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow max(Narrow a, Narrow b) { return {_mm512_max_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Narrow a, Narrow b) { return _mm512_cmpge_epi16_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Narrow a, Narrow b) { return _mm512_cmpgt_epi16_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Narrow a, Narrow b) { return _mm512_cmpeq_epi16_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return a & b; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return a | b; }
    static PAIRALIGN_INLINE bool any(Mask m) { return m != 0; }
    static PAIRALIGN_INLINE Narrow blend(Mask m, Narrow yes, Narrow no) {
        return {_mm512_mask_blend_epi16(m, no.v, yes.v)};
    }
    // uint32_t[4], one word a flag, bit = lane
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint32_t* words = reinterpret_cast<uint32_t*>(p);
        store_mask(words + CUP_NEXT, cup);
        store_mask(words + CLEFT_NEXT, cleft);
        store_mask(words + DIAGONAL, diagonal);
        store_mask(words + FROM_E, from_e);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return reinterpret_cast<const uint32_t*>(p)[which] >> lane & 1;
    }
};

struct Wide {
    using Lane = int32_t;
    using Mask = __mmask16;
    static constexpr int LANES = 16, ROWS = 8, FLAG_BYTES = 8;
    static constexpr bool GATHER = true;
    __m512i v;

    static PAIRALIGN_INLINE Wide load(const void* p) { return {_mm512_load_si512(p)}; }
    static PAIRALIGN_INLINE Wide set(Lane x) { return {_mm512_set1_epi32(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm512_store_si512(p, v); }
    static PAIRALIGN_INLINE Wide lookup(const Lane* scores, Wide codes) {
        Wide r = codes;
        asm("vpermi2d %2, %1, %0"
            : "+v"(r.v)
            : "v"(*reinterpret_cast<const __m512i*>(scores)),
              "m"(*reinterpret_cast<const __m512i*>(scores + 16)));
        return r;
    }
    static PAIRALIGN_INLINE Wide add(Wide a, Wide b) { return {_mm512_add_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide sub(Wide a, Wide b) { return {_mm512_sub_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide max(Wide a, Wide b) { return {_mm512_max_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Wide a, Wide b) { return _mm512_cmpge_epi32_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Wide a, Wide b) { return _mm512_cmpgt_epi32_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Wide a, Wide b) { return _mm512_cmpeq_epi32_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return m != 0; }
    static PAIRALIGN_INLINE Wide blend(Mask m, Wide yes, Wide no) {
        return {_mm512_mask_blend_epi32(m, no.v, yes.v)};
    }
    // uint16_t[4], one half-word a flag, bit = lane
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint16_t* words = reinterpret_cast<uint16_t*>(p);
        store_mask(words + CUP_NEXT, cup);
        store_mask(words + CLEFT_NEXT, cleft);
        store_mask(words + DIAGONAL, diagonal);
        store_mask(words + FROM_E, from_e);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return reinterpret_cast<const uint16_t*>(p)[which] >> lane & 1;
    }
    static PAIRALIGN_INLINE Wide shifted_in(Wide v, Lane x, Lane* last) {
        const __m512i turned = _mm512_alignr_epi32(v.v, v.v, 15);
        *last = _mm_cvtsi128_si32(_mm512_castsi512_si128(turned));
        return {_mm512_mask_set1_epi32(turned, 1, x)};
    }
    static PAIRALIGN_INLINE Wide gather(const Lane* table, Wide index) {
        return {_mm512_i32gather_epi32(index.v, table, 4)};
    }
    template <int K>
    static PAIRALIGN_INLINE Wide byte(Wide v) {
        return {_mm512_srai_epi32(K == 3 ? v.v : _mm512_slli_epi32(v.v, 24 - 8 * K), 24)};
    }
};

#elif defined(PAIRALIGN_AVX2)

struct Narrow {
    using Lane = int16_t;
    struct Mask {
        __m256i v;
    };
    static constexpr int LANES = 16, ROWS = 4, FLAG_BYTES = 8;
    static constexpr bool GATHER = false;
    __m256i v;

    static PAIRALIGN_INLINE Narrow load(const void* p) {
        return {_mm256_load_si256(static_cast<const __m256i*>(p))};
    }
    static PAIRALIGN_INLINE Narrow set(Lane x) { return {_mm256_set1_epi16(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm256_store_si256(static_cast<__m256i*>(p), v); }
    static PAIRALIGN_INLINE Narrow add(Narrow a, Narrow b) { return {_mm256_add_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow sub(Narrow a, Narrow b) { return {_mm256_sub_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow max(Narrow a, Narrow b) { return {_mm256_max_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Narrow a, Narrow b) {
        return {_mm256_cmpeq_epi16(_mm256_max_epi16(a.v, b.v), a.v)};
    }
    static PAIRALIGN_INLINE Mask gt(Narrow a, Narrow b) { return {_mm256_cmpgt_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Narrow a, Narrow b) { return {_mm256_cmpeq_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return {_mm256_and_si256(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return {_mm256_or_si256(a.v, b.v)}; }
    static PAIRALIGN_INLINE bool any(Mask m) { return !_mm256_testz_si256(m.v, m.v); }
    static PAIRALIGN_INLINE Narrow blend(Mask m, Narrow yes, Narrow no) {
        return {_mm256_blendv_epi8(no.v, yes.v, m.v)};
    }
    // uint32_t[2]: {cup, cleft}, {diagonal, from_e}. Packing works in 128-bit halves, so lane l is
    // bit l (l < 8) or l + 8 of the first flag of a word, and 8 bits further for the second.
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        int words[2] = {_mm256_movemask_epi8(_mm256_packs_epi16(cup.v, cleft.v)),
                        _mm256_movemask_epi8(_mm256_packs_epi16(diagonal.v, from_e.v))};
        memcpy(p, words, sizeof words);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return reinterpret_cast<const uint32_t*>(p)[which >> 1] >> (lane + (lane & 8) + 8 * (which & 1)) & 1;
    }
};

struct Wide {
    using Lane = int32_t;
    struct Mask {
        __m256i v;
    };
    static constexpr int LANES = 8, ROWS = 4, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    __m256i v;

    static PAIRALIGN_INLINE Wide load(const void* p) {
        return {_mm256_load_si256(static_cast<const __m256i*>(p))};
    }
    static PAIRALIGN_INLINE Wide set(Lane x) { return {_mm256_set1_epi32(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm256_store_si256(static_cast<__m256i*>(p), v); }
    static PAIRALIGN_INLINE Wide add(Wide a, Wide b) { return {_mm256_add_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide sub(Wide a, Wide b) { return {_mm256_sub_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide max(Wide a, Wide b) { return {_mm256_max_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Wide a, Wide b) {
        return {_mm256_cmpeq_epi32(_mm256_max_epi32(a.v, b.v), a.v)};
    }
    static PAIRALIGN_INLINE Mask gt(Wide a, Wide b) { return {_mm256_cmpgt_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Wide a, Wide b) { return {_mm256_cmpeq_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return {_mm256_and_si256(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return {_mm256_or_si256(a.v, b.v)}; }
    static PAIRALIGN_INLINE bool any(Mask m) { return !_mm256_testz_si256(m.v, m.v); }
    static PAIRALIGN_INLINE Wide blend(Mask m, Wide yes, Wide no) {
        return {_mm256_blendv_epi8(no.v, yes.v, m.v)};
    }
    // uint8_t[4], one byte a flag, bit = lane
    static PAIRALIGN_INLINE uint8_t bits(Mask m) {
        return static_cast<uint8_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m.v)));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        p[CUP_NEXT] = bits(cup);
        p[CLEFT_NEXT] = bits(cleft);
        p[DIAGONAL] = bits(diagonal);
        p[FROM_E] = bits(from_e);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
    static PAIRALIGN_INLINE Wide shifted_in(Wide v, Lane x, Lane* last) {
        const __m256i turned = _mm256_permutevar8x32_epi32(v.v, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
        *last = _mm_cvtsi128_si32(_mm256_castsi256_si128(turned));
        return {_mm256_blend_epi32(turned, _mm256_set1_epi32(x), 1)};
    }
    static PAIRALIGN_INLINE Wide gather(const Lane* table, Wide index) {
        return {_mm256_i32gather_epi32(table, index.v, 4)};
    }
    template <int K>
    static PAIRALIGN_INLINE Wide byte(Wide v) {
        return {_mm256_srai_epi32(K == 3 ? v.v : _mm256_slli_epi32(v.v, 24 - 8 * K), 24)};
    }
};

#elif defined(PAIRALIGN_SSE41)

struct Narrow {
    using Lane = int16_t;
    struct Mask {
        __m128i v;
    };
    static constexpr int LANES = 8, ROWS = 4, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    __m128i v;

    static PAIRALIGN_INLINE Narrow load(const void* p) {
        return {_mm_load_si128(static_cast<const __m128i*>(p))};
    }
    static PAIRALIGN_INLINE Narrow set(Lane x) { return {_mm_set1_epi16(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm_store_si128(static_cast<__m128i*>(p), v); }
    static PAIRALIGN_INLINE Narrow add(Narrow a, Narrow b) { return {_mm_add_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow sub(Narrow a, Narrow b) { return {_mm_sub_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow max(Narrow a, Narrow b) { return {_mm_max_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Narrow a, Narrow b) {
        return {_mm_cmpeq_epi16(_mm_max_epi16(a.v, b.v), a.v)};
    }
    static PAIRALIGN_INLINE Mask gt(Narrow a, Narrow b) { return {_mm_cmpgt_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Narrow a, Narrow b) { return {_mm_cmpeq_epi16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return {_mm_and_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return {_mm_or_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE bool any(Mask m) { return !_mm_testz_si128(m.v, m.v); }
    static PAIRALIGN_INLINE Narrow blend(Mask m, Narrow yes, Narrow no) {
        return {_mm_blendv_epi8(no.v, yes.v, m.v)};
    }
    // uint8_t[4], one byte a flag, bit = lane
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint32_t low = static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(cup.v, cleft.v)));
        uint32_t high = static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(diagonal.v, from_e.v)));
        uint32_t word = low | high << 16;
        memcpy(p, &word, sizeof word);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
};

struct Wide {
    using Lane = int32_t;
    struct Mask {
        __m128i v;
    };
    static constexpr int LANES = 4, ROWS = 4, FLAG_BYTES = 2;
    static constexpr bool GATHER = false;
    __m128i v;

    static PAIRALIGN_INLINE Wide load(const void* p) {
        return {_mm_load_si128(static_cast<const __m128i*>(p))};
    }
    static PAIRALIGN_INLINE Wide set(Lane x) { return {_mm_set1_epi32(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { _mm_store_si128(static_cast<__m128i*>(p), v); }
    static PAIRALIGN_INLINE Wide add(Wide a, Wide b) { return {_mm_add_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide sub(Wide a, Wide b) { return {_mm_sub_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide max(Wide a, Wide b) { return {_mm_max_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Wide a, Wide b) {
        return {_mm_cmpeq_epi32(_mm_max_epi32(a.v, b.v), a.v)};
    }
    static PAIRALIGN_INLINE Mask gt(Wide a, Wide b) { return {_mm_cmpgt_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Wide a, Wide b) { return {_mm_cmpeq_epi32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return {_mm_and_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return {_mm_or_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE bool any(Mask m) { return !_mm_testz_si128(m.v, m.v); }
    static PAIRALIGN_INLINE Wide blend(Mask m, Wide yes, Wide no) {
        return {_mm_blendv_epi8(no.v, yes.v, m.v)};
    }
    // uint16_t, four bits a flag: bit = 4 * flag + lane
    static PAIRALIGN_INLINE unsigned bits(Mask m) {
        return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(m.v)));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint16_t word =
            static_cast<uint16_t>(bits(cup) | bits(cleft) << 4 | bits(diagonal) << 8 | bits(from_e) << 12);
        memcpy(p, &word, sizeof word);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return *reinterpret_cast<const uint16_t*>(p) >> (4 * which + lane) & 1;
    }
    static PAIRALIGN_INLINE Wide shifted_in(Wide v, Lane x, Lane* last) {
        const __m128i turned = _mm_shuffle_epi32(v.v, _MM_SHUFFLE(2, 1, 0, 3));
        *last = _mm_cvtsi128_si32(turned);
        return {_mm_insert_epi32(turned, x, 0)};
    }
    static PAIRALIGN_INLINE Wide gather(const Lane* table, Wide index) {
        return {_mm_setr_epi32(table[_mm_extract_epi32(index.v, 0)], table[_mm_extract_epi32(index.v, 1)],
                               table[_mm_extract_epi32(index.v, 2)], table[_mm_extract_epi32(index.v, 3)])};
    }
    template <int K>
    static PAIRALIGN_INLINE Wide byte(Wide v) {
        return {_mm_srai_epi32(K == 3 ? v.v : _mm_slli_epi32(v.v, 24 - 8 * K), 24)};
    }
};

#elif defined(PAIRALIGN_NEON)

struct Narrow {
    using Lane = int16_t;
    using Mask = uint16x8_t;
    static constexpr int LANES = 8, ROWS = 8, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    int16x8_t v;

    static PAIRALIGN_INLINE Narrow load(const void* p) { return {vld1q_s16(static_cast<const int16_t*>(p))}; }
    static PAIRALIGN_INLINE Narrow set(Lane x) { return {vdupq_n_s16(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { vst1q_s16(static_cast<int16_t*>(p), v); }
    static PAIRALIGN_INLINE Narrow add(Narrow a, Narrow b) { return {vaddq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow sub(Narrow a, Narrow b) { return {vsubq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow max(Narrow a, Narrow b) { return {vmaxq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Narrow a, Narrow b) { return vcgeq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Narrow a, Narrow b) { return vcgtq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Narrow a, Narrow b) { return vceqq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return vandq_u16(a, b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return vorrq_u16(a, b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return vmaxvq_u16(m) != 0; }
    static PAIRALIGN_INLINE Narrow blend(Mask m, Narrow yes, Narrow no) {
        return {vbslq_s16(m, yes.v, no.v)};
    }
    // uint8_t[4], one byte a flag, bit = lane
    static PAIRALIGN_INLINE uint8_t bits(Mask m) {
        const uint16x8_t weights = {1, 2, 4, 8, 16, 32, 64, 128};
        return static_cast<uint8_t>(vaddvq_u16(vandq_u16(m, weights)));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        p[CUP_NEXT] = bits(cup);
        p[CLEFT_NEXT] = bits(cleft);
        p[DIAGONAL] = bits(diagonal);
        p[FROM_E] = bits(from_e);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
};

struct Wide {
    using Lane = int32_t;
    using Mask = uint32x4_t;
    static constexpr int LANES = 4, ROWS = 8, FLAG_BYTES = 2;
    static constexpr bool GATHER = false;
    int32x4_t v;

    static PAIRALIGN_INLINE Wide load(const void* p) { return {vld1q_s32(static_cast<const int32_t*>(p))}; }
    static PAIRALIGN_INLINE Wide set(Lane x) { return {vdupq_n_s32(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { vst1q_s32(static_cast<int32_t*>(p), v); }
    static PAIRALIGN_INLINE Wide add(Wide a, Wide b) { return {vaddq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide sub(Wide a, Wide b) { return {vsubq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide max(Wide a, Wide b) { return {vmaxq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Wide a, Wide b) { return vcgeq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Wide a, Wide b) { return vcgtq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Wide a, Wide b) { return vceqq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return vandq_u32(a, b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return vorrq_u32(a, b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return vmaxvq_u32(m) != 0; }
    static PAIRALIGN_INLINE Wide blend(Mask m, Wide yes, Wide no) { return {vbslq_s32(m, yes.v, no.v)}; }
    // uint16_t, four bits a flag: bit = 4 * flag + lane
    static PAIRALIGN_INLINE unsigned bits(Mask m) {
        const uint32x4_t weights = {1, 2, 4, 8};
        return vaddvq_u32(vandq_u32(m, weights));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint16_t word =
            static_cast<uint16_t>(bits(cup) | bits(cleft) << 4 | bits(diagonal) << 8 | bits(from_e) << 12);
        memcpy(p, &word, sizeof word);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return *reinterpret_cast<const uint16_t*>(p) >> (4 * which + lane) & 1;
    }
    static PAIRALIGN_INLINE Wide shifted_in(Wide v, Lane x, Lane* last) {
        *last = vgetq_lane_s32(v.v, 3);
        return {vextq_s32(vdupq_n_s32(x), v.v, 3)};
    }
    static PAIRALIGN_INLINE Wide gather(const Lane* table, Wide index) {
        const int32x4_t r = {table[vgetq_lane_s32(index.v, 0)], table[vgetq_lane_s32(index.v, 1)],
                             table[vgetq_lane_s32(index.v, 2)], table[vgetq_lane_s32(index.v, 3)]};
        return {r};
    }
    template <int K>
    static PAIRALIGN_INLINE Wide byte(Wide v) {
        return {vshrq_n_s32(vshlq_n_s32(v.v, 24 - 8 * K), 24)};
    }
};

#else  // plain C++: any other machine; GCC's vector extension keeps it short

template <class Scalar, int COUNT>
struct Plain {
    using Lane = Scalar;
    struct Mask {
        bool v[COUNT];
    };
    static constexpr int LANES = COUNT, ROWS = 4, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    Lane v[COUNT];

    template <class Function>
    static Plain each(Function function) {
        Plain r;
        for (int l = 0; l < COUNT; l++) r.v[l] = function(l);
        return r;
    }
    template <class Function>
    static Mask test(Function function) {
        Mask r;
        for (int l = 0; l < COUNT; l++) r.v[l] = function(l);
        return r;
    }
    static Plain load(const void* p) {
        Plain r;
        memcpy(r.v, p, sizeof r.v);
        return r;
    }
    static Plain set(Lane x) {
        return each([&](int) { return x; });
    }
    void store(void* p) const { memcpy(p, v, sizeof v); }
    static Plain add(Plain a, Plain b) {
        return each([&](int l) { return static_cast<Lane>(int64_t(a.v[l]) + b.v[l]); });
    }
    static Plain sub(Plain a, Plain b) {
        return each([&](int l) { return static_cast<Lane>(int64_t(a.v[l]) - b.v[l]); });
    }
    static Plain max(Plain a, Plain b) {
        return each([&](int l) { return a.v[l] > b.v[l] ? a.v[l] : b.v[l]; });
    }
    static Mask ge(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] >= b.v[l]; });
    }
    static Mask gt(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] > b.v[l]; });
    }
    static Mask eq(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] == b.v[l]; });
    }
    static Mask both(Mask a, Mask b) {
        return test([&](int l) { return a.v[l] && b.v[l]; });
    }
    static Mask either(Mask a, Mask b) {
        return test([&](int l) { return a.v[l] || b.v[l]; });
    }
    static bool any(Mask m) {
        bool r = false;
        for (int l = 0; l < COUNT; l++) r |= m.v[l];
        return r;
    }
    static Plain blend(Mask m, Plain yes, Plain no) {
        return each([&](int l) { return m.v[l] ? yes.v[l] : no.v[l]; });
    }
    // uint8_t[4], one byte a flag, bit = lane
    static void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        p[0] = p[1] = p[2] = p[3] = 0;
        for (int l = 0; l < COUNT; l++) {
            p[CUP_NEXT] = static_cast<uint8_t>(p[CUP_NEXT] | cup.v[l] << l);
            p[CLEFT_NEXT] = static_cast<uint8_t>(p[CLEFT_NEXT] | cleft.v[l] << l);
            p[DIAGONAL] = static_cast<uint8_t>(p[DIAGONAL] | diagonal.v[l] << l);
            p[FROM_E] = static_cast<uint8_t>(p[FROM_E] | from_e.v[l] << l);
        }
    }
    static bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
    static Plain shifted_in(Plain v, Lane x, Lane* last) {
        *last = v.v[COUNT - 1];
        return each([&](int l) { return l ? v.v[l - 1] : x; });
    }
    static Plain gather(const Lane* table, Plain index) {
        return each([&](int l) { return table[index.v[l]]; });
    }
    template <int K>
    static Plain byte(Plain v) {
        return each([&](int l) { return static_cast<int8_t>(static_cast<uint32_t>(v.v[l]) >> 8 * K); });
    }
};
using Narrow = Plain<int16_t, 8>;
using Wide = Plain<int32_t, 4>;

#endif

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
