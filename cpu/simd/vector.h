// Small vector types: one per instruction set and lane width, all with the same members, so that
// the kernels are written once. In kernel.h a lane is one pair of sequences, in long_pair.h all lanes are one
// pair.
//
//   Lane            int16_t or int32_t; additions wrap
//   LANES, ROWS     lanes in a vector; rows of the matrix that a tier takes at a time
//   Mask            result of a comparison
//   FLAG_BYTES      bytes that the four traceback flags of all lanes of one cell take
//   store_flags / flag      their layout, private to the type
//   GATHER          true: scores come from a table lookup by code (`lookup`);
//                   false: from a profile in memory, one vector per row residue and column
//
// Wide has, for long_pair.h:
//
//   shifted_in(v, x, last)  every lane moves up by one, x comes into lane 0, the last lane goes to *last
//   gather(table, index)    table[index[lane]]
//   byte<K>(v)              the byte K of every lane, with its sign
//
// This header is included by sources compiled for different instruction sets. Everything in it
// lives in a namespace named after the instruction set and uses no inline function of the standard
// library: the linker must never pick one set's copy for another.
#pragma once

#if defined(PAIRALIGN_AVX512)
#include "vector_avx512.h"
#elif defined(PAIRALIGN_AVX2)
#include "vector_avx2.h"
#elif defined(PAIRALIGN_SSE41)
#include "vector_sse41.h"
#elif defined(PAIRALIGN_NEON)
#include "vector_neon.h"
#else
#include "vector_plain.h"
#endif
