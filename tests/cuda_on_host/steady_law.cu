// For tests/engines/test_engine_cuda_steady.py: what cuda/pruned/steady.cuh says of equal residues, side by
// side with filling them.
//
// Computes   from the lanes of a window: which are alive, how many residues may be skipped, and the lanes
// after
//            so many residues have been filled.
// In         lanes[last - first + 3]: of the window's lanes first to last, and one on either side; slack: by
//            how much less than the best a lane may reach and be alive.
// Out        found: lanes alive, residues, 1 if others were alive after some block; lanes: those, filled.
//            room[] is for as many lanes again, and the margins of a block.
// Threads    a warp.
#include "../../cuda/pruned/steady.cuh"

struct Skipping {
    int first, last, step, slack;
};

struct Found {
    int low, high, residues, others_alive;
};

// What a lane reaches, whatever the lanes beside it could be given back. As lanes go on that does not rise
// unless they pass residues that match nothing.
__device__ int reach_alone(const Params& p, const View& v, int4 lane_is, int lane, int step) {
    return reach_of(p, v, Cheap(p, v, step / 2 + lane, step / 2 - lane - 1), lane_is, lane, step);
}

extern "C" __global__ void fill_what_is_skipped(const Params p, const Skipping asked, int4* lanes, int4* room,
                                                Found* found) {
    const View v(p, p.pairs[0]);
    const int table[1] = {0}, first = asked.first, last = asked.last;
    int step = asked.step;
    Lanes now{lanes, first - 1, first, last};
    const int least = best_reach(p, v, now, first, last, step) - asked.slack;
    trim(p, v, now, first, last, step, least, false);
    const int residues = residues_to_skip(p, v, now, first, last, step);
    int others_alive = 0;
    for (int done = 0; done < residues; done += MARGIN) {
        const int from = now.low - MARGIN, to = now.high + MARGIN;
        const Lanes next{room, from, from, to};
        fill_window(p, v, table, now, next, step, STEPS);
        __syncwarp();
        step += STEPS;
        for (int lane = from + (int)(threadIdx.x % 32); lane <= to; lane += 32) {
            const bool was_alive = lane >= now.low && lane <= now.high;
            if (was_alive) now.at[lane - now.base] = next.at[lane - from];
            else others_alive |= reach_alone(p, v, next.at[lane - from], lane, step) >= least;
        }
        __syncwarp();
    }
    others_alive = __ballot_sync(ALL, others_alive) != 0;
    if (threadIdx.x == 0) *found = Found{now.low, now.high, residues, others_alive};
}
