// Runs long work in slices, so that frames are drawn between the slices.

/** A generator whose yields are pause points; the yielded values are ignored. */
export type Work<T> = Generator<undefined, T, undefined>;

/** The length of a slice, ms. This is half of the time between two frames at 60 frames per second. */
const SLICE_MS = 8;

/** Runs all of the work at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * Runs the first slice now, or in a separate task if `later` is true. Runs the other slices in later tasks. Calls
 * `then` with the result. Returns a function that abandons the work.
 */
export function inSlices<T>(work: Work<T>, then: (result: T) => void, { later = false } = {}): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  function run() {
    const end = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return then(value);
    } while (performance.now() < end);
    timer = setTimeout(run);
  }
  if (later) timer = setTimeout(run);
  else run();
  return () => clearTimeout(timer);
}
