// Just enough of CUDA to run the kernels in cuda/ on a CPU, so that tests can compare them with the
// reference on machines without a GPU. Included before a kernel source that is compiled as C++.
//
// Every thread of a block is a fibre: ucontext makes its stack, setjmp changes from one to another,
// without the two system calls of swapcontext. Fibres of a block take turns, and change at barriers and
// warp-wide operations only. Blocks run one after the other. Nothing is said about speed, and
// races that a GPU might show stay hidden: compute-sanitizer is for those.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#define PAIRALIGN_EMULATE 1  // no inline assembly; dynamic shared memory from a function

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__ static
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __restrict__

struct char4 {
    signed char x, y, z, w;
};
struct uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct int2 {
    int32_t x, y;
};
struct alignas(16) int4 {
    int32_t x, y, z, w;
};
struct dim3 {
    uint32_t x = 1, y = 1, z = 1;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }

using std::max;
using std::min;

namespace emulated {

struct Barrier {  // of the threads in `expected` (a count)
    int arrived = 0, generation = 0;
};

struct Fibre {
    ucontext_t context;  // where it starts
    jmp_buf state;       // where it goes on
    dim3 thread;
    bool started = false, done = false;
};

struct Block {
    jmp_buf scheduler;
    std::vector<Fibre> fibres;
    std::unique_ptr<char[]> stacks;
    int current = 0, alive = 0;
    Barrier barrier;
    std::vector<Barrier> whole_warps;
    std::map<std::pair<int, uint32_t>, Barrier> warps;  // by warp and mask: parts of a warp may sync
    std::vector<uint64_t> values;                       // one a thread, for warp-wide operations
};

inline Block* block;
inline dim3 grid_size, block_size, block_index;
constexpr size_t STACK_BYTES = 64 << 10;

inline Fibre& self() { return block->fibres[block->current]; }
inline void yield() {
    if (_setjmp(self().state) == 0) _longjmp(block->scheduler, 1);
}
inline void resume(Fibre& fibre) {
    if (_setjmp(block->scheduler) != 0) return;
    if (fibre.started) _longjmp(fibre.state, 1);
    fibre.started = true;
    setcontext(&fibre.context);
}

template <class Expected>
void wait(Barrier& barrier, Expected expected) {
    const int generation = barrier.generation;
    ++barrier.arrived;
    // Others may leave for good meanwhile; whoever looks next opens the barrier.
    while (barrier.generation == generation) {
        if (barrier.arrived >= expected()) {
            barrier.arrived = 0;
            ++barrier.generation;
        } else {
            yield();
        }
    }
}

inline void sync_block() {
    wait(block->barrier, [] { return block->alive; });
}

inline void sync_warp(uint32_t mask) {
    if (mask == 0xffffffffu) return wait(block->whole_warps[block->current / 32], [] { return 32; });
    wait(block->warps[{block->current / 32, mask}], [mask] { return __builtin_popcount(mask); });
}

// Every lane of the mask gives a value and then sees those of the others.
template <class T, class Use>
auto exchange(uint32_t mask, T value, Use use) {
    static_assert(sizeof(T) <= 8);
    std::memcpy(&block->values[block->current], &value, sizeof(T));
    sync_warp(mask);
    const auto result = use([](int lane) {
        T other;
        std::memcpy(&other, &block->values[block->current / 32 * 32 + lane], sizeof(T));
        return other;
    });
    sync_warp(mask);
    return result;
}

inline void (*body)(void*);
inline void* body_arguments;

inline void enter() {
    body(body_arguments);
    self().done = true;
    --block->alive;
    yield();
}

inline void run_block() {
    const int threads = block_size.x * block_size.y * block_size.z;
    block->alive = threads;
    block->barrier = Barrier{};
    block->warps.clear();
    block->whole_warps.assign((threads + 31) / 32, Barrier{});
    for (int t = 0; t < threads; ++t) {
        Fibre& fibre = block->fibres[t];
        fibre.started = fibre.done = false;
        fibre.thread.x = t % block_size.x;
        fibre.thread.y = t / block_size.x % block_size.y;
        fibre.thread.z = t / block_size.x / block_size.y;
        getcontext(&fibre.context);
        fibre.context.uc_stack.ss_sp = block->stacks.get() + t * STACK_BYTES;
        fibre.context.uc_stack.ss_size = STACK_BYTES;
        fibre.context.uc_link = nullptr;
        makecontext(&fibre.context, enter, 0);
    }
    while (block->alive > 0)
        for (block->current = 0; block->current < threads; ++block->current)
            if (!self().done) resume(self());
}

template <class T>
T take(const char*& from, const char* start) {
    const size_t offset = (from - start + alignof(T) - 1) / alignof(T) * alignof(T);
    T value;
    std::memcpy(static_cast<void*>(&value), start + offset, sizeof(T));
    from = start + offset + sizeof(T);
    return value;
}

template <class... A>
void launch(void (*kernel)(A...), const uint32_t* sizes, const char* packed) {
    grid_size = {sizes[0], sizes[1], sizes[2]};
    block_size = {sizes[3], sizes[4], sizes[5]};
    const char* from = packed;
    std::tuple<void (*)(A...), std::tuple<std::decay_t<A>...>> call{
        kernel, std::tuple<std::decay_t<A>...>{take<std::decay_t<A>>(from, packed)...}};
    body_arguments = &call;
    body = [](void* p) {
        auto& [function, arguments] = *static_cast<decltype(call)*>(p);
        std::apply(function, arguments);
    };
    const int threads = block_size.x * block_size.y * block_size.z;
    auto owned = std::make_unique<Block>();
    block = owned.get();
    block->fibres.resize(threads);
    block->values.resize((threads + 31) / 32 * 32);
    block->stacks.reset(new char[threads * STACK_BYTES]);  // not cleared: most is never touched
    for (block_index.z = 0; block_index.z < grid_size.z; ++block_index.z)
        for (block_index.y = 0; block_index.y < grid_size.y; ++block_index.y)
            for (block_index.x = 0; block_index.x < grid_size.x; ++block_index.x) run_block();
}

}  // namespace emulated

