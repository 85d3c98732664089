#define PAIRALIGN_ISA avx512
#define PAIRALIGN_TIE_BYTES 32
#include "ties_kernel.h"

namespace pairalign {
extern const TieKernel ties_avx512;
constexpr TieKernel ties_avx512 = {"avx512", avx512::TieCounter::LANES, avx512::TieCounter::bytes,
                                   avx512::TieCounter::count};
}  // namespace pairalign
