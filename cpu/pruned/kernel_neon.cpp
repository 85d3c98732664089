#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "antidiagonal_corridor.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_neon;
constexpr PrunedKernels pruned_neon = {"neon", neon::AntidiagonalCorridor<neon::Narrow>::kernel(),
                                       neon::AntidiagonalCorridor<neon::Wide>::kernel(),
                                       neon::Wavefronts::kernel()};
}  // namespace pairalign
