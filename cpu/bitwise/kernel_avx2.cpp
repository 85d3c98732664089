#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "kernel.h"

namespace pairalign {
extern const BitwiseKernel bitwise_avx2;
constexpr BitwiseKernel bitwise_avx2 = {"avx2", avx2::Word::QUADS, avx2::bits_for, avx2::score};
}  // namespace pairalign
