#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "antidiagonal_band.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_avx2;
constexpr PrunedKernels pruned_avx2 = {"avx2", avx2::AntidiagonalBand<avx2::Narrow>::kernel(),
                                       avx2::AntidiagonalBand<avx2::Wide>::kernel(),
                                       avx2::Wavefronts::kernel()};
}  // namespace pairalign
