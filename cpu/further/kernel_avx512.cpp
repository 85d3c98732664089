#define PAIRALIGN_ISA avx512
#include "diagonals.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_avx512;
const FurtherKernel further_avx512 = {"avx512", avx512::further_narrow, avx512::further_wide,
                                      avx512::further_ends, avx512::further_tile};
}  // namespace pairalign
