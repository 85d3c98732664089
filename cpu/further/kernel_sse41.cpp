#define PAIRALIGN_ISA sse41
#include "diagonals.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_sse41;
const FurtherKernel further_sse41 = {"sse41", sse41::further_narrow, sse41::further_wide, sse41::further_ends,
                                     sse41::further_tile};
}  // namespace pairalign
