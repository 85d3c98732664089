// Pairs of a window whose scores reach a minimum. The ctypes declaration is in
// pairalign/reads/overlap_kinds.py.
#pragma once

#include <cstdint>

// Of one strand: numbers[count] of pairs, ascending, with their scores; may_pass: 0 where it is known that
// their alignment does not pass.
struct pairalign_reaching {
    int64_t count;
    const int32_t *numbers, *scores, *may_pass;
};
