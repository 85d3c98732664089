// Bytes that are not 0, among many that are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pairalign {

// Calls take(k) for each k < count whose byte is not 0; where few are, zeros are passed over in bulk.
template <class Take>
void for_each_set(const uint8_t* bytes, int32_t count, const Take& take) {
    constexpr int32_t WORDS = 8, BULK = WORDS * 8;
    for (int32_t k = 0; k < count;) {
        if (count - k >= BULK) {
            uint64_t words[WORDS], any = 0;
            std::memcpy(words, bytes + k, sizeof words);
            for (const uint64_t word : words) any |= word;
            if (!any) {
                k += BULK;
                continue;
            }
        }
        for (const int32_t stop = std::min(count, k + BULK); k < stop; k++)
            if (bytes[k]) take(k);
    }
}

}  // namespace pairalign
