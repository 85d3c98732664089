// What the vector types of all instruction sets share: see vector.h.
#pragma once

#define PAIRALIGN_INLINE inline __attribute__((always_inline))

namespace pairalign {
namespace PAIRALIGN_ISA {

// The flags of one cell, in the order in which they are stored. CUP_NEXT and CLEFT_NEXT speak of the
// gap states of the right and the lower neighbour (see recurrence.h).
enum Flag { CUP_NEXT = 0, CLEFT_NEXT = 1, DIAGONAL = 2, FROM_E = 3 };

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
