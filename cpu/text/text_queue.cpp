// Formatting behind: the contract is in text_queue.h.

#include "text_queue.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

#include "../files/crc32.h"
#include "text_plan.h"

namespace pairalign::text {
namespace {

struct FreeMemory {
    void operator()(char* memory) const { std::free(memory); }
};

struct Buffer {
    std::unique_ptr<char, FreeMemory> memory;
    int64_t bytes = 0;
};

// A slab from its submission until all of it has been formatted.
struct Slab {
    pairalign_text text;
    Planner planner;
    bool planned = false;    // all of it belongs to pieces
    int64_t unfinished = 0;  // pieces that are being formatted
};

struct Piece {
    Buffer buffer;
    int64_t bytes = 0;
    bool done = false;
};

struct Job {
    Slab* slab;
    Piece* piece;
    Range range;
};

// Threads that are started here take no signals: those are the business of the main thread.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

}  // namespace
}  // namespace pairalign::text

using namespace pairalign::text;

struct pairalign_text_queue {
public:
    pairalign_text_queue(int32_t threads, int64_t piece_bytes, int64_t number)
        : piece_bytes_(piece_bytes), number_(number), unused_(2 * threads + 2) {
        const SignalsBlocked blocked;
        try {
            for (int32_t k = 0; k < threads; ++k) threads_.emplace_back([this] { format_all(); });
        } catch (...) {
            end();
            throw;
        }
    }

    ~pairalign_text_queue() { end(); }

    void write_to(int32_t file, uint32_t* checksum) {
        const SignalsBlocked blocked;
        threads_.emplace_back([this, file, checksum] { write_all(file, checksum); });
    }

    int32_t submit(const pairalign_text& text) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (trouble_ != PAIRALIGN_TEXT_DONE) return trouble_;
        slabs_.emplace_back();
        slabs_.back().text = text;
        slabs_.back().planned = text.pairs == 0;
        retire();
        work_.notify_one();
        return PAIRALIGN_TEXT_DONE;
    }

    int32_t take(int32_t wait_ms, pairalign_text_piece& given) {
        std::unique_lock<std::mutex> guard(lock_);
        ready_.wait_for(guard, std::chrono::milliseconds(wait_ms),
                        [this] { return takeable() || idle() || trouble_; });
        if (trouble_ != PAIRALIGN_TEXT_DONE) return trouble_;
        if (!takeable()) return idle() ? PAIRALIGN_TEXT_IDLE : PAIRALIGN_TEXT_WAITING;
        Piece& piece = pieces_.front();
        given = {piece.buffer.memory.get(), piece.bytes};
        taken_.push_back(std::move(piece.buffer));
        pieces_.pop_front();
        return PAIRALIGN_TEXT_DONE;
    }

    void give_back(const pairalign_text_piece& given) {
        const std::lock_guard<std::mutex> guard(lock_);
        for (auto buffer = taken_.begin(); buffer != taken_.end(); ++buffer) {
            if (buffer->memory.get() != given.data) continue;
            keep(std::move(*buffer));
            taken_.erase(buffer);
            break;
        }
        if (idle() && taken_.empty()) progress_.notify_all();
    }

    int64_t formatted() {
        const std::lock_guard<std::mutex> guard(lock_);
        return formatted_;
    }

    int32_t wait(int64_t slabs, int32_t wait_ms) {
        return wait_until(wait_ms, [this, slabs] { return formatted_ >= slabs; });
    }

    int32_t wait_written(int32_t wait_ms) {
        return wait_until(wait_ms, [this] { return idle() && taken_.empty(); });
    }

    int64_t trouble() {
        const std::lock_guard<std::mutex> guard(lock_);
        return what_;
    }

    void stop() {
        const std::lock_guard<std::mutex> guard(lock_);
        fail(PAIRALIGN_TEXT_STOPPED, 0);
    }

