// The vector types of vector.h for SSE4.1. Included by vector.h alone, which says what members mean.
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

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
