// Which of many pairs may have a suboptimal alignment at all: most have not, and are done with here, on
// threads.

#include <algorithm>
#include <atomic>

#include "../threads.h"
#include "exact_runs.h"

namespace {

constexpr int64_t AT_ONCE = 4;  // pairs that a thread takes

}  // namespace

PAIRALIGN_API int32_t pairalign_suboptimal_screen(const pairalign_suboptimal_pair* pairs, int64_t count,
                                                  int32_t threads, uint8_t* may) {
    std::atomic<bool> cancelled{false};
    const auto screen = [&](int32_t part) {
        const int64_t end = std::min(count, (part + 1) * AT_ONCE);
        for (int64_t k = part * AT_ONCE; k < end; ++k) {
            if (*static_cast<const volatile int32_t*>(pairs[k].cancelled)) {
                cancelled = true;
                return;
            }
            may[k] = pairalign::may_have_free_run(pairs[k], pairs[k].least_run);
        }
    };
    try {
        pairalign::on_threads(static_cast<int32_t>((count + AT_ONCE - 1) / AT_ONCE), threads, screen);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return cancelled ? -2 : 0;
}
