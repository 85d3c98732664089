#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "byte_kernel.h"
#include "kernel.h"
#include "long_pair.h"

namespace pairalign {
extern const InstructionSet instruction_set_avx512;
constexpr InstructionSet instruction_set_avx512 = {"avx512",
                                                   avx512::Kernels<avx512::Narrow>::kernel(),
                                                   avx512::Kernels<avx512::Wide>::kernel(),
                                                   avx512::LongPairs<avx512::Wide>::kernel(),
                                                   avx512::ByteKernels<avx512::Bytes>::kernel(),
                                                   avx512::ByteKernels<avx512::PermutedBytes>::kernel()};
}  // namespace pairalign
