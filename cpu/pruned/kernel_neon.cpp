#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "antidiagonal_band.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_neon;
constexpr PrunedKernels pruned_neon = {"neon", neon::AntidiagonalBand<neon::Narrow>::kernel(),
                                       neon::AntidiagonalBand<neon::Wide>::kernel(),
                                       neon::Wavefronts::kernel()};
}  // namespace pairalign
