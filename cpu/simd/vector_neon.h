// The vector types of vector.h for NEON. Included by vector.h alone, which says what members mean.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Narrow {
    using Lane = int16_t;
    using Mask = uint16x8_t;
    static constexpr int LANES = 8, ROWS = 8, FLAG_BYTES = 4;
    static constexpr bool GATHER = false;
    int16x8_t v;

    static PAIRALIGN_INLINE Narrow load(const void* p) { return {vld1q_s16(static_cast<const int16_t*>(p))}; }
    static PAIRALIGN_INLINE Narrow set(Lane x) { return {vdupq_n_s16(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { vst1q_s16(static_cast<int16_t*>(p), v); }
    static PAIRALIGN_INLINE Narrow add(Narrow a, Narrow b) { return {vaddq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow sub(Narrow a, Narrow b) { return {vsubq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Narrow max(Narrow a, Narrow b) { return {vmaxq_s16(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Narrow a, Narrow b) { return vcgeq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Narrow a, Narrow b) { return vcgtq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Narrow a, Narrow b) { return vceqq_s16(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return vandq_u16(a, b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return vorrq_u16(a, b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return vmaxvq_u16(m) != 0; }
    static PAIRALIGN_INLINE Narrow blend(Mask m, Narrow yes, Narrow no) {
        return {vbslq_s16(m, yes.v, no.v)};
    }
    // uint8_t[4], one byte a flag, bit = lane
    static PAIRALIGN_INLINE uint8_t bits(Mask m) {
        const uint16x8_t weights = {1, 2, 4, 8, 16, 32, 64, 128};
        return static_cast<uint8_t>(vaddvq_u16(vandq_u16(m, weights)));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        p[CUP_NEXT] = bits(cup);
        p[CLEFT_NEXT] = bits(cleft);
        p[DIAGONAL] = bits(diagonal);
        p[FROM_E] = bits(from_e);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) { return p[which] >> lane & 1; }
};

struct Wide {
    using Lane = int32_t;
    using Mask = uint32x4_t;
    static constexpr int LANES = 4, ROWS = 8, FLAG_BYTES = 2;
    static constexpr bool GATHER = false;
    int32x4_t v;

    static PAIRALIGN_INLINE Wide load(const void* p) { return {vld1q_s32(static_cast<const int32_t*>(p))}; }
    static PAIRALIGN_INLINE Wide set(Lane x) { return {vdupq_n_s32(x)}; }
    PAIRALIGN_INLINE void store(void* p) const { vst1q_s32(static_cast<int32_t*>(p), v); }
    static PAIRALIGN_INLINE Wide add(Wide a, Wide b) { return {vaddq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide sub(Wide a, Wide b) { return {vsubq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Wide max(Wide a, Wide b) { return {vmaxq_s32(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask ge(Wide a, Wide b) { return vcgeq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask gt(Wide a, Wide b) { return vcgtq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask eq(Wide a, Wide b) { return vceqq_s32(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return vandq_u32(a, b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return vorrq_u32(a, b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return vmaxvq_u32(m) != 0; }
    static PAIRALIGN_INLINE Wide blend(Mask m, Wide yes, Wide no) { return {vbslq_s32(m, yes.v, no.v)}; }
    // uint16_t, four bits a flag: bit = 4 * flag + lane
    static PAIRALIGN_INLINE unsigned bits(Mask m) {
        const uint32x4_t weights = {1, 2, 4, 8};
        return vaddvq_u32(vandq_u32(m, weights));
    }
    static PAIRALIGN_INLINE void store_flags(uint8_t* p, Mask cup, Mask cleft, Mask diagonal, Mask from_e) {
        uint16_t word =
            static_cast<uint16_t>(bits(cup) | bits(cleft) << 4 | bits(diagonal) << 8 | bits(from_e) << 12);
        memcpy(p, &word, sizeof word);
    }
    static PAIRALIGN_INLINE bool flag(const uint8_t* p, Flag which, int lane) {
        return *reinterpret_cast<const uint16_t*>(p) >> (4 * which + lane) & 1;
    }
    static PAIRALIGN_INLINE Wide shifted_in(Wide v, Lane x, Lane* last) {
        *last = vgetq_lane_s32(v.v, 3);
        return {vextq_s32(vdupq_n_s32(x), v.v, 3)};
    }
    static PAIRALIGN_INLINE Wide gather(const Lane* table, Wide index) {
        const int32x4_t r = {table[vgetq_lane_s32(index.v, 0)], table[vgetq_lane_s32(index.v, 1)],
                             table[vgetq_lane_s32(index.v, 2)], table[vgetq_lane_s32(index.v, 3)]};
        return {r};
    }
    template <int K>
    static PAIRALIGN_INLINE Wide byte(Wide v) {
        return {vshrq_n_s32(vshlq_n_s32(v.v, 24 - 8 * K), 24)};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
