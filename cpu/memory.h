// Memory of the engine's threads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace pairalign {

constexpr size_t LARGE_PAGE = size_t{1} << 21;

inline size_t up_to_multiple(size_t bytes, size_t of) { return (bytes + of - 1) / of * of; }

// So many bytes in large pages, from `small` on, which the system has to clear and to enter into its tables
// less often. Null where there are no more. Both are multiples of LARGE_PAGE.
inline void* allocate_large_pages(size_t bytes, size_t small = 0) {
    char* const memory = static_cast<char*>(std::aligned_alloc(LARGE_PAGE, bytes));
#ifdef MADV_HUGEPAGE
    if (memory) madvise(memory + small, bytes - small, MADV_HUGEPAGE);  // refused: slower, no more
#endif
    return memory;
}

// Memory that grows to what was asked for and is aligned to 64 bytes. LARGE: much of it is in large pages, of
// which the last is in use as a whole. LARGE_LATER: all but the begin, which may be all that is used.
enum class Pages { ANY, LARGE, LARGE_LATER };
class Buffer {
public:
    ~Buffer() { std::free(data_); }
    explicit Buffer(Pages pages = Pages::ANY) : pages_(pages) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void* need(size_t bytes) {
        if (bytes > size_) {
            release();
            const bool large = pages_ != Pages::ANY && bytes >= LARGE_PAGE / 2;
            bytes = up_to_multiple(bytes, large ? LARGE_PAGE : 4096);
            data_ = large ? allocate_large_pages(bytes, pages_ == Pages::LARGE ? 0 : LARGE_PAGE)
                          : std::aligned_alloc(64, bytes);
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
    const Pages pages_;
    void* data_ = nullptr;
    size_t size_ = 0;
};

// What threads work in, kept for the next ones, so that its memory is cleared once.
template <class T>
class Spare {
    struct GiveBack {
        Spare* spare;
        void operator()(T* one) const { spare->keep(std::unique_ptr<T>(one)); }
    };

public:
    using Lent = std::unique_ptr<T, GiveBack>;

    // What `make` returns, where there is none.
    template <class Make>
    Lent take(Make make) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (!kept_.empty()) {
                T* const one = kept_.back().release();
                kept_.pop_back();
                return Lent(one, {this});
            }
            kept_.reserve(++made_);  // giving back allocates nothing
        }
        return Lent(new T(make()), {this});
    }
    void release() { kept_.clear(); }

private:
    void keep(std::unique_ptr<T> one) {
        std::lock_guard<std::mutex> guard(mutex_);
        kept_.push_back(std::move(one));
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> kept_;
    size_t made_ = 0;
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

    // The first block is small.
    void add(size_t runs) {
        constexpr size_t SMALL = size_t{1} << 18;
        const bool small = blocks_.empty() && runs * sizeof(uint32_t) <= SMALL;
        const size_t needed = std::max(runs * sizeof(uint32_t), 2 * LARGE_PAGE);
        const size_t bytes = small ? SMALL : up_to_multiple(needed, LARGE_PAGE);
        Block block{std::unique_ptr<uint32_t, Free>(static_cast<uint32_t*>(
                        small ? std::aligned_alloc(4096, bytes) : allocate_large_pages(bytes))),
                    bytes / sizeof(uint32_t)};
        if (!block.start) throw std::bad_alloc();
        blocks_.push_back(std::move(block));
    }

    std::vector<Block> blocks_;
    size_t block_ = 0, used_ = 0;  // the block that is written to, and how far
};

}  // namespace pairalign
