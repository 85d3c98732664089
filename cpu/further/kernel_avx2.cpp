#define PAIRALIGN_ISA avx2
#include "diagonals.h"

namespace pairalign {
extern const FurtherKernel further_avx2;
const FurtherKernel further_avx2 = {"avx2", avx2::further_narrow, avx2::further_wide};
}  // namespace pairalign
