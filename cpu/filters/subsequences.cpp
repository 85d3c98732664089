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
    masks_.resize(start);
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
        for (int32_t w = from.words; w < words; w++) masks[w * LANES + lane] = 0;
    }
}

void SubsequenceLooker::run_waiting(const Text& text, int32_t first, uint8_t* mask) {
    int32_t words = 1;
    for (int k = 0; k < waiting_; k++) words = std::max(words, masks_.group(positions_[k] / LANES).words);
    gathered_.resize(static_cast<size_t>(masks_.unambiguous()) * static_cast<size_t>(words) * LANES + LANES);
    uint64_t* masks = aligned(gathered_);
    for (int k = 0; k < waiting_; k++) masks_.copy(positions_[k], masks, words, k);
    for (int k = waiting_; k < LANES; k++) least_[k] = NEVER_NEEDED;
    int32_t unmatched = 0;
    for (int k = 0; k < waiting_; k++)
        unmatched = std::max(unmatched, masks_.length(positions_[k]) - least_[k]);
    run({masks, words}, text, least_, unmatched,
        [&](int lane, bool has) { mask[positions_[lane] - first] = has ? LOOKED_AT : 0; });
    waiting_ = 0;
}

}  // namespace pairalign
