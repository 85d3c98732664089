// How fronts go on over equal residues, a vector of diagonals at a time. Included by wavefronts.h alone.
#pragma once

#include <cstring>

#include "neighbours.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

static PAIRALIGN_INLINE uint64_t eight_residues(const uint8_t* at) {
    uint64_t residues;
    std::memcpy(&residues, at, 8);
    return residues;
}

// COMPARED residues at once: BITS of each, not all 0 where they differ, the first one's lowest.
#if defined(PAIRALIGN_AVX512)
constexpr int COMPARED = 64, BITS = 1;
static PAIRALIGN_INLINE uint64_t differing(const uint8_t* a, const uint8_t* b) {
    return _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}
#elif defined(PAIRALIGN_AVX2)
constexpr int COMPARED = 32, BITS = 1;
static PAIRALIGN_INLINE uint64_t differing(const uint8_t* a, const uint8_t* b) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
                  y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    return ~static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)));
}
#else
constexpr int COMPARED = 8, BITS = 8;
static PAIRALIGN_INLINE uint64_t differing(const uint8_t* a, const uint8_t* b) {
    return eight_residues(a) ^ eight_residues(b);
}
#endif

// How many residues from both places on are equal. Those beyond both sequences differ.
static PAIRALIGN_INLINE int32_t equal_after(const uint8_t* a, const uint8_t* b) {
    uint64_t difference = eight_residues(a) ^ eight_residues(b);
    if (difference) return __builtin_ctzll(difference) >> 3;  // most are few
    int32_t count = 8;
    while ((difference = differing(a + count, b + count)) == 0) count += COMPARED;
    return count + __builtin_ctzll(difference) / BITS;
}

// The same before both places.
static PAIRALIGN_INLINE int32_t equal_before(const uint8_t* a, const uint8_t* b) {
    uint64_t difference;
    int32_t count = COMPARED;
    while ((difference = differing(a - count, b - count)) == 0) count += COMPARED;
    return count - COMPARED + (__builtin_clzll(difference) - (64 - COMPARED * BITS)) / BITS;
}

#if defined(PAIRALIGN_AVX512) || defined(PAIRALIGN_AVX2)

constexpr bool GOES_ON_AT_ONCE = true;

// Of lanes that have four equal residues more, bits: where the residues after those differ.
static __attribute__((noinline)) Wide go_on_beyond(Wide reached, Wide diagonals, uint32_t lanes,
                                                   const uint8_t* row, const uint8_t* column) {
    int32_t rows[Wide::LANES], k[Wide::LANES];
    store_any(rows, reached);
    store_any(k, diagonals);
    for (; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        const int32_t at = rows[l] + 4;
        rows[l] = at + equal_after(row + at, column + (at - k[l]));
    }
    return load_any<Wide>(rows);
}

#endif

#if defined(PAIRALIGN_AVX512)

// Lanes of diagonals up to `high` that have reached more than `before` go on; `farthest`: antidiagonals.
static PAIRALIGN_INLINE Wide go_on_at_once(Wide reached, Wide before, Wide diagonals, int32_t high,
                                           const uint8_t* row, const uint8_t* column, Wide& farthest) {
    const __m512i zero = _mm512_setzero_si512();
    const __mmask16 moved =
        _mm512_mask_cmpneq_epi32_mask(_mm512_mask_cmple_epi32_mask(_mm512_cmpge_epi32_mask(reached.v, zero),
                                                                   diagonals.v, _mm512_set1_epi32(high)),
                                      reached.v, before.v);
    if (!moved) return reached;
    const __m512i a = _mm512_mask_i32gather_epi32(zero, moved, reached.v, row, 1),
                  b = _mm512_mask_i32gather_epi32(zero, moved, _mm512_sub_epi32(reached.v, diagonals.v),
                                                  column, 1),
                  difference = _mm512_xor_si512(a, b), one = _mm512_set1_epi32(1);
    const __mmask16 all = _mm512_mask_testn_epi32_mask(moved, difference, difference),
                    some = static_cast<__mmask16>(moved & ~all);
    Wide on = reached;
    for (const int32_t residues : {0xff, 0xffff, 0xffffff}) {
        const __mmask16 equal = _mm512_mask_testn_epi32_mask(some, difference, _mm512_set1_epi32(residues));
        on.v = _mm512_mask_add_epi32(on.v, equal, on.v, one);
    }
    if (all) on = go_on_beyond(on, diagonals, all, row, column);
    farthest = {_mm512_mask_max_epi32(farthest.v, moved, farthest.v,
                                      _mm512_sub_epi32(_mm512_add_epi32(on.v, on.v), diagonals.v))};
    return on;
}

#elif defined(PAIRALIGN_AVX2)

static PAIRALIGN_INLINE Wide go_on_at_once(Wide reached, Wide before, Wide diagonals, int32_t high,
                                           const uint8_t* row, const uint8_t* column, Wide& farthest) {
    const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi32(-1);
    const __m256i still =
        _mm256_or_si256(_mm256_or_si256(_mm256_cmpgt_epi32(zero, reached.v),
                                        _mm256_cmpgt_epi32(diagonals.v, _mm256_set1_epi32(high))),
                        _mm256_cmpeq_epi32(reached.v, before.v));
    const __m256i moved = _mm256_xor_si256(still, ones);
    if (!_mm256_movemask_epi8(moved)) return reached;
    const int *const rows = reinterpret_cast<const int*>(row), *const columns =
                                                                   reinterpret_cast<const int*>(column);
    const __m256i a = _mm256_mask_i32gather_epi32(zero, rows, reached.v, moved, 1),
                  b = _mm256_mask_i32gather_epi32(zero, columns, _mm256_sub_epi32(reached.v, diagonals.v),
                                                  moved, 1),
                  difference = _mm256_xor_si256(a, b),
                  // Bits up to the lowest one that differs, without those of the first residue.
        below = _mm256_srli_epi32(_mm256_xor_si256(difference, _mm256_add_epi32(difference, ones)), 8),
                  all = _mm256_and_si256(moved, _mm256_cmpeq_epi32(difference, zero));
    __m256i equal = _mm256_add_epi32(_mm256_cmpgt_epi32(below, zero),
                                     _mm256_add_epi32(_mm256_cmpgt_epi32(below, _mm256_set1_epi32(0xff)),
                                                      _mm256_cmpgt_epi32(below, _mm256_set1_epi32(0xffff))));
    equal = _mm256_and_si256(_mm256_andnot_si256(all, moved), equal);
    Wide on = {_mm256_sub_epi32(reached.v, equal)};
    const int beyond = _mm256_movemask_ps(_mm256_castsi256_ps(all));
    if (beyond) on = go_on_beyond(on, diagonals, static_cast<uint32_t>(beyond), row, column);
    const __m256i antidiagonals = _mm256_sub_epi32(_mm256_add_epi32(on.v, on.v), diagonals.v);
    farthest = {_mm256_max_epi32(farthest.v, _mm256_and_si256(moved, antidiagonals))};
    return on;
}

#else

constexpr bool GOES_ON_AT_ONCE = false;

static PAIRALIGN_INLINE Wide go_on_at_once(Wide reached, Wide, Wide, int32_t, const uint8_t*, const uint8_t*,
                                           Wide&) {
    return reached;
}

#endif

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
