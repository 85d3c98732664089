// CRC-32, that of zlib, gzip and Ethernet.
#pragma once

#include <cstdint>

#include "../export.h"

// Whether the processor has what makes pairalign_crc32 faster than zlib.
PAIRALIGN_API int32_t pairalign_has_crc32();

// Returns the CRC-32 of what had the CRC-32 `crc` (0: of nothing) with `size` more bytes.
PAIRALIGN_API uint32_t pairalign_crc32(uint32_t crc, const unsigned char* data, int64_t size);
