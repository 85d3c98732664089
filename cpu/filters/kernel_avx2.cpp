#define PAIRALIGN_ISA avx2
#include "subsequence_kernel.h"

namespace pairalign {
extern const SubsequenceKernel subsequences_avx2;
constexpr SubsequenceKernel subsequences_avx2 = {"avx2", avx2::count_common, avx2::bound_by_residues};
}  // namespace pairalign
