// The minimum that draws the job: a practical lower limit for widgets.
// Three canvases are stacked. A step of the slider redraws the moving roof, and of the points only those that changed
// their side of the ridge point (found by intensity) or of the roof (found by FLOP/s). A point above the roof has a white
// centre. When the slider stops, all points are redrawn.

const SIZE = { width: 800, height: 450 };
const SIDES = ["#1f77b4", "#d62728"];
const REST_MS = 150;

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
    function drawDot(at, size) {
      points.beginPath();
      points.arc(px[at], py[at], size, 0, 2 * Math.PI);
      points.fill();
    }
    function drawPoints(from, to, colour) {
      points.fillStyle = colour;
      for (let at = from; at < to; at++) drawDot(at, radius);
    }
    /** Draws points by rank of their FLOP/s, with or without the sign of a point above the roof. */
    function drawRanks(from, to, isAbove) {
      for (let rank = from; rank < to; rank++) {
        const at = byRate[rank];
        points.fillStyle = SIDES[Number(ai[at] * bandwidth >= peak)];
        drawDot(at, radius);
        if (!isAbove) continue;
        points.fillStyle = "#fff";
        drawDot(at, radius / 2);
      }
    }
    function drawAll() {
      points.clearRect(0, 0, SIZE.width, SIZE.height);
      const ridge = firstAt(ai, peak / bandwidth);
      drawPoints(0, ridge, SIDES[0]);
      drawPoints(ridge, count, SIDES[1]);
      drawRanks(firstAt(sortedRates, peak), count, true);
    }
    slider.oninput = () => {
      const [ridge, top] = [firstAt(ai, peak / bandwidth), firstAt(sortedRates, peak)];
      peak = 10 ** slider.value;
      const [newRidge, newTop] = [firstAt(ai, peak / bandwidth), firstAt(sortedRates, peak)];
      drawRoofs();
      if (ridge < newRidge) drawPoints(ridge, newRidge, SIDES[0]);
      else drawPoints(newRidge, ridge, SIDES[1]);
      if (top < newTop) drawRanks(top, newTop, false);
      else drawRanks(newTop, top, true);
    };
    let rest;
    slider.onchange = () => {
      clearTimeout(rest);
      rest = setTimeout(() => requestIdleCallback(drawAll), REST_MS);
    };
    drawAxes();
    drawRoofs();
    drawAll();
  },
};
