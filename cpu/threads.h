// Work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

namespace pairalign {

// Calls work(k) for each k < count on some threads; what it throws ends up here.
template <class Work>
void on_threads(int32_t count, int32_t threads, const Work& work) {
    std::atomic<int32_t> next{0};
    std::atomic<bool> failed{false};
    auto run = [&] {
        try {
            for (int32_t k; !failed && (k = next++) < count;) work(k);
        } catch (const std::bad_alloc&) {
            failed = true;
        }
    };
    std::vector<std::thread> others;
    try {
        for (int32_t t = 1; t < std::min(threads, count); t++) others.emplace_back(run);
    } catch (...) {
        // The system allows no more threads: those that there are do the work.
    }
    run();
    for (std::thread& thread : others) thread.join();
    if (failed) throw std::bad_alloc();
}

}  // namespace pairalign
