// The rarest disjoint seeds of a sequence, by a recurrence over where they end.

#include "seed_chooser.h"

#include <algorithm>

namespace pairalign {

void SeedChooser::read(const uint8_t* codes, int32_t first, int32_t stop) {
    constexpr float OF_A_LOOK = 0.01f;  // so that of seeds that nobody has ambiguous ones come first
    const auto starts = static_cast<size_t>(stop - first - shape_.residues + 1);
    words_.resize(starts);
    costs_.assign(starts, 0);
    for_each_word(codes + first, stop - first, shape_.residues, shape_.bits, shape_.unambiguous,
                  [&](uint64_t word, int32_t start) {
                      words_[static_cast<size_t>(start)] = word;
                      costs_[static_cast<size_t>(start)] = static_cast<float>(counts_.of(word)) + OF_A_LOOK;
                  });
}

void SeedChooser::choose_best(int32_t wanted) {
    const auto size = static_cast<size_t>(shape_.residues), width = costs_.size() + size;
    const auto seeds = static_cast<size_t>(wanted);
    least_.resize((seeds + 1) * width);
    std::fill(least_.begin(), least_.begin() + static_cast<int64_t>(width), 0.0f);
    for (size_t s = 1; s <= seeds; s++) {
        float* own = least_.data() + s * width;
        const float* before = own - width;
        float best = before[(s - 1) * size] + costs_[(s - 1) * size];
        own[s * size] = best;
        for (size_t end = s * size + 1; end + (seeds - s) * size < width; end++) {
            best = std::min(best, before[end - size] + costs_[end - size]);
            own[end] = best;
        }
    }
    size_t end = width - 1;
    sum_ = least_[seeds * width + end];
    for (size_t s = seeds; s >= 1; s--) {
        const float* own = least_.data() + s * width;
        while (end > s * size && own[end - 1] <= own[end]) end--;
        end -= size;
        starts_.push_back(static_cast<int32_t>(end));
    }
}

void SeedChooser::choose_in_parts(int32_t wanted) {
    const auto residues = static_cast<int64_t>(costs_.size()) + shape_.residues - 1;
    sum_ = 0;
    for (int64_t s = 0; s < wanted; s++) {
        const auto first = costs_.begin() + residues * s / wanted;
        const auto stop = costs_.begin() + residues * (s + 1) / wanted - shape_.residues + 1;
        const auto best = std::min_element(first, stop);
        sum_ += *best;
        starts_.push_back(static_cast<int32_t>(best - costs_.begin()));
    }
}

bool SeedChooser::choose(const uint8_t* codes, int32_t first, int32_t stop, int64_t wanted,
                         std::vector<Seed>& seeds) {
    seeds.clear();
    if (wanted * shape_.residues > int64_t{stop} - first) return false;
    read(codes, first, stop);
    starts_.clear();
    if (wanted * (stop - first) <= MOST_CELLS) choose_best(static_cast<int32_t>(wanted));
    else choose_in_parts(static_cast<int32_t>(wanted));
    for (const int32_t start : starts_)
        if (costs_[static_cast<size_t>(start)] > 0)
            seeds.push_back({words_[static_cast<size_t>(start)], first + start});
    return true;
}

}  // namespace pairalign
