#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "corridor.h"

namespace pairalign {
extern const PrunedKernels pruned_neon;
const PrunedKernels pruned_neon = {"neon", neon::Corridor<neon::Narrow>::kernel(),
                                   neon::Corridor<neon::Wide>::kernel()};
}  // namespace pairalign
