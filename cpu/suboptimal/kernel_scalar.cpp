#define PAIRALIGN_ISA scalar
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "near_lanes.h"
#include "pair_lanes.h"
#include "strips.h"

namespace pairalign {
extern const SuboptimalKernel suboptimal_scalar;
constexpr SuboptimalKernel suboptimal_scalar = {"scalar",
                                                scalar::suboptimal_narrow,
                                                scalar::suboptimal_wide,
                                                scalar::suboptimal_ends,
                                                scalar::suboptimal_columns,
                                                scalar::suboptimal_tile,
                                                scalar::suboptimal_band,
                                                scalar::suboptimal_band_has_bytes,
                                                scalar::suboptimal_most_free,
                                                scalar::suboptimal_most_near,
                                                scalar::suboptimal_most_along,
                                                scalar::PairLanes::LANES,
                                                scalar::suboptimal_near_lanes,
                                                scalar::suboptimal_group};
}  // namespace pairalign
