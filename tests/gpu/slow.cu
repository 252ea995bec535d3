// Kernels that stay below their roof for a reason that is known, for Nsight Compute; and the latency of memory.
//
//   nvcc -O3 -arch=native -o slow slow.cu
//   ./slow           runs each kernel once and prints what it counts and why it is slow, a line of JSON each
//   ./slow latency   prints the nanoseconds of a dependent load by the size of the chain, a line of JSON each

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <numeric>
#include <random>
#include <vector>

#define CHECK(call)                                                        \
  do {                                                                     \
    cudaError_t code = (call);                                             \
    if (code != cudaSuccess) {                                             \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));        \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

// A chain has one element a line of the cache: `LINE` of them lie between two elements.
constexpr int LINE = 32;

__global__ void small_copy(float4 *to, const float4 *from) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  to[i] = from[i];
}

// One block fits a multiprocessor, as each takes 160 KiB of its shared memory.
__global__ void tail_wave(float *out, float a, float b, int rounds) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = a;
  float x[8];
#pragma unroll
  for (int j = 0; j < 8; j++) x[j] = tile[threadIdx.x] + j;
  for (int n = 0; n < rounds; n++)
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = x[j] * a + b;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) sum += x[j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Thread i reads element i * stride: stride 0, 1, 8 and 32 touch 1, 4, 32 and 32 sectors a warp.
template <int stride> __global__ void strided_read(float *out, const float *from, size_t mask) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  out[i] = from[(i * stride) & mask];
}

