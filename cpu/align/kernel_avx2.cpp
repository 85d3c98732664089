#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "byte_kernel.h"
#include "kernel.h"
#include "long_pair.h"

namespace pairalign {
extern const InstructionSet instruction_set_avx2;
constexpr InstructionSet instruction_set_avx2 = {"avx2",
                                                 avx2::Kernels<avx2::Narrow>::kernel(),
                                                 avx2::Kernels<avx2::Wide>::kernel(),
                                                 avx2::LongPairs<avx2::Wide>::kernel(),
                                                 avx2::ByteKernels<avx2::Bytes>::kernel(),
                                                 avx2::ByteKernels<avx2::Bytes>::kernel()};
}  // namespace pairalign
