// Rows of distances as text: numbers of one width, each after a separator.

#include <cstdint>
#include <cstring>

#include "../export.h"

namespace {

constexpr double EXACT = 4503599627370496.0;  // 2^52: a double that is larger has no fraction

struct Digits {
    char of[1000][4] = {};

    constexpr Digits() {
        for (int k = 0; k < 1000; ++k) {
            of[k][0] = static_cast<char>('0' + k / 100);
            of[k][1] = static_cast<char>('0' + k / 10 % 10);
            of[k][2] = static_cast<char>('0' + k % 10);
        }
    }
};

constexpr Digits DIGITS;

// The nearest integer, of halves the even one, without a call.
inline uint64_t round_to_even(double value) {
    return static_cast<uint64_t>(value < EXACT ? (value + EXACT) - EXACT : value);
}

}  // namespace

// Write each of `count` numbers, which are 0 or more, as the separator, `whole` places for what is before
// the point, blanks where those are not needed, and six decimals: `whole + 8` bytes.
PAIRALIGN_API void pairalign_format_numbers(const double* values, int64_t count, int32_t separator,
                                            int32_t whole, char* out) {
    for (int64_t i = 0; i < count; ++i, out += whole + 8) {
        const uint64_t scaled = round_to_even(values[i] * 1e6);
        uint64_t left = scaled / 1000000;
        const uint32_t decimals = static_cast<uint32_t>(scaled % 1000000);
        out[0] = static_cast<char>(separator);
        for (int place = whole; place > 0; --place, left /= 10) {
            const bool is_blank = left == 0 && place < whole;
            out[place] = is_blank ? ' ' : static_cast<char>('0' + left % 10);
        }
        out[whole + 1] = '.';
        std::memcpy(out + whole + 2, DIGITS.of[decimals / 1000], 3);
        std::memcpy(out + whole + 5, DIGITS.of[decimals % 1000], 3);
    }
}
