#define PAIRALIGN_ISA neon
#include "subsequence_kernel.h"

namespace pairalign {
extern const SubsequenceKernel subsequences_neon;
constexpr SubsequenceKernel subsequences_neon = {"neon", neon::count_common, neon::bound_by_residues};
}  // namespace pairalign
