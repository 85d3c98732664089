// The vector types of vector.h for AVX2. Included by vector.h alone, which says what members mean.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

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

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
