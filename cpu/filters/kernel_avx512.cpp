#define PAIRALIGN_ISA avx512
#include "subsequence_kernel.h"

namespace pairalign {
extern const SubsequenceKernel subsequences_avx512;
constexpr SubsequenceKernel subsequences_avx512 = {"avx512", avx512::count_common, avx512::bound_by_residues};
}  // namespace pairalign
