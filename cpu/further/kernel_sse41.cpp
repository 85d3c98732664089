#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_sse41;
const FurtherKernel further_sse41 = {"sse41",
                                     sse41::further_narrow,
                                     sse41::further_wide,
                                     sse41::further_ends,
                                     sse41::further_tile,
                                     sse41::further_band,
                                     sse41::further_most_free};
}  // namespace pairalign
