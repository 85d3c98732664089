#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "antidiagonal_band.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_scalar;
constexpr PrunedKernels pruned_scalar = {"scalar", scalar::AntidiagonalBand<scalar::Narrow>::kernel(),
                                         scalar::AntidiagonalBand<scalar::Wide>::kernel(),
                                         scalar::Wavefronts::kernel()};
}  // namespace pairalign
