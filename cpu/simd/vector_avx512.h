// The vector types of vector.h for AVX-512 (F, BW, VL, DQ). Included by vector.h alone, which says what
// members mean.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

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

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
