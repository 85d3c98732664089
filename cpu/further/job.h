// What is known of two sequences before any of their cells is computed.
#pragma once

#include "further.h"

namespace pairalign {

constexpr int32_t FURTHER_CODES = 32;
constexpr int32_t FURTHER_CANCELLED = -2;  // what the C ABI returns

FurtherJob make_job(const pairalign_further_pair& pair);

// Whether scores of a pair fit 16 bits.
bool is_narrow(const pairalign_further_pair& pair);

// Whether strips can be filled: scores say whether letters are equal, and each other step costs something.
bool has_strips(const FurtherJob& job);

// Whether 8 bits hold all cells, as long as no score is high.
bool fits_bytes(const FurtherJob& job);

// Null where there is none of that name.
const FurtherKernel* further_kernel_of(const char* instruction_set);

}  // namespace pairalign
