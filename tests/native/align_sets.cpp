// Aligns sets of random sequences in every mode, detail and lane width, with both ties of end gaps, pruned in
// every way and with own rows, and prints a checksum of each; then those of other kernels: for machines that
// are there as an emulator only. See scripts/check_neon.py.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../cpu/align/engine.h"
#include "sequences.h"

namespace {

struct How {
    int mode, detail, bits;
    int pruning = 0, own_rows = 0;  // 0: none; where that is quicker
    int ties = 0;                   // of end gaps
    int64_t memory_bytes = int64_t{1} << 28;
};

uint64_t align(const Sequences& sequences, int match, const How& how) {
    const int mode = how.mode, detail = how.detail;
    int32_t matrix[32 * 32];
    for (int k = 0; k < 32 * 32; k++) matrix[k] = k / 32 == k % 32 && k / 32 < 20 ? match : -3;
    const pairalign_set set = sequences.set();
    pairalign_engine* engine =
        pairalign_open(&set, nullptr, matrix, 9, 2, mode, 19, 1, how.memory_bytes, nullptr, 2);
    const int32_t ends[8] = {0, 0, 3, 1, 9, 2, 4, 2};
    if (mode == 3) pairalign_set_end_gaps(engine, ends, how.ties);
    pairalign_set_lane_bits(engine, how.bits);
    pairalign_set_pruning(engine, how.pruning, 0, 0);
    pairalign_set_own_rows(engine, how.own_rows);
    const pairalign_window window{0, set.count, 0, set.count, 1, 1};
    const pairalign_want want{detail, 0, 0, nullptr};
    pairalign_result* result = nullptr;
    pairalign_trouble trouble;
    if (pairalign_align(engine, &window, &want, &result, &trouble) != PAIRALIGN_DONE) std::abort();
    const size_t pairs = static_cast<size_t>(pairalign_kept(result));
    std::vector<std::vector<int32_t>> columns(detail ? 11 : 3, std::vector<int32_t>(pairs));
    std::vector<int64_t> offsets(pairs + 1);
    std::vector<uint32_t> cigar(detail == 2 ? static_cast<size_t>(pairalign_runs(result)) : 0);
    pairalign_columns out{};
    int32_t** fields[] = {&out.query,      &out.target,       &out.raw_score,  &out.query_start,
                          &out.query_end,  &out.target_start, &out.target_end, &out.matches,
                          &out.mismatches, &out.gap_openings, &out.gap_letters};
    for (size_t k = 0; k < columns.size(); k++) *fields[k] = columns[k].data();
    if (detail == 2) {
        out.cigar_offsets = offsets.data();
        out.cigar = cigar.data();
    }
    pairalign_take(result, &out);
    pairalign_free(result);
    std::vector<int64_t> pruned(7);
    pairalign_pruned(engine, pruned.data());
    pairalign_close(engine);
    uint64_t sum = checksum(NO_NUMBERS, std::vector<int64_t>{pruned[1], pruned[2]});  // done, lost
    for (const auto& column : columns) sum = checksum(sum, column);
    return checksum(checksum(sum, offsets), cigar);
}

void print(const Sequences& sequences, int match, const How& how) {
    std::printf(
        "longest %d, match %d, mode %d, detail %d, bits %d, pruning %d, own rows %d, ties %d: %016llx\n",
        sequences.lengths[0], match, how.mode, how.detail, how.bits, how.pruning, how.own_rows, how.ties,
        static_cast<unsigned long long>(align(sequences, match, how)));
}

}  // namespace

int main() {
    constexpr int ALL_BY_CORRIDORS = 3, BY_LANES = 5, ALL_BY_OWN_ROWS = 1, NONE_BY_OWN_ROWS = 2;
    constexpr int END_GAPS = 3, TIES_OF_VSEARCH = 1;
    Random random{5};
    const struct {
        int count, longest;
        uint32_t letters;
        int match;
    } sets[] = {{40, 70, 4, 2}, {21, 150, 20, 5}, {35, 40, 2, 1}, {18, 90, 4, 40}};
    for (const auto& one : sets) {
        const Sequences sequences(random, one.count, one.longest, one.letters);
        for (int detail = 0; detail <= 2; detail++) {
            for (int mode = 0; mode <= 3; mode++) {
                for (const int bits : {0, 8, 16, 32})
                    print(sequences, one.match, {mode, detail, bits, 0, NONE_BY_OWN_ROWS});
                print(sequences, one.match, {mode, detail, 0, 0, ALL_BY_OWN_ROWS});
            }
            for (const int bits : {0, 8, 16, 32})
                print(sequences, one.match, {END_GAPS, detail, bits, 0, NONE_BY_OWN_ROWS, TIES_OF_VSEARCH});
            for (int pruning = ALL_BY_CORRIDORS; pruning <= BY_LANES; pruning++)
                print(sequences, one.match, {0, detail, 0, pruning});
        }
    }
    const Sequences long_ones(random, 4, 2500, 4);
    for (int pruning = ALL_BY_CORRIDORS; pruning <= BY_LANES; pruning++)
        print(long_ones, 2, {0, 2, 0, pruning});
    print(long_ones, 2, {0, 2, 0, ALL_BY_CORRIDORS, 0, 0, 1 << 19});  // lanes are saved instead of flags
    print_other_kernels();
    std::fprintf(stderr, "%s\n", pairalign_instruction_sets());
}
