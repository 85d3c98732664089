#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "corridor.h"

namespace pairalign {
extern const PrunedKernels pruned_scalar;
const PrunedKernels pruned_scalar = {"scalar", scalar::Corridor<scalar::Narrow>::kernel(),
                                     scalar::Corridor<scalar::Wide>::kernel()};
}  // namespace pairalign
