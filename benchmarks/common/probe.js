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
  const isNew = (now, before) => now[0] !== before[0] && now[1] !== before[1];
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
    /** Runs a cell and returns the ms until the frame with the complete chart was drawn. */
    async create(cell, count) {
      const old = hook.root();
      const { commands, shell } = window.jupyterapp;
      const { content } = shell.currentWidget;
      content.deselectAll();
      content.activeCellIndex = cell;
      content.mode = "command";
      const start = performance.now();
      commands.execute("notebook:run-cell");
      do await afterFrame();
      while (!isComplete(count, old) && performance.now() - start < 60_000);
      if (!isComplete(count, old)) throw new Error("the chart did not come about");
      return performance.now() - start;
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
    /** Sets one position per frame for some seconds, by the slider or another part; counts states, frames and tasks. */
    async drag(seconds, part) {
      const { take, set, leave } = part ? hook[part] : hook;
      let [states, frames, long] = [0, 0, 0];
      const tasks = new PerformanceObserver((list) => {
        long += list.getEntries().length;
      });
      tasks.observe({ type: "longtask" });
      const places = triangle();
      take();
      set(places.next().value);
      await pause(300);
      let last = look();
      const start = performance.now();
      while (performance.now() - start < seconds * 1000) {
        await new Promise(requestAnimationFrame);
        set(places.next().value);
        await new Promise((done) => {
          const channel = new MessageChannel();
          channel.port1.onmessage = done;
          channel.port2.postMessage(0);
        });
        frames += 1;
        const now = look();
        if (isNew(now, last)) {
          states += 1;
          last = now;
        }
      }
      const passed = (performance.now() - start) / 1000;
      leave();
      await pause(100);
      tasks.disconnect();
      return { states: states / passed, frames: frames / passed, long, seconds: passed };
    },
  };
};
