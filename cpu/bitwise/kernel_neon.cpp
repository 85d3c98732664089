#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "kernel.h"

namespace pairalign {
extern const BitwiseKernel bitwise_neon;
constexpr BitwiseKernel bitwise_neon = {"neon", neon::Word::QUADS, neon::bits_for, neon::score};
}  // namespace pairalign
