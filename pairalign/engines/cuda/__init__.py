"""The CUDA engine: devices, kernels, and a family of kernels a module or folder."""
