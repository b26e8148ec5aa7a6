/* PyTorch's wheels compute products, and functions such as tanh, with MKL. It calls this function, which checks whether the
   processor is Intel's, and uses no kernels with AVX2 or AVX-512 on others. In its place, this one gives AMD's processors
   these kernels, as PyTorch's developers advise:
   https://github.com/pytorch/builder/pull/1245. See docs/fairness.md. */
int mkl_serv_intel_cpu_true(void) {
    return 1;
}
