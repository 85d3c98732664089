#define PAIRALIGN_SCALAR
#define PAIRALIGN_ISA scalar
#include "byte_kernel.h"
#include "kernel.h"
#include "long_pair.h"

namespace pairalign {
extern const InstructionSet instruction_set_scalar;
constexpr InstructionSet instruction_set_scalar = {"scalar",
                                                   scalar::Kernels<scalar::Narrow>::kernel(),
                                                   scalar::Kernels<scalar::Wide>::kernel(),
                                                   scalar::LongPairs<scalar::Wide>::kernel(),
                                                   scalar::ByteKernels<scalar::Bytes>::kernel(),
                                                   scalar::ByteKernels<scalar::Bytes>::kernel()};
}  // namespace pairalign
