// Names of a set, found by hashing. The ctypes declaration is in pairalign/pairs/lists.py.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

// Names of a set, one after the other: name k is text[ends[k-1]..ends[k]).
struct pairalign_names {
    const char* text;
    const int64_t* ends;  // [count]
    int64_t count;
};

namespace pairalign {

// Place of each name in its set.
using NameIndex = std::unordered_map<std::string_view, int32_t>;

inline NameIndex index_of(const pairalign_names& names) {
    NameIndex index;
    index.reserve(static_cast<size_t>(names.count));
    int64_t start = 0;
    for (int64_t k = 0; k < names.count; start = names.ends[k++])
        index.emplace(std::string_view(names.text + start, static_cast<size_t>(names.ends[k] - start)),
                      static_cast<int32_t>(k));
    return index;
}

}  // namespace pairalign
