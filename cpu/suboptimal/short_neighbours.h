// What band_strips.h needs of 16-bit lanes beside vector.h: loads and stores at any address, lanes moved up
// by one, and flags.
//
//   from_below(v, below)   lane l of the result is lane l - 1 of v; lane 0 is the last lane of `below`
//   with(m, bit, v)        v, and `bit` more where the mask is set
//   store_bytes(p, v)      the low byte of each lane
#pragma once

#include "../simd/vector.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

static PAIRALIGN_INLINE Narrow load_any(const int16_t* p) {
    Narrow v;
    memcpy(&v.v, p, sizeof v.v);
    return v;
}
static PAIRALIGN_INLINE void store_any(int16_t* p, Narrow v) { memcpy(p, &v.v, sizeof v.v); }

#if defined(PAIRALIGN_AVX512)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm512_alignr_epi8(v.v, _mm512_alignr_epi64(v.v, below.v, 6), 14)};
}
static PAIRALIGN_INLINE Narrow with(Narrow::Mask m, Narrow bit, Narrow v) {
    return {_mm512_mask_add_epi16(v.v, m, v.v, bit.v)};
}
static PAIRALIGN_INLINE void store_bytes(uint8_t* p, Narrow v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi16_epi8(v.v));
}

#elif defined(PAIRALIGN_AVX2)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm256_alignr_epi8(v.v, _mm256_permute2x128_si256(below.v, v.v, 0x21), 14)};
}
static PAIRALIGN_INLINE Narrow with(Narrow::Mask m, Narrow bit, Narrow v) {
    return {_mm256_add_epi16(v.v, _mm256_and_si256(m.v, bit.v))};
}
static PAIRALIGN_INLINE void store_bytes(uint8_t* p, Narrow v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm_packus_epi16(_mm256_castsi256_si128(v.v), _mm256_extracti128_si256(v.v, 1)));
}

#elif defined(PAIRALIGN_SSE41)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm_alignr_epi8(v.v, below.v, 14)};
}
static PAIRALIGN_INLINE Narrow with(Narrow::Mask m, Narrow bit, Narrow v) {
    return {_mm_add_epi16(v.v, _mm_and_si128(m.v, bit.v))};
}
static PAIRALIGN_INLINE void store_bytes(uint8_t* p, Narrow v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(v.v, v.v));
}

#elif defined(PAIRALIGN_NEON)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) { return {vextq_s16(below.v, v.v, 7)}; }
static PAIRALIGN_INLINE Narrow with(Narrow::Mask m, Narrow bit, Narrow v) {
    return {vaddq_s16(v.v, vandq_s16(vreinterpretq_s16_u16(m), bit.v))};
}
static PAIRALIGN_INLINE void store_bytes(uint8_t* p, Narrow v) {
    vst1_u8(p, vmovn_u16(vreinterpretq_u16_s16(v.v)));
}

#else

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return Narrow::each([&](int l) { return l ? v.v[l - 1] : below.v[Narrow::LANES - 1]; });
}
static PAIRALIGN_INLINE Narrow with(Narrow::Mask m, Narrow bit, Narrow v) {
    return Narrow::add(v, Narrow::blend(m, bit, Narrow::set(0)));
}
static PAIRALIGN_INLINE void store_bytes(uint8_t* p, Narrow v) {
    for (int l = 0; l < Narrow::LANES; ++l) p[l] = static_cast<uint8_t>(v.v[l]);
}

#endif

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
