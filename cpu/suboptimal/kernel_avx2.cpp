#define PAIRALIGN_AVX2
#define PAIRALIGN_ISA avx2
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "near_lanes.h"
#include "pair_lanes.h"
#include "strips.h"

namespace pairalign {
extern const SuboptimalKernel suboptimal_avx2;
constexpr SuboptimalKernel suboptimal_avx2 = {"avx2",
                                              avx2::suboptimal_narrow,
                                              avx2::suboptimal_wide,
                                              avx2::suboptimal_ends,
                                              avx2::suboptimal_columns,
                                              avx2::suboptimal_tile,
                                              avx2::suboptimal_band,
                                              avx2::suboptimal_band_has_bytes,
                                              avx2::suboptimal_most_free,
                                              avx2::suboptimal_most_near,
                                              avx2::suboptimal_most_along,
                                              avx2::PairLanes::LANES,
                                              avx2::suboptimal_near_lanes,
                                              avx2::suboptimal_group};
}  // namespace pairalign
