#define PAIRALIGN_ISA neon
#include "diagonals.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_neon;
const FurtherKernel further_neon = {"neon", neon::further_narrow, neon::further_wide, neon::further_ends,
                                    neon::further_tile};
}  // namespace pairalign
