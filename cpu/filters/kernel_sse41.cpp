#define PAIRALIGN_ISA sse41
#include "subsequence_kernel.h"

namespace pairalign {
extern const SubsequenceKernel subsequences_sse41;
constexpr SubsequenceKernel subsequences_sse41 = {"sse41", sse41::count_common, sse41::bound_by_residues};
}  // namespace pairalign
