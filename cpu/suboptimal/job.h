// What is known of two sequences before any of their cells is computed.
#pragma once

#include "suboptimal.h"

namespace pairalign {

constexpr int32_t SUBOPTIMAL_CODES = 32;
constexpr int32_t SUBOPTIMAL_CANCELLED = -2;  // what the C ABI returns

SuboptimalJob make_job(const pairalign_suboptimal_pair& pair);

// Whether scores of a pair fit 16 bits.
bool is_narrow(const pairalign_suboptimal_pair& pair);

// Whether strips can be filled: scores say whether residues are equal, and each other step costs something.
bool has_strips(const SuboptimalJob& job);

// Whether 8 bits hold all cells, as long as no score is high.
bool fits_bytes(const SuboptimalJob& job);

// Null where there is none of that name.
const SuboptimalKernel* suboptimal_kernel_of(const char* instruction_set);

}  // namespace pairalign
