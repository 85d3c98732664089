#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "corridor.h"

namespace pairalign {
extern const PrunedKernels pruned_avx512;
const PrunedKernels pruned_avx512 = {"avx512", avx512::Corridor<avx512::Narrow>::kernel(),
                                     avx512::Corridor<avx512::Wide>::kernel()};
}  // namespace pairalign
