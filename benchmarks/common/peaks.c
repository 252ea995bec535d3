/* What the processor reaches in C: multiply-adds in registers, and loops over arrays with ordinary stores.

   peaks KIND THREADS RUNS [ELEMENTS REPEATS]

   KIND is fp32, fp64 or bf16 (multiply-adds), or copy, add, triad, update or stencil (loops over doubles; ELEMENTS per
   thread, run REPEATS times). Prints the seconds of each run, from the start of the first thread to the end of the
   last, after the amount of work of a run: FLOPs or bytes. Bytes are counted as STREAM counts them: what a loop loads
   and stores, without the lines that the processor loads before it stores to them. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#ifdef __AVX512F__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif
/* Enough independent chains to hide the latency of two multiply-add units. */
#define CHAINS 12
#define FMA_REPEATS 20000000L

typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));

enum kind { FP32, FP64, BF16, COPY, ADD, TRIAD, UPDATE, STENCIL };
static const char *const NAMES[] = {"fp32", "fp64", "bf16", "copy", "add", "triad", "update", "stencil"};
static const int MOVES[] = {0, 0, 0, 2, 3, 3, 3, 2};

static enum kind kind;
static long elements, repeats;
static int threads, runs;
static pthread_barrier_t barrier;
static double (*spans)[2];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define CHAINED(TYPE, ELEMENT, STEP)                               \
  TYPE chain[CHAINS];                                              \
  for (int i = 0; i < CHAINS; i++) {                               \
    chain[i] = (TYPE){0} + (ELEMENT)i;                             \
    __asm__("" : "+x"(chain[i])); /* or equal chains become one */ \
  }                                                                \
  for (long r = 0; r < FMA_REPEATS; r++) {                         \
    for (int i = 0; i < CHAINS; i++) chain[i] = STEP;              \
    __asm__ volatile("" : "+x"(factor));                           \
  }                                                                \
  TYPE sum = chain[0];                                             \
  for (int i = 1; i < CHAINS; i++) sum += chain[i];                \
  __asm__ volatile("" : : "x"(sum));

static void fma_fp32(void) {
  floats factor, term;
  for (size_t i = 0; i < sizeof factor / sizeof(float); i++) factor[i] = 0.5f, term[i] = 1.0f;
  CHAINED(floats, float, chain[i] * factor + term)
}

static void fma_fp64(void) {
  doubles factor, term;
  for (size_t i = 0; i < sizeof factor / sizeof(double); i++) factor[i] = 0.5, term[i] = 1.0;
  CHAINED(doubles, double, chain[i] * factor + term)
}

#ifdef __AVX512BF16__
static void fma_bf16(void) {
  __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f));
  __m512bh term = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1.0f), _mm512_set1_ps(1.0f));
  CHAINED(__m512, float, _mm512_dpbf16_ps(chain[i], factor, term))
}
#define BF16_FLOPS (CHAINS * 32 * 2)
#else
static void fma_bf16(void) {}
#define BF16_FLOPS 0
#endif

static void loop(double *restrict a, double *restrict b, double *restrict c) {
  const double s = 3.0;
  for (long r = 0; r < repeats; r++) {
    switch (kind) {
      case COPY: for (long i = 0; i < elements; i++) a[i] = b[i]; break;
      case ADD: for (long i = 0; i < elements; i++) a[i] = b[i] + c[i]; break;
      case TRIAD: for (long i = 0; i < elements; i++) a[i] = b[i] + s * c[i]; break;
      case UPDATE: for (long i = 0; i < elements; i++) a[i] += b[i]; break;
      default: for (long i = 1; i < elements - 1; i++) a[i] = b[i - 1] + b[i + 1]; break;
    }
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
  }
}

static void *work(void *number) {
  long me = (long)number;
  double *arrays[3] = {0};
  for (int i = 0; i < 3 && kind >= COPY; i++) {
    if (posix_memalign((void **)&arrays[i], 4096, elements * sizeof(double))) exit(1);
    for (long j = 0; j < elements; j++) arrays[i][j] = 1.0;
  }
  for (int run = 0; run < runs; run++) {
    pthread_barrier_wait(&barrier);
    double start = now();
    if (kind == FP32) fma_fp32();
    else if (kind == FP64) fma_fp64();
    else if (kind == BF16) fma_bf16();
    else loop(arrays[0], arrays[1], arrays[2]);
    spans[run * threads + me][0] = start;
    spans[run * threads + me][1] = now();
  }
  return NULL;
}

int main(int count, char **words) {
  if (count < 4) return 2;
  while (kind < STENCIL && strcmp(words[1], NAMES[kind])) kind++;
  threads = atoi(words[2]);
  runs = atoi(words[3]);
  elements = count > 4 ? atol(words[4]) : 0;
  repeats = count > 5 ? atol(words[5]) : 1;
  double per_thread = (double)MOVES[kind] * sizeof(double) * elements * repeats;
  if (kind == FP32) per_thread = 2.0 * CHAINS * (VECTOR_BYTES / sizeof(float)) * FMA_REPEATS;
  if (kind == FP64) per_thread = 2.0 * CHAINS * (VECTOR_BYTES / sizeof(double)) * FMA_REPEATS;
  if (kind == BF16) per_thread = (double)BF16_FLOPS * FMA_REPEATS;
  if (!per_thread) return 3;
  spans = calloc((size_t)runs * threads, sizeof *spans);
  pthread_t *ids = calloc(threads, sizeof *ids);
  pthread_barrier_init(&barrier, NULL, threads);
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, work, (void *)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%.0f", per_thread * threads);
  for (int run = 0; run < runs; run++) {
    double start = spans[run * threads][0], end = spans[run * threads][1];
    for (int i = 1; i < threads; i++) {
      double (*span)[2] = &spans[run * threads + i];
      if ((*span)[0] < start) start = (*span)[0];
      if ((*span)[1] > end) end = (*span)[1];
    }
    printf(" %.9f", end - start);
  }
  putchar('\n');
  return 0;
}
