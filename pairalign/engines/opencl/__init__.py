"""The OpenCL engine: devices, kernels and their families."""
