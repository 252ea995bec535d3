// In the page, with hooks.js: one drag, or a row of key presses, with marks of its parts for a trace.
// The first part is the press and the first move with its frame, the last is what follows the release.

({ start, end, step }) => {
  const frame = () => new Promise(requestAnimationFrame);
  const task = () =>
    new Promise((done) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = done;
      channel.port2.postMessage(0);
    });
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const positions = Math.round((end - start) / step);
  /** Frames from one key press to the next: 50 ms at 60 frames per second. */
  const KEY_FRAMES = 3;
  const { hook } = window;
  const actions = {
    slider: hook,
    roof: hook.flat,
    keys: {
      take: () => {},
      set: () => hook.key(step > 0),
      leave: () => {},
    },
  };
  window.frames = {
    /** Puts the slider at the start of the way. */
    async put() {
      hook.take();
      hook.set(start + step / 4);
      hook.leave();
      await pause(700);
    },
    /** Makes a drag of `count` moves that goes to the end of the way, and lets the page rest for `rest` ms. */
    async drag(name, count, rest) {
      const { take, set, leave } = actions[name];
      const apart = name === "keys" ? KEY_FRAMES : 1;
      const move = async (at) => {
        set(start + step / 4 + (step * positions * at) / count);
        for (let turn = 0; turn < apart; turn++) await frame();
      };
      await frame();
      performance.mark("part:first");
      take();
      await frame();
      await move(1);
      await task();
      performance.mark("part:middle");
      for (let at = 2; at <= count; at++) await move(at);
      await task();
      performance.mark("part:release");
      leave();
      await pause(rest);
      performance.mark("part:end");
    },
  };
};
