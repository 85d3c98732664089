// Random sequences for the programs of this folder, the same on every machine, and checksums of what comes of
// them.
#pragma once

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

struct Sequences {
    std::vector<uint8_t> codes;
    std::vector<int64_t> starts;
    std::vector<int32_t> lengths, inputs;

    // Variants of one sequence and unrelated ones; lengths fall.
    Sequences(Random& random, int count, int longest, uint32_t letters) {
        std::vector<uint8_t> model;
        for (int k = 0; k < longest; k++) model.push_back(static_cast<uint8_t>(random.below(letters)));
        for (int s = 0; s < count; s++) {
            const int length = longest - s * longest / (count + 1);
            starts.push_back(static_cast<int64_t>(codes.size()));
            lengths.push_back(length);
            inputs.push_back(s);
            for (int k = 0; k < length; k++)
                codes.push_back(s % 3 == 0 || random.below(4) == 0
                                    ? static_cast<uint8_t>(random.below(letters))
                                    : model[static_cast<size_t>(k)]);
        }
        codes.resize(codes.size() + 64);
    }
    pairalign_set set() const {
        return {codes.data(), starts.data(), lengths.data(), inputs.data(),
                static_cast<int32_t>(starts.size())};
    }
};

constexpr uint64_t NO_NUMBERS = 14695981039346656037u;

template <class Number>
uint64_t checksum(uint64_t sum, const std::vector<Number>& numbers) {
    for (const Number n : numbers) sum = (sum ^ static_cast<uint64_t>(n)) * 1099511628211u;
    return sum;
}

// other_kernels.cpp: further alignments, corridors of single pairs and bitwise scores.
void print_other_kernels();
