// Small kernels whose counts of operations and bytes are known, for Nsight Compute; and plain probes of the peaks.
//
//   nvcc -O3 -arch=native -o kernels kernels.cu
//   ./kernels         runs each kernel once and prints what it counts, a line of JSON each
//   ./kernels probe   prints the rates that plain loops reach, a line of JSON each

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t code = (call);                                             \
    if (code != cudaSuccess) {                                             \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));        \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

// Each thread runs `rounds` rounds of 8 independent operations.
template <typename T> __global__ void fma_chain(T *out, T a, T b, int rounds) {
  T x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = a + T(j) + T(threadIdx.x);
  for (int i = 0; i < rounds; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = x[j] * a + b;
  T sum = x[0];
#pragma unroll
  for (int j = 1; j < 8; j++) sum += x[j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void add_chain(float *out, float a, int rounds) {
  float x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = a + float(threadIdx.x);
  for (int i = 0; i < rounds; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = __fadd_rn(x[j], a);
  float sum = x[0];
#pragma unroll
  for (int j = 1; j < 8; j++) sum = fmaxf(sum, x[j]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void mul_chain(float *out, float a, int rounds) {
  float x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = a + float(threadIdx.x);
  for (int i = 0; i < rounds; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = __fmul_rn(x[j], a);
  float sum = x[0];
#pragma unroll
  for (int j = 1; j < 8; j++) sum = fmaxf(sum, x[j]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One instruction is two fp16 FMAs.
__global__ void half2_chain(__half2 *out, __half2 a, __half2 b, int rounds) {
  __half2 x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = __half2half2(__int2half_rn(threadIdx.x + j));
  for (int i = 0; i < rounds; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = __hfma2(x[j], a, b);
  __half2 largest = x[0];
#pragma unroll
  for (int j = 1; j < 8; j++) largest = __hmax2(largest, x[j]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = largest;
}

// Half of the lanes of each warp work.
__global__ void divergent_fma(float *out, float a, float b, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a;
  if (threadIdx.x & 1)
    for (int n = 0; n < rounds; n++) x = x * a + b;
  out[i] = x;
}

// Transcendental: one reciprocal square root a round.
__global__ void rsqrt_chain(float *out, float a, int rounds) {
  float x = a + float(threadIdx.x);
  for (int n = 0; n < rounds; n++) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void integer_chain(int *out, int a, int rounds) {
  int x = threadIdx.x;
  for (int n = 0; n < rounds; n++) x = x * a + n;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// One 16 x 16 x 16 product of a warp a round.
__global__ void tensor_product(float *out, const __half *a, const __half *b, int rounds) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  fill_fragment(sum, 0.0f);
  for (int n = 0; n < rounds; n++) mma_sync(sum, left, right, sum);
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  store_matrix_sync(out + 256 * warp, sum, 16, mem_row_major);
}

__global__ void copy(float4 *to, const float4 *from, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) to[i] = from[i];
}

__global__ void triad(float4 *to, const float4 *x, const float4 *y, float a, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    float4 p = x[i], q = y[i];
    to[i] = make_float4(p.x * a + q.x, p.y * a + q.y, p.z * a + q.z, p.w * a + q.w);
  }
}

__global__ void read_only(float *out, const float4 *from, size_t n) {
  float sum = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    float4 p = from[i];
    sum = fmaxf(fmaxf(fmaxf(sum, p.x), fmaxf(p.y, p.z)), p.w);
  }
  if (sum == 12345.0f) out[0] = sum;
}

__global__ void write_only(float4 *to, float a, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    to[i] = make_float4(a, a, a, a);
}

// 256 buckets: all traffic of the atomics stays in L2.
__global__ void histogram(unsigned *buckets, const unsigned *from, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(buckets + (from[i] & 255), 1u);
}

// A product of square matrices with tiles of 16 x 16 in shared memory.
__global__ void tiled_sgemm(float *c, const float *a, const float *b, int n) {
  __shared__ float left[16][16], right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum = fmaf(left[threadIdx.y][j], right[j][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

static void truth(const char *kernel, const char *flops, double bytes) {
  printf("{\"kernel\": \"%s\", \"flops\": %s, \"compulsory bytes\": %.0f}\n", kernel, flops, bytes);
}

static const char *amount(const char *precision, double flops) {
  static char text[128];
  snprintf(text, sizeof text, "{\"%s\": %.0f}", precision, flops);
  return text;
}

static void counted() {
  const int blocks = 264, threads = 256, rounds = 512, total = blocks * threads;
  const size_t n = (size_t)1 << 24; // of float4: 256 MiB
  const int size = 1024;
  float *out, *x, *y, *z;
  CHECK(cudaMalloc(&out, total * 16));
  CHECK(cudaMalloc(&x, n * 16));
  CHECK(cudaMalloc(&y, n * 16));
  CHECK(cudaMalloc(&z, n * 16));
  CHECK(cudaMemset(out, 0, total * 16));
  CHECK(cudaMemset(x, 0, n * 16));
  CHECK(cudaMemset(y, 0, n * 16));
  CHECK(cudaMemset(z, 0, n * 16));

  // Besides its rounds each thread of `fma_chain` adds 2 x 8 numbers for the starts and 7 for the sum. In fp64 the compiler
  // adds 4 more; half of the lanes of a warp work in `divergent_fma`.
  fma_chain<float><<<blocks, threads>>>(out, 0.999f, 0.5f, rounds);
  truth("fma_chain<float>", amount("fp32", (2.0 * 8 * rounds + 23) * total), 4.0 * total);
  fma_chain<double><<<blocks, threads>>>((double *)out, 0.999, 0.5, rounds);
  truth("fma_chain<double>", amount("fp64", (2.0 * 8 * rounds + 27) * total), 8.0 * total);
  add_chain<<<blocks, threads>>>(out, 0.5f, rounds);
  truth("add_chain", amount("fp32", (8.0 * rounds + 1) * total), 4.0 * total);
  mul_chain<<<blocks, threads>>>(out, 0.999f, rounds);
  truth("mul_chain", amount("fp32", (8.0 * rounds + 1) * total), 4.0 * total);
  half2_chain<<<blocks, threads>>>((__half2 *)out, __float2half2_rn(0.5f), __float2half2_rn(0.25f), rounds);
  truth("half2_chain", amount("fp16", 4.0 * 8 * rounds * total), 4.0 * total);
  divergent_fma<<<blocks, threads>>>(out, 0.999f, 0.5f, rounds);
  truth("divergent_fma", amount("fp32", 2.0 * rounds * total / 2), 4.0 * total);
  rsqrt_chain<<<blocks, threads>>>(out, 2.0f, rounds);
  truth("rsqrt_chain", amount("transcendental", 1.0 * rounds * total), 4.0 * total);
  integer_chain<<<blocks, threads>>>((int *)out, 3, rounds);
  truth("integer_chain", "{}", 4.0 * total);
  tensor_product<<<blocks, threads>>>(x, (__half *)y, (__half *)z, rounds);
  truth("tensor_product", amount("fp16 tensor", 2.0 * 16 * 16 * 16 * rounds * total / 32), total / 32 * 1024.0 + 1024);
  copy<<<blocks * 8, threads>>>((float4 *)z, (float4 *)x, n);
  truth("copy", "{}", 32.0 * n);
  triad<<<blocks * 8, threads>>>((float4 *)z, (float4 *)x, (float4 *)y, 2.0f, n);
  truth("triad", amount("fp32", 2.0 * 4 * n), 48.0 * n);
  read_only<<<blocks * 8, threads>>>(out, (float4 *)x, n);
  truth("read_only", "{}", 16.0 * n);
  write_only<<<blocks * 8, threads>>>((float4 *)z, 1.0f, n);
  truth("write_only", "{}", 16.0 * n);
  histogram<<<blocks * 8, threads>>>((unsigned *)out, (unsigned *)x, n);
  truth("histogram", "{}", 4.0 * n + 1024);
  tiled_sgemm<<<dim3(size / 16, size / 16), dim3(16, 16)>>>(z, x, y, size);
  truth("tiled_sgemm", amount("fp32", 2.0 * size * size * size), 3.0 * 4 * size * size);
  CHECK(cudaDeviceSynchronize());
}

template <typename F> static double seconds(F launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  double best = 1e30;
  for (int i = 0; i < 12; i++) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i > 1 && ms / 1e3 < best) best = ms / 1e3;
  }
  return best;
}

static void probe() {
  const size_t n = (size_t)1 << 27; // of float4: 2 GiB
  float4 *x, *y, *z;
  CHECK(cudaMalloc(&x, n * 16));
  CHECK(cudaMalloc(&y, n * 16));
  CHECK(cudaMalloc(&z, n * 16));
  CHECK(cudaMemset(x, 0, n * 16));
  CHECK(cudaMemset(y, 0, n * 16));
  CHECK(cudaMemset(z, 0, n * 16));
  const int blocks = 132 * 16, threads = 256, rounds = 4096;
  double total = (double)blocks * threads;
  printf("{\"copy B/s\": %.4g}\n", 32.0 * n / seconds([&] { copy<<<blocks, threads>>>(z, x, n); }));
  printf("{\"triad B/s\": %.4g}\n", 48.0 * n / seconds([&] { triad<<<blocks, threads>>>(z, x, y, 2.0f, n); }));
  printf("{\"read B/s\": %.4g}\n", 16.0 * n / seconds([&] { read_only<<<blocks, threads>>>((float *)z, x, n); }));
  printf("{\"write B/s\": %.4g}\n", 16.0 * n / seconds([&] { write_only<<<blocks, threads>>>(z, 1.0f, n); }));
  printf("{\"fp32 FLOP/s\": %.4g}\n",
         16.0 * rounds * total / seconds([&] { fma_chain<float><<<blocks, threads>>>((float *)z, 0.999f, 0.5f, rounds); }));
  printf("{\"fp64 FLOP/s\": %.4g}\n",
         16.0 * rounds * total / seconds([&] { fma_chain<double><<<blocks, threads>>>((double *)z, 0.999, 0.5, rounds); }));
  printf("{\"half2 FLOP/s\": %.4g}\n", 32.0 * rounds * total / seconds([&] {
           half2_chain<<<blocks, threads>>>((__half2 *)z, __float2half2_rn(0.5f), __float2half2_rn(0.25f), rounds);
         }));
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "probe")) probe();
  else counted();
}
