// What native code does for the process as a whole. The ctypes declarations are in pairalign/base/native.py.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "export.h"

// Keeps memory that was freed, about so many bytes, instead of giving it back to the system at once: blocks
// of megabytes come and go for every slab of results, and clearing their pages anew takes the system about as
// long as native code takes to fill them. Nothing is done where the C library is not glibc.
PAIRALIGN_API void pairalign_keep_freed_memory([[maybe_unused]] int64_t bytes) {
#ifdef __GLIBC__
    constexpr int64_t LARGEST_BLOCK = 32 << 20, MOST = 1 << 30;  // the first is the most that glibc takes
    mallopt(M_MMAP_THRESHOLD, static_cast<int>(std::clamp<int64_t>(bytes / 4, 128 << 10, LARGEST_BLOCK)));
    mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::clamp<int64_t>(bytes, 128 << 10, MOST)));
#endif
}

// All threads allocate from one heap: each of several would keep at its end what its thread has freed. Holds
// for threads that have not allocated yet. Nothing is done where the C library is not glibc.
PAIRALIGN_API void pairalign_share_heap() {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}
