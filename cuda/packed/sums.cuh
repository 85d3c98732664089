// Sums over the threads of a block, of what each of them holds.
#ifndef PAIRALIGN_PACKED_SUMS
#define PAIRALIGN_PACKED_SUMS

namespace {

constexpr unsigned WARP = 0xffffffffu;  // all lanes of one

// Sum of the values of the threads before, and of all: for up to 1,024 threads.
__device__ __forceinline__ long long sum_before(long long value, long long& all) {
    __shared__ long long of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long sum = value;
#pragma unroll
    for (int away = 1; away < 32; away *= 2) {
        const long long other = __shfl_up_sync(WARP, sum, away);
        if (lane >= away) sum += other;
    }
    __syncthreads();
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    long long before = 0;
    all = 0;
    for (int other = 0; other < (int)blockDim.x / 32; ++other) {
        if (other < warp) before += of_warp[other];
        all += of_warp[other];
    }
    return before + sum - value;
}

}  // namespace

#endif
