// Vectors of floating-point numbers, a pair a lane, for the instruction set PAIRALIGN_ISA; and a number whose
// exponent does not end.
//
// Sums and products are those of IEEE 754 in each lane, never fused (-ffp-contract=off): every instruction
// set gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../../common/posterior_scaling.h"
#include "model.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

#define PAIRALIGN_INLINE inline __attribute__((always_inline))
#define PAIRALIGN_INLINED __attribute__((always_inline))  // of a lambda

#if defined(PAIRALIGN_AVX512)
constexpr int VECTOR_BYTES = 64;
#elif defined(PAIRALIGN_AVX2)
constexpr int VECTOR_BYTES = 32;
#else
constexpr int VECTOR_BYTES = 16;
#endif

// Of normal numbers.
inline int exponent_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>(bits >> 23 & 255) - 127;
}
inline int exponent_of(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>(bits >> 52 & 2047) - 1023;
}
template <class T>
inline T power_of_two(int exponent) {
    T x;
    if constexpr (sizeof(T) == 4) {
        const uint32_t bits = static_cast<uint32_t>(exponent + 127) << 23;
        std::memcpy(&x, &bits, sizeof x);
    } else {
        const uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
        std::memcpy(&x, &bits, sizeof x);
    }
    return x;
}

template <class T>
struct Vector {
    using Scalar = T;
    using Number = T;
    static constexpr int LANES = VECTOR_BYTES / static_cast<int>(sizeof(T));
    static constexpr bool SCALED = true;
    static constexpr bool HAS_LOOKUP = VECTOR_BYTES == 64 && sizeof(T) == 4;  // in registers
    static constexpr int TOP = PosteriorRange<T>::TOP, TINY = PosteriorRange<T>::TINY;
    typedef T Raw __attribute__((vector_size(VECTOR_BYTES)));
    Raw v;

    static PAIRALIGN_INLINE Vector all(double x) { return {Raw{} + static_cast<T>(x)}; }
    static PAIRALIGN_INLINE T number(double mantissa, int exponent) {
        return static_cast<T>(std::ldexp(mantissa, exponent));
    }
    PAIRALIGN_INLINE T get(int lane) const { return v[lane]; }
    PAIRALIGN_INLINE void set(int lane, T x) { v[lane] = x; }
    friend PAIRALIGN_INLINE Vector operator+(Vector a, Vector b) { return {a.v + b.v}; }
    friend PAIRALIGN_INLINE Vector operator*(Vector a, Vector b) { return {a.v * b.v}; }
    static PAIRALIGN_INLINE Vector settled(Vector a) { return a; }
    static PAIRALIGN_INLINE Vector max(Vector a, Vector b);
    static PAIRALIGN_INLINE uint32_t above(Vector a, Vector b);  // a bit a lane
    // a in the lanes of some bits, else b.
    static PAIRALIGN_INLINE Vector choose(uint32_t lanes, Vector a, Vector b);
    // Of a table of POSTERIOR_CODES numbers those that LANES codes say.
    static PAIRALIGN_INLINE Vector lookup(const T* table, const uint8_t* codes);
    // The same of codes + shifts.
    static PAIRALIGN_INLINE Vector lookup(const T* table, const uint8_t* codes, const uint8_t* shifts);
    // The same of a table of up to 256 numbers.
    static PAIRALIGN_INLINE Vector pick(const T* table, const uint8_t* codes, const uint8_t* shifts) {
        Vector r;
        for (int l = 0; l < LANES; l++) r.v[l] = table[static_cast<uint8_t>(codes[l] + shifts[l])];
        return r;
    }
};

template <class T>
PAIRALIGN_INLINE Vector<T> Vector<T>::max(Vector a, Vector b) {
    return {a.v > b.v ? a.v : b.v};
}
template <class T>
PAIRALIGN_INLINE Vector<T> Vector<T>::choose(uint32_t lanes, Vector a, Vector b) {
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) b.v[l] = a.v[l];
    return b;
}
template <class T>
PAIRALIGN_INLINE uint32_t Vector<T>::above(Vector a, Vector b) {
    uint32_t bits = 0;
    for (int l = 0; l < LANES; l++) bits |= uint32_t{a.v[l] > b.v[l]} << l;
    return bits;
}
template <class T>
PAIRALIGN_INLINE Vector<T> Vector<T>::lookup(const T* table, const uint8_t* codes) {
    Vector r;
    for (int l = 0; l < LANES; l++) r.v[l] = table[codes[l]];
    return r;
}
template <class T>
PAIRALIGN_INLINE Vector<T> Vector<T>::lookup(const T* table, const uint8_t* codes, const uint8_t* shifts) {
    return pick(table, codes, shifts);
}

