// In the page: sets window.hook, which moves a contestant's roof and returns the drawn state: "roof" for the moving roof,
// "tracers" for the points that its ridge point passes. Different positions give different states.

([name, region, axes, { start, step, tracers }, tracer]) => {
  const $ = (selector, from = document) => from.querySelector(selector);
  /** Returns a checksum of the pixels in a part of a canvas; 0 if the part is empty. */
  function pixels(canvas, [x, y, width, height]) {
    const words = new Uint32Array(canvas.getContext("2d").getImageData(x, y, width, height).data.buffer);
    let [sum, any] = [0, 0];
    for (let at = 0; at < words.length; at++) {
      any |= words[at];
      // The upper half too goes into lower bits, because black pixels differ only in the uppermost byte.
      sum = (Math.imul(sum, 31) + (words[at] ^ (words[at] >>> 16))) | 0;
    }
    return any === 0 ? 0 : sum || 1;
  }
  /** Converts the region from FLOP/B and FLOP/s to px, by the tick labels of the widget's axes. */
  function boxOf(chart) {
    const units = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
    const [origin, ticks] = [chart.getBoundingClientRect(), { x: [], y: [] }];
    for (const text of chart.querySelectorAll(".rw-axes > text")) {
      const [, digits, unit] = /^([0-9.e-]+)([kMGTPE]?)$/.exec(text.textContent.trim()) ?? [];
      if (digits === undefined) continue;
      const power = Math.log10(Number(digits) * units[unit]);
      const box = text.getBoundingClientRect();
      if (text.getAttribute("text-anchor") === "middle") ticks.x.push([power, box.x + box.width / 2 - origin.x]);
      else ticks.y.push([power, Number(text.getAttribute("y")) - 4]);
    }
    const along = ([[p, from], [q, to]], value) => from + ((to - from) * (Math.log10(value) - p)) / (q - p);
    const [left, right] = region.slice(0, 2).map((value) => Math.round(along(ticks.x, value)));
    const [bottom, top] = region.slice(2).map((value) => Math.round(along(ticks.y, value)));
    return [left, top, right - left, bottom - top];
  }
  /** Converts the region to px for axes of 800 by 450 px whose top left corner is at (x, y). */
  function boxAt(x, y) {
    const [from, to, least, most] = axes;
    const [left, right] = region.slice(0, 2).map((value) => (Math.log10(value) - from) / (to - from));
    const [bottom, top] = region.slice(2).map((value) => (Math.log10(value) - least) / (most - least));
    return [x + left * 800, y + (1 - top) * 450, (right - left) * 800, (top - bottom) * 450].map(Math.round);
  }
  const boxes = new WeakMap();
  const boxOfOurs = (chart) => {
    if (!boxes.has(chart)) boxes.set(chart, boxOf(chart));
    return boxes.get(chart);
  };
  const fills = (elements) =>
    elements
      .slice(-tracers)
      .map((one) => one.style.fill || one.getAttribute("fill"))
      .join();
  const range = (input) => ({
    set: (value) => {
      input().value = String(value);
      input().dispatchEvent(new InputEvent("input", { bubbles: true }));
    },
    take: () => input().dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })),
    leave: () => {
      input().dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
      input().dispatchEvent(new Event("change", { bubbles: true }));
    },
  });
  /** Moves a slider of ipywidgets by arrow keys, one step per key. */
  const keyed = () => {
    let now;
    return {
      set: (value) => {
        now ??= Math.round((Number($(".noUi-handle").ariaValueNow) - start) / step);
        const to = Math.round((value - start) / step);
        for (; now !== to; now += Math.sign(to - now)) {
          const key = to > now === step > 0 ? "ArrowRight" : "ArrowLeft";
          $(".noUi-handle").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        }
      },
      take: () => {},
      leave: () => {},
    };
  };
  /** Drags the flat part of a roof to the value that a slider would set. */
  const flat = (line) => {
    let [x, y, from, origin] = [0, 0, 0, start];
    let target;
    const perPower = () => boxOfOurs($(".rw-chart"))[3] / Math.log10(region[3] / region[2]);
    const send = (type) => {
      const place = { clientX: x, clientY: y, button: type === "pointermove" ? -1 : 0, buttons: 1 };
      // Pointer capture works only with the pointer id of the mouse.
      const mouse = { pointerId: 1, isPrimary: true, pointerType: "mouse" };
      target.dispatchEvent(new PointerEvent(type, { ...place, ...mouse, bubbles: true }));
    };
    return {
      take: (value = start) => {
        origin = value;
        target = line();
        const box = target.getBoundingClientRect();
        [x, y] = [box.left + 0.7 * box.width, box.top + box.height / 2];
        from = y;
        send("pointerdown");
        target = $(".rw-chart");
      },
      /** Moves the pointer up from the start of the drag by the distance from the value at its start. */
      set: (value) => {
        y = from - (value - origin) * perPower();
        send("pointermove");
      },
      leave: () => send("pointerup"),
    };
  };
  /** Drags a point sideways, from the place in the chart that `placed` returns: 3 px per step. */
  const point = (placed) => {
    const FIRST_PX = 12;
    let [x, y] = [0, 0];
    const send = (type, across = 0) => {
      const place = { clientX: x + across, clientY: y, button: type === "pointermove" ? -1 : 0, buttons: 1 };
      const mouse = { pointerId: 1, isPrimary: true, pointerType: "mouse" };
      $(".rw-chart").dispatchEvent(new PointerEvent(type, { ...place, ...mouse, bubbles: true }));
    };
    return {
      take: () => {
        const { left, top } = $(".rw-chart").getBoundingClientRect();
        const [across, down] = placed();
        [x, y] = [left + across, top + down];
        send("pointerdown");
      },
      set: (value) => send("pointermove", FIRST_PX + (3 * (value - start)) / step),
      leave: () => send("pointerup"),
      look: () => [[...($("[data-ghost]")?.attributes ?? [])].map(({ value }) => value).join()],
    };
  };
  /** The place of the first tracer, px: at its intensity, in the lowest row. */
  function tracerPlace() {
    const [left, top, width, height] = boxOfOurs($(".rw-chart"));
    const share = (value, [from, to]) => Math.log10(value / from) / Math.log10(to / from);
    return [
      left + width * share(tracer[0], region.slice(0, 2)),
      top + height * (1 - share(tracer[1], region.slice(2))),
    ];
  }
  const hooks = {
    roofwidget: () => {
      const root = () => $(".rw-chart");
      return {
        ...range(() => $(".rw-rate[data-quantity='peak_flops'] input[type='range']")),
        root,
        roof: () => $(".rw-roof[data-chip='moving']")?.getAttribute("d") ?? "",
        tracers: () => pixels($("canvas", root()), boxOfOurs(root())),
        flat: flat(() => $("[data-part='peak']", root())),
        kernel: point(tracerPlace),
        value: () => Number($(".rw-rate[data-quantity='peak_flops'] input[type='range']").value),
        /** Presses an arrow key on the slider: 0.01 decades. */
        key: (isUp) => {
          const slider = $(".rw-rate[data-quantity='peak_flops'] input[type='range']");
          const key = isUp ? "ArrowRight" : "ArrowLeft";
          slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        },
      };
    },
    "bare canvas": () => {
      const root = () => $(".bare-canvas");
      const layer = (which) => $(`[data-layer='${which}']`, root());
      return {
        ...range(() => root().nextElementSibling),
        root,
        key: (isUp) => {
          const slider = root().nextElementSibling;
          slider.value = String(Number(slider.value) + (isUp ? 0.01 : -0.01));
          slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
          slider.dispatchEvent(new Event("change", { bubbles: true }));
        },
        roof: () => pixels(layer("roofs"), [790, 0, 1, 450]),
        tracers: () => pixels(layer("points"), boxAt(0, 0)),
      };
    },
    altair: () => {
      const root = () => $("canvas.marks");
      return {
        ...range(() => $("input[name='exponent']")),
        root,
        roof: () => pixels(root(), [860, 10, 1, 450]),
        tracers: () => pixels(root(), boxAt(70, 10)),
      };
    },
    bqplot: () => {
      const root = () => $(".bqplot");
      const dots = () => [...root().querySelectorAll("path.dot")];
      return {
        ...keyed(),
        root,
        roof: () => [...root().querySelectorAll("path.line")].at(-1)?.getAttribute("d") ?? "",
        tracers: () => fills(dots()),
        least: () => dots().length,
      };
    },
    plotly: () => {
      const root = () => $(".js-plotly-plot");
      const dots = () => [...root().querySelectorAll(".points path.point")];
      return {
        ...keyed(),
        root,
        roof: () => [...root().querySelectorAll("path.js-line")].at(-1)?.getAttribute("d") ?? "",
        tracers: () => fills(dots()),
        least: () => dots().length,
      };
    },
  };
  window.hook = hooks[name]();
};
