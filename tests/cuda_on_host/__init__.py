"""CUDA kernels on a CPU: what tests need of CUDA, so that they can run the kernels without a GPU."""
