// Memory of the engine's threads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace pairalign {

// Memory that grows to what was asked for and is aligned to 64 bytes.
class Buffer {
public:
    ~Buffer() { std::free(data_); }
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void* need(size_t bytes) {
        if (bytes > size_) {
            release();
            bytes = (bytes + 4095) / 4096 * 4096;
            data_ = std::aligned_alloc(64, bytes);
            if (!data_) throw std::bad_alloc();
            size_ = bytes;
        }
        return data_;
    }
    void release() {
        std::free(data_);
        data_ = nullptr;
        size_ = 0;
    }
    size_t size() const { return size_; }

private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

// CIGAR runs of many pairs; pointers into it stay valid until it is cleared.
class Arena {
public:
    uint32_t* reserve(size_t runs) {
        while (block_ == blocks_.size() || used_ + runs > blocks_[block_].runs) {
            if (block_ < blocks_.size()) block_++;
            if (block_ == blocks_.size()) add(runs);
            used_ = 0;
        }
        return blocks_[block_].start.get() + used_;
    }
    void commit(size_t runs) { used_ += runs; }
    // Begins anew in the same memory.
    void clear() { block_ = used_ = 0; }

private:
    struct Free {
        void operator()(uint32_t* memory) const { std::free(memory); }
    };
    struct Block {
        std::unique_ptr<uint32_t, Free> start;
        size_t runs;
    };

    // The first block is small; of the others, the system is asked for large pages, which it has to clear and
    // to enter into its tables less often.
    void add(size_t runs) {
        constexpr size_t SMALL = size_t{1} << 18, PAGE = size_t{1} << 21;
        size_t bytes = std::max(runs * sizeof(uint32_t), blocks_.empty() ? SMALL : 2 * PAGE);
        bytes = (bytes + PAGE - 1) / PAGE * PAGE;
        if (blocks_.empty() && runs * sizeof(uint32_t) <= SMALL) bytes = SMALL;
        Block block{std::unique_ptr<uint32_t, Free>(
                        static_cast<uint32_t*>(std::aligned_alloc(bytes < PAGE ? 4096 : PAGE, bytes))),
                    bytes / sizeof(uint32_t)};
        if (!block.start) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        if (bytes >= PAGE) madvise(block.start.get(), bytes, MADV_HUGEPAGE);  // refused: slower, no more
#endif
        blocks_.push_back(std::move(block));
    }

    std::vector<Block> blocks_;
    size_t block_ = 0, used_ = 0;  // the block that is written to, and how far
};

}  // namespace pairalign
