// The 8-bit lanes of bytes.h for AVX-512 (F, BW, VL, DQ), and for processors that have VBMI too. Included by
// bytes.h alone, which says what members mean.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// PERMUTE: with VBMI, whose permutation of bytes looks scores up at the price of one load, and VBMI2.
template <bool PERMUTE>
struct BytesOf {
    using Mask = __mmask64;
    struct Index {
        __m512i low, high;
    };
    static constexpr int LANES = 64, ROWS = 8, LOCAL_ROWS = 8;
    typedef int16_t Words __attribute__((vector_size(LANES)));
    typedef int32_t Ints __attribute__((vector_size(LANES)));
    typedef int8_t Marks __attribute__((vector_size(LANES / 4)));
    static constexpr bool LOOKUP = PERMUTE;
    using WithoutLookup = BytesOf<false>;
    using WithLookup = BytesOf<true>;
    __m512i v;

    static PAIRALIGN_INLINE BytesOf load(const uint8_t* p) { return {_mm512_load_si512(p)}; }
    static PAIRALIGN_INLINE BytesOf load_any(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
    static PAIRALIGN_INLINE BytesOf set(int x) { return {_mm512_set1_epi8(static_cast<char>(x))}; }
    PAIRALIGN_INLINE void store_any(uint8_t* p) const { _mm512_storeu_si512(p, v); }
    PAIRALIGN_INLINE void store(uint8_t* p) const { _mm512_store_si512(p, v); }
    static PAIRALIGN_INLINE BytesOf add(BytesOf a, BytesOf b) { return {_mm512_add_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf sub(BytesOf a, BytesOf b) { return {_mm512_sub_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf max(BytesOf a, BytesOf b) { return {_mm512_max_epu8(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf max_signed(BytesOf a, BytesOf b) { return {_mm512_max_epi8(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf sub_not_below(BytesOf a, BytesOf b, BytesOf least) {
        const Mask more = _mm512_cmpge_epu8_mask(a.v, _mm512_adds_epu8(b.v, least.v));
        return {_mm512_mask_sub_epi8(least.v, more, a.v, b.v)};
    }
    static PAIRALIGN_INLINE BytesOf as_it_is(BytesOf a) {
        asm("" : "+v"(a.v));
        return a;
    }
    static PAIRALIGN_INLINE BytesOf bit_and(BytesOf a, BytesOf b) { return {_mm512_and_si512(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf bit_or(BytesOf a, BytesOf b) { return {_mm512_or_si512(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(BytesOf a, BytesOf b) { return _mm512_cmpeq_epu8_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask ge(BytesOf a, BytesOf b) { return _mm512_cmpge_epu8_mask(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return a & b; }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return a | b; }
    static PAIRALIGN_INLINE Mask but_not(Mask a, Mask b) { return a & ~b; }
    static PAIRALIGN_INLINE bool any(Mask m) { return m != 0; }
    static PAIRALIGN_INLINE BytesOf blend(Mask m, BytesOf yes, BytesOf no) {
        return {_mm512_mask_blend_epi8(m, no.v, yes.v)};
    }
    static PAIRALIGN_INLINE uint64_t bits(Mask m) { return m; }
    static PAIRALIGN_INLINE BytesOf unless(Mask m, BytesOf x) {
        return {_mm512_mask_blend_epi8(m, x.v, _mm512_setzero_si512())};
    }
    static PAIRALIGN_INLINE BytesOf one_more(Mask m, BytesOf x) {
        return {_mm512_mask_add_epi8(x.v, m, x.v, _mm512_set1_epi8(1))};
    }
    static PAIRALIGN_INLINE BytesOf with(Mask m, BytesOf bit, BytesOf x) {
        return {_mm512_mask_add_epi8(x.v, m, x.v, bit.v)};
    }
    static PAIRALIGN_INLINE Words words(const uint8_t* p) {
        return reinterpret_cast<Words>(
            _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(p))));
    }
    static PAIRALIGN_INLINE BytesOf min(BytesOf a, BytesOf b) { return {_mm512_min_epu8(a.v, b.v)}; }
    static PAIRALIGN_INLINE BytesOf add_saturated(BytesOf a, BytesOf b) {
        return {_mm512_adds_epu8(a.v, b.v)};
    }
    static PAIRALIGN_INLINE Words wide_low(BytesOf a) {
        return reinterpret_cast<Words>(_mm512_unpacklo_epi8(a.v, _mm512_setzero_si512()));
    }
    static PAIRALIGN_INLINE Words wide_high(BytesOf a) {
        return reinterpret_cast<Words>(_mm512_unpackhi_epi8(a.v, _mm512_setzero_si512()));
    }
    static PAIRALIGN_INLINE BytesOf narrow(Words low, Words high) {
        return {_mm512_packus_epi16(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high))};
    }
    static PAIRALIGN_INLINE BytesOf bit_xor(BytesOf a, BytesOf b) { return {_mm512_xor_si512(a.v, b.v)}; }
    template <class From>
    static PAIRALIGN_INLINE BytesOf every_16th(From&& from) {
        const auto part = [&](int k) __attribute__((always_inline)) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from(k)));
        };
        const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1),
                      high = _mm256_inserti128_si256(_mm256_castsi128_si256(part(2)), part(3), 1);
        return {_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
    }
    static PAIRALIGN_INLINE BytesOf interleave_low(BytesOf a, BytesOf b) {
        return {_mm512_unpacklo_epi8(a.v, b.v)};
    }
    static PAIRALIGN_INLINE BytesOf interleave_high(BytesOf a, BytesOf b) {
        return {_mm512_unpackhi_epi8(a.v, b.v)};
    }
    static PAIRALIGN_INLINE BytesOf table_of_16(const uint8_t* p) {
        return {_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
    }
    static PAIRALIGN_INLINE BytesOf lookup_16(BytesOf table, BytesOf numbers) {
        return {_mm512_shuffle_epi8(table.v, numbers.v)};
    }
    static PAIRALIGN_INLINE Index index(BytesOf codes) {
        if constexpr (PERMUTE) return {codes.v, codes.v};
        return {_mm512_add_epi8(codes.v, _mm512_set1_epi8(0x70)),
                _mm512_sub_epi8(codes.v, _mm512_set1_epi8(16))};
    }
    static PAIRALIGN_INLINE BytesOf lookup(const uint8_t* table, Index index) {
        if constexpr (PERMUTE) {
            // The table stands in memory twice, for codes of 64 residues. Volatile: where it is asked at run
            // time whether there is VBMI, it stays behind the question.
            BytesOf r;
            asm volatile("vpermb %2, %1, %0"
                         : "=v"(r.v)
                         : "v"(index.low), "m"(*reinterpret_cast<const __m512i*>(table)));
            return r;
        }
        const __m128i* halves = reinterpret_cast<const __m128i*>(table);
        return {_mm512_or_si512(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(halves[0]), index.low),
                                _mm512_shuffle_epi8(_mm512_broadcast_i32x4(halves[1]), index.high))};
    }
    static PAIRALIGN_INLINE BytesOf lookup_where(Mask m, const uint8_t* table, Index index,
                                                 BytesOf elsewhere) {
        asm("vpermb %3, %1, %0 %{%2%}"
            : "+v"(elsewhere.v)
            : "v"(index.low), "Yk"(m), "m"(*reinterpret_cast<const __m512i*>(table)));
        return elsewhere;
    }
    static PAIRALIGN_INLINE BytesOf numbers() {
        alignas(64) static constexpr uint8_t FROM_0[] = {
            0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
            22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
            44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
        return load(FROM_0);
    }
    static PAIRALIGN_INLINE Ints ints(const uint8_t* p) {
        return reinterpret_cast<Ints>(
            _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(p))));
    }
    static PAIRALIGN_INLINE BytesOf of_lane_before(BytesOf a) {
        BytesOf r;
        asm("vpermb %1, %2, %0%{%3%}%{z%}"
            : "=v"(r.v)
            : "v"(a.v), "v"(sub(numbers(), set(1)).v), "Yk"(~Mask{1}));
        return r;
    }
    static PAIRALIGN_INLINE BytesOf compressed(Mask m, BytesOf a) {
        BytesOf r;
        asm("vpcompressb %1, %0%{%2%}%{z%}" : "=v"(r.v) : "v"(a.v), "Yk"(m));
        return r;
    }
};

using Bytes = BytesOf<false>;
using PermutedBytes = BytesOf<true>;

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
