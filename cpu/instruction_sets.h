// The instruction sets that kernels are compiled for, best first, and whether the processor has them.
//
// PAIRALIGN_INSTRUCTION_SETS(DO) is DO(name) for each of this kind of machine. A set also takes its flags in
// setup.py and a source kernel_NAME.cpp in align/, bitwise/ and pruned/; without these nothing links.
#pragma once

#if defined(__x86_64__)
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(avx512) DO(avx2) DO(sse41)
#elif defined(__aarch64__)
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(neon)
#else
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(scalar)
#endif

namespace pairalign {

#if defined(__x86_64__)
inline bool has_avx512() {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2");
}
inline bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); }
inline bool has_sse41() { return __builtin_cpu_supports("sse4.1"); }
#elif defined(__aarch64__)
inline bool has_neon() { return true; }
#else
inline bool has_scalar() { return true; }
#endif

}  // namespace pairalign
