#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "near_kernel.h"
#include "tcrdist_kernel.h"

namespace pairalign {
extern const NearKernel near_avx2;
constexpr NearKernel near_avx2 = {"avx2", avx2::NearComparison<avx2::NearBytes>::lanes(),
                                  avx2::NearComparison<avx2::NearNumbers>::lanes()};
extern const TcrKernel tcr_avx2;
constexpr TcrKernel tcr_avx2 = avx2::tcr_kernel("avx2");
}  // namespace pairalign
