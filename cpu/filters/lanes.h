// Eight 64-bit lanes in as many vectors of an instruction set as they need: GCC puts a type that is wider
// than these into memory. Included by subsequence_kernel.h alone.
#pragma once

#include <cstdint>
#include <cstring>

namespace pairalign {
namespace PAIRALIGN_ISA {

#if defined(__AVX512F__)
constexpr int PARTS = 1;
#elif defined(__AVX2__)
constexpr int PARTS = 2;
#else
constexpr int PARTS = 4;
#endif

typedef uint64_t Part __attribute__((vector_size(64 / PARTS)));

struct Lanes {
    Part parts[PARTS];
};

#define PAIRALIGN_INLINE static inline __attribute__((always_inline))

// Applies an operator part by part; the compiler unrolls the loops.
#define PAIRALIGN_BINARY(OPERATOR)                                                                     \
    PAIRALIGN_INLINE Lanes operator OPERATOR(const Lanes& a, const Lanes& b) {                         \
        Lanes made;                                                                                    \
        _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++) made.parts[k] =                        \
            a.parts[k] OPERATOR b.parts[k];                                                            \
        return made;                                                                                   \
    }                                                                                                  \
    PAIRALIGN_INLINE Lanes operator OPERATOR(const Lanes& a, uint64_t b) {                             \
        Lanes made;                                                                                    \
        _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++) made.parts[k] = a.parts[k] OPERATOR b; \
        return made;                                                                                   \
    }
PAIRALIGN_BINARY(+)
PAIRALIGN_BINARY(-)
PAIRALIGN_BINARY(&)
PAIRALIGN_BINARY(|)
#undef PAIRALIGN_BINARY

#define PAIRALIGN_SHIFT(OPERATOR)                                                                         \
    PAIRALIGN_INLINE Lanes operator OPERATOR(const Lanes& a, int bits) {                                  \
        Lanes made;                                                                                       \
        _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++) made.parts[k] = a.parts[k] OPERATOR bits; \
        return made;                                                                                      \
    }
PAIRALIGN_SHIFT(<<)
PAIRALIGN_SHIFT(>>)
#undef PAIRALIGN_SHIFT

PAIRALIGN_INLINE Lanes operator~(const Lanes& a) {
    Lanes made;
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++) made.parts[k] = ~a.parts[k];
    return made;
}

PAIRALIGN_INLINE Lanes all_lanes(uint64_t value) {
    Lanes made;
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++) made.parts[k] = Part{} + value;
    return made;
}

PAIRALIGN_INLINE Part load_part(const uint64_t* from) {
    Part made;
    std::memcpy(&made, from, sizeof made);
    return made;
}

PAIRALIGN_INLINE void store_part(uint64_t* to, const Part& part) { std::memcpy(to, &part, sizeof part); }

PAIRALIGN_INLINE Lanes load(const uint64_t* from) {
    Lanes made;
    std::memcpy(&made, from, sizeof made);
    return made;
}

PAIRALIGN_INLINE void store(uint64_t* to, const Lanes& lanes) { std::memcpy(to, &lanes, sizeof lanes); }

// Whether a lane's highest bit is 0: of differences, whether they are at least 0.
PAIRALIGN_INLINE bool is_any_positive(const Lanes& lanes) {
    Part all = lanes.parts[0];
    for (int k = 1; k < PARTS; k++) all &= lanes.parts[k];
    uint64_t least = all[0];
    for (int k = 1; k < 8 / PARTS; k++) least &= all[k];
    return !(least >> 63);
}

// The larger one in each lane, as signed numbers that are less than 2^62 apart.
PAIRALIGN_INLINE Lanes larger(const Lanes& a, const Lanes& b) {
    const Lanes more = a - b;
    return b + (more & ((more >> 63) - 1));
}

// The largest lane, as a signed number.
PAIRALIGN_INLINE int64_t largest_lane(const Lanes& lanes) {
    int64_t numbers[8], most;
    std::memcpy(numbers, &lanes, sizeof numbers);
    most = numbers[0];
    for (int k = 1; k < 8; k++) most = numbers[k] > most ? numbers[k] : most;
    return most;
}

// How many bits of each lane are set, of the lower half and of the upper one: in the lowest bytes of these.
template <class L>
PAIRALIGN_INLINE L count_in_halves(const L& lanes) {
    L bits = lanes - ((lanes >> 1) & 0x5555555555555555);
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
    bits = bits + (bits >> 8);
    return (bits + (bits >> 16)) & 0x3f0000003f;
}

// How many bits of each lane are set.
template <class L>
PAIRALIGN_INLINE L count_bits(const L& lanes) {
    const L bits = count_in_halves(lanes);
    return (bits + (bits >> 32)) & 0x7f;
}

// How many bits of each lane's lowest eight are set.
PAIRALIGN_INLINE Part count_low_bits(const Part& lanes) {
    Part bits = lanes & 0xff;
    bits = bits - ((bits >> 1) & 0x55);
    bits = (bits & 0x33) + ((bits >> 2) & 0x33);
    return (bits + (bits >> 4)) & 0xf;
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
