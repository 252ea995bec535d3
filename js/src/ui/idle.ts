// Work that waits until the page is idle, so that no frame waits for the work.

/**
 * Calls `act` while the page is idle, at the latest after `maxWaitMs`. Safari cannot tell when a page is idle: there,
 * calls `act` now.
 */
export function whenIdle(act: () => void, maxWaitMs: number): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(act, { timeout: maxWaitMs });
  else act();
}