private:
    // Functions below are called with `lock_` held unless their comment says otherwise.

    bool takeable() const { return !pieces_.empty() && pieces_.front().done; }
    bool idle() const { return pieces_.empty() && slabs_.empty(); }

    template <typename Condition>
    int32_t wait_until(int32_t wait_ms, Condition condition) {
        std::unique_lock<std::mutex> guard(lock_);
        const bool met = progress_.wait_for(guard, std::chrono::milliseconds(wait_ms),
                                            [&] { return trouble_ != PAIRALIGN_TEXT_DONE || condition(); });
        if (trouble_ != PAIRALIGN_TEXT_DONE) return trouble_;
        return met ? PAIRALIGN_TEXT_DONE : PAIRALIGN_TEXT_WAITING;
    }

    // Takes a free buffer back; frees one that was made for a large pair.
    void keep(Buffer buffer) {
        ++unused_;
        if (buffer.bytes == piece_bytes_) spare_.push_back(std::move(buffer));
        work_.notify_one();
    }

    // Drops the first slabs all of whose pairs are formatted.
    void retire() {
        bool any = false;
        while (!slabs_.empty() && slabs_.front().planned && slabs_.front().unfinished == 0) {
            slabs_.pop_front();
            ++formatted_;
            if (planning_ > 0) --planning_;
            any = true;
        }
        if (any) progress_.notify_all();
        if (takeable() || idle()) ready_.notify_all();
    }

    void fail(pairalign_text_status status, int64_t what) {
        if (trouble_ == PAIRALIGN_TEXT_DONE) {
            trouble_ = status;
            what_ = what;
        }
        for (std::condition_variable* one : {&work_, &ready_, &progress_}) one->notify_all();
    }

    // Without `lock_`.
    void format_all() {
        Job job;
        while (claim(job)) format(job);
    }

    // Take the next run of pairs and a buffer for its text. False: there is no more to do. Without `lock_`.
    bool claim(Job& job) {
        const std::lock_guard<std::mutex> one_at_a_time(claiming_);
        std::unique_lock<std::mutex> guard(lock_);
        work_.wait(guard, [this] { return trouble_ || (unused_ > 0 && find_unplanned()); });
        if (trouble_ != PAIRALIGN_TEXT_DONE) return false;
        Slab& slab = slabs_[planning_];
        --unused_;
        pieces_.emplace_back();
        job.slab = &slab;
        job.piece = &pieces_.back();
        ++slab.unfinished;
        guard.unlock();  // the slab stays: it has an unfinished piece
        job.range = slab.planner.next(slab.text, piece_bytes_, number_);
        number_ += job.range.shown;
        guard.lock();
        slab.planned = job.range.end == slab.text.pairs;
        if (job.range.bytes < 0) {
            fail(PAIRALIGN_TEXT_BAD_PAIR, -1 - job.range.bytes);
            return false;
        }
        if (!spare_.empty() && job.range.bytes <= piece_bytes_) {
            job.piece->buffer = std::move(spare_.back());
            spare_.pop_back();
        }
        return true;
    }

    // The first slab with pairs that belong to no piece yet.
    bool find_unplanned() {
        while (planning_ < slabs_.size() && slabs_[planning_].planned) ++planning_;
        return planning_ < slabs_.size();
    }

    // Without `lock_`.
    void format(const Job& job) {
        Buffer& buffer = job.piece->buffer;
        const Range& range = job.range;
        if (buffer.memory == nullptr) {
            buffer.bytes = range.bytes > piece_bytes_ ? range.bytes : piece_bytes_;
            buffer.memory.reset(static_cast<char*>(std::malloc(static_cast<size_t>(buffer.bytes))));
        }
        const int64_t written = buffer.memory == nullptr
                                    ? 0
                                    : format_pairs(job.slab->text, range, buffer.memory.get(), buffer.bytes);
        const std::lock_guard<std::mutex> guard(lock_);
        if (buffer.memory == nullptr) return fail(PAIRALIGN_TEXT_NO_MEMORY, 0);
        if (written < 0) return fail(PAIRALIGN_TEXT_BAD_PAIR, -1 - written);
        job.piece->bytes = written;
        job.piece->done = true;
        --job.slab->unfinished;
        retire();
    }

    // Without `lock_`.
    void write_all(int32_t file, uint32_t* checksum) {
        for (;;) {
            pairalign_text_piece piece;
            {
                std::unique_lock<std::mutex> guard(lock_);
                ready_.wait(guard, [this] { return trouble_ || takeable(); });
                if (trouble_ != PAIRALIGN_TEXT_DONE) return;
            }
            if (take(0, piece) != PAIRALIGN_TEXT_DONE) return;
            if (const int error = write_bytes(file, piece.data, piece.bytes)) {
                const std::lock_guard<std::mutex> guard(lock_);
                return fail(PAIRALIGN_TEXT_UNWRITTEN, error);
            }
            if (checksum != nullptr)
                *checksum = pairalign_crc32(*checksum, reinterpret_cast<const unsigned char*>(piece.data),
                                            piece.bytes);
            give_back(piece);
        }
    }

    static int write_bytes(int32_t file, const char* data, int64_t bytes) {
        while (bytes > 0) {
            const ssize_t written = ::write(file, data, static_cast<size_t>(bytes));
            if (written < 0 && errno != EINTR) return errno;
            if (written < 0) continue;
            data += written;
            bytes -= written;
        }
        return 0;
    }

    // Without `lock_`.
    void end() {
        stop();
        for (std::thread& thread : threads_) thread.join();
    }

    const int64_t piece_bytes_;
    std::mutex claiming_;               // of the planners; taken before `lock_`
    int64_t number_;                    // of the next pair shown; with `claiming_` held
    std::mutex lock_;                   // of all that follows
    std::condition_variable work_;      // for formatters: a slab, or a buffer
    std::condition_variable ready_;     // for those who take: the next piece
    std::condition_variable progress_;  // for those who wait: a slab is formatted, all is written
    std::deque<Slab> slabs_;
    size_t planning_ = 0;  // slabs before it are planned
    int64_t formatted_ = 0;
    std::deque<Piece> pieces_;  // in order; not yet taken
    std::vector<Buffer> taken_, spare_;
    int32_t unused_;  // buffers that may still be asked for
    pairalign_text_status trouble_ = PAIRALIGN_TEXT_DONE;
    int64_t what_ = 0;
    std::vector<std::thread> threads_;
};

