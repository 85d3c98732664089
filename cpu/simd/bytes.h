// Vectors of 8-bit lanes, one type an instruction set, all with the same members: what vector.h is
// for wider lanes. A lane is a pair.
//
//   LANES           lanes in a vector
//   ROWS            rows of the matrix that a tier takes at a time; LOCAL_ROWS: in local mode
//   add, sub        wrap
//   add_saturated   255 for what is more
//   max_signed      of bytes as signed numbers; all else takes them as unsigned
//   sub_not_below   a - b, or `least` where that is more; b + least does not wrap
//   as_it_is        the same value; sums that it is part of stay as written
//   Mask            result of a comparison
//   load_any        loads from wherever it is; store_any likewise
//   bits            of a mask: bit l for lane l
//   unless          0 where the mask is set
//   one_more        one more where the mask is set
//   with            the same with a bit that is not set yet
//   Words, Ints     LANES / 2 and LANES / 4 numbers; Marks: a byte for each of Ints
//   words           LANES / 2 signed bytes in memory as 16-bit numbers
//   wide_low        half of the bytes as 16-bit numbers; which, is each set's own matter
//   wide_high       the others
//   narrow          the two halves as bytes again: 0 for what is less, 255 for what is more
//   index, lookup   table[code of the lane], of a table of 32 codes that stands in memory twice
//   every_16th      of 16 bytes each that from(0), from(1) ... point to, one after the other
//   interleave_low  bytes of two vectors in turns, of the lower half of each 16 bytes
//   interleave_high the same of the upper half
//   table_of_16     16 bytes, for lookup_16: those whose numbers, below 16, a vector holds, and 0 for numbers
//                   from 128 to 143
//   lookup_where    with LOOKUP: the same where a mask is set, another vector elsewhere
//   numbers         with LOOKUP: of each lane its own
//   of_lane_before  with LOOKUP: what the lane before has, and 0 in the first
//   ints            with LOOKUP: LANES / 4 bytes in memory as Ints
//   compressed      with LOOKUP: the bytes where a mask is set, one after the other, then zeros
//   join            the first halves of two vectors
//   WithoutLookup   the type for what looks no scores up in tiers: one code for all
//   WithLookup      the type that looks scores up, if there is one
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