#if defined(PAIRALIGN_AVX512)
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::max(Vector a, Vector b) {
    return {(Raw)_mm512_max_ps((__m512)a.v, (__m512)b.v)};
}
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::choose(uint32_t lanes, Vector a, Vector b) {
    return {(Raw)_mm512_mask_blend_ps(static_cast<__mmask16>(lanes), (__m512)b.v, (__m512)a.v)};
}
template <>
PAIRALIGN_INLINE uint32_t Vector<float>::above(Vector a, Vector b) {
    return _mm512_cmp_ps_mask((__m512)a.v, (__m512)b.v, _CMP_GT_OQ);
}
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::lookup(const float* table, const uint8_t* codes) {
    const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    return {(Raw)_mm512_permutex2var_ps(_mm512_loadu_ps(table), index, _mm512_loadu_ps(table + 16))};
}
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::lookup(const float* table, const uint8_t* codes,
                                                     const uint8_t* shifts) {
    const auto load = [](const uint8_t* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); };
    const __m512i index = _mm512_cvtepu8_epi32(_mm_add_epi8(load(codes), load(shifts)));
    return {(Raw)_mm512_permutex2var_ps(_mm512_loadu_ps(table), index, _mm512_loadu_ps(table + 16))};
}
#elif defined(PAIRALIGN_AVX2)
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::max(Vector a, Vector b) {
    return {(Raw)_mm256_max_ps((__m256)a.v, (__m256)b.v)};
}
template <>
PAIRALIGN_INLINE uint32_t Vector<float>::above(Vector a, Vector b) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a.v, (__m256)b.v, _CMP_GT_OQ)));
}
#elif defined(PAIRALIGN_SSE41)
template <>
PAIRALIGN_INLINE Vector<float> Vector<float>::max(Vector a, Vector b) {
    return {(Raw)_mm_max_ps((__m128)a.v, (__m128)b.v)};
}
template <>
PAIRALIGN_INLINE uint32_t Vector<float>::above(Vector a, Vector b) {
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_cmpgt_ps((__m128)a.v, (__m128)b.v)));
}
#endif

// mantissa * 2^(512 exponent), the mantissa from 2^-256 up to 2^256, or 0 (Fukushima, J Geod 86:271, 2012).
// For the pairs whose rows are wider than float64 holds.
struct Extended {
    double mantissa;
    int64_t exponent;

    static PAIRALIGN_INLINE Extended normal(double mantissa, int64_t exponent) {
        if (mantissa >= 0x1p256) return {mantissa * 0x1p-512, exponent + 1};
        if (mantissa == 0) return {0, 0};
        if (mantissa < 0x1p-256) return {mantissa * 0x1p512, exponent - 1};
        return {mantissa, exponent};
    }
    friend PAIRALIGN_INLINE Extended operator*(Extended a, Extended b) {
        return normal(a.mantissa * b.mantissa, a.exponent + b.exponent);
    }
    friend PAIRALIGN_INLINE Extended operator+(Extended a, Extended b) {
        if (a.mantissa == 0) return b;
        if (b.mantissa == 0) return a;
        const int64_t apart = a.exponent - b.exponent;
        if (apart < 0) std::swap(a, b);
        if (apart > 1 || apart < -1) return a;
        return normal(a.mantissa + (apart ? b.mantissa * 0x1p-512 : b.mantissa), a.exponent);
    }
    Extended inverse() const { return normal(1 / mantissa, -exponent); }
    double value() const {
        const int64_t e = exponent > 2 ? 2 : exponent < -3 ? -3 : exponent;
        return std::ldexp(mantissa, static_cast<int>(512 * e));
    }
};

