// The 8-bit lanes of bytes.h for SSE4.1. Included by bytes.h alone, which says what members mean.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Bytes {
    struct Mask {
        __m128i v;
    };
    struct Index {  // for a table of 16 codes each: a byte beyond 127 fetches 0
        __m128i low, high;
    };
    static constexpr int LANES = 16, ROWS = 4, LOCAL_ROWS = 4;
    typedef int16_t Words __attribute__((vector_size(LANES)));
    typedef int32_t Ints __attribute__((vector_size(LANES)));
    typedef int8_t Marks __attribute__((vector_size(LANES / 4)));
    static constexpr bool LOOKUP = false;
    using WithoutLookup = Bytes;
    using WithLookup = Bytes;
    __m128i v;

    static PAIRALIGN_INLINE Bytes load(const uint8_t* p) {
        return {_mm_load_si128(reinterpret_cast<const __m128i*>(p))};
    }
    static PAIRALIGN_INLINE Bytes load_any(const uint8_t* p) {
        return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
    }
    static PAIRALIGN_INLINE Bytes set(int x) { return {_mm_set1_epi8(static_cast<char>(x))}; }
    PAIRALIGN_INLINE void store_any(uint8_t* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
    PAIRALIGN_INLINE void store(uint8_t* p) const { _mm_store_si128(reinterpret_cast<__m128i*>(p), v); }
    static PAIRALIGN_INLINE Bytes add(Bytes a, Bytes b) { return {_mm_add_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes sub(Bytes a, Bytes b) { return {_mm_sub_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes max(Bytes a, Bytes b) { return {_mm_max_epu8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes max_signed(Bytes a, Bytes b) { return {_mm_max_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes sub_not_below(Bytes a, Bytes b, Bytes least) {
        return max(sub(a, b), least);
    }
    static PAIRALIGN_INLINE Bytes as_it_is(Bytes a) {
        asm("" : "+x"(a.v));
        return a;
    }
    static PAIRALIGN_INLINE Bytes bit_and(Bytes a, Bytes b) { return {_mm_and_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes bit_or(Bytes a, Bytes b) { return {_mm_or_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Bytes a, Bytes b) { return {_mm_cmpeq_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Bytes a, Bytes b) { return eq(max(a, b), a); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return {_mm_and_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return {_mm_or_si128(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask but_not(Mask a, Mask b) { return {_mm_andnot_si128(b.v, a.v)}; }
    static PAIRALIGN_INLINE bool any(Mask m) { return _mm_movemask_epi8(m.v) != 0; }
    static PAIRALIGN_INLINE Bytes blend(Mask m, Bytes yes, Bytes no) {
        return {_mm_blendv_epi8(no.v, yes.v, m.v)};
    }
    static PAIRALIGN_INLINE uint64_t bits(Mask m) { return static_cast<uint32_t>(_mm_movemask_epi8(m.v)); }
    static PAIRALIGN_INLINE Bytes unless(Mask m, Bytes x) { return {_mm_andnot_si128(m.v, x.v)}; }
    static PAIRALIGN_INLINE Bytes one_more(Mask m, Bytes x) { return {_mm_sub_epi8(x.v, m.v)}; }
    static PAIRALIGN_INLINE Bytes with(Mask m, Bytes bit, Bytes x) {
        return {_mm_or_si128(x.v, _mm_and_si128(m.v, bit.v))};
    }
    static PAIRALIGN_INLINE Words words(const uint8_t* p) {
        return reinterpret_cast<Words>(
            _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
    }
    static PAIRALIGN_INLINE Bytes min(Bytes a, Bytes b) { return {_mm_min_epu8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes add_saturated(Bytes a, Bytes b) { return {_mm_adds_epu8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Words wide_low(Bytes a) {
        return reinterpret_cast<Words>(_mm_unpacklo_epi8(a.v, _mm_setzero_si128()));
    }
    static PAIRALIGN_INLINE Words wide_high(Bytes a) {
        return reinterpret_cast<Words>(_mm_unpackhi_epi8(a.v, _mm_setzero_si128()));
    }
    static PAIRALIGN_INLINE Bytes narrow(Words low, Words high) {
        return {_mm_packus_epi16(reinterpret_cast<__m128i>(low), reinterpret_cast<__m128i>(high))};
    }
    static PAIRALIGN_INLINE Bytes bit_xor(Bytes a, Bytes b) { return {_mm_xor_si128(a.v, b.v)}; }
    template <class From>
    static PAIRALIGN_INLINE Bytes every_16th(From&& from) {
        return load_any(from(0));
    }
    static PAIRALIGN_INLINE Bytes interleave_low(Bytes a, Bytes b) { return {_mm_unpacklo_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes interleave_high(Bytes a, Bytes b) { return {_mm_unpackhi_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes table_of_16(const uint8_t* p) { return load_any(p); }
    static PAIRALIGN_INLINE Bytes lookup_16(Bytes table, Bytes numbers) {
        return {_mm_shuffle_epi8(table.v, numbers.v)};
    }
    static PAIRALIGN_INLINE Index index(Bytes codes) {
        return {_mm_add_epi8(codes.v, _mm_set1_epi8(0x70)), _mm_sub_epi8(codes.v, _mm_set1_epi8(16))};
    }
    static PAIRALIGN_INLINE Bytes lookup(const uint8_t* table, Index index) {
        const __m128i* halves = reinterpret_cast<const __m128i*>(table);
        return {
            _mm_or_si128(_mm_shuffle_epi8(halves[0], index.low), _mm_shuffle_epi8(halves[1], index.high))};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
