// Random sequences for the programs of this folder, the same on every machine, and checksums of what comes of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../cpu/align/engine.h"

struct Random {
    uint64_t state;
    uint32_t below(uint32_t bound) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>((state >> 33) % bound);
    }
};

using Residues = std::vector<uint8_t>;

inline Residues residues(Random& random, int count, uint32_t of = 4) {
    Residues made;
    for (int k = 0; k < count; k++) made.push_back(static_cast<uint8_t>(random.below(of)));
    return made;
}

// A copy with about one residue in `every` changed, lost or new.
inline Residues relative(Random& random, const Residues& of, uint32_t every) {
    Residues made;
    for (const uint8_t code : of) {
        const uint32_t change = random.below(3 * every);
        if (change == 0) continue;
        made.push_back(change == 1 ? static_cast<uint8_t>(random.below(4)) : code);
        if (change == 2) made.push_back(static_cast<uint8_t>(random.below(4)));
    }
    return made;
}

struct Sequences {
    Residues codes;
    std::vector<int64_t> starts;
    std::vector<int32_t> lengths, inputs;

    // Variants of one sequence and unrelated ones; lengths fall.
    Sequences(Random& random, int count, int longest, uint32_t of) {
        const Residues model = residues(random, longest, of);
        for (int s = 0; s < count; s++) {
            Residues one;
            for (int k = 0; k < longest - s * longest / (count + 1); k++)
                one.push_back(s % 3 == 0 || random.below(4) == 0 ? static_cast<uint8_t>(random.below(of))
                                                                 : model[static_cast<size_t>(k)]);
            add(one, s);
        }
        codes.resize(codes.size() + READ_AHEAD);
    }
    // Sequences of any lengths.
    explicit Sequences(std::vector<Residues> given) {
        std::stable_sort(given.begin(), given.end(),
                         [](const Residues& a, const Residues& b) { return a.size() > b.size(); });
        const int count = static_cast<int>(given.size());
        // Pairs of which the earlier in the input is the shorter one, too.
        for (int s = 0; s < count; s++) add(given[static_cast<size_t>(s)], s % 2 ? count - 1 - s / 2 : s / 2);
        codes.resize(codes.size() + READ_AHEAD);
    }
    pairalign_set set() const {
        return {codes.data(), starts.data(), lengths.data(), inputs.data(),
                static_cast<int32_t>(starts.size())};
    }

private:
    static constexpr size_t READ_AHEAD = 64;

    void add(const Residues& one, int32_t input) {
        starts.push_back(static_cast<int64_t>(codes.size()));
        lengths.push_back(static_cast<int32_t>(one.size()));
        inputs.push_back(input);
        codes.insert(codes.end(), one.begin(), one.end());
    }
};

constexpr uint64_t NO_NUMBERS = 14695981039346656037u;

template <class Number>
uint64_t checksum(uint64_t sum, const std::vector<Number>& numbers) {
    for (const Number n : numbers) sum = (sum ^ static_cast<uint64_t>(n)) * 1099511628211u;
    return sum;
}

// other_kernels.cpp: suboptimal alignments, bands of single pairs and bitwise scores.
void print_other_kernels();
