#define PAIRALIGN_ISA scalar
#include "diagonals.h"

namespace pairalign {
extern const FurtherKernel further_scalar;
const FurtherKernel further_scalar = {"scalar", scalar::further_narrow, scalar::further_wide};
}  // namespace pairalign
