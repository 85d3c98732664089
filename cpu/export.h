// What the native library exports: plain C functions that Python loads with ctypes.
//
// Names, here and in all C++, CUDA and OpenCL sources:
//   pairalign_name     exported functions, and the structs and enums that they take
//   Name, name         types; functions, variables and fields, in namespace pairalign or in none
//   NAME               constants, enumerators, template parameters that are values
//   PAIRALIGN_NAME     macros, and enumerators that are part of the C ABI
#pragma once

#define PAIRALIGN_API extern "C" __attribute__((visibility("default")))
