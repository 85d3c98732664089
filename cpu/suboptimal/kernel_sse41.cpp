#define PAIRALIGN_SSE41
#define PAIRALIGN_ISA sse41
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "near_lanes.h"
#include "pair_lanes.h"
#include "strips.h"

namespace pairalign {
extern const SuboptimalKernel suboptimal_sse41;
constexpr SuboptimalKernel suboptimal_sse41 = {"sse41",
                                               sse41::suboptimal_narrow,
                                               sse41::suboptimal_wide,
                                               sse41::suboptimal_ends,
                                               sse41::suboptimal_columns,
                                               sse41::suboptimal_tile,
                                               sse41::suboptimal_band,
                                               sse41::suboptimal_band_has_bytes,
                                               sse41::suboptimal_most_free,
                                               sse41::suboptimal_most_near,
                                               sse41::suboptimal_most_along,
                                               sse41::PairLanes::LANES,
                                               sse41::suboptimal_near_lanes,
                                               sse41::suboptimal_group};
}  // namespace pairalign
