#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "antidiagonal_corridor.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_scalar;
constexpr PrunedKernels pruned_scalar = {"scalar", scalar::AntidiagonalCorridor<scalar::Narrow>::kernel(),
                                         scalar::AntidiagonalCorridor<scalar::Wide>::kernel(),
                                         scalar::Wavefronts::kernel()};
}  // namespace pairalign
