// The instruction sets that kernels are compiled for, best first, and whether the processor has them.
//
// PAIRALIGN_INSTRUCTION_SETS(DO) is DO(name) for each of this kind of machine. A set also takes its flags in
// setup.py and a source kernel_NAME.cpp in align/, bitwise/, filters/, suboptimal/, near/, posterior/,
// pruned/ and ties/; without these nothing links. setup.py defines it where only some of them are built.
// What a kernel_NAME.cpp exports is constexpr: code that fills it in when the library is loaded would be of
// its instruction set, on any processor.
#pragma once

#include "processor.h"

#if defined(PAIRALIGN_INSTRUCTION_SETS)
#elif defined(__x86_64__)
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(avx512) DO(avx2) DO(sse41)
#elif defined(__aarch64__)
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(neon)
#else
#define PAIRALIGN_INSTRUCTION_SETS(DO) DO(scalar)
#endif

namespace pairalign {

#if defined(__x86_64__)
inline bool has_byte_permutation() { return this_processor().vbmi; }
#else
inline bool has_byte_permutation() { return false; }
#endif

#if defined(__x86_64__)
inline bool has_avx512() { return this_processor().avx512; }
inline bool has_avx2() { return this_processor().avx2; }
inline bool has_sse41() { return this_processor().sse41; }
#elif defined(__aarch64__)
inline bool has_neon() { return true; }
#else
inline bool has_scalar() { return true; }
#endif

}  // namespace pairalign
