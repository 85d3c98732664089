#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "kernel.h"

namespace pairalign {
PAIRALIGN_POSTERIOR_KERNEL(avx2)
}  // namespace pairalign
