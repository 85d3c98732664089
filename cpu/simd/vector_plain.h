// The vector types of vector.h for any other machine, in plain C++: GCC's vector extension keeps it short.
// Included by vector.h alone, which says what members mean.
#pragma once

#include <cstdint>
#include <cstring>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class Scalar, int COUNT>
struct Plain {
    using Lane = Scalar;
    struct Mask {
        bool v[COUNT];
    };
    static constexpr int LANES = COUNT, ROWS = 4, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    Lane v[COUNT];

    template <class Function>
    static Plain each(Function function) {
        Plain r;
        for (int l = 0; l < COUNT; l++) r.v[l] = function(l);
        return r;
    }
    template <class Function>
    static Mask test(Function function) {
        Mask r;
        for (int l = 0; l < COUNT; l++) r.v[l] = function(l);
        return r;
    }
    static Plain load(const void* p) {
        Plain r;
        memcpy(r.v, p, sizeof r.v);
        return r;
    }
    static Plain set(Lane x) {
        return each([&](int) { return x; });
    }
    void store(void* p) const { memcpy(p, v, sizeof v); }
    static Plain add(Plain a, Plain b) {
        return each([&](int l) { return static_cast<Lane>(int64_t(a.v[l]) + b.v[l]); });
    }
    static Plain sub(Plain a, Plain b) {
        return each([&](int l) { return static_cast<Lane>(int64_t(a.v[l]) - b.v[l]); });
    }
    static Plain max(Plain a, Plain b) {
        return each([&](int l) { return a.v[l] > b.v[l] ? a.v[l] : b.v[l]; });
    }
    static Mask ge(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] >= b.v[l]; });
    }
    static Mask gt(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] > b.v[l]; });
    }
    static Mask eq(Plain a, Plain b) {
        return test([&](int l) { return a.v[l] == b.v[l]; });
    }
    static Mask both(Mask a, Mask b) {
        return test([&](int l) { return a.v[l] && b.v[l]; });
    }
    static Mask either(Mask a, Mask b) {
        return test([&](int l) { return a.v[l] || b.v[l]; });
    }
    static bool any(Mask m) {
        bool r = false;
        for (int l = 0; l < COUNT; l++) r |= m.v[l];
        return r;
    }
    static Plain blend(Mask m, Plain yes, Plain no) {
        return each([&](int l) { return m.v[l] ? yes.v[l] : no.v[l]; });
    }
    // uint8_t[4], one byte a flag, bit = lane
    static void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        p[0] = p[1] = p[2] = p[3] = 0;
        for (int l = 0; l < COUNT; l++) {
            p[CUP_NEXT] = static_cast<uint8_t>(p[CUP_NEXT] | cup.v[l] << l);
            p[CLEFT_NEXT] = static_cast<uint8_t>(p[CLEFT_NEXT] | cleft.v[l] << l);
            p[DIAGONAL] = static_cast<uint8_t>(p[DIAGONAL] | diagonal.v[l] << l);
            p[FROM_E] = static_cast<uint8_t>(p[FROM_E] | from_e.v[l] << l);
        }
    }
    static bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
    static Plain shifted_in(Plain v, Lane x, Lane* last) {
        *last = v.v[COUNT - 1];
        return each([&](int l) { return l ? v.v[l - 1] : x; });
    }
    static Plain gather(const Lane* table, Plain index) {
        return each([&](int l) { return table[index.v[l]]; });
    }
    template <int K>
    static Plain byte(Plain v) {
        return each([&](int l) { return static_cast<int8_t>(static_cast<uint32_t>(v.v[l]) >> 8 * K); });
    }
};
using Narrow = Plain<int16_t, 8>;
using Wide = Plain<int32_t, 4>;

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
