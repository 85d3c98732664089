#define PAIRALIGN_ISA sse41
#define PAIRALIGN_TIE_BYTES 16
#include "ties_kernel.h"

namespace pairalign {
extern const TieKernel ties_sse41;
constexpr TieKernel ties_sse41 = {"sse41", sse41::TieCounter::LANES, sse41::TieCounter::bytes,
                                  sse41::TieCounter::count};
}  // namespace pairalign
