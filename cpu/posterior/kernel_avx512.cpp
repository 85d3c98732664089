#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "kernel.h"

namespace pairalign {
PAIRALIGN_POSTERIOR_KERNEL(avx512)
}  // namespace pairalign
