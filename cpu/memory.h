// Memory of the engine's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
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

// CIGAR runs of many pairs; pointers into it stay valid.
class Arena {
public:
    uint32_t* reserve(size_t runs) {
        if (blocks_.empty() || used_ + runs > size_) {
            size_ = std::max<size_t>(runs, BLOCK);
            blocks_.emplace_back(new uint32_t[size_]);
            used_ = 0;
        }
        return blocks_.back().get() + used_;
    }
    void commit(size_t runs) { used_ += runs; }

private:
    static constexpr size_t BLOCK = size_t{1} << 18;
    std::vector<std::unique_ptr<uint32_t[]>> blocks_;
    size_t used_ = 0, size_ = 0;
};

}  // namespace pairalign
