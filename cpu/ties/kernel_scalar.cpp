#define PAIRALIGN_ISA scalar
#define PAIRALIGN_TIE_BYTES 16
#include "ties_kernel.h"

namespace pairalign {
extern const TieKernel ties_scalar;
constexpr TieKernel ties_scalar = {"scalar", scalar::TieCounter::LANES, scalar::TieCounter::bytes,
                                   scalar::TieCounter::count};
}  // namespace pairalign
