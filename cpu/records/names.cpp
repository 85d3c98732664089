// Indices of the names of sets, in which readers of records look names up.

#include <new>

#include "fields.h"

using pairalign::NameIndex;
using pairalign::records::Text;

// Makes an index of the names of a set, which have to stay where they are; null where there is no memory.
PAIRALIGN_API void* pairalign_open_names(const pairalign_names* names) {
    try {
        return new NameIndex(pairalign::index_of(*names));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_names(void* index) { delete static_cast<NameIndex*>(index); }

// Places of some names: found[count], -1 where the set has no such name.
PAIRALIGN_API void pairalign_find_names(const void* index, const pairalign_names* names, int32_t* found) {
    const NameIndex& known = *static_cast<const NameIndex*>(index);
    int64_t start = 0;
    for (int64_t k = 0; k < names->count; start = names->ends[k++]) {
        const auto place = known.find(Text(names->text + start, static_cast<size_t>(names->ends[k] - start)));
        found[k] = place == known.end() ? -1 : place->second;
    }
}
