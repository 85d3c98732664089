// What free_cells.h and rare_gaps.h need of 8-bit lanes beside bytes.h: stores at any address, lanes moved up
// by one, and differences that end at 0.
//
//   from_below(v, below)      lane l of the result is lane l - 1 of v; lane 0 is the last lane of `below`
//   lose_unless(m, v, loss)   v less `loss`, but not below 0, where the mask is not set
//   lose(v, loss)             the same in all lanes
//   add_signed(v, more)       sums of signed bytes, -128 or 127 where they have no room; `more` may be less
//                             than 0, for which bytes without a sign take two instructions
//   most_signed(v)            the most that a lane has, as a signed number
#pragma once

#include "../simd/bytes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

#if defined(PAIRALIGN_AVX512) || defined(PAIRALIGN_AVX2) || defined(PAIRALIGN_SSE41)

static PAIRALIGN_INLINE int32_t most_of_16(__m128i v) {
    const __m128i less = _mm_xor_si128(v, _mm_set1_epi8(127));  // the more a signed byte is
    const __m128i of_two = _mm_min_epu8(less, _mm_srli_epi16(less, 8));
    return 127 - (_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(of_two, _mm_set1_epi16(255)))) & 255);
}

#endif

#if defined(PAIRALIGN_AVX512)

static PAIRALIGN_INLINE void store_any(uint8_t* p, Bytes v) { _mm512_storeu_si512(p, v.v); }
static PAIRALIGN_INLINE Bytes from_below(Bytes v, Bytes below) {
    return {_mm512_alignr_epi8(v.v, _mm512_alignr_epi64(v.v, below.v, 6), 15)};
}
static PAIRALIGN_INLINE Bytes lose_unless(Bytes::Mask m, Bytes v, Bytes loss) {
    return {_mm512_mask_subs_epu8(v.v, ~m, v.v, loss.v)};
}
static PAIRALIGN_INLINE Bytes lose(Bytes v, Bytes loss) { return {_mm512_subs_epu8(v.v, loss.v)}; }
static PAIRALIGN_INLINE Bytes add_signed(Bytes v, Bytes more) { return {_mm512_adds_epi8(v.v, more.v)}; }
static PAIRALIGN_INLINE int32_t most_signed(Bytes v) {
    const __m256i half = _mm256_max_epi8(_mm512_castsi512_si256(v.v), _mm512_extracti64x4_epi64(v.v, 1));
    return most_of_16(_mm_max_epi8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

#elif defined(PAIRALIGN_AVX2)

static PAIRALIGN_INLINE void store_any(uint8_t* p, Bytes v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v.v);
}
static PAIRALIGN_INLINE Bytes from_below(Bytes v, Bytes below) {
    return {_mm256_alignr_epi8(v.v, _mm256_permute2x128_si256(below.v, v.v, 0x21), 15)};
}
static PAIRALIGN_INLINE Bytes lose_unless(Bytes::Mask m, Bytes v, Bytes loss) {
    return {_mm256_subs_epu8(v.v, Bytes::unless(m, loss).v)};
}
static PAIRALIGN_INLINE Bytes lose(Bytes v, Bytes loss) { return {_mm256_subs_epu8(v.v, loss.v)}; }
static PAIRALIGN_INLINE Bytes add_signed(Bytes v, Bytes more) { return {_mm256_adds_epi8(v.v, more.v)}; }
static PAIRALIGN_INLINE int32_t most_signed(Bytes v) {
    return most_of_16(_mm_max_epi8(_mm256_castsi256_si128(v.v), _mm256_extracti128_si256(v.v, 1)));
}

#elif defined(PAIRALIGN_SSE41)

static PAIRALIGN_INLINE void store_any(uint8_t* p, Bytes v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v.v);
}
static PAIRALIGN_INLINE Bytes from_below(Bytes v, Bytes below) { return {_mm_alignr_epi8(v.v, below.v, 15)}; }
static PAIRALIGN_INLINE Bytes lose_unless(Bytes::Mask m, Bytes v, Bytes loss) {
    return {_mm_subs_epu8(v.v, Bytes::unless(m, loss).v)};
}
static PAIRALIGN_INLINE Bytes lose(Bytes v, Bytes loss) { return {_mm_subs_epu8(v.v, loss.v)}; }
static PAIRALIGN_INLINE Bytes add_signed(Bytes v, Bytes more) { return {_mm_adds_epi8(v.v, more.v)}; }
static PAIRALIGN_INLINE int32_t most_signed(Bytes v) { return most_of_16(v.v); }

#elif defined(PAIRALIGN_NEON)

static PAIRALIGN_INLINE void store_any(uint8_t* p, Bytes v) { v.store(p); }
static PAIRALIGN_INLINE Bytes from_below(Bytes v, Bytes below) { return {vextq_u8(below.v, v.v, 15)}; }
static PAIRALIGN_INLINE Bytes lose_unless(Bytes::Mask m, Bytes v, Bytes loss) {
    return {vqsubq_u8(v.v, Bytes::unless(m, loss).v)};
}
static PAIRALIGN_INLINE Bytes lose(Bytes v, Bytes loss) { return {vqsubq_u8(v.v, loss.v)}; }
static PAIRALIGN_INLINE Bytes add_signed(Bytes v, Bytes more) {
    return {vreinterpretq_u8_s8(vqaddq_s8(vreinterpretq_s8_u8(v.v), vreinterpretq_s8_u8(more.v)))};
}
static PAIRALIGN_INLINE int32_t most_signed(Bytes v) { return vmaxvq_s8(vreinterpretq_s8_u8(v.v)); }

#else

static PAIRALIGN_INLINE void store_any(uint8_t* p, Bytes v) { v.store(p); }
static PAIRALIGN_INLINE Bytes from_below(Bytes v, Bytes below) {
    return Bytes::each<Bytes>([&](int l) { return l ? v.v[l - 1] : below.v[Bytes::LANES - 1]; });
}
static PAIRALIGN_INLINE Bytes lose(Bytes v, Bytes loss) {
    return Bytes::each<Bytes>([&](int l) { return v.v[l] > loss.v[l] ? v.v[l] - loss.v[l] : 0; });
}
static PAIRALIGN_INLINE Bytes lose_unless(Bytes::Mask m, Bytes v, Bytes loss) {
    return lose(v, Bytes::unless(m, loss));
}
static PAIRALIGN_INLINE Bytes add_signed(Bytes v, Bytes more) {
    return Bytes::each<Bytes>([&](int l) {
        const int sum = static_cast<int8_t>(v.v[l]) + static_cast<int8_t>(more.v[l]);
        return static_cast<uint8_t>(sum < -128 ? -128 : sum > 127 ? 127 : sum);
    });
}
static PAIRALIGN_INLINE int32_t most_signed(Bytes v) {
    int32_t most = -128;
    for (const uint8_t one : v.v) most = static_cast<int8_t>(one) > most ? static_cast<int8_t>(one) : most;
    return most;
}

#endif

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
