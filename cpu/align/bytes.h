// Vectors of 8-bit lanes, one type an instruction set, all with the same members: what vector.h is
// for wider lanes. A lane is a pair.
//
//   LANES, ROWS     lanes in a vector; rows of the matrix that a band takes at a time
//   add, sub        wrap
//   max_signed      of bytes as signed numbers; all else takes them as unsigned
//   as_it_is        the same value, of which the compiler knows nothing: sums that it is part of stay as
//   written Mask            result of a comparison load_any        loads from wherever it is; store_any
//   likewise bits            of a mask: bit l for lane l unless          0 where the mask is set one_more one
//   more where the mask is set with            the same with a bit that is not set yet, where the mask is set
//   Words, Ints     LANES / 2 and LANES / 4 numbers; Marks: a byte for each of Ints
//   words           LANES / 2 signed bytes in memory as 16-bit numbers
//   index, lookup   table[code of the lane], of a table of 32 letters that stands in memory twice
//   LOOKUP          true: scores are looked up; false: they come from a profile in memory, as in vector.h
#pragma once

#if defined(PAIRALIGN_AVX512)
#include "bytes_avx512.h"
#elif defined(PAIRALIGN_AVX2)
#include "bytes_avx2.h"
#elif defined(PAIRALIGN_SSE41)
#include "bytes_sse41.h"
#elif defined(PAIRALIGN_NEON)
#include "bytes_neon.h"
#else
#include "bytes_plain.h"
#endif
