#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "near_kernel.h"
#include "tcrdist_kernel.h"

namespace pairalign {
extern const NearKernel near_neon;
constexpr NearKernel near_neon = {"neon", neon::NearComparison<neon::NearBytes>::lanes(),
                                  neon::NearComparison<neon::NearNumbers>::lanes()};
extern const TcrKernel tcr_neon;
constexpr TcrKernel tcr_neon = neon::tcr_kernel("neon");
}  // namespace pairalign
