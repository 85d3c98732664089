// Which vector instructions the processor and the operating system offer.
//
// Not __builtin_cpu_supports: what that reads is filled in by the compiler's runtime library, and the one
// that Zig packs with Clang leaves it empty.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace pairalign {

struct Processor {
    bool popcnt = false;
    bool pclmul = false;  // carry-less products, and SSE4.1
    bool sse41 = false;
    bool avx2 = false;    // and BMI2
    bool avx512 = false;  // F, BW, VL, DQ, and BMI2
    bool vbmi = false;    // and AVX-512 VBMI and VBMI2
};

// The registers that the operating system saves (XCR0).
inline uint32_t saved_registers() {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

inline Processor read_processor() {
    constexpr uint32_t VECTORS_256 = 0x06;  // SSE and AVX
    constexpr uint32_t VECTORS_512 = 0xe6;  // and mask registers, and both parts of the 512-bit registers
    constexpr uint32_t AVX512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    constexpr uint32_t VBMI = bit_AVX512VBMI | bit_AVX512VBMI2;
    Processor found;
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return found;
    found.popcnt = ecx & bit_POPCNT;
    found.sse41 = ecx & bit_SSE4_1;
    found.pclmul = found.sse41 && (ecx & bit_PCLMUL);
    const uint32_t saved = ecx & bit_OSXSAVE ? saved_registers() : 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & bit_BMI2)) return found;
    found.avx2 = (ebx & bit_AVX2) && (saved & VECTORS_256) == VECTORS_256;
    found.avx512 = (ebx & AVX512) == AVX512 && (saved & VECTORS_512) == VECTORS_512;
    found.vbmi = found.avx512 && (ecx & VBMI) == VBMI;
    return found;
}

inline const Processor& this_processor() {
    static const Processor found = read_processor();
    return found;
}

}  // namespace pairalign
#endif
