/* PyTorch's wheels compute products, and functions such as tanh, with MKL. MKL calls this function, which checks whether
   the processor is Intel's. On others it uses slower kernels, never with AVX-512. In its place, this one makes MKL use its
   fastest kernels: https://github.com/pytorch/builder/pull/1245, reports/reference/mkl-on-amd/README.md. */
int mkl_serv_intel_cpu_true(void) {
    return 1;
}
