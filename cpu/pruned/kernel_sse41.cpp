#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "antidiagonal_band.h"
#include "wavefronts.h"

namespace pairalign {
extern const PrunedKernels pruned_sse41;
constexpr PrunedKernels pruned_sse41 = {"sse41", sse41::AntidiagonalBand<sse41::Narrow>::kernel(),
                                        sse41::AntidiagonalBand<sse41::Wide>::kernel(),
                                        sse41::Wavefronts::kernel()};
}  // namespace pairalign