inline float number_of(float x) { return x; }
inline double number_of(double x) { return x; }
inline double number_of(Extended x) { return x.value(); }

// One lane of it.
struct ExtendedLane {
    using Scalar = Extended;
    using Number = double;  // of posteriors
    static constexpr int LANES = 1;
    static constexpr bool SCALED = false, HAS_LOOKUP = false;
    static constexpr int TOP = 0, TINY = 0;
    Extended v;

    static PAIRALIGN_INLINE ExtendedLane all(double x) { return {Extended::normal(x, 0)}; }
    PAIRALIGN_INLINE Extended get(int) const { return v; }
    PAIRALIGN_INLINE void set(int, Extended x) { v = x; }
    friend PAIRALIGN_INLINE ExtendedLane operator+(ExtendedLane a, ExtendedLane b) { return {a.v + b.v}; }
    friend PAIRALIGN_INLINE ExtendedLane operator*(ExtendedLane a, ExtendedLane b) { return {a.v * b.v}; }
    static PAIRALIGN_INLINE ExtendedLane settled(ExtendedLane a) { return a; }
    static PAIRALIGN_INLINE ExtendedLane max(ExtendedLane a, ExtendedLane b) { return above(a, b) ? a : b; }
    static PAIRALIGN_INLINE uint32_t above(ExtendedLane a, ExtendedLane b) {
        return a.v.value() > b.v.value();
    }
    static PAIRALIGN_INLINE ExtendedLane lookup(const Extended* table, const uint8_t* codes) {
        return {table[*codes]};
    }
    static PAIRALIGN_INLINE ExtendedLane lookup(const Extended* table, const uint8_t* codes,
                                                const uint8_t* shifts) {
        return {table[*codes + *shifts]};
    }
    static PAIRALIGN_INLINE ExtendedLane pick(const Extended* table, const uint8_t* codes,
                                              const uint8_t* shifts) {
        return lookup(table, codes, shifts);
    }
};

// Lanes of it, in as many bytes as other vectors have. Zero has any exponent. Sums are normal; products are
// not before they are `settled` or summands: those of two normal numbers and some near 1 have mantissas from
// 2^-300 to 2^300, so that what a sum leaves out, two exponents below, is too small to count.
struct ExtendedVector {
    using Scalar = Extended;
    using Number = double;
    static constexpr int LANES = VECTOR_BYTES / static_cast<int>(sizeof(Extended));
    static constexpr bool SCALED = false, HAS_LOOKUP = false;
    static constexpr int TOP = 0, TINY = 0;
    typedef double Raw __attribute__((vector_size(VECTOR_BYTES / 2)));
    typedef int64_t Whole __attribute__((vector_size(VECTOR_BYTES / 2)));
    Raw mantissa;
    Whole exponent;

