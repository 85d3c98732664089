#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "near_kernel.h"
#include "tcrdist_kernel.h"

namespace pairalign {
extern const NearKernel near_sse41;
constexpr NearKernel near_sse41 = {"sse41", sse41::NearComparison<sse41::NearBytes>::lanes(),
                                   sse41::NearComparison<sse41::NearNumbers>::lanes()};
extern const TcrKernel tcr_sse41;
constexpr TcrKernel tcr_sse41 = sse41::tcr_kernel("sse41");
}  // namespace pairalign
