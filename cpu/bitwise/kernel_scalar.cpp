#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "kernel.h"

namespace pairalign {
extern const BitwiseKernel bitwise_scalar;
constexpr BitwiseKernel bitwise_scalar = {"scalar", scalar::Word::QUADS, scalar::bits_for, scalar::score};
}  // namespace pairalign
