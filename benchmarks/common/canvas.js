// The minimum that draws the job: a practical lower limit for widgets.
// Three canvases are stacked. A step of the slider redraws the moving roof, and of the points only those that changed
// their side of the ridge point (found by intensity) or of the roof (found by FLOP/s). A point above the roof has a white
// centre. When the slider stops, all points are redrawn in idle time, on a spare canvas.

const SIZE = { width: 800, height: 450 };
const SIDES = ["#1f77b4", "#d62728"];
const REST_MS = 150;
// Points drawn in one slice of idle time.
const SLICE = 2000;

export default {
  render({ model, el }) {
    const [left, right, low, high] = model.get("domain");
    const x = (value) => ((Math.log10(value) - left) / (right - left)) * SIZE.width;
    const y = (value) => SIZE.height - ((Math.log10(value) - low) / (high - low)) * SIZE.height;
    const columns = new Float64Array(model.get("points").buffer.slice(0));
    const count = columns.length / 2;
    const order = Uint32Array.from({ length: count }, (_, at) => at).sort((a, b) => columns[a] - columns[b]);
    const ai = Float64Array.from(order, (at) => columns[at]);
    const rates = Float64Array.from(order, (at) => columns[count + at]);
    const [px, py] = [Float32Array.from(ai, x), Float32Array.from(rates, y)];
    const byRate = Uint32Array.from({ length: count }, (_, at) => at).sort((a, b) => rates[a] - rates[b]);
    const sortedRates = Float64Array.from(byRate, (at) => rates[at]);
    const radius = count > 20_000 ? 2 : count > 2000 ? 2.5 : 3.5;

    const box = document.createElement("div");
    box.className = "bare-canvas";
    box.style = `position: relative; width: ${SIZE.width}px; height: ${SIZE.height}px`;
    const [axes, points, roofs] = ["axes", "points", "roofs"].map((name) => {
      const canvas = Object.assign(document.createElement("canvas"), SIZE);
      canvas.dataset.layer = name;
      canvas.style.position = "absolute";
      box.append(canvas);
      return canvas.getContext("2d");
    });
    const spare = Object.assign(document.createElement("canvas"), SIZE).getContext("2d", { willReadFrequently: true });
    const slider = Object.assign(document.createElement("input"), { type: "range", min: 13, max: 17, step: 0.001 });
    slider.style.width = `${SIZE.width}px`;
    el.append(box, slider);

    const [[start, bandwidth], ...fixed] = model.get("roofs");
    let peak = start;
    slider.value = Math.log10(start);

    function drawAxes() {
      axes.strokeStyle = "#ddd";
      axes.beginPath();
      for (let power = Math.ceil(left); power <= right; power++) axes.rect(x(10 ** power), 0, 0, SIZE.height);
      for (let power = Math.ceil(low); power <= high; power++) axes.rect(0, y(10 ** power), SIZE.width, 0);
      axes.stroke();
    }
    function drawRoof(rate, slope, colour, width) {
      roofs.strokeStyle = colour;
      roofs.lineWidth = width;
      roofs.beginPath();
      roofs.moveTo(0, y(10 ** left * slope));
      roofs.lineTo(x(rate / slope), y(rate));
      roofs.lineTo(SIZE.width, y(rate));
      roofs.stroke();
    }
    function drawRoofs() {
      roofs.clearRect(0, 0, SIZE.width, SIZE.height);
      for (const [rate, slope] of fixed) drawRoof(rate, slope, "#888", 1.5);
      drawRoof(peak, bandwidth, "#000", 3);
    }
    /** The first place in a sorted column with at least a value. */
    function firstAt(sorted, value) {
      let [from, to] = [0, count];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (sorted[middle] < value) from = middle + 1;
        else to = middle;
      }
      return from;
    }
    function drawDot(context, at, size) {
      context.beginPath();
      context.arc(px[at], py[at], size, 0, 2 * Math.PI);
      context.fill();
    }
    function drawPoints(context, from, to, colour) {
      context.fillStyle = colour;
      for (let at = from; at < to; at++) drawDot(context, at, radius);
    }
    /** Draws points by rank of their FLOP/s, with or without the sign of a point above the roof. */
    function drawRanks(context, from, to, isAbove) {
      for (let rank = from; rank < to; rank++) {
        const at = byRate[rank];
        context.fillStyle = SIDES[Number(ai[at] * bandwidth >= peak)];
        drawDot(context, at, radius);
        if (!isAbove) continue;
        context.fillStyle = "#fff";
        drawDot(context, at, radius / 2);
      }
    }
    /** Draws all points; yields where the work may pause. */
    function* drawAll(context) {
      context.clearRect(0, 0, SIZE.width, SIZE.height);
      const [ridge, top] = [firstAt(ai, peak / bandwidth), firstAt(sortedRates, peak)];
      for (let at = 0; at < count; at += SLICE) {
        const end = Math.min(at + SLICE, count);
        drawPoints(context, at, Math.min(end, ridge), SIDES[0]);
        drawPoints(context, Math.max(at, ridge), end, SIDES[1]);
        yield;
      }
      for (let rank = top; rank < count; rank += SLICE) {
        drawRanks(context, rank, Math.min(rank + SLICE, count), true);
        yield;
      }
    }
    let rest;
    let redrawing;
    /** Draws a slice on the spare canvas, and shows it after the last one; a move of the slider ends this. */
    function redraw(work) {
      if (work !== redrawing) return;
      if (work.next().done) {
        points.clearRect(0, 0, SIZE.width, SIZE.height);
        points.drawImage(spare.canvas, 0, 0);
        return;
      }
      // Reading a pixel makes the canvas draw now what the slice has recorded.
      spare.getImageData(0, 0, 1, 1);
      requestIdleCallback(() => redraw(work));
    }
    slider.oninput = () => {
      const [ridge, top] = [firstAt(ai, peak / bandwidth), firstAt(sortedRates, peak)];
      peak = 10 ** slider.value;
      const [newRidge, newTop] = [firstAt(ai, peak / bandwidth), firstAt(sortedRates, peak)];
      drawRoofs();
      if (ridge < newRidge) drawPoints(points, ridge, newRidge, SIDES[0]);
      else drawPoints(points, newRidge, ridge, SIDES[1]);
      if (top < newTop) drawRanks(points, top, newTop, false);
      else drawRanks(points, newTop, top, true);
      redrawing = undefined;
    };
    slider.onchange = () => {
      clearTimeout(rest);
      rest = setTimeout(() => {
        redrawing = drawAll(spare);
        redraw(redrawing);
      }, REST_MS);
    };
    drawAxes();
    drawRoofs();
    Array.from(drawAll(points));
  },
};
