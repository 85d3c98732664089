#define PAIRALIGN_ISA avx2
#include "diagonals.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_avx2;
const FurtherKernel further_avx2 = {"avx2", avx2::further_narrow, avx2::further_wide, avx2::further_ends,
                                    avx2::further_tile};
}  // namespace pairalign