    static PAIRALIGN_INLINE ExtendedVector all(double x) {
        const Extended one = Extended::normal(x, 0);
        return {Raw{} + one.mantissa, Whole{} + one.exponent};
    }
    static PAIRALIGN_INLINE ExtendedVector normal(Raw mantissa, Whole exponent) {
        const Whole big = mantissa >= 0x1p256, small = mantissa < 0x1p-256;  // -1 where it is so
        const Raw one = Raw{} + 1;
        const Raw factor = big ? one * 0x1p-512 : (small ? one * 0x1p512 : one);
        return {mantissa * factor, exponent - big + small};
    }
    PAIRALIGN_INLINE Extended get(int lane) const { return {mantissa[lane], exponent[lane]}; }
    PAIRALIGN_INLINE void set(int lane, Extended x) {
        mantissa[lane] = x.mantissa;
        exponent[lane] = x.exponent;
    }
    friend PAIRALIGN_INLINE ExtendedVector operator*(ExtendedVector a, ExtendedVector b) {
        return {a.mantissa * b.mantissa, a.exponent + b.exponent};
    }
    static PAIRALIGN_INLINE ExtendedVector settled(ExtendedVector a) {
        return normal(a.mantissa, a.exponent);
    }
    friend PAIRALIGN_INLINE ExtendedVector operator+(ExtendedVector a, ExtendedVector b) {
        const Whole turned = (a.mantissa == 0) | ((b.mantissa != 0) & (a.exponent < b.exponent));
        const ExtendedVector high = choose(turned, b, a), low = choose(turned, a, b);
        const Whole apart = high.exponent - low.exponent;
        const Raw one = Raw{} + 1;
        const Raw factor = apart == 0 ? one : (apart == 1 ? one * 0x1p-512 : Raw{});
        return normal(high.mantissa + low.mantissa * factor, high.exponent);
    }
    static PAIRALIGN_INLINE ExtendedVector choose(Whole which, ExtendedVector a, ExtendedVector b) {
        return {which ? a.mantissa : b.mantissa, which ? a.exponent : b.exponent};
    }
    static PAIRALIGN_INLINE Whole is_above(ExtendedVector a, ExtendedVector b) {
        const Whole equal = a.exponent == b.exponent;
        const Whole more = (a.exponent > b.exponent) | (equal & (a.mantissa > b.mantissa));
        return (a.mantissa > 0) & ((b.mantissa == 0) | more);
    }
    static PAIRALIGN_INLINE ExtendedVector max(ExtendedVector a, ExtendedVector b) {
        return choose(is_above(a, b), a, b);
    }
    static PAIRALIGN_INLINE uint32_t above(ExtendedVector a, ExtendedVector b) {
        const Whole is = is_above(a, b);
        uint32_t bits = 0;
        for (int l = 0; l < LANES; l++) bits |= static_cast<uint32_t>(is[l] & 1) << l;
        return bits;
    }
    static PAIRALIGN_INLINE ExtendedVector lookup(const Extended* table, const uint8_t* codes) {
        ExtendedVector r{};
        for (int l = 0; l < LANES; l++) r.set(l, table[codes[l]]);
        return r;
    }
    static PAIRALIGN_INLINE ExtendedVector lookup(const Extended* table, const uint8_t* codes,
                                                  const uint8_t* shifts) {
        ExtendedVector r{};
        for (int l = 0; l < LANES; l++) r.set(l, table[static_cast<uint8_t>(codes[l] + shifts[l])]);
        return r;
    }
    static PAIRALIGN_INLINE ExtendedVector pick(const Extended* table, const uint8_t* codes,
                                                const uint8_t* shifts) {
        return lookup(table, codes, shifts);
    }
};

using ExtendedLanes = std::conditional_t<VECTOR_BYTES == 16, ExtendedLane, ExtendedVector>;

// Powers of two that bring the largest values to TOP, and their exponents.
template <class V>
inline V factor_of(V largest, int32_t* exponents) {
    using Scalar = typename V::Scalar;
    V factor = V::all(1);
    for (int l = 0; l < V::LANES; l++) exponents[l] = 0;
    if constexpr (V::SCALED) {
        for (int l = 0; l < V::LANES; l++) {
            const Scalar value = largest.get(l);
            if (!(value > 0) || !(value <= std::numeric_limits<Scalar>::max())) continue;
            const int by = std::clamp(V::TOP - exponent_of(value), -PosteriorScaling::MOST_AT_ONCE,
                                      PosteriorScaling::MOST_AT_ONCE);
            exponents[l] = by;
            factor.set(l, power_of_two<Scalar>(by));
        }
    }
    return factor;
}

// The emissions of a row, of each x that lanes have: those of the codes of a column.
template <class V, int QUERIES>
struct RowTables {
    const typename V::Scalar* of[QUERIES];
    uint32_t lanes[QUERIES];  // a bit for each lane that has this x

    PAIRALIGN_INLINE V look_up(const uint8_t* codes) const {
        V r = V::lookup(of[0], codes);
        if constexpr (QUERIES > 1) {
#pragma GCC unroll 4
            for (int q = 1; q < QUERIES; q++) r = V::choose(lanes[q], V::lookup(of[q], codes), r);
        }
        return r;
    }
};

// Results that are subnormal count for nothing below: where the processor is slow with them, they are 0.
class NoSubnormals {
#if defined(__x86_64__)
public:
    NoSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8000); }
    ~NoSubnormals() { _mm_setcsr(before_); }

private:
    const unsigned before_;
#else
public:
    NoSubnormals() {}
#endif
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
