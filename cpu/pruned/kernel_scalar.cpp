#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "corridor.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_scalar;
constexpr PrunedKernels pruned_scalar = {"scalar", scalar::Corridor<scalar::Narrow>::kernel(),
                                         scalar::Corridor<scalar::Wide>::kernel(),
                                         scalar::Wavefronts::kernel()};
}  // namespace pairalign
