// The bits of sequences for longest common subsequences, and the kernels by name.

#include "subsequences.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "../instruction_sets.h"
#include "../threads.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const SubsequenceKernel subsequences_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

const SubsequenceKernel* choose_subsequences(const char* name) {
    const std::string available = pairalign_instruction_sets();
    const std::string wanted = name && *name ? name : available.substr(0, available.find(','));
    if (("," + available + ",").find("," + wanted + ",") == std::string::npos) return nullptr;
#define PAIRALIGN_ADDRESS(NAME) &subsequences_##NAME,
    for (const SubsequenceKernel* kernel : {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)})
        if (wanted == kernel->name) return kernel;
#undef PAIRALIGN_ADDRESS
    return nullptr;
}

int32_t share_of_straying(const pairalign_thresholds& t) {
    const bool count_all = t.identity_of == OF_FULL || (t.identity_of == OF_COLUMNS && t.mode == 0);
    return count_all ? static_cast<int32_t>(Wide{1024} * t.identity / t.identity_whole) : 0;
}

bool ResidueCounts::fit(const pairalign_set& set) {
    return set.count == 0 || set.lengths[0] <= UINT16_MAX;  // longest first
}

void ResidueCounts::count(const uint8_t* codes, int32_t length, int32_t unambiguous, uint16_t* own) {
    std::fill_n(own, MOST_CODES, uint16_t{0});
    for (int32_t k = 0; k < length; k++)
        if (codes[k] < unambiguous) own[codes[k]]++;
}

ResidueCounts::ResidueCounts(const pairalign_set& set, int32_t unambiguous)
    : unambiguous_(unambiguous), stride_(static_cast<size_t>((set.count + BLOCK - 1) / BLOCK * BLOCK)) {
    counts_.resize(static_cast<size_t>(unambiguous) * stride_);
    uint16_t own[MOST_CODES];
    for (int32_t s = 0; s < set.count; s++) {
        count(set.codes + set.starts[s], set.lengths[s], unambiguous, own);
        for (int32_t code = 0; code < unambiguous; code++)
            counts_[static_cast<size_t>(code) * stride_ + static_cast<size_t>(s)] = own[code];
    }
}

MatchMasks::MatchMasks(const pairalign_set& set, int32_t unambiguous, int32_t threads)
    : unambiguous_(unambiguous), lengths_(set.lengths) {
    const int32_t groups = (set.count + LANES - 1) / LANES;
    size_t start = 0;
    for (int32_t g = 0; g < groups; g++) {
        int32_t longest = 1;
        for (int32_t s = g * LANES; s < std::min(set.count, (g + 1) * LANES); s++)
            longest = std::max(longest, set.lengths[s]);
        starts_.push_back(start);
        words_.push_back((longest + BITS_OF_WORD - 1) / BITS_OF_WORD);
        start += static_cast<size_t>(unambiguous) * static_cast<size_t>(words_.back()) * LANES;
    }
    masks_.resize(start, FREE_BIT);
    on_threads(groups, threads, [&](int32_t g) {
        const int32_t words = words_[static_cast<size_t>(g)];
        uint64_t* masks = masks_.data() + starts_[static_cast<size_t>(g)];
        for (int32_t s = g * LANES; s < std::min(set.count, (g + 1) * LANES); s++) {
            const uint8_t* codes = set.codes + set.starts[s];
            for (int32_t k = 0; k < set.lengths[s]; k++)
                if (codes[k] < unambiguous)
                    masks[(static_cast<int64_t>(codes[k]) * words + k / BITS_OF_WORD) * LANES + s % LANES] |=
                        uint64_t{1} << (k % BITS_OF_WORD);
        }
    });
}

void MatchMasks::copy(int32_t position, uint64_t* masks, int32_t words, int lane) const {
    const MaskGroup from = group(position / LANES);
    const uint64_t* source = from.masks + position % LANES;
    for (int32_t code = 0; code < unambiguous_; code++, masks += words * LANES) {
        for (int32_t w = 0; w < from.words; w++, source += LANES) masks[w * LANES + lane] = *source;
        for (int32_t w = from.words; w < words; w++) masks[w * LANES + lane] = FREE_BIT;
    }
}

void SubsequenceLooker::run_waiting(const Text& text, int32_t first, uint8_t* mask) {
    int32_t words = 1;
    for (int k = 0; k < waiting_; k++) words = std::max(words, masks_.group(positions_[k] / LANES).words);
    gathered_.resize(static_cast<size_t>(masks_.unambiguous()) * static_cast<size_t>(words) * LANES + LANES);
    uint64_t* masks = aligned(gathered_);
    for (int k = 0; k < waiting_; k++) masks_.copy(positions_[k], masks, words, k);
    NeededMatches needed(straying_);
    for (int k = 0; k < waiting_; k++) needed.add(k, least_[k], masks_.length(positions_[k]), text.length);
    run({masks, words}, text, needed,
        [&](int lane, bool has) { mask[positions_[lane] - first] = has ? LOOKED_AT : 0; });
    waiting_ = 0;
}

}  // namespace pairalign
