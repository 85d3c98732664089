#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "byte_kernel.h"
#include "kernel.h"
#include "long_pair.h"

namespace pairalign {
extern const InstructionSet instruction_set_sse41;
constexpr InstructionSet instruction_set_sse41 = {"sse41",
                                                  sse41::Kernels<sse41::Narrow>::kernel(),
                                                  sse41::Kernels<sse41::Wide>::kernel(),
                                                  sse41::LongPairs<sse41::Wide>::kernel(),
                                                  sse41::ByteKernels<sse41::Bytes>::kernel(),
                                                  sse41::ByteKernels<sse41::Bytes>::kernel()};
}  // namespace pairalign
