// CRC-32, that of zlib, gzip and Ethernet, as fast as memory gives bytes: files are checked while they are
// written. The ctypes declarations are in pairalign/checksum.py, which falls back on zlib.
//
// x86-64: by folding with carry-less products (Gopal et al. 2009, Fast CRC computation for generic
// polynomials using PCLMULQDQ, Intel). The remainder of a message does not change when its first 128 bits are
// replaced by their product with x^n mod P, added n bits further on. Bits are reflected: the constants are
// x^n mod P of n = 4 * 128 + 32, 4 * 128 - 32, 128 + 32, 128 - 32, reflected and shifted by one.
// Elsewhere there is nothing faster than zlib here.

#include <cstdint>

#include "../export.h"
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

uint32_t add(uint32_t crc, const unsigned char* data, int64_t size) {
    const int64_t done = size >= BLOCK ? add_blocks(crc, data, size) : 0;
    return add_bytes(crc, data + done, size - done);
}

#else

bool is_fast() { return false; }
uint32_t add(uint32_t crc, const unsigned char*, int64_t) { return crc; }

#endif

}  // namespace
}  // namespace pairalign

// Whether the processor has what it takes for pairalign_crc32.
PAIRALIGN_API int32_t pairalign_has_crc32() { return pairalign::is_fast() ? 1 : 0; }

// Returns the CRC-32 of what had the CRC-32 `crc` (0: of nothing) with `size` more bytes.
PAIRALIGN_API uint32_t pairalign_crc32(uint32_t crc, const unsigned char* data, int64_t size) {
    return ~pairalign::add(~crc, data, size);
}
