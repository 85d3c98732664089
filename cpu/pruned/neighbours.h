// What antidiagonal_band.h needs of vectors beside the types of vector.h: loads and stores at any
// address, and lanes moved by one between neighbouring vectors.
//
//   from_below(v, below)   lane l of the result is lane l - 1 of v; lane 0 is the last lane of `below`
//   widened(p)             lanes of 32 bits from as many of 16 or 32
//   from_above(v, above)   lane l of the result is lane l + 1 of v; the last lane is lane 0 of `above`
#pragma once

#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Of the four registers that a vector of cells needs, so many sets are kept between antidiagonals.
#if defined(PAIRALIGN_AVX512)
constexpr int SETS_IN_REGISTERS = 5;
#else
constexpr int SETS_IN_REGISTERS = 3;
#endif

#if defined(PAIRALIGN_AVX512)

template <class V>
static PAIRALIGN_INLINE V load_any(const void* p) {
    return {_mm512_loadu_si512(p)};
}
static PAIRALIGN_INLINE Wide widened(const int16_t* p) {
    return {_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
template <class V>
static PAIRALIGN_INLINE void store_any(void* p, V v) {
    _mm512_storeu_si512(p, v.v);
}
static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm512_alignr_epi8(v.v, _mm512_alignr_epi64(v.v, below.v, 6), 14)};
}
static PAIRALIGN_INLINE Narrow from_above(Narrow v, Narrow above) {
    return {_mm512_alignr_epi8(_mm512_alignr_epi64(above.v, v.v, 2), v.v, 2)};
}
static PAIRALIGN_INLINE Wide from_below(Wide v, Wide below) {
    return {_mm512_alignr_epi32(v.v, below.v, 15)};
}
static PAIRALIGN_INLINE Wide from_above(Wide v, Wide above) { return {_mm512_alignr_epi32(above.v, v.v, 1)}; }

#elif defined(PAIRALIGN_AVX2)

template <class V>
static PAIRALIGN_INLINE V load_any(const void* p) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
}
static PAIRALIGN_INLINE Wide widened(const int16_t* p) {
    return {_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
template <class V>
static PAIRALIGN_INLINE void store_any(void* p, V v) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), v.v);
}
template <class V>
static PAIRALIGN_INLINE V from_below(V v, V below) {
    constexpr int BYTES = 16 - static_cast<int>(sizeof(typename V::Lane));
    return {_mm256_alignr_epi8(v.v, _mm256_permute2x128_si256(below.v, v.v, 0x21), BYTES)};
}
template <class V>
static PAIRALIGN_INLINE V from_above(V v, V above) {
    constexpr int BYTES = static_cast<int>(sizeof(typename V::Lane));
    return {_mm256_alignr_epi8(_mm256_permute2x128_si256(v.v, above.v, 0x21), v.v, BYTES)};
}

#elif defined(PAIRALIGN_SSE41)

template <class V>
static PAIRALIGN_INLINE V load_any(const void* p) {
    return {_mm_loadu_si128(static_cast<const __m128i*>(p))};
}
static PAIRALIGN_INLINE Wide widened(const int16_t* p) {
    return {_mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))};
}
template <class V>
static PAIRALIGN_INLINE void store_any(void* p, V v) {
    _mm_storeu_si128(static_cast<__m128i*>(p), v.v);
}
template <class V>
static PAIRALIGN_INLINE V from_below(V v, V below) {
    return {_mm_alignr_epi8(v.v, below.v, 16 - static_cast<int>(sizeof(typename V::Lane)))};
}
template <class V>
static PAIRALIGN_INLINE V from_above(V v, V above) {
    return {_mm_alignr_epi8(above.v, v.v, static_cast<int>(sizeof(typename V::Lane)))};
}

#elif defined(PAIRALIGN_NEON)

template <class V>
static PAIRALIGN_INLINE V load_any(const void* p) {
    return V::load(p);
}
template <class V>
static PAIRALIGN_INLINE void store_any(void* p, V v) {
    v.store(p);
}
static PAIRALIGN_INLINE Wide widened(const int16_t* p) { return {vmovl_s16(vld1_s16(p))}; }
static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) { return {vextq_s16(below.v, v.v, 7)}; }
static PAIRALIGN_INLINE Narrow from_above(Narrow v, Narrow above) { return {vextq_s16(v.v, above.v, 1)}; }
static PAIRALIGN_INLINE Wide from_below(Wide v, Wide below) { return {vextq_s32(below.v, v.v, 3)}; }
static PAIRALIGN_INLINE Wide from_above(Wide v, Wide above) { return {vextq_s32(v.v, above.v, 1)}; }

#else

template <class V>
static V load_any(const void* p) {
    return V::load(p);
}
template <class V>
static void store_any(void* p, V v) {
    v.store(p);
}
static Wide widened(const int16_t* p) {
    return Wide::each([&](int l) { return p[l]; });
}
template <class V>
static V from_below(V v, V below) {
    return V::each([&](int l) { return l ? v.v[l - 1] : below.v[V::LANES - 1]; });
}
template <class V>
static V from_above(V v, V above) {
    return V::each([&](int l) { return l + 1 < V::LANES ? v.v[l + 1] : above.v[0]; });
}

#endif

static PAIRALIGN_INLINE Wide widened(const int32_t* p) { return load_any<Wide>(p); }

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
