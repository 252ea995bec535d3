// A canvas for tests: pixels of one colour or none, marks as boxes that reach as far as the marks do, no opacity.

type Box = readonly [left: number, top: number, right: number, bottom: number];

const INK = 0xff000000;

/** What a browser has of a document, with canvases of so many device pixels a px. */
export function rasterDocument(ratio: number): Document {
  const document = { defaultView: { devicePixelRatio: ratio }, createElement: () => new Raster(document) };
  return document as unknown as Document;
}

/** The canvas, and its pixels row by row. */
export class Raster {
  readonly ownerDocument: unknown;
  pixels = new Uint32Array();
  #width = 0;
  #height = 0;
  readonly #pen = new Pen(this);

  constructor(ownerDocument: unknown) {
    this.ownerDocument = ownerDocument;
  }
  get width() {
    return this.#width;
  }
  get height() {
    return this.#height;
  }
  set width(to: number) {
    this.#width = to;
    this.pixels = new Uint32Array(to * this.#height);
  }
  set height(to: number) {
    this.#height = to;
    this.pixels = new Uint32Array(to * this.#width);
  }
  getContext() {
    return this.#pen;
  }
}

/** As much of a context as painters ask for. */
class Pen {
  readonly canvas: Raster;
  fillStyle = "";
  strokeStyle = "";
  lineWidth = 1;
  globalAlpha = 1;
  #transform = [1, 0, 0];
  #path: Box[] = [];
  /** 1 where something may be drawn. */
  #clip: Uint8Array | undefined;
  readonly #saved: (Uint8Array | undefined)[] = [];

  constructor(canvas: Raster) {
    this.canvas = canvas;
  }
  setTransform(scale: number, _b: number, _c: number, _d: number, x: number, y: number) {
    this.#transform = [scale, x, y];
  }
  save() {
    this.#saved.push(this.#clip);
  }
  restore() {
    this.#clip = this.#saved.pop();
  }
  beginPath() {
    this.#path = [];
  }
  closePath() {}
  rect(x: number, y: number, width: number, height: number) {
    this.#path.push([x, y, x + width, y + height]);
  }
  arc(x: number, y: number, radius: number) {
    this.#path.push([x - radius, y - radius, x + radius, y + radius]);
  }
  lineTo(x: number, y: number) {
    this.#path.push([x, y, x, y]);
  }
  moveTo(x: number, y: number) {
    this.lineTo(x, y);
  }
  clip() {
    const { width, height } = this.canvas;
    const mask = new Uint8Array(width * height);
    for (const box of this.#path)
      this.#each(box, (at) => {
        mask[at] = 1;
      });
    this.#clip = mask;
  }
  fill() {
    this.#mark(`${this.fillStyle} ${this.globalAlpha}`, 0);
  }
  stroke() {
    this.#mark(`${this.strokeStyle} ${this.lineWidth}`, this.lineWidth / 2);
  }
  clearRect(x: number, y: number, width: number, height: number) {
    const { pixels } = this.canvas;
    this.#each([x, y, x + width, y + height], (at) => {
      pixels[at] = 0;
    });
  }
  drawImage(from: Raster, x: number, y: number, width: number, height: number) {
    const [scale = 1] = this.#transform;
    const [left, top, { pixels }] = [Math.round(x * scale), Math.round(y * scale), this.canvas];
    this.#each([x, y, x + width, y + height], (at, column, row) => {
      const ink = from.pixels[(row - top) * from.width + (column - left)] as number;
      if (ink > 0) pixels[at] = ink;
    });
  }
  createImageData(width: number, height: number) {
    return { width, height, data: new Uint8ClampedArray(4 * width * height) };
  }
  getImageData() {
    return { data: new Uint8ClampedArray(this.canvas.pixels.buffer) };
  }
  /** Copies a box of an image that is as large as the canvas; without a box all of it. */
  putImageData({ data }: ImageData, _x: number, _y: number, left = 0, top = 0, width?: number, height?: number) {
    const { pixels, width: across, height: down } = this.canvas;
    const from = new Uint32Array(data.buffer);
    const right = Math.min(left + (width ?? across), across);
    for (let row = top; row < Math.min(top + (height ?? down), down); row++) {
      pixels.set(from.subarray(row * across + left, row * across + right), row * across + left);
    }
  }

  /** What lies around all of the path, so much wider, in a colour that tells how it was made. */
  #mark(how: string, wider: number) {
    const ends = (at: 0 | 1 | 2 | 3) => this.#path.map((box) => box[at]);
    const [left, top] = [Math.min(...ends(0)) - wider, Math.min(...ends(1)) - wider];
    const [right, bottom] = [Math.max(...ends(2)) + wider, Math.max(...ends(3)) + wider];
    const colour = (INK | hash(`${how} ${this.#path}`)) >>> 0;
    const { pixels } = this.canvas;
    this.#each([left, top, right, bottom], (at) => {
      pixels[at] = colour;
    });
  }
  /** Each device pixel of a box, where it is not clipped away. */
  #each(box: Box, act: (at: number, column: number, row: number) => void) {
    const { width, height } = this.canvas;
    const [left, top, right, bottom] = this.#device(box);
    for (let row = Math.max(0, top); row < Math.min(bottom, height); row++) {
      for (let column = Math.max(0, left); column < Math.min(right, width); column++) {
        const at = row * width + column;
        if (this.#clip === undefined || this.#clip[at] === 1) act(at, column, row);
      }
    }
  }
  #device([left, top, right, bottom]: Box): Box {
    const [scale = 1, x = 0, y = 0] = this.#transform;
    const floor = (value: number) => Math.floor(value + 1e-6);
    const ceil = (value: number) => Math.ceil(value - 1e-6);
    return [floor(left * scale + x), floor(top * scale + y), ceil(right * scale + x), ceil(bottom * scale + y)];
  }
}

/** 24 bits of a text. */
function hash(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.charCodeAt(0)) & 0xffffff;
  return sum;
}
