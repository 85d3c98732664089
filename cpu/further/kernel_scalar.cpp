#define PAIRALIGN_ISA scalar
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_scalar;
const FurtherKernel further_scalar = {"scalar",
                                      scalar::further_narrow,
                                      scalar::further_wide,
                                      scalar::further_ends,
                                      scalar::further_tile,
                                      scalar::further_band,
                                      scalar::further_most_free};
}  // namespace pairalign
