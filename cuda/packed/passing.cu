// Which pairs of a batch reach a minimal score: they alone go to the host, or to the kernels that trace.
//
// Computes   count_passing: how many pairs of each block of PAIRS reach the minimum; write_passing: the
//            numbers of those pairs in the batch, in order, and their scores and names. Between the two
//            place_runs (runs.cu) turns counts into starts.
// In         score[pairs], query[pairs], target[pairs]: one after the other, as a batch's columns are.
// Out        counts[blocks]; numbers[pairs] and, one after the other, columns[3][pairs]: in the order of
//            the batch's columns. What is after the last pair that passes is not written.
// Threads    A block for PAIRS pairs, THREADS at a time.
// Shared     Pairs that pass, of each warp.
#include "sums.cuh"

namespace {

constexpr int THREADS = 256;
constexpr int PAIRS = 4096;  // of a block: place_runs, a single block, sums up few counts
constexpr int NAMES = 3;     // query, target, score

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    count_passing(const int* columns, const long long pairs, const int least, int* counts) {
    const int* const score = columns + 2 * pairs;
    const long long first = (long long)blockIdx.x * PAIRS;
    int passing = 0;
    for (int of = threadIdx.x; of < PAIRS; of += THREADS) {
        const long long pair = first + of;
        passing += pair < pairs && score[pair] >= least;
    }
    long long all;
    sum_before(passing, all);
    if (threadIdx.x == 0) counts[blockIdx.x] = (int)all;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    write_passing(const int* columns, const long long pairs, const int least, const long long* starts,
                  int* numbers, int* passing_columns) {
    const int* const score = columns + 2 * pairs;
    const long long first = (long long)blockIdx.x * PAIRS;
    long long start = starts[blockIdx.x];
    for (int of = threadIdx.x; of < PAIRS; of += THREADS) {
        const long long pair = first + of;
        const bool passes = pair < pairs && score[pair] >= least;
        long long all;
        const long long to = start + sum_before(passes, all);
        if (passes) {
            numbers[to] = (int)pair;
            for (int name = 0; name < NAMES; ++name)
                passing_columns[name * pairs + to] = columns[name * pairs + pair];
        }
        start += all;
    }
}
