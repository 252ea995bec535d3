// Long work that is done a little at a time, so that frames are drawn in between.

/** What it yields says nothing: it is where the work may pause. */
export type Work<T> = Generator<undefined, T, undefined>;

/** A slice, ms: half a frame. */
const SLICE_MS = 8;

/** All of it at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does what fits into a slice at once, or in a task of its own, the rest in later ones; what is returned abandons it. */
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
