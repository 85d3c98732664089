#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "antidiagonal_band.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_avx512;
constexpr PrunedKernels pruned_avx512 = {"avx512", avx512::AntidiagonalBand<avx512::Narrow>::kernel(),
                                         avx512::AntidiagonalBand<avx512::Wide>::kernel(),
                                         avx512::Wavefronts::kernel()};
}  // namespace pairalign
