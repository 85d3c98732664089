#define PAIRALIGN_ISA avx2
#define PAIRALIGN_TIE_BYTES 32
#include "ties_kernel.h"

namespace pairalign {
extern const TieKernel ties_avx2;
constexpr TieKernel ties_avx2 = {"avx2", avx2::TieCounter::LANES, avx2::TieCounter::bytes,
                                 avx2::TieCounter::count};
}  // namespace pairalign
