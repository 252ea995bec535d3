// In the page, with probe.js: measurements of this widget alone.

({ start: first, end, step }) => {
  const task = () =>
    new Promise((done) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    });
  const frame = () => new Promise(requestAnimationFrame);
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const charts = () => [...document.querySelectorAll(".rw-chart")];
  const wordsOf = (chart) => {
    const canvas = chart.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Uint32Array(data.buffer);
  };
  const differing = (one, other) => {
    if (one.length !== other.length) return Number.POSITIVE_INFINITY;
    let found = 0;
    for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) found += 1;
    return found;
  };
  const pointer = (type, x, y, more) => {
    const box = charts()[0].getBoundingClientRect();
    const place = { clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true, ...more };
    const Kind = type === "wheel" ? WheelEvent : PointerEvent;
    charts()[0].dispatchEvent(new Kind(type, { pointerId: 1, isPrimary: true, pointerType: "mouse", ...place }));
  };
  const search = (text) => {
    const box = document.querySelector("input.rw-search");
    box.value = text;
    box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  const drags = { button: 1, buttons: 4 };
  const presses = { button: 0, buttons: 1 };
  const gestures = {
    theme: (turn) => {
      document.body.dataset.jpThemeLight = String(turn % 2 === 1);
    },
    filter: (turn) => search(turn % 2 === 0 ? "9" : ""),
    zoom: (turn) => pointer("wheel", 300, 200, { deltaY: turn % 2 === 0 ? -120 : 120, ctrlKey: true }),
    pan: (turn) => {
      if (turn === 0) pointer("pointerdown", 300, 200, drags);
      else pointer("pointermove", 300 + 20 * turn, 200 + 10 * turn, { ...drags, button: -1 });
    },
    // From an empty corner; the rectangle is another one in every other turn.
    select: (turn) => {
      const [x, y] = [400 + 100 * (turn % 2), 250];
      pointer("pointerdown", 90, 30, presses);
      pointer("pointermove", x, y, { ...presses, button: -1 });
      pointer("pointerup", x, y, presses);
    },
  };
  const ends = {
    theme: () => gestures.theme(1),
    filter: () => search(""),
    zoom: () => pointer("dblclick", 300, 200),
    pan: () => {
      pointer("pointerup", 300, 200, drags);
      pointer("dblclick", 300, 200);
    },
    select: () => {
      pointer("pointerdown", 90, 30, presses);
      pointer("pointermove", 100, 40, { ...presses, button: -1 });
      pointer("pointerup", 100, 40, presses);
    },
  };
  window.own = {
    /** Returns ms of work per redraw: the gesture's own task and the next frame's task. Pauses `rest` ms after each. */
    async redraws(name, turns, rest) {
      const times = [];
      for (let turn = 0; turn < turns; turn++) {
        const before = wordsOf(charts()[0]);
        await frame();
        await task();
        let begun = 0;
        const next = frame().then(() => {
          begun = performance.now();
        });
        // Registered before the gesture requests its frame, so that this frame is counted too.
        const start = performance.now();
        gestures[name](turn);
        await Promise.resolve();
        await task();
        const own = performance.now() - start;
        await next;
        await task();
        const time = own + performance.now() - begun;
        if (differing(before, wordsOf(charts()[0])) > 0) times.push(time);
        if (rest > 0) await pause(rest);
      }
      ends[name]();
      await pause(500);
      return times;
    },
    /** Moves the roof step by step from one position to another, then pauses. */
    async walk(from, to, part) {
      const { take, set, leave } = part ? window.hook[part] : window.hook;
      const steps = Math.max(1, Math.round(Math.abs(to - from) / step));
      take(from);
      for (let at = 0; at <= steps; at++) {
        set(from + ((to - from) * at) / steps);
        await frame();
        await task();
      }
      leave();
      await pause(500);
    },
    /** Compares the first view with the last, fresh one: differing pixels of points, and whether roofs differ. */
    compare() {
      const [first, last] = [charts()[0], charts().at(-1)];
      const roofs = (chart) => [...chart.querySelectorAll(".rw-roof")].map(({ outerHTML }) => outerHTML).join();
      if (first === last) throw new Error("there is one view only");
      return { pixels: differing(wordsOf(first), wordsOf(last)), roofs: roofs(first) !== roofs(last) };
    },
    views: () => charts().length,
    /** Returns the ms that the page takes to change its theme after the widget was removed. */
    async pageAlone(turns, rest) {
      for (const root of document.querySelectorAll(".roofwidget")) root.remove();
      const times = [];
      for (let turn = 0; turn < turns; turn++) {
        await frame();
        await task();
        const start = performance.now();
        gestures.theme(turn);
        document.body.getBoundingClientRect();
        times.push(performance.now() - start);
        await pause(rest);
      }
      return times;
    },
    /** Drags for some seconds and returns how often the thumb was not at the position that the drag set. */
    async jumps(seconds) {
      const { hook } = window;
      let [count, at] = [0, 0];
      const start = performance.now();
      hook.take();
      while (performance.now() - start < seconds * 1000) {
        at += step / 4;
        const place = Number((first + (at % (end - first))).toFixed(3));
        hook.set(place);
        await frame();
        await task();
        if (Math.abs(hook.value() - place) > 0.0006) count += 1;
      }
      hook.leave();
      await pause(500);
      return count;
    },
  };
};
