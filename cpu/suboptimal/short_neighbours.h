// What band_strips.h needs of 16-bit lanes beside vector.h: loads and stores at any address, and lanes moved
// up by one.
//
//   from_below(v, below)   lane l of the result is lane l - 1 of v; lane 0 is the last lane of `below`
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

#elif defined(PAIRALIGN_AVX2)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm256_alignr_epi8(v.v, _mm256_permute2x128_si256(below.v, v.v, 0x21), 14)};
}

#elif defined(PAIRALIGN_SSE41)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return {_mm_alignr_epi8(v.v, below.v, 14)};
}

#elif defined(PAIRALIGN_NEON)

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) { return {vextq_s16(below.v, v.v, 7)}; }

#else

static PAIRALIGN_INLINE Narrow from_below(Narrow v, Narrow below) {
    return Narrow::each([&](int l) { return l ? v.v[l - 1] : below.v[Narrow::LANES - 1]; });
}

#endif

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
