#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "corridor.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_avx2;
constexpr PrunedKernels pruned_avx2 = {"avx2", avx2::Corridor<avx2::Narrow>::kernel(),
                                       avx2::Corridor<avx2::Wide>::kernel(), avx2::Wavefronts::kernel()};
}  // namespace pairalign
