// The 8-bit lanes of bytes.h in plain C++, for machines without a set of their own. Included by bytes.h
// alone, which says what members mean.
#pragma once

#include <cstdint>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Bytes {
    static constexpr int LANES = 16, ROWS = 2, LOCAL_ROWS = 2;
    typedef int16_t Words __attribute__((vector_size(LANES)));
    typedef int32_t Ints __attribute__((vector_size(LANES)));
    typedef int8_t Marks __attribute__((vector_size(LANES / 4)));
    static constexpr bool LOOKUP = false;
    using WithoutLookup = Bytes;
    using WithLookup = Bytes;
    struct Mask {
        bool v[LANES];
    };
    uint8_t v[LANES];
    using Index = Bytes;

    template <class Result, class Function>
    static PAIRALIGN_INLINE Result each(Function&& function) {
        Result r;
        for (int l = 0; l < LANES; l++) r.v[l] = function(l);
        return r;
    }
#define PAIRALIGN_EACH(RESULT, VALUE) each<RESULT>([&](int l) { return static_cast<uint8_t>(VALUE); })
    static PAIRALIGN_INLINE Bytes load(const uint8_t* p) { return PAIRALIGN_EACH(Bytes, p[l]); }
    static PAIRALIGN_INLINE Bytes load_any(const uint8_t* p) { return load(p); }
    static PAIRALIGN_INLINE Bytes set(int x) {
        return each<Bytes>([&](int) { return static_cast<uint8_t>(x); });
    }
    PAIRALIGN_INLINE void store_any(uint8_t* p) const { store(p); }
    PAIRALIGN_INLINE void store(uint8_t* p) const {
        for (int l = 0; l < LANES; l++) p[l] = v[l];
    }
    static PAIRALIGN_INLINE Bytes add(Bytes a, Bytes b) { return PAIRALIGN_EACH(Bytes, a.v[l] + b.v[l]); }
    static PAIRALIGN_INLINE Bytes sub(Bytes a, Bytes b) { return PAIRALIGN_EACH(Bytes, a.v[l] - b.v[l]); }
    static PAIRALIGN_INLINE Bytes max(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes, a.v[l] > b.v[l] ? a.v[l] : b.v[l]);
    }
    static PAIRALIGN_INLINE Bytes max_signed(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes,
                              static_cast<int8_t>(a.v[l]) > static_cast<int8_t>(b.v[l]) ? a.v[l] : b.v[l]);
    }
    static PAIRALIGN_INLINE Bytes sub_not_below(Bytes a, Bytes b, Bytes least) {
        return max(sub(a, b), least);
    }
    static PAIRALIGN_INLINE Bytes as_it_is(Bytes a) { return a; }
    static PAIRALIGN_INLINE Bytes bit_and(Bytes a, Bytes b) { return PAIRALIGN_EACH(Bytes, a.v[l] & b.v[l]); }
    static PAIRALIGN_INLINE Bytes bit_or(Bytes a, Bytes b) { return PAIRALIGN_EACH(Bytes, a.v[l] | b.v[l]); }
    static PAIRALIGN_INLINE Mask eq(Bytes a, Bytes b) { return PAIRALIGN_EACH(Mask, a.v[l] == b.v[l]); }
    static PAIRALIGN_INLINE Mask ge(Bytes a, Bytes b) { return PAIRALIGN_EACH(Mask, a.v[l] >= b.v[l]); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return PAIRALIGN_EACH(Mask, a.v[l] && b.v[l]); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return PAIRALIGN_EACH(Mask, a.v[l] || b.v[l]); }
    static PAIRALIGN_INLINE Mask but_not(Mask a, Mask b) { return PAIRALIGN_EACH(Mask, a.v[l] && !b.v[l]); }
    static PAIRALIGN_INLINE bool any(Mask m) {
        bool some = false;
        for (int l = 0; l < LANES; l++) some |= m.v[l];
        return some;
    }
    static PAIRALIGN_INLINE Bytes blend(Mask m, Bytes yes, Bytes no) {
        return PAIRALIGN_EACH(Bytes, m.v[l] ? yes.v[l] : no.v[l]);
    }
    static PAIRALIGN_INLINE uint64_t bits(Mask m) {
        uint64_t set = 0;
        for (int l = 0; l < LANES; l++) set |= static_cast<uint64_t>(m.v[l]) << l;
        return set;
    }
    static PAIRALIGN_INLINE Bytes unless(Mask m, Bytes x) {
        return PAIRALIGN_EACH(Bytes, m.v[l] ? 0 : x.v[l]);
    }
    static PAIRALIGN_INLINE Bytes one_more(Mask m, Bytes x) {
        return PAIRALIGN_EACH(Bytes, x.v[l] + (m.v[l] ? 1 : 0));
    }
    static PAIRALIGN_INLINE Bytes with(Mask m, Bytes bit, Bytes x) {
        return PAIRALIGN_EACH(Bytes, m.v[l] ? x.v[l] | bit.v[l] : x.v[l]);
    }
    static PAIRALIGN_INLINE Words words(const uint8_t* p) {
        Words w{};
        for (int l = 0; l < LANES / 2; l++) w[l] = static_cast<int8_t>(p[l]);
        return w;
    }
    static PAIRALIGN_INLINE Bytes min(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes, a.v[l] < b.v[l] ? a.v[l] : b.v[l]);
    }
    static PAIRALIGN_INLINE Bytes add_saturated(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes, a.v[l] + b.v[l] > 255 ? 255 : a.v[l] + b.v[l]);
    }
    static PAIRALIGN_INLINE Words wide_low(Bytes a) {
        Words w{};
        for (int l = 0; l < LANES / 2; l++) w[l] = a.v[l];
        return w;
    }
    static PAIRALIGN_INLINE Words wide_high(Bytes a) {
        Words w{};
        for (int l = 0; l < LANES / 2; l++) w[l] = a.v[LANES / 2 + l];
        return w;
    }
    static PAIRALIGN_INLINE Bytes narrow(Words low, Words high) {
        const auto saturated = [](int16_t x) { return x < 0 ? 0 : x > 255 ? 255 : x; };
        return PAIRALIGN_EACH(Bytes, saturated(l < LANES / 2 ? low[l] : high[l - LANES / 2]));
    }
    static PAIRALIGN_INLINE Bytes bit_xor(Bytes a, Bytes b) { return PAIRALIGN_EACH(Bytes, a.v[l] ^ b.v[l]); }
    template <class From>
    static PAIRALIGN_INLINE Bytes every_16th(From&& from) {
        return load(from(0));
    }
    static PAIRALIGN_INLINE Bytes interleave_low(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes, (l % 2 ? b : a).v[l / 2]);
    }
    static PAIRALIGN_INLINE Bytes interleave_high(Bytes a, Bytes b) {
        return PAIRALIGN_EACH(Bytes, (l % 2 ? b : a).v[LANES / 2 + l / 2]);
    }
    static PAIRALIGN_INLINE Bytes table_of_16(const uint8_t* p) { return load(p); }
    static PAIRALIGN_INLINE Bytes lookup_16(Bytes table, Bytes numbers) {
        return PAIRALIGN_EACH(Bytes, numbers.v[l] < 128 ? table.v[numbers.v[l] % 16] : uint8_t{0});
    }
    static PAIRALIGN_INLINE Index index(Bytes codes) { return codes; }
    static PAIRALIGN_INLINE Bytes lookup(const uint8_t* table, Index index) {
        return PAIRALIGN_EACH(Bytes, table[index.v[l]]);
    }
#undef PAIRALIGN_EACH
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
