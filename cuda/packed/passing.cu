// Which pairs of a batch reach a minimal score: they alone go to the host, or to the kernels that trace.
//
// Computes   count_passing: how many pairs of each block of PAIRS reach the minimum; write_passing: the
//            numbers of those pairs in the batch, in order, and their scores and names; semiglobal
//            write_bounded_passing: the numbers, scores, and whether the score is high enough for where the
//            alignment ends. Between the two place_runs (runs.cu) turns counts into starts.
// In         score[pairs], query[pairs], target[pairs]: one after the other, as a batch's columns are.
//            end_row[pairs], end_column[pairs]; least_by_end[residues + 1]: of alignments whose ends have at
//            least so many residues of each sequence before them.
// Out        counts[blocks]; numbers[pairs] and, one after the other, columns[3][pairs]: in the order of
//            the batch's columns, or columns[2][pairs]: score, and 0 or 1. What is after the last pair that
//            passes is not written.
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

namespace {

// Calls `keep(to, pair)` for the pairs of the block that reach the minimum, the `to`-th of the batch each.
template <class Keep>
__device__ __forceinline__ void gather(const int* score, const long long pairs, const int least,
                                       const long long* starts, const Keep& keep) {
    const long long first = (long long)blockIdx.x * PAIRS;
    long long start = starts[blockIdx.x];
    for (int of = threadIdx.x; of < PAIRS; of += THREADS) {
        const long long pair = first + of;
        const bool passes = pair < pairs && score[pair] >= least;
        long long all;
        const long long to = start + sum_before(passes, all);
        if (passes) keep(to, pair);
        start += all;
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    write_passing(const int* columns, const long long pairs, const int least, const long long* starts,
                  int* numbers, int* passing_columns) {
    gather(columns + 2 * pairs, pairs, least, starts, [=](long long to, long long pair) {
        numbers[to] = (int)pair;
        for (int name = 0; name < NAMES; ++name)
            passing_columns[name * pairs + to] = columns[name * pairs + pair];
    });
}

extern "C" __global__ void __launch_bounds__(THREADS)
    write_bounded_passing(const int* columns, const long long pairs, const int least, const long long* starts,
                          int* numbers, int* passing_columns, const int* end_row, const int* end_column,
                          const int* least_by_end) {
    const int* const score = columns + 2 * pairs;
    gather(score, pairs, least, starts, [=](long long to, long long pair) {
        const int end = min(end_row[pair], end_column[pair]);
        numbers[to] = (int)pair;
        passing_columns[to] = score[pair];
        passing_columns[pairs + to] = score[pair] >= least_by_end[end];
    });
}
