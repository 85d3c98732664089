#!/usr/bin/env python3
"""Simulate shards on many workers: failures, stragglers, retries. Seeded; standard library alone.

    python scripts/simulate_shards.py --workers 1000 --shards 16000 --hours 1.3

A shard takes the same work as any other (the plan sees to that); a worker's speed differs from the
mean by a few percent, some are stragglers, and workers die at random, which loses what they had
done of a shard since its last commit (with --resume) or all of it. Workers come one after another,
as a scheduler gives them. Idle workers take the next shard. Printed: the time to the end against
the ideal, in which the workers that there are share the work by their speeds from when they have
come, without deaths and starts of tasks, and how much work was lost; the goal is 1.15.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections import deque
from dataclasses import dataclass
from itertools import product

STARTS = {"store": 3, "FASTA": 20}
"""Assumed seconds until a task aligns, of what its sequences are read from."""
GOAL = 1.15
"""Times the ideal, of the worst seed."""


@dataclass(frozen=True)
class Cluster:
    """Workers and their troubles; times in hours.

    Attributes
    ----------
    workers, shards : int
    work : float
        Of all shards, on one worker of mean speed.
    failures : float
        Of a worker, in an hour of work.
    repair : float
        From a failure until the worker, or another one in its place, takes a shard.
    stragglers, slowness : float
        Share of the workers that are slow, and how many times slower they are.
    arrival : float
        Until the last worker has come; each comes at a random time before.
    start : float
        To read the sequences and open engines, for each shard.
    commit : float
        Between commits; work since the last one is lost. Without resuming: infinite.
    """

    workers: int
    shards: int
    work: float
    failures: float = 0.01
    repair: float = 0.1
    stragglers: float = 0.02
    slowness: float = 2.0
    arrival: float = 0.05
    start: float = 20 / 3600
    commit: float = float("inf")


@dataclass(frozen=True)
class Outcome:
    """Hours to the end and in the ideal, hours of work that were lost, and failures."""

    hours: float
    ideal: float
    lost: float
    failures: int


def simulate(cluster: Cluster, seed: int) -> Outcome:
    """Run all shards; a shard whose worker died goes to the end of the queue."""
    chance = random.Random(seed)
    share = cluster.work / cluster.shards
    speeds = [
        chance.gauss(1, 0.03) / (cluster.slowness if chance.random() < cluster.stragglers else 1)
        for _ in range(cluster.workers)
    ]
    waiting = deque([share] * cluster.shards)
    arrivals = [chance.uniform(0, cluster.arrival) for _ in range(cluster.workers)]
    idle = [(hour, worker) for worker, hour in enumerate(arrivals)]
    heapq.heapify(idle)
    missed = sum(speed * hour for speed, hour in zip(speeds, arrivals, strict=True))
    ideal = (cluster.work + missed) / sum(speeds)
    ends, lost, failures = 0.0, 0.0, 0
    returned: list[tuple[float, float]] = []  # when a shard comes back, and what is left of it
    while waiting or returned:
        now, worker = heapq.heappop(idle)
        while returned and returned[0][0] <= now:
            waiting.append(heapq.heappop(returned)[1])
        if not waiting:  # until a worker that has a shard now fails
            heapq.heappush(idle, (returned[0][0], worker))
            continue
        left = waiting.popleft()
        takes = cluster.start + left / speeds[worker]
        fails = chance.expovariate(cluster.failures) if cluster.failures else float("inf")
        if fails >= takes:
            ends = max(ends, now + takes)
            heapq.heappush(idle, (now + takes, worker))
            continue
        failures += 1
        done = max(0.0, fails - cluster.start) * speeds[worker]
        kept = done - done % (cluster.commit * speeds[worker])
        if cluster.commit == float("inf"):
            kept = 0.0
        lost += done - kept
        heapq.heappush(returned, (now + fails, left - kept))
        heapq.heappush(idle, (now + fails + cluster.repair, worker))
    return Outcome(ends, ideal, lost, failures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=16000)
    parser.add_argument("--hours", type=float, default=1.3, help="of work for each worker")
    parser.add_argument("--failures", type=float, default=0.01, help="of a worker in an hour")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    print("workers shards start resume  hours/ideal (worst of seeds)  failures  work lost  goal")
    for start, commit in product(STARTS.values(), (float("inf"), 10 / 3600)):
        cluster = Cluster(
            options.workers,
            options.shards,
            options.hours * options.workers,
            failures=options.failures,
            start=start / 3600,
            commit=commit,
        )
        found = [simulate(cluster, seed) for seed in range(options.seeds)]
        hours = [one.hours / one.ideal for one in found]
        lost = sum(one.lost for one in found) / len(found) / cluster.work
        failures = sum(one.failures for one in found) / len(found)
        print(
            f"{cluster.workers:7} {cluster.shards:6} {start:3} s {'no' if commit > 1 else 'yes':>6}"
            f"  {sum(hours) / len(hours):11.3f} ({max(hours):.3f}) {failures:17.1f}"
            f"  {100 * lost:8.3f}%  {'met' if max(hours) <= GOAL else 'missed'}"
        )


if __name__ == "__main__":
    main()
