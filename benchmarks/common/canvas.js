// The minimum that draws the job: a practical lower limit for widgets.
// Three canvases are stacked. A step of the slider redraws the moving roof, and of the points (sorted by intensity) only
// those that changed their side of the ridge point. When the slider stops, all points are redrawn.

const SIZE = { width: 800, height: 450 };
const SIDES = ["#1f77b4", "#d62728"];

export default {
  render({ model, el }) {
    const [left, right, low, high] = model.get("domain");
    const x = (value) => ((Math.log10(value) - left) / (right - left)) * SIZE.width;
    const y = (value) => SIZE.height - ((Math.log10(value) - low) / (high - low)) * SIZE.height;
    const columns = new Float64Array(model.get("points").buffer.slice(0));
    const count = columns.length / 2;
    const order = Uint32Array.from({ length: count }, (_, at) => at).sort((a, b) => columns[a] - columns[b]);
    const ai = Float64Array.from(order, (at) => columns[at]);
    const [px, py] = [Float32Array.from(ai, x), Float32Array.from(order, (at) => y(columns[count + at]))];
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
    /** The first point at or right of an intensity. */
    function firstAt(value) {
      let [from, to] = [0, count];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (ai[middle] < value) from = middle + 1;
        else to = middle;
      }
      return from;
    }
    function drawPoints(from, to, colour) {
      points.fillStyle = colour;
      for (let at = from; at < to; at++) {
        points.beginPath();
        points.arc(px[at], py[at], radius, 0, 2 * Math.PI);
        points.fill();
      }
    }
    function drawAll() {
      points.clearRect(0, 0, SIZE.width, SIZE.height);
      const ridge = firstAt(peak / bandwidth);
      drawPoints(0, ridge, SIDES[0]);
      drawPoints(ridge, count, SIDES[1]);
    }
    slider.oninput = () => {
      const before = firstAt(peak / bandwidth);
      peak = 10 ** slider.value;
      const after = firstAt(peak / bandwidth);
      drawRoofs();
      if (before < after) drawPoints(before, after, SIDES[0]);
      else drawPoints(after, before, SIDES[1]);
    };
    slider.onchange = () => requestIdleCallback(drawAll);
    drawAxes();
    drawRoofs();
    drawAll();
  },
};
