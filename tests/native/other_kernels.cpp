// Prints a checksum each of what the kernels of cpu/suboptimal and cpu/bitwise make of random sequences.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../cpu/bitwise/bitwise.h"
#include "../../cpu/suboptimal/suboptimal.h"
#include "sequences.h"

namespace {

constexpr int CODES = 32;

std::string best_instruction_set() {
    const std::string names = pairalign_instruction_sets();
    return names.substr(0, names.find(','));
}

// How residues are scored; `uneven`: not all matches alike, so that nothing but their matrix says it.
struct Costs {
    int match, mismatch, gap_open, gap_extend;
    bool uneven, is_local;

    std::vector<int32_t> matrix() const {
        std::vector<int32_t> scores(CODES * CODES, mismatch);
        for (int code = 0; code < CODES; code++)
            scores[static_cast<size_t>(code * (CODES + 1))] = match + (uneven ? code % 3 : 0);
        return scores;
    }
};

// The alignments of two sequences that are known so far.
struct Known {
    std::vector<int32_t> starts;
    std::vector<int64_t> offsets{0};
    std::vector<uint32_t> runs;

    void add(const pairalign_suboptimal_found& found, const uint32_t* found_runs) {
        starts.push_back(found.row_start);
        starts.push_back(found.column_start);
        runs.insert(runs.end(), found_runs, found_runs + found.run_count);
        offsets.push_back(static_cast<int64_t>(runs.size()));
    }
};

uint64_t sum_of(uint64_t sum, const pairalign_suboptimal_found& found, const std::vector<uint32_t>& runs) {
    const std::vector<int32_t> fields{found.score,        found.row_start,    found.row_end,
                                      found.column_start, found.column_end,   found.matches,
                                      found.mismatches,   found.gap_openings, found.gap_residues};
    return checksum(checksum(sum, fields),
                    std::vector<uint32_t>(runs.begin(), runs.begin() + found.run_count));
}

// The best alignment by a band, then, however that ended, all that there are, up to a few.
void print_suboptimal(const Residues& rows, const Residues& columns, const Costs& costs) {
    constexpr int MOST = 4;
    const std::string isa = best_instruction_set();
    const std::vector<int32_t> matrix = costs.matrix();
    const int32_t cancelled = 0;
    Known known;
    std::vector<uint32_t> runs(rows.size() + columns.size());
    const auto pair = [&] {
        return pairalign_suboptimal_pair{rows.data(),
                                         columns.data(),
                                         matrix.data(),
                                         known.starts.data(),
                                         known.offsets.data(),
                                         known.runs.data(),
                                         &cancelled,
                                         static_cast<int32_t>(rows.size()),
                                         static_cast<int32_t>(columns.size()),
                                         costs.gap_open,
                                         costs.gap_extend,
                                         costs.is_local,
                                         4,
                                         1,
                                         1,
                                         static_cast<int32_t>(known.offsets.size()) - 1,
                                         0};
    };
    pairalign_suboptimal_found found{};
    int32_t rest = 0;
    uint64_t sum = NO_NUMBERS;
    const pairalign_suboptimal_pair first = pair();
    const int32_t by_band = pairalign_band_alignment(&first, isa.c_str(), &found, runs.data(), &rest, 0);
    if (by_band == 1) sum = sum_of(checksum(sum, std::vector<int32_t>{rest}), found, runs);
    int count = 0;
    for (; count < MOST; count++) {
        const pairalign_suboptimal_pair next = pair();
        const int64_t at = 0;
        if (pairalign_suboptimal_alignments(&next, 1, isa.c_str(), 1, &found, runs.data(), &at)) std::abort();
        if (found.score == 0) break;
        sum = sum_of(sum, found, runs);
        known.add(found, runs.data());
    }
    std::printf("suboptimal: %zu x %zu, match %d%s, %s, band %d, %d alignments: %016llx\n", rows.size(),
                columns.size(), costs.match, costs.uneven ? " or more" : "",
                costs.is_local ? "local" : "semiglobal", by_band, count,
                static_cast<unsigned long long>(sum));
}

// Repeats in both, so that there are suboptimal alignments.
Residues with_repeats(Random& random, const Residues& repeat, int between) {
    Residues made = residues(random, between);
    for (const uint32_t every : {30u, 12u, 6u}) {
        const Residues one = relative(random, repeat, every), other = residues(random, between);
        made.insert(made.end(), one.begin(), one.end());
        made.insert(made.end(), other.begin(), other.end());
    }
    return made;
}

void print_bitwise(Random& random, const pairalign_linear& costs) {
    const Sequences sequences(random, 90, 150, 4);
    const pairalign_set set = sequences.set();
    const pairalign_window window{0, set.count, 0, set.count, 1, 1};
    std::vector<int32_t> scores(static_cast<size_t>(set.count * (set.count - 1) / 2));
    const int32_t cancelled = 0;
    if (pairalign_bitwise_scores(&set, nullptr, &window, &costs, nullptr, 1, best_instruction_set().c_str(),
                                 &cancelled, scores.data()) != PAIRALIGN_DONE)
        std::abort();
    std::printf("bitwise: match %d, mismatch %d, gap %d: %016llx\n", costs.match, costs.mismatch, costs.gap,
                static_cast<unsigned long long>(checksum(NO_NUMBERS, scores)));
}

}  // namespace

void print_other_kernels() {
    Random random{11};
    constexpr Costs IN_BYTES{2, -3, 5, 2, false, true}, IN_16_BITS{70, -80, 150, 65, false, true},
        BY_DIAGONALS{5, -4, 9, 2, true, true}, IN_32_BITS{4000, -3000, 9000, 2000, true, true},
        SEMIGLOBAL{2, -3, 5, 2, false, false};
    for (const int length : {60, 180}) {
        const Residues repeat = residues(random, length);
        const Residues rows = with_repeats(random, repeat, length),
                       columns = with_repeats(random, repeat, length / 2);
        for (const Costs& costs : {IN_BYTES, BY_DIAGONALS, IN_32_BITS, SEMIGLOBAL})
            print_suboptimal(rows, columns, costs);
        if (length < 100) print_suboptimal(rows, columns, IN_16_BITS);
    }
    const Residues genome = residues(random, 1700);
    for (const uint32_t every : {40u, 15u, 7u})
        print_suboptimal(genome, relative(random, genome, every), IN_BYTES);
    // The last number is what LinearScores.low_bits of engines/bitwise_scoring.py says of the others.
    print_bitwise(random, {2, 3, 5, 1, 5});
    print_bitwise(random, {1, 1, 1, 1, 3});
}
