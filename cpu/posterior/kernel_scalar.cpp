#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "kernel.h"

namespace pairalign {
PAIRALIGN_POSTERIOR_KERNEL(scalar)
}  // namespace pairalign
