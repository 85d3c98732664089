#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "byte_kernel.h"
#include "kernel.h"
#include "long_pair.h"

namespace pairalign {
extern const InstructionSet instruction_set_neon;
constexpr InstructionSet instruction_set_neon = {"neon",
                                                 neon::Kernels<neon::Narrow>::kernel(),
                                                 neon::Kernels<neon::Wide>::kernel(),
                                                 neon::LongPairs<neon::Wide>::kernel(),
                                                 neon::ByteKernels<neon::Bytes>::kernel(),
                                                 neon::ByteKernels<neon::Bytes>::kernel()};
}  // namespace pairalign
