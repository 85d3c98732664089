// CRC-32, that of zlib, gzip and Ethernet, as fast as memory gives bytes: files are checked while they are
// written. The ctypes declarations are in pairalign/base/compression.py, which falls back on zlib.
//
// x86-64: by folding with carry-less products (Gopal et al. 2009, Fast CRC computation for generic
// polynomials using PCLMULQDQ, Intel). The remainder of a message does not change when its first 128 bits are
// replaced by their product with x^n mod P, added n bits further on. Bits are reflected: the constants are
// x^n mod P of n = 4 * 128 + 32, 4 * 128 - 32, 128 + 32, 128 - 32, reflected and shifted by one.
// Elsewhere by tables, eight bytes at a time (Kounavis and Berry 2008): about as fast as zlib.

#include "crc32.h"

#include <array>

#include "../processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pairalign {
namespace {

constexpr uint32_t REFLECTED = 0xedb88320;  // the polynomial, without its highest bit

// What is left at the ends of folding: a few bytes.
[[maybe_unused]] uint32_t add_bytes(uint32_t crc, const unsigned char* data, int64_t size) {
    for (int64_t k = 0; k < size; k++) {
        crc ^= data[k];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (REFLECTED & (0 - (crc & 1)));
    }
    return crc;
}

#if defined(__x86_64__)

constexpr int64_t BLOCK = 64;

#define PAIRALIGN_FOLDING __attribute__((target("sse4.1,pclmul")))

PAIRALIGN_FOLDING inline __m128i load(const unsigned char* data) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

// What `held` is, some bits further on, and the bits that are there.
PAIRALIGN_FOLDING inline __m128i fold(__m128i held, __m128i factors, __m128i there) {
    const __m128i low = _mm_clmulepi64_si128(held, factors, 0x00);
    const __m128i high = _mm_clmulepi64_si128(held, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

// Folds all whole blocks of 64 bytes; at least one. Returns how many bytes these are; `crc` has taken them
// in.
PAIRALIGN_FOLDING int64_t add_blocks(uint32_t& crc, const unsigned char* data, int64_t size) {
    const __m128i by_block = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_vector = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128(static_cast<int>(crc)));
    __m128i b = load(data + 16), c = load(data + 32), d = load(data + 48);
    int64_t done = BLOCK;
    for (; size - done >= BLOCK; done += BLOCK) {
        const unsigned char* next = data + done;
        a = fold(a, by_block, load(next));
        b = fold(b, by_block, load(next + 16));
        c = fold(c, by_block, load(next + 32));
        d = fold(d, by_block, load(next + 48));
    }
    const __m128i left = fold(fold(fold(a, by_vector, b), by_vector, c), by_vector, d);
    // These 16 bytes have the remainder of all that were folded into them.
    unsigned char bytes[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), left);
    crc = add_bytes(0, bytes, sizeof bytes);
    return done;
}

bool is_fast() { return this_processor().pclmul; }

#else

constexpr int64_t BLOCK = 64;

bool is_fast() { return false; }
int64_t add_blocks(uint32_t&, const unsigned char*, int64_t) { return 0; }

#endif

constexpr int STRIDE = 8;

// [k][b]: what byte b does to the remainder when k more bytes follow it.
using Tables = std::array<std::array<uint32_t, 256>, STRIDE>;

Tables make_tables() {
    Tables tables{};
    for (uint32_t b = 0; b < 256; b++) {
        const unsigned char zero = 0;
        tables[0][b] = add_bytes(b, &zero, 1);
    }
    for (size_t k = 1; k < STRIDE; k++)
        for (size_t b = 0; b < 256; b++)
            tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 255];
    return tables;
}

// Takes all whole strides in; returns how many bytes these are.
int64_t add_strides(uint32_t& crc, const unsigned char* data, int64_t size) {
    static const Tables tables = make_tables();
    int64_t done = 0;
    for (; size - done >= STRIDE; done += STRIDE) {
        uint32_t next = 0;
        for (size_t k = 0; k < STRIDE; k++) {
            const uint32_t byte = data[done + static_cast<int64_t>(k)] ^ (k < 4 ? crc >> 8 * k & 255 : 0);
            next ^= tables[STRIDE - 1 - k][byte];
        }
        crc = next;
    }
    return done;
}

uint32_t add(uint32_t crc, const unsigned char* data, int64_t size) {
    int64_t done = is_fast() && size >= BLOCK ? add_blocks(crc, data, size) : 0;
    done += add_strides(crc, data + done, size - done);
    return add_bytes(crc, data + done, size - done);
}

}  // namespace
}  // namespace pairalign

int32_t pairalign_has_crc32() { return pairalign::is_fast() ? 1 : 0; }

uint32_t pairalign_crc32(uint32_t crc, const unsigned char* data, int64_t size) {
    return ~pairalign::add(~crc, data, size);
}
