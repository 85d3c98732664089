#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_avx2;
const FurtherKernel further_avx2 = {"avx2",
                                    avx2::further_narrow,
                                    avx2::further_wide,
                                    avx2::further_ends,
                                    avx2::further_tile,
                                    avx2::further_band,
                                    avx2::further_most_free};
}  // namespace pairalign
