#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "corridor.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_neon;
constexpr PrunedKernels pruned_neon = {"neon", neon::Corridor<neon::Narrow>::kernel(),
                                       neon::Corridor<neon::Wide>::kernel(), neon::Wavefronts::kernel()};
}  // namespace pairalign
