#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "near_kernel.h"

namespace pairalign {
extern const NearKernel near_avx512;
const NearKernel near_avx512 = {"avx512", avx512::NearComparison<avx512::NearBytes>::lanes(),
                                avx512::NearComparison<avx512::NearNumbers>::lanes()};
}  // namespace pairalign
