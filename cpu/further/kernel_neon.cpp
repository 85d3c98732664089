#define PAIRALIGN_ISA neon
#include "diagonals.h"

namespace pairalign {
extern const FurtherKernel further_neon;
const FurtherKernel further_neon = {"neon", neon::further_narrow, neon::further_wide};
}  // namespace pairalign
