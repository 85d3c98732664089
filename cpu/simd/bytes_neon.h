// The 8-bit lanes of bytes.h for NEON. Included by bytes.h alone, which says what members mean.
#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "vector_common.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

struct Bytes {
    using Mask = uint8x16_t;
    using Index = uint8x16_t;
    static constexpr int LANES = 16, ROWS = 8, LOCAL_ROWS = 8;
    typedef int16_t Words __attribute__((vector_size(LANES)));
    typedef int32_t Ints __attribute__((vector_size(LANES)));
    typedef int8_t Marks __attribute__((vector_size(LANES / 4)));
    static constexpr bool LOOKUP = false;
    using WithoutLookup = Bytes;
    using WithLookup = Bytes;
    uint8x16_t v;

    static PAIRALIGN_INLINE Bytes load(const uint8_t* p) { return {vld1q_u8(p)}; }
    static PAIRALIGN_INLINE Bytes load_any(const uint8_t* p) { return load(p); }
    static PAIRALIGN_INLINE Bytes set(int x) { return {vdupq_n_u8(static_cast<uint8_t>(x))}; }
    PAIRALIGN_INLINE void store_any(uint8_t* p) const { vst1q_u8(p, v); }
    PAIRALIGN_INLINE void store(uint8_t* p) const { vst1q_u8(p, v); }
    static PAIRALIGN_INLINE Bytes add(Bytes a, Bytes b) { return {vaddq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes sub(Bytes a, Bytes b) { return {vsubq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes max(Bytes a, Bytes b) { return {vmaxq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes max_signed(Bytes a, Bytes b) {
        return {vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a.v), vreinterpretq_s8_u8(b.v)))};
    }
    static PAIRALIGN_INLINE Bytes sub_not_below(Bytes a, Bytes b, Bytes least) {
        return max(sub(a, b), least);
    }
    static PAIRALIGN_INLINE Bytes as_it_is(Bytes a) {
        asm("" : "+w"(a.v));
        return a;
    }
    static PAIRALIGN_INLINE Bytes bit_and(Bytes a, Bytes b) { return {vandq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes bit_or(Bytes a, Bytes b) { return {vorrq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Mask eq(Bytes a, Bytes b) { return vceqq_u8(a.v, b.v); }
    static PAIRALIGN_INLINE Mask ge(Bytes a, Bytes b) { return vcgeq_u8(a.v, b.v); }
    static PAIRALIGN_INLINE Mask both(Mask a, Mask b) { return vandq_u8(a, b); }
    static PAIRALIGN_INLINE Mask either(Mask a, Mask b) { return vorrq_u8(a, b); }
    static PAIRALIGN_INLINE Mask but_not(Mask a, Mask b) { return vbicq_u8(a, b); }
    static PAIRALIGN_INLINE bool any(Mask m) { return vmaxvq_u8(m) != 0; }
    static PAIRALIGN_INLINE Bytes blend(Mask m, Bytes yes, Bytes no) { return {vbslq_u8(m, yes.v, no.v)}; }
    static PAIRALIGN_INLINE uint64_t bits(Mask m) {
        static const uint8_t BIT[8] = {1, 2, 4, 8, 16, 32, 64, 128};
        const uint8x8_t bit = vld1_u8(BIT);
        return vaddv_u8(vand_u8(vget_low_u8(m), bit)) |
               static_cast<uint64_t>(vaddv_u8(vand_u8(vget_high_u8(m), bit))) << 8;
    }
    static PAIRALIGN_INLINE Bytes unless(Mask m, Bytes x) { return {vbicq_u8(x.v, m)}; }
    static PAIRALIGN_INLINE Bytes one_more(Mask m, Bytes x) { return {vsubq_u8(x.v, m)}; }
    static PAIRALIGN_INLINE Bytes with(Mask m, Bytes bit, Bytes x) {
        return {vorrq_u8(x.v, vandq_u8(m, bit.v))};
    }
    static PAIRALIGN_INLINE Words words(const uint8_t* p) {
        return reinterpret_cast<Words>(vmovl_s8(vld1_s8(reinterpret_cast<const int8_t*>(p))));
    }
    static PAIRALIGN_INLINE Bytes min(Bytes a, Bytes b) { return {vminq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes add_saturated(Bytes a, Bytes b) { return {vqaddq_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Words wide_low(Bytes a) {
        return reinterpret_cast<Words>(vmovl_u8(vget_low_u8(a.v)));
    }
    static PAIRALIGN_INLINE Words wide_high(Bytes a) {
        return reinterpret_cast<Words>(vmovl_u8(vget_high_u8(a.v)));
    }
    static PAIRALIGN_INLINE Bytes narrow(Words low, Words high) {
        return {vcombine_u8(vqmovun_s16(reinterpret_cast<int16x8_t>(low)),
                            vqmovun_s16(reinterpret_cast<int16x8_t>(high)))};
    }
    static PAIRALIGN_INLINE Bytes bit_xor(Bytes a, Bytes b) { return {veorq_u8(a.v, b.v)}; }
    template <class From>
    static PAIRALIGN_INLINE Bytes every_16th(From&& from) {
        return load(from(0));
    }
    static PAIRALIGN_INLINE Bytes interleave_low(Bytes a, Bytes b) { return {vzip1q_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes interleave_high(Bytes a, Bytes b) { return {vzip2q_u8(a.v, b.v)}; }
    static PAIRALIGN_INLINE Bytes table_of_16(const uint8_t* p) { return load(p); }
    static PAIRALIGN_INLINE Bytes lookup_16(Bytes table, Bytes numbers) {
        return {vqtbl1q_u8(table.v, numbers.v)};
    }
    static PAIRALIGN_INLINE Index index(Bytes codes) { return codes.v; }
    static PAIRALIGN_INLINE Bytes lookup(const uint8_t* table, Index index) {
        return {vqtbl2q_u8({{vld1q_u8(table), vld1q_u8(table + 16)}}, index)};
    }
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
