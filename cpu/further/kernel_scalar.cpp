#define PAIRALIGN_ISA scalar
#include "diagonals.h"
#include "strips.h"

namespace pairalign {
extern const FurtherKernel further_scalar;
const FurtherKernel further_scalar = {"scalar", scalar::further_narrow, scalar::further_wide,
                                      scalar::further_ends, scalar::further_tile};
}  // namespace pairalign
