#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "kernel.h"

namespace pairalign {
extern const BitwiseKernel bitwise_avx512;
constexpr BitwiseKernel bitwise_avx512 = {"avx512", avx512::Word::QUADS, avx512::bits_for, avx512::score};
}  // namespace pairalign
