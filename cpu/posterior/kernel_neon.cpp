#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "kernel.h"

namespace pairalign {
PAIRALIGN_POSTERIOR_KERNEL(neon)
}  // namespace pairalign