#define threadIdx (emulated::self().thread)
#define blockIdx emulated::block_index
#define blockDim emulated::block_size
#define gridDim emulated::grid_size
constexpr int warpSize = 32;

inline void* emulated_shared_memory() {
    alignas(16) static char memory[256 << 10];
    return memory;
}

inline void __syncthreads() { emulated::sync_block(); }
inline void __threadfence() {}
inline void __syncwarp(uint32_t mask = 0xffffffffu) { emulated::sync_warp(mask); }

inline uint32_t __ballot_sync(uint32_t mask, int predicate) {
    return emulated::exchange(mask, predicate != 0, [mask](auto of) {
        uint32_t votes = 0;
        for (int lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1) votes |= uint32_t(of(lane)) << lane;
        return votes;
    });
}
inline int __any_sync(uint32_t mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(uint32_t mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }

template <class T>
T reduce_sync(uint32_t mask, T value, T (*of_two)(T, T)) {
    return emulated::exchange(mask, value, [=](auto of) {
        T result = value;
        for (int lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1) result = of_two(result, of(lane));
        return result;
    });
}
inline int __reduce_max_sync(uint32_t mask, int value) {
    return reduce_sync<int>(mask, value, [](int a, int b) { return a > b ? a : b; });
}
inline int __reduce_min_sync(uint32_t mask, int value) {
    return reduce_sync<int>(mask, value, [](int a, int b) { return a < b ? a : b; });
}

template <class T>
T __shfl_sync(uint32_t mask, T value, int lane, int width = 32) {
    const int first = emulated::block->current % 32 / width * width;
    return emulated::exchange(mask, value, [=](auto of) { return of(first + (lane & (width - 1))); });
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32) {
    const int lane = emulated::block->current % 32, first = lane / width * width;
    const int source = lane - int(delta) < first ? lane : lane - int(delta);
    return emulated::exchange(mask, value, [=](auto of) { return of(source); });
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32) {
    const int lane = emulated::block->current % 32, last = lane / width * width + width - 1;
    const int source = lane + int(delta) > last ? lane : lane + int(delta);
    return emulated::exchange(mask, value, [=](auto of) { return of(source); });
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int lanes, int width = 32) {
    const int source = emulated::block->current % 32 ^ lanes;
    (void)width;
    return emulated::exchange(mask, value, [=](auto of) { return of(source); });
}

template <class T>
T __ldg(const T* p) {
    return *p;
}
template <class T>
T __ldcs(const T* p) {
    return *p;
}
template <class T>
T __ldcg(const T* p) {
    return *p;
}
template <class T>
void __stcs(T* p, T value) {
    *p = value;
}
template <class T>
void __stcg(T* p, T value) {
    *p = value;
}
template <class T>
T atomicAdd(T* p, T value) {
    T old = *p;
    *p += value;
    return old;
}
template <class T>
T atomicMax(T* p, T value) {
    T old = *p;
    *p = max(old, value);
    return old;
}
template <class T>
T atomicMin(T* p, T value) {
    T old = *p;
    *p = min(old, value);
    return old;
}
inline int __popcll(uint64_t x) { return __builtin_popcountll(x); }
inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }

inline int __viaddmax_s32(int a, int b, int c) { return max(int(uint32_t(a) + uint32_t(b)), c); }
inline int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
inline int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
inline int __vimax3_s32_relu(int a, int b, int c) { return max(max(max(a, b), c), 0); }
inline int __dp4a(int a, int b, int c) {
    for (int k = 0; k < 4; ++k) c += int8_t(a >> (8 * k)) * int8_t(b >> (8 * k));
    return c;
}
inline int __dp2a_lo(int a, int b, int c) {
    for (int k = 0; k < 2; ++k) c += int16_t(a >> (16 * k)) * int8_t(b >> (8 * k));
    return c;
}
inline uint32_t __vadd2(uint32_t a, uint32_t b) {
    return ((a + b) & 0xffffu) | (((a >> 16) + (b >> 16)) << 16);
}
inline uint32_t __vmaxu2(uint32_t a, uint32_t b) {
    return max(a & 0xffffu, b & 0xffffu) | max(a >> 16, b >> 16) << 16;
}
inline uint32_t __vimax3_u16x2(uint32_t a, uint32_t b, uint32_t c) { return __vmaxu2(__vmaxu2(a, b), c); }
inline uint32_t __viaddmax_u16x2(uint32_t a, uint32_t b, uint32_t c) { return __vmaxu2(__vadd2(a, b), c); }
inline uint32_t __vibmax_u16x2(uint32_t a, uint32_t b, bool* high, bool* low) {
    *high = a >> 16 >= b >> 16;
    *low = (a & 0xffffu) >= (b & 0xffffu);
    return __vmaxu2(a, b);
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
    return uint32_t(((uint64_t(high) << 32) | low) >> (shift & 31));
}
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift) {
    return uint32_t((((uint64_t(high) << 32) | low) << (shift & 31)) >> 32);
}
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = (uint64_t(b) << 32) | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; ++k) {
        const uint32_t s = selector >> (4 * k);
        uint32_t byte = uint32_t(bytes >> (8 * (s & 7))) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}
