#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "kernel.h"

namespace pairalign {
PAIRALIGN_POSTERIOR_KERNEL(sse41)
}  // namespace pairalign
