"""CUDA kernels on a CPU: what tests need of CUDA, so that kernels run without a GPU."""
