// Whether a pair can have one more alignment that is long and alike enough: a run of equal residues that no
// known alignment uses. So many residues at such an identity force a run, see docs/overlaps.md.
#pragma once

#include "suboptimal.h"

namespace pairalign {

// False only if no run of `length` equal, unambiguous residues lies on cells that are all free.
bool may_have_free_run(const pairalign_suboptimal_pair& pair, int32_t length);

}  // namespace pairalign
