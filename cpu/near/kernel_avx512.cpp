#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "near_kernel.h"
#include "tcrdist_kernel.h"

namespace pairalign {
extern const NearKernel near_avx512;
constexpr NearKernel near_avx512 = {"avx512", avx512::NearComparison<avx512::NearBytes>::lanes(),
                                    avx512::NearComparison<avx512::NearNumbers>::lanes()};
extern const TcrKernel tcr_avx512;
constexpr TcrKernel tcr_avx512 = avx512::tcr_kernel("avx512");
}  // namespace pairalign
