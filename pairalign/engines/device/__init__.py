"""What engines on CUDA and OpenCL devices share."""