PAIRALIGN_API pairalign_text_queue* pairalign_text_open(int32_t threads, int64_t piece_bytes,
                                                        int64_t number) {
    try {
        return new pairalign_text_queue(threads, piece_bytes, number);
    } catch (const std::exception&) {
        return nullptr;
    }
}

PAIRALIGN_API int32_t pairalign_text_write_to(pairalign_text_queue* queue, int32_t file, uint32_t* checksum) {
    try {
        queue->write_to(file, checksum);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

PAIRALIGN_API int32_t pairalign_text_submit(pairalign_text_queue* queue, const pairalign_text* text) {
    try {
        return queue->submit(*text);
    } catch (const std::bad_alloc&) {
        return PAIRALIGN_TEXT_NO_MEMORY;
    }
}

PAIRALIGN_API int32_t pairalign_text_take(pairalign_text_queue* queue, int32_t wait_ms,
                                          pairalign_text_piece* piece) {
    return queue->take(wait_ms, *piece);
}

PAIRALIGN_API void pairalign_text_give_back(pairalign_text_queue* queue, const pairalign_text_piece* piece) {
    queue->give_back(*piece);
}

PAIRALIGN_API int64_t pairalign_text_formatted(pairalign_text_queue* queue) { return queue->formatted(); }

PAIRALIGN_API int32_t pairalign_text_wait(pairalign_text_queue* queue, int64_t slabs, int32_t wait_ms) {
    return queue->wait(slabs, wait_ms);
}

PAIRALIGN_API int32_t pairalign_text_wait_written(pairalign_text_queue* queue, int32_t wait_ms) {
    return queue->wait_written(wait_ms);
}

PAIRALIGN_API int64_t pairalign_text_trouble(pairalign_text_queue* queue) { return queue->trouble(); }

PAIRALIGN_API void pairalign_text_stop(pairalign_text_queue* queue) { queue->stop(); }

PAIRALIGN_API void pairalign_text_close(pairalign_text_queue* queue) { delete queue; }
