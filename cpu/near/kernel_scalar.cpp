#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "near_kernel.h"
#include "tcrdist_kernel.h"

namespace pairalign {
extern const NearKernel near_scalar;
constexpr NearKernel near_scalar = {"scalar", scalar::NearComparison<scalar::NearBytes>::lanes(),
                                    scalar::NearComparison<scalar::NearNumbers>::lanes()};
extern const TcrKernel tcr_scalar;
constexpr TcrKernel tcr_scalar = scalar::tcr_kernel("scalar");
}  // namespace pairalign
