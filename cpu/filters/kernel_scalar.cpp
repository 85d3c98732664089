#define PAIRALIGN_ISA scalar
#include "subsequence_kernel.h"

namespace pairalign {
extern const SubsequenceKernel subsequences_scalar;
constexpr SubsequenceKernel subsequences_scalar = {"scalar", scalar::count_common, scalar::bound_by_residues};
}  // namespace pairalign
