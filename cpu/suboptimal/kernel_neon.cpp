#define PAIRALIGN_NEON
#define PAIRALIGN_ISA neon
#include "band_strips.h"
#include "diagonals.h"
#include "free_cells.h"
#include "near_lanes.h"
#include "pair_lanes.h"
#include "strips.h"

namespace pairalign {
extern const SuboptimalKernel suboptimal_neon;
constexpr SuboptimalKernel suboptimal_neon = {"neon",
                                              neon::suboptimal_narrow,
                                              neon::suboptimal_wide,
                                              neon::suboptimal_ends,
                                              neon::suboptimal_columns,
                                              neon::suboptimal_tile,
                                              neon::suboptimal_band,
                                              neon::suboptimal_band_has_bytes,
                                              neon::suboptimal_most_free,
                                              neon::suboptimal_most_near,
                                              neon::suboptimal_most_along,
                                              neon::PairLanes::LANES,
                                              neon::suboptimal_near_lanes,
                                              neon::suboptimal_group};
}  // namespace pairalign