// Lane l of a warp reads word l * stride of shared memory: strides 1, 2 and 32 take 1, 2 and 32 turns.
template <int stride> __global__ void shared_read(float *out, int rounds) {
  __shared__ float tile[32 * 32];
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = i;
  __syncthreads();
  volatile float *words = tile;
  float sum = 0;
  int at = (threadIdx.x & 31) * stride & 1023;
  for (int n = 0; n < rounds; n++) sum += words[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// About 200 registers a thread: few warps fit, and each waits for its own loads.
__global__ void __launch_bounds__(128) many_registers(float *out, const float *from, size_t n) {
  float x[160];
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, threads = (size_t)gridDim.x * blockDim.x;
#pragma unroll
  for (int j = 0; j < 160; j++) x[j] = j;
  for (size_t k = i; k < n; k += threads) {
    float value = from[k];
#pragma unroll
    for (int j = 0; j < 160; j++) x[j] = fmaf(x[j], value, x[(j + 1) % 160]);
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 160; j++) sum += x[j];
  out[i] = sum;
}

// Each thread follows a chain of its own place.
__global__ void pointer_chase(unsigned *out, const unsigned *next, int steps, unsigned apart) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * apart;
  for (int n = 0; n < steps; n++) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void gather(float *out, const float *from, const unsigned *index) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  out[i] = from[index[i]];
}

__global__ void tiny(float *out, float a) { out[threadIdx.x] = a; }

__global__ void divergent(float *out, float a, float b, int rounds) {
  float x = a;
  for (int lane = 0; lane < 32; lane++)
    if ((threadIdx.x & 31) == lane)
      for (int n = 0; n < rounds; n++) x = x * a + b + lane;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void stream_triad(float4 *to, const float4 *x, const float4 *y, float a, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    float4 p = x[i], q = y[i];
    to[i] = make_float4(p.x * a + q.x, p.y * a + q.y, p.z * a + q.z, p.w * a + q.w);
  }
}

// A single cycle through all lines, in random order.
static std::vector<unsigned> chain(size_t lines) {
  std::vector<unsigned> order(lines), next(lines * LINE, 0);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (size_t i = 0; i < lines; i++) next[(size_t)order[i] * LINE] = order[(i + 1) % lines] * LINE;
  return next;
}

static unsigned *uploaded(const std::vector<unsigned> &values) {
  unsigned *there;
  CHECK(cudaMalloc(&there, values.size() * 4));
  CHECK(cudaMemcpy(there, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
  return there;
}

static void said(const char *kernel, const char *reason, double flops, double bytes, double instructions = -1) {
  printf("{\"kernel\": \"%s\", \"reason\": \"%s\", \"flops\": %.0f, \"bytes\": %.0f", kernel, reason, flops, bytes);
  if (instructions >= 0) printf(", \"warp instructions at least\": %.0f", instructions);
  printf("}\n");
}

static void slow() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const int units = device.multiProcessorCount;
  const size_t n = (size_t)1 << 26; // floats: 256 MiB
  float *x, *y, *z;
  CHECK(cudaMalloc(&x, n * 4));
  CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMalloc(&z, n * 4));
  CHECK(cudaMemset(x, 0, n * 4));
  CHECK(cudaMemset(y, 0, n * 4));
  CHECK(cudaMemset(z, 0, n * 4));
  unsigned *next = uploaded(chain((size_t)1 << 21)); // 256 MiB
  std::vector<unsigned> places((size_t)1 << 24);
  std::mt19937 random(2);
  for (auto &place : places) place = random() & (n - 1);
  unsigned *index = uploaded(places);

  stream_triad<<<units * 16, 256>>>((float4 *)z, (float4 *)x, (float4 *)y, 2.0f, n / 4);
  said("stream_triad", "memory", 2.0 * n, 12.0 * n);
  small_copy<<<64, 256>>>((float4 *)z, (float4 *)x);
  said("small_copy", "too small", 0, 2.0 * 64 * 256 * 16);
  const int rounds = 20000, shared = 160 * 1024;
  CHECK(cudaFuncSetAttribute(tail_wave, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  tail_wave<<<units, 256, shared>>>(z, 0.999f, 0.5f, rounds);
  said("tail_wave", "one whole wave of few warps", 16.0 * rounds * units * 256, 4.0 * units * 256);
  tail_wave<<<units + 1, 256, shared>>>(z, 0.999f, 0.5f, rounds);
  said("tail_wave", "tail", 16.0 * rounds * (units + 1) * 256, 4.0 * (units + 1) * 256);
  const int blocks = 1 << 16;
  const double total = (double)blocks * 256;
  strided_read<0><<<blocks, 256>>>(z, x, n - 1);
  said("strided_read<0>", "stride 0", 0, 4 * total);
  strided_read<1><<<blocks, 256>>>(z, x, n - 1);
  said("strided_read<1>", "memory", 0, 8 * total);
  strided_read<8><<<blocks, 256>>>(z, x, n - 1);
  said("strided_read<8>", "uncoalesced", 0, 36 * total);
  strided_read<32><<<blocks, 256>>>(z, x, n - 1);
  said("strided_read<32>", "uncoalesced", 0, 36 * total);
  const int reads = 4096;
  shared_read<1><<<units * 8, 256>>>(z, reads);
  said("shared_read<1>", "no conflict", 1.0 * reads * units * 8 * 256, 4.0 * units * 8 * 256);
  shared_read<2><<<units * 8, 256>>>(z, reads);
  said("shared_read<2>", "bank conflicts, 2 ways", 1.0 * reads * units * 8 * 256, 4.0 * units * 8 * 256);
  shared_read<32><<<units * 8, 256>>>(z, reads);
  said("shared_read<32>", "bank conflicts, 32 ways", 1.0 * reads * units * 8 * 256, 4.0 * units * 8 * 256);
  many_registers<<<units * 2, 128>>>(z, x, n / 16);
  said("many_registers", "occupancy, registers", 2.0 * 160 * (n / 16), 4.0 * (n / 16));
  pointer_chase<<<1, 1>>>((unsigned *)z, next, 20000, LINE);
  said("pointer_chase", "latency", 0, 32.0 * 20000);
  pointer_chase<<<units, 32>>>((unsigned *)z, next, 2000, LINE * 7);
  said("pointer_chase", "latency, a warp a multiprocessor", 0, 32.0 * 2000 * units * 32);
  gather<<<(1 << 24) / 256, 256>>>(z, x, index);
  said("gather", "uncoalesced", 0, (4.0 + 4.0 + 32.0) * (1 << 24));
  for (int i = 0; i < 5; i++) tiny<<<1, 32>>>(z, i);
  said("tiny", "launch", 0, 128);
  divergent<<<units * 8, 256>>>(z, 0.999f, 0.5f, 512);
  said("divergent", "divergence", 3.0 * 512 * units * 8 * 256, 4.0 * units * 8 * 256);
  CHECK(cudaDeviceSynchronize());
}

__global__ void timed_chase(unsigned *out, long long *cycles, const unsigned *next, int steps) {
  // Goes on where the last run ended: lines that were read before may be in the cache.
  unsigned at = *out;
  for (int n = 0; n < steps; n++) at = next[at];
  long long begin = clock64();
  for (int n = 0; n < steps; n++) at = next[at];
  *cycles = clock64() - begin;
  *out = at;
}

static void latency() {
  unsigned *out;
  long long *cycles;
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMalloc(&cycles, 8));
  for (size_t kib : {16, 64, 128, 1024, 8192, 16384, 24576, 32768, 65536, 131072, 524288, 2097152}) {
    size_t lines = kib * 1024 / (LINE * 4);
    unsigned *next = uploaded(chain(lines));
    int steps = (int)std::min<size_t>(std::max<size_t>(lines, 4096), 200000);
    double least = 1e30, most = 0;
    long long counted = 0;
    CHECK(cudaMemset(out, 0, 4));
    for (int i = 0; i < 5; i++) {
      cudaEvent_t begin, end;
      CHECK(cudaEventCreate(&begin));
      CHECK(cudaEventCreate(&end));
      CHECK(cudaEventRecord(begin));
      timed_chase<<<1, 1>>>(out, cycles, next, steps);
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      float ms;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      CHECK(cudaMemcpy(&counted, cycles, 8, cudaMemcpyDeviceToHost));
      double ns = ms * 1e6 / (2.0 * steps);
      least = std::min(least, ns);
      most = std::max(most, ns);
    }
    printf("{\"KiB\": %zu, \"steps\": %d, \"ns least\": %.1f, \"ns most\": %.1f, \"cycles\": %.1f}\n", kib, steps, least, most,
           (double)counted / steps);
    CHECK(cudaFree(next));
  }
  const int launches = 2000;
  for (int round = 0; round < 3; round++) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < launches; i++) tiny<<<1, 32>>>((float *)out, 1.0f);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("{\"launch to launch us\": %.3f}\n", ms * 1e3 / launches);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "latency")) latency();
  else slow();
}
