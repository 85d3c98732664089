#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_avx512;
const FurtherKernel further_avx512 = {"avx512",
                                      avx512::further_narrow,
                                      avx512::further_wide,
                                      avx512::further_ends,
                                      avx512::further_tile,
                                      avx512::further_band,
                                      avx512::further_most_free};
}  // namespace pairalign
