// Aligns sets of random sequences in every mode, detail and lane width, with both ties of end gaps, pruned in
// every way and with own rows, and prints a checksum of each; then those of other kernels: for machines that
// are there as an emulator only. See scripts/check_neon.py.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../cpu/align/engine.h"
#include "sequences.h"

namespace {

constexpr int GLOBAL = 0, LOCAL = 2, END_GAPS = 3, CIGAR = 2, TIES_OF_VSEARCH = 1;
constexpr int WHERE_QUICKER = 1, ALL_BY_BANDS = 3, BY_LANES = 5, ALL = 1, NONE = 2;
constexpr int BASES = 4;

// What is asked for: however it is done, it comes out the same.
struct What {
    int mode, detail, match;
    int ties = 0;                       // of end gaps
    uint32_t one_in = 1;                // pairs that are chosen
    bool minimum = false;               // whether low scores are left out
    int unambiguous = 19;               // codes; of BASES own rows and bands in lanes have classes
    const Sequences* second = nullptr;  // set
    int32_t first_row = 0;
};

struct Way {
    int bits = 0, pruning = 0;
    int own_rows = 0, floors = 0;  // 0: where that is quicker
    int64_t memory_bytes = int64_t{1} << 28;
};

struct Found {
    uint64_t sum;
    std::vector<int64_t> pruned;
};

// A mask of pairs, empty for all of them.
std::vector<uint8_t> chosen_pairs(int64_t pairs, uint32_t one_in) {
    if (one_in == 1) return {};
    std::vector<uint8_t> mask(static_cast<size_t>(pairs));
    Random random{3};
    for (uint8_t& one : mask) one = random.below(one_in) == 0;
    return mask;
}

Found align(const Sequences& sequences, const What& what, const Way& way) {
    constexpr int THREADS = 2, NEVER = 2;
    int32_t matrix[32 * 32];  // one residue matches itself without being unambiguous
    for (int k = 0; k < 32 * 32; k++)
        matrix[k] = k / 32 == k % 32 && k / 32 < what.unambiguous + 1 ? what.match : -3;
    const pairalign_set set = sequences.set(), second = what.second ? what.second->set() : set;
    pairalign_engine* engine = pairalign_open(&set, what.second ? &second : nullptr, matrix, 9, 2, what.mode,
                                              what.unambiguous, THREADS, way.memory_bytes, nullptr, NEVER);
    const int32_t ends[8] = {0, 0, 3, 1, 9, 2, 4, 2};
    if (what.mode == END_GAPS) pairalign_set_end_gaps(engine, ends, what.ties);
    pairalign_set_lane_bits(engine, way.bits);
    pairalign_set_pruning(engine, way.pruning, 0, 0);
    pairalign_set_own_rows(engine, way.own_rows);
    pairalign_set_floors(engine, way.floors);
    const int32_t rows = set.count - what.first_row;
    const pairalign_window window{what.first_row, set.count, 0, second.count, !what.second, 1};
    const int64_t all = what.second ? int64_t{rows} * second.count : int64_t{rows} * (rows - 1) / 2;
    const std::vector<uint8_t> mask = chosen_pairs(all, what.one_in);
    const pairalign_want want{what.detail, what.minimum, what.match * sequences.lengths[0] / 4,
                              mask.empty() ? nullptr : mask.data()};
    pairalign_found found;
    if (pairalign_align(engine, &window, &want, &found) != PAIRALIGN_DONE) std::abort();
    const size_t pairs = static_cast<size_t>(found.pairs);
    std::vector<int32_t> fields(pairs * (what.detail ? 11 : 3));
    std::vector<int64_t> offsets(pairs + 1);
    std::vector<uint32_t> cigar(what.detail == CIGAR ? static_cast<size_t>(found.runs) : 0);
    pairalign_take(engine, fields.data(), what.detail == CIGAR ? offsets.data() : nullptr, cigar.data());
    std::vector<int64_t> pruned(7);
    pairalign_pruned(engine, pruned.data());
    pairalign_close(engine);
    const uint64_t sum = checksum(NO_NUMBERS, fields);
    return {checksum(checksum(sum, offsets), cigar), {pruned[1], pruned[2]}};  // done, lost
}

void fail(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::exit(1);
}

// In all these ways; they must agree.
void print(const Sequences& sequences, const What& what, const std::vector<Way>& ways) {
    uint64_t first = 0;
    for (const Way& way : ways) {
        const Found found = align(sequences, what, way);
        std::printf(
            "longest %d, match %d, mode %d, detail %d, ties %d, one in %u, minimum %d, unambiguous %d, sets "
            "%d; "
            "bits %d, pruning %d, own rows %d, floors %d: %lld pruned, %lld lost, %016llx\n",
            sequences.lengths[0], what.match, what.mode, what.detail, what.ties, what.one_in, what.minimum,
            what.unambiguous, what.second ? 2 : 1, way.bits, way.pruning, way.own_rows, way.floors,
            static_cast<long long>(found.pruned[0]), static_cast<long long>(found.pruned[1]),
            static_cast<unsigned long long>(found.sum));
        std::fflush(stdout);
        if (&way != &ways[0] && found.sum != first) fail("this way they differ from the first");
        if (way.pruning && what.unambiguous == BASES && found.pruned[0] == 0) fail("no pair was pruned");
        first = found.sum;
    }
}

std::vector<Way> pruned_ways(int64_t memory_bytes = int64_t{1} << 28) {
    std::vector<Way> ways(1);
    for (int pruning = ALL_BY_BANDS; pruning <= BY_LANES; pruning++)
        ways.push_back({0, pruning, 0, 0, memory_bytes});
    return ways;
}

// Lanes of all widths, and what 8 bits can do.
std::vector<Way> lanes_of_all_kinds(int mode) {
    std::vector<Way> ways{{32, 0, NONE}, {16, 0, NONE}, {8, 0, NONE}, {0, 0, NONE}, {0, 0, ALL}};
    if (mode != LOCAL) return ways;
    for (const int own_rows : {ALL, NONE})
        for (const int floors : {ALL, NONE}) ways.push_back({0, 0, own_rows, floors});
    return ways;
}

// Relatives of several sequences, some cut short, with ambiguous residues.
Sequences families(Random& random, int count, int longest, uint32_t every, bool ambiguous) {
    std::vector<Residues> made;
    const Residues models[2] = {residues(random, longest), residues(random, longest * 2 / 3)};
    for (int s = 0; s < count; s++) {
        Residues one = relative(random, models[s % 5 == 4], every);
        if (s % 4 == 3)
            one.erase(one.begin(), one.begin() + random.below(static_cast<uint32_t>(longest / 3)));
        if (ambiguous && s % 3 == 2) one[one.size() / 2] = 5;
        if (s % 7 == 6) one.resize(one.size() / 4);
        made.push_back(one);
    }
    return Sequences(made);
}

// Every mode, detail, and kind of lanes.
void print_small_sets(Random& random) {
    const struct {
        int count, longest;
        uint32_t residues;
        int match;
    } sets[] = {{40, 70, 4, 2}, {21, 150, 20, 5}, {35, 40, 2, 1}, {18, 90, 4, 40}};
    for (const auto& one : sets) {
        const Sequences sequences(random, one.count, one.longest, one.residues);
        for (int detail = 0; detail <= CIGAR; detail++) {
            for (int mode = 0; mode <= END_GAPS; mode++) {
                print(sequences, {mode, detail, one.match}, lanes_of_all_kinds(mode));
                const What of_later_rows{mode, detail, one.match, 0, 1, false, 19, nullptr, 12};
                print(sequences, of_later_rows, {{}, {0, WHERE_QUICKER}});
            }
            print(sequences, {END_GAPS, detail, one.match, TIES_OF_VSEARCH}, lanes_of_all_kinds(END_GAPS));
            print(sequences, {GLOBAL, detail, one.match}, pruned_ways());
        }
    }
}

// Pairs from anywhere in a window, of one set and of two, whose lanes have classes of residues or not; in
// local mode with scores that 8 bits do not hold.
void print_chosen_pairs(Random& random) {
    for (const bool ambiguous : {false, true}) {
        const Sequences first = families(random, 34, 150, 9, ambiguous),
                        second = families(random, 9, 190, 9, ambiguous);
        for (const Sequences* other : {static_cast<const Sequences*>(nullptr), &second})
            for (const uint32_t one_in : {1u, 6u})
                for (int mode = 0; mode <= END_GAPS; mode++) {
                    const std::vector<Way> ways = lanes_of_all_kinds(mode);
                    print(first, {mode, CIGAR, 5, 0, one_in, false, BASES, other}, ways);
                    print(first, {mode, 0, 5, 0, one_in, false, BASES, other}, ways);
                    print(first, {mode, CIGAR, 5, 0, one_in, true, BASES, other}, ways);
                }
    }
}

// So long that tiles are larger, and that scores leave two bytes.
void print_long_ones(Random& random) {
    const Sequences relatives = families(random, 9, 700, 14, true);
    for (const int match : {2, 5})
        for (const int detail : {0, CIGAR})
            print(relatives, {LOCAL, detail, match, 0, 1, false, BASES}, lanes_of_all_kinds(LOCAL));
    for (const int detail : {0, CIGAR})
        print(relatives, {GLOBAL, detail, 2, 0, 1, false, BASES}, pruned_ways());
    print(relatives, {GLOBAL, CIGAR, 2, 0, 3, true, BASES}, pruned_ways());
    const Sequences longer(random, 7, 2500, 4);
    print(longer, {GLOBAL, CIGAR, 2, 0, 1, false, BASES}, pruned_ways());
    // Lanes are saved instead of flags.
    print(longer, {GLOBAL, CIGAR, 2}, {{}, {0, ALL_BY_BANDS, 0, 0, 1 << 20}});
}

}  // namespace

int main() {
    Random random{5};
    print_small_sets(random);
    print_chosen_pairs(random);
    print_long_ones(random);
    print_other_kernels();
    std::fprintf(stderr, "%s\n", pairalign_instruction_sets());
}
