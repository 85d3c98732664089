#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "kernel.h"

namespace pairalign {
extern const BitwiseKernel bitwise_sse41;
constexpr BitwiseKernel bitwise_sse41 = {"sse41", sse41::Word::QUADS, sse41::bits_for, sse41::score};
}  // namespace pairalign
