#define PAIRALIGN_AVX512
#define PAIRALIGN_ISA avx512
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "near_lanes.h"
#include "pair_lanes.h"
#include "strips.h"

namespace pairalign {
extern const SuboptimalKernel suboptimal_avx512;
constexpr SuboptimalKernel suboptimal_avx512 = {"avx512",
                                                avx512::suboptimal_narrow,
                                                avx512::suboptimal_wide,
                                                avx512::suboptimal_ends,
                                                avx512::suboptimal_columns,
                                                avx512::suboptimal_tile,
                                                avx512::suboptimal_band,
                                                avx512::suboptimal_band_has_bytes,
                                                avx512::suboptimal_most_free,
                                                avx512::suboptimal_most_near,
                                                avx512::suboptimal_most_along,
                                                avx512::PairLanes::LANES,
                                                avx512::suboptimal_near_lanes,
                                                avx512::suboptimal_group};
}  // namespace pairalign
