// In the page, with hooks.js: first paint of a contestant, the visible time of a step, and the states of a drag.
// A step is visible in the first task after the frame with the new roof and points.

({ start: first, end, step }) => {
  const afterFrame = () =>
    new Promise((done) => {
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
      });
    });
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const positions = Math.round((end - first) / step);
  const { hook } = window;
  const look = () => [hook.roof(), hook.tracers()];
  const isNew = (now, before) => now.every((one, at) => one !== before[at]);
  /** How long a drag is observed after its release, ms. */
  const RELEASE_MS = 400;
  /** Yields slider positions to the other end of the way and back again, one step apart. */
  function* triangle() {
    for (;;) {
      for (let at = 0; at < positions; at++) yield first + step * at;
      for (let at = positions; at > 0; at--) yield first + step * at;
    }
  }
  function isComplete(count, old) {
    try {
      const root = hook.root();
      return root && root !== old && (hook.least?.() ?? count) >= count && hook.roof() && hook.tracers();
    } catch {
      return false;
    }
  }
  window.probe = {
    /** Runs a cell; returns the ms until the frame with the complete chart was drawn, and the bytes from the kernel. */
    async create(cell, count) {
      const old = hook.root();
      const { commands, shell } = window.jupyterapp;
      const { content, sessionContext } = shell.currentWidget;
      const channel = sessionContext.session.kernel._ws;
      let bytes = 0;
      const receive = ({ data }) => {
        bytes += data.byteLength ?? data.length;
      };
      channel.addEventListener("message", receive);
      content.deselectAll();
      content.activeCellIndex = cell;
      content.mode = "command";
      const start = performance.now();
      commands.execute("notebook:run-cell");
      do await afterFrame();
      while (!isComplete(count, old) && performance.now() - start < 60_000);
      if (!isComplete(count, old)) throw new Error("the chart did not come about");
      const ms = performance.now() - start;
      channel.removeEventListener("message", receive);
      return { ms, bytes };
    },
    /** Sets the slider's position, then pauses. */
    async put(place) {
      hook.take();
      hook.set(place);
      hook.leave();
      await pause(500);
    },
    /** Returns ms from each event, at a random phase of a frame, to its visible result. Stops after `limit` s. */
    async steps(count, limit) {
      const times = [];
      const places = triangle();
      hook.take();
      hook.set(places.next().value);
      await pause(700);
      const until = performance.now() + limit * 1000;
      while (times.length < count && (times.length < 6 || performance.now() < until)) {
        await pause(40 + 30 * Math.random());
        const before = look();
        const start = performance.now();
        hook.set(places.next().value);
        do await afterFrame();
        while (!isNew(look(), before) && performance.now() - start < 10_000);
        times.push(performance.now() - start);
      }
      hook.leave();
      return times;
    },
    /** Returns ms from each arrow key, at a random phase of a frame, to its visible result; none if there are no keys. */
    async keys(count, limit) {
      const times = [];
      if (!hook.key) return times;
      // Every other key moves the roof past a tracer, the first one included.
      await window.probe.put(first + step / 4);
      const until = performance.now() + limit * 1000;
      while (times.length < count && (times.length < 6 || performance.now() < until)) {
        await pause(40 + 30 * Math.random());
        const before = look();
        const parts = times.length % 2 === 0 ? 2 : 1;
        const start = performance.now();
        hook.key(step > 0);
        do await afterFrame();
        while (!isNew(look().slice(0, parts), before) && performance.now() - start < 10_000);
        times.push(performance.now() - start);
      }
      return times;
    },
    /**
     * Sets one position per frame for some seconds, by the slider or another part; counts states, frames and tasks, and
     * finds the longest gap.
     */
    async drag(seconds, part) {
      const { take, set, leave, look: seen = look } = part ? hook[part] : hook;
      if (!part) await window.probe.put(first);
      let [states, frames, long, gap] = [0, 0, 0, 0];
      const tasks = new PerformanceObserver((list) => {
        long += list.getEntries().length;
      });
      tasks.observe({ type: "longtask" });
      const places = triangle();
      places.next();
      let last = seen();
      await afterFrame();
      const start = performance.now();
      let shown = start;
      take();
      while (performance.now() - start < seconds * 1000) {
        await new Promise(requestAnimationFrame);
        set(places.next().value);
        await new Promise((done) => {
          const channel = new MessageChannel();
          channel.port1.onmessage = done;
          channel.port2.postMessage(0);
        });
        frames += 1;
        const now = seen();
        if (isNew(now, last)) {
          states += 1;
          last = now;
          gap = Math.max(gap, performance.now() - shown);
          shown = performance.now();
        }
      }
      const released = performance.now();
      const passed = (released - start) / 1000;
      leave();
      for (let before = released; before - released < RELEASE_MS; ) {
        await afterFrame();
        const now = performance.now();
        gap = Math.max(gap, now - before);
        before = now;
      }
      tasks.disconnect();
      return { states: states / passed, frames: frames / passed, gap, long, seconds: passed };
    },
  };
};
