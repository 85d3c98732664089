// Representatives whose residues stand in the lanes of vectors: which of them have a common subsequence with
// another sequence that is long enough, eight at a time (filters/subsequences.h). For identities that permit
// no seeds, as `shorter`, whose gaps in the shorter sequence cost nothing.
//
// The text is the shorter of the two sequences: it can go without few matches, so that most groups of eight
// are done after a part of it. So columns are looked for in groups of longer rows, and rows in groups of
// longer columns: the order of the rows is free. Texts of about the same length are sorted, and groups are of
// neighbours: what the beginnings of texts show is not looked at again.
//
// Bounds. M matches, and L residues in the longest common subsequence: M <= L. So identities are at most L by
// what matches are a share of, at least: the shorter sequence, the longer one, columns (least_whole in
// filters/thresholds.h), or 2 L by n + m.
//
// Contained. Let all matches score the same, s > 0, mismatches less, and 0 <= extend <= open. The shorter
// sequence has n residues, the longer one m.
// - In global mode it is a start and an end of the longer one, with nothing left out of it: side by side but
//   for one gap it has n matches. An alignment with a <= n columns without gaps and M matches has g = m - n +
//   2 (n - a) residues in gaps, which cost at least what one gap of g residues costs: the more, the smaller a
//   is. So it scores at most s M + (a - M) (s - 1) - cost(g), which is less than n s - cost(m - n) unless a =
//   n = M. So every optimal alignment has n matches and m columns.
// - In other modes, where ends cost nothing, it is a part of the longer one: there it scores n s, and an
//   alignment with M < n matches scores less. So every optimal alignment has n matches.
// The identity is known where coverage is not asked for: n by n of `shorter`, by m of `longer` and `full`
// and, in global mode, `columns`, 2 n by n + m of `mean`.
#pragma once

#include <cstdint>

#include "../export.h"
#include "representatives.h"

struct pairalign_filter;

// Of a filter of one set, which stays open, with the kernel of an instruction set. Null: the
// identity has no such bound, or common subsequences drop less of a sample of pairs than so many percent, or
// there is no memory.
PAIRALIGN_API pairalign_representatives* pairalign_open_lanes(const pairalign_filter* filter,
                                                              const char* instruction_set,
                                                              int32_t least_dropped);
