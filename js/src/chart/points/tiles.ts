// Divides a raster into square tiles, to repaint only the tiles that changed.

import { clamp } from "../scales.ts";

/** The size of a raster and of its tiles in device pixels, and the number of tiles. */
export interface TileGrid {
  readonly width: number;
  readonly height: number;
  readonly size: number;
  /** The binary logarithm of `size`. */
  readonly shift: number;
  readonly across: number;
  readonly down: number;
}

/** Returns a grid of tiles with sides of at least `least` device pixels. */
export function tileGrid(width: number, height: number, least: number): TileGrid {
  const shift = Math.ceil(Math.log2(least));
  const size = 2 ** shift;
  return { width, height, size, shift, across: Math.ceil(width / size), down: Math.ceil(height / size) };
}

const clamped = (pixel: number, shift: number, tiles: number) => clamp(pixel >> shift, 0, tiles - 1);

/** Returns the tile of a pixel. A pixel outside the raster belongs to the nearest tile. */
export const tileAt = ({ shift, across, down }: TileGrid, x: number, y: number) =>
  clamped(y, shift, down) * across + clamped(x, shift, across);

/** Tiles that must be repainted. */
export class DirtyTiles {
  readonly #grid: TileGrid;
  /** 1 for each dirty tile. */
  readonly #flags: Uint8Array;

  constructor(grid: TileGrid) {
    this.#grid = grid;
    this.#flags = new Uint8Array(grid.across * grid.down);
  }

  /** Marks the tiles of a sprite as dirty: of all pixels that are at most `reach` pixels from its centre. */
  add(x: number, y: number, reach: number): void {
    const { across, down, shift } = this.#grid;
    if (!this.#isInSight(x, y, reach)) return;
    const [left, right] = [clamped(x - reach, shift, across), clamped(x + reach, shift, across)];
    for (let row = clamped(y - reach, shift, down); row <= clamped(y + reach, shift, down); row++) {
      this.#flags.fill(1, row * across + left, row * across + right + 1);
    }
  }

  /** Whether a sprite reaches into a dirty tile. */
  touches(x: number, y: number, reach: number): boolean {
    const { across, down, shift } = this.#grid;
    if (!this.#isInSight(x, y, reach)) return false;
    const [left, right] = [clamped(x - reach, shift, across), clamped(x + reach, shift, across)];
    const end = clamped(y + reach, shift, down);
    for (let row = clamped(y - reach, shift, down); row <= end; row++) {
      for (let column = left; column <= right; column++) if (this.#flags[row * across + column] === 1) return true;
    }
    return false;
  }

  /** The dirty tiles and all tiles next to them. */
  withNeighbours(): number[] {
    const { across, down } = this.#grid;
    const near = new Set<number>();
    this.#flags.forEach((flag, tile) => {
      if (!flag) return;
      const [column, row] = [tile % across, Math.floor(tile / across)];
      for (let y = Math.max(0, row - 1); y <= Math.min(row + 1, down - 1); y++) {
        for (let x = Math.max(0, column - 1); x <= Math.min(column + 1, across - 1); x++) near.add(y * across + x);
      }
    });
    return [...near];
  }

  /** Calls `act` with the first index and the end index of each line of pixels in a dirty tile. */
  eachLine(act: (from: number, to: number) => void): void {
    const { width, height, size, across } = this.#grid;
    this.#flags.forEach((flag, tile) => {
      if (!flag) return;
      const [left, top] = [(tile % across) * size, Math.floor(tile / across) * size];
      const right = Math.min(left + size, width);
      for (let y = top; y < Math.min(top + size, height); y++) act(y * width + left, y * width + right);
    });
  }

  /** Returns boxes that contain all dirty tiles: at most one box for each row of tiles. */
  boxes(): { left: number; top: number; width: number; height: number }[] {
    const { size, across, down } = this.#grid;
    return Array.from({ length: down }, (_, row) => row).flatMap((row) => {
      const flags = this.#flags.subarray(row * across, (row + 1) * across);
      const [first, last] = [flags.indexOf(1), flags.lastIndexOf(1)];
      return first < 0 ? [] : [{ left: first * size, top: row * size, width: (last - first + 1) * size, height: size }];
    });
  }

  #isInSight(x: number, y: number, reach: number): boolean {
    const { width, height } = this.#grid;
    return x + reach >= 0 && y + reach >= 0 && x - reach < width && y - reach < height;
  }
}
