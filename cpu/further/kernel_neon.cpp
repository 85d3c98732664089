#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_neon;
const FurtherKernel further_neon = {"neon",
                                    neon::further_narrow,
                                    neon::further_wide,
                                    neon::further_ends,
                                    neon::further_tile,
                                    neon::further_band,
                                    neon::further_most_free};
}  // namespace pairalign
