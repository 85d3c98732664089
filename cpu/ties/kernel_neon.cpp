#define PAIRALIGN_ISA neon
#define PAIRALIGN_TIE_BYTES 16
#include "ties_kernel.h"

namespace pairalign {
extern const TieKernel ties_neon;
constexpr TieKernel ties_neon = {"neon", neon::TieCounter::LANES, neon::TieCounter::bytes,
                                 neon::TieCounter::count};
}  // namespace pairalign
