// Numbers whose sums and products are never fused, as those of cpu/posterior/lanes.h: the same bits.
#pragma once

#ifdef PAIRALIGN_EMULATE
#include <cmath>
#endif

#include "../../common/posterior_scaling.h"

#ifdef PAIRALIGN_EMULATE
inline float sum_of(float a, float b) { return a + b; }
inline double sum_of(double a, double b) { return a + b; }
inline float product_of(float a, float b) { return a * b; }
inline double product_of(double a, double b) { return a * b; }
inline float root_of(float x) { return std::sqrt(x); }
inline double root_of(double x) { return std::sqrt(x); }
inline double inverse_of(double x) { return 1 / x; }
template <class To, class From>
To same_bits(From x) {
    To y;
    std::memcpy(&y, &x, sizeof y);
    return y;
}
inline int32_t __float_as_int(float x) { return same_bits<int32_t>(x); }
inline float __int_as_float(int32_t x) { return same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
using std::ldexp;
#else
__device__ __forceinline__ float sum_of(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double sum_of(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float product_of(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double product_of(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float root_of(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double root_of(double x) { return __dsqrt_rn(x); }
__device__ __forceinline__ double inverse_of(double x) { return __drcp_rn(x); }
#endif

template <class T>
struct Number {
    T v;
    friend __device__ __forceinline__ Number operator+(Number a, Number b) { return {sum_of(a.v, b.v)}; }
    friend __device__ __forceinline__ Number operator*(Number a, Number b) { return {product_of(a.v, b.v)}; }
    friend __device__ __forceinline__ Number larger(Number a, Number b) { return a.v > b.v ? a : b; }
};

// Of normal numbers.
__device__ __forceinline__ int exponent_of(float x) { return (__float_as_int(x) >> 23 & 255) - 127; }
__device__ __forceinline__ int exponent_of(double x) {
    return static_cast<int>(__double_as_longlong(x) >> 52 & 2047) - 1023;
}
template <class T>
__device__ __forceinline__ T power_of_two(int exponent);
template <>
__device__ __forceinline__ float power_of_two<float>(int exponent) {
    return __int_as_float((exponent + 127) << 23);
}
template <>
__device__ __forceinline__ double power_of_two<double>(int exponent) {
    return __longlong_as_double(static_cast<long long>(exponent + 1023) << 52);
}
__device__ __forceinline__ bool is_finite(float x) { return (__float_as_int(x) >> 23 & 255) != 255; }
__device__ __forceinline__ bool is_finite(double x) { return (__double_as_longlong(x) >> 52 & 2047) != 2047; }

// The exponent of the power of two that brings a row's largest value to TOP.
template <class T>
__device__ __forceinline__ int scaling_of(Number<T> largest) {
    if (!(largest.v > 0) || !is_finite(largest.v)) return 0;
    const int by = PosteriorRange<T>::TOP - exponent_of(largest.v);
    constexpr int MOST = PosteriorScaling::MOST_AT_ONCE;
    return by > MOST ? MOST : by < -MOST ? -MOST : by;
}
