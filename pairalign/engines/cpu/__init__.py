"""The CPU engine and its bitwise filter: native code loaded with ctypes."""
