// What one kernel can do on a chip: the form in which it runs, the bytes that it moves, and why a group is no kernel.
// Mirrors roofwidget/workloads/forms.py, which describes the model.

import { once } from "../ui/memoize.ts";
import type { Share } from "../wire/types.ts";
import { allOf, dtypeOf, type Graph, type GraphValues, listOf, numbersOf, type Ops } from "./graph.ts";
import type { FormRefusal, Reason, RefusalOf } from "./legality.ts";
import { type Bits, bit, countOf, loopFinder, membersOf, setOf, unionOf, walksOf } from "./loops.ts";
import { groupBytes, groupFlops } from "./partition.ts";

/** Elements of a walked axis that are on chip at a time, and the fewest rows of a block of a product. */
const STEP = 64;
/** Elements of a tile if nothing must be whole. */
const VECTOR = 128;
/** Bytes of one access to main memory. */
const LINE = 32;
/** Bytes of a partial result. */
const PARTIAL = 4;
/** Two forms whose times differ by less than this, seconds, are equally fast. */
const SAME_SECONDS = 1e-15;

export type FormName = "alone" | "stream" | "rows" | "two passes" | "tiles" | "whole rows" | "chain";

export interface Form {
  readonly name: FormName;
  /** Bytes on chip at a time, for one block. */
  readonly need: number;
  /** What a block keeps: "rows" or "again" of tiles, "result", "middle" or "nothing" of a chain. */
  readonly keeps: "" | "rows" | "again" | "result" | "middle" | "nothing";
  /** The rows or the side of a block, elements; 0 if the form has none. */
  readonly block: number;
  /** The number of blocks; 0 if the form has none. */
  readonly blocks: number;
  /** Tensors that the kernel reads more than once: how often. */
  readonly reads: ReadonlyMap<number, number>;
  /** Ops that the kernel runs more than once: how often. */
  readonly times: ReadonlyMap<number, number>;
  /** Bytes of partial results that the kernel writes and reads. */
  readonly workspace: number;
}

class Refused {
  readonly why: FormRefusal;
  constructor(code: FormRefusal["code"], reason: Reason, ops: Ops, more: Partial<FormRefusal> = {}) {
    this.why = { code, reason, ops, ...more };
  }
}

export const isForm = (found: Form | FormRefusal): found is Form => "name" in found;

const PLAIN: Form = {
  name: "alone",
  need: 0,
  keeps: "",
  block: 0,
  blocks: 0,
  reads: new Map(),
  times: new Map(),
  workspace: 0,
};

/** What a kernel moves and does in a form. */
export interface Load extends Pick<Form, "times"> {
  readonly bytes: number;
  /** FLOPs by class, repeated ones counted each time. */
  readonly flops: Float64Array;
}

/** The seconds of FLOPs by class and bytes, for ops in any order, of which some run more than once. */
export type Cost = (flops: Float64Array, bytes: number, group: Ops, times?: Form["times"]) => number;

export interface Forms {
  /** Returns the fastest form of a connected, convex group, or why it has none. `ops` ascend. */
  readonly formOf: (ops: Ops) => Form | FormRefusal;
  /** Returns what a group moves and does in its fastest form. Without a form, each tensor and op counts once. */
  readonly loadOf: (ops: Ops) => Load;
  readonly refusalOf: RefusalOf;
  /**
   * Whether general compilers make a kernel of a group today: at most one product, no reduction, scan or gather beside
   * it, and no sums across blocks.
   */
  readonly isOfCompilers: (ops: Ops) => boolean;
  /** Whether an op reads rows of a table in any order. */
  readonly isGather: (op: number) => boolean;
  /** Which of several forms is the fastest. */
  readonly cost: Cost;
}

/** The capacities of a chip. Everything fits on a chip whose on-chip capacity is unknown. */
const roomOf = (share: Share | null | undefined) => ({
  unit: share?.bytes ?? Number.POSITIVE_INFINITY,
  units: share?.units ?? 1,
  shared: share?.shared ?? Number.POSITIVE_INFINITY,
});

/**
 * Returns the forms of the groups of a graph on a chip. `cost` judges which of several forms is the fastest. It has the
 * rates of the data sheet, so that points keep their places while a person drags a rate.
 */
export function formsOn(graph: Graph, values: GraphValues, share: Share | null | undefined, cost: Cost): Forms {
  const { unit, units, shared } = roomOf(share);
  const walks = walksOf(graph);
  const loopsAmong = loopFinder(graph, values);
  const width = graph.tensors.map((_, tensor) => (graph.dtypes.get(dtypeOf(graph, values, tensor)) ?? 0) / 8);
  const shapes = graph.tensors.map((_, tensor) => values.shape(tensor));
  const elements = shapes.map((shape) => shape.reduce((total, size) => total * size, 1));
  const widthOf = (tensor: number) => width[tensor] as number;
  const isDot = (op: number) => graph.ops[op]?.kind === "matmul";
  const isReducing = (op: number) => (graph.ops[op]?.axes?.length ?? 0) > 0;
  const rankOf = (tensor: number) => shapes[tensor]?.length ?? 0;
  const keeping = graph.ops.map(
    ({ inputs, outputs }, op) =>
      isReducing(op) && outputs.some((tensor) => rankOf(tensor) >= rankOf(inputs[0] as number)),
  );
  const known = new Map<string, Form | FormRefusal>();

  // -- a group: its ops are numbered from 0 in their order, and sets of ops are bits of these numbers ------------------
  /** For each op: its number in the latest group that it was in. */
  const places = new Int32Array(graph.ops.length);
  /** What every form needs of a group. */
  function membersIn(ops: Ops) {
    ops.forEach((op, at) => {
      places[op] = at;
    });
    const isInside = (op: number) => ops[places[op] as number] === op;
    const isRead = (tensor: number) => listOf(graph.consumers, tensor).some(isInside);
    const made = allOf(graph.makes, ops);
    return {
      ops,
      numbers: [...ops.keys()],
      isInside,
      isRead,
      made,
      inner: made.filter(isRead),
      /** Returns the numbers of those of these ops that are in the group. */
      inside: (some: Ops) => numbersOf(places, some.filter(isInside)),
    };
  }
  function groupOf(members: ReturnType<typeof membersIn>) {
    const { ops, numbers, isInside, isRead, made, inner, inside } = members;
    const isMade = (tensor: number) => isInside(graph.producer[tensor] as number);
    /** Finds what each op reaches, when it is first asked for: most groups never ask. In `order`, an op follows what it reaches. */
    const reach = (along: Graph["before"], order: Ops) => {
      const found: Bits[] = [];
      return (of: number) => {
        if (found.length === 0)
          for (const at of order) {
            const next = inside(listOf(along, ops[at] as number));
            found[at] = unionOf(next.map((other) => bit(other) | (found[other] as Bits)));
          }
        return found[of] as Bits;
      };
    };
    const before = reach(graph.before, numbers);
    const loops = loopsAmong(ops);
    const touched = [...new Set(allOf(graph.touches, ops))];
    const isNeeded = (tensor: number) => {
      const consumers = listOf(graph.consumers, tensor);
      return graph.isOutput[tensor] === 1 || consumers.length === 0 || !consumers.every(isInside);
    };
    const reducing = numbers.filter((at) => isReducing(ops[at] as number));
    const isUsed = (at: number) => keeping[ops[at] as number] || listOf(graph.makes, ops[at] as number).some(isRead);
    return {
      ops,
      numbers,
      inner,
      inside,
      loops,
      isMade,
      maker: once((tensor) => setOf(inside([graph.producer[tensor] as number]))),
      readers: once((tensor) => setOf(inside(listOf(graph.consumers, tensor)))),
      over: (at: number) => loops.over(ops[at] as number),
      operands: (at: number) => loops.operands(ops[at] as number),
      before,
      /** Returns the op that makes a tensor, and all before it. */
      behind: (tensor: number) => unionOf(inside([graph.producer[tensor] as number]).map((at) => bit(at) | before(at))),
      after: reach(graph.after, [...numbers].reverse()),
      opAt: (at: number) => ops[at] as number,
      makes: (at: number) => listOf(graph.makes, ops[at] as number),
      reads: (at: number) => listOf(graph.reads, ops[at] as number),
      dots: numbers.filter((at) => isDot(ops[at] as number)),
      used: reducing.filter(isUsed),
      crossing: reducing.filter((at) => !isUsed(at)),
      touched,
      entering: touched.filter((tensor) => !isMade(tensor)),
      leaving: made.filter(isNeeded),
      isNeeded,
    };
  }
  type Group = ReturnType<typeof groupOf>;
  type Members = Pick<Group, "ops" | "numbers" | "inner" | "inside">;

  const has = (set: Bits, at: number) => (set & bit(at)) > 0n;
  const whole = (g: Group, set: Bits) => countOf(g.loops, set);
  const refuse = (
    { ops }: Members,
    code: FormRefusal["code"],
    reason: Reason,
    at: readonly number[],
    more?: Partial<FormRefusal>,
  ) => new Refused(code, reason, numbersOf(ops, at), more);

  /** Returns the bytes of a tile that has the loops `set` complete, and one element along each other loop. */
  function part(g: Group, tensor: number, set: Bits): number {
    let total = widthOf(tensor);
    g.loops.axes.get(tensor)?.forEach((axis, at) => {
      if (axis > 0n && (axis & ~set) === 0n) total *= shapes[tensor]?.[at] as number;
      else if ((axis & set) > 0n) total *= whole(g, axis & set);
    });
    return total;
  }
  const small = (tensor: number) => Math.min(VECTOR, elements[tensor] as number) * widthOf(tensor);
  const sum = <T>(items: Iterable<T>, of: (item: T) => number) => {
    let total = 0;
    for (const item of items) total += of(item);
    return total;
  };

  /** Returns the most bytes of tiles that are on chip at a time. Ops run in the graph's order. */
  function most(g: Members, tiles: readonly (readonly [tensor: number, bytes: number])[]): number {
    const starts = new Float64Array(g.ops.length);
    const ends = new Float64Array(g.ops.length);
    for (const [tensor, bytes] of tiles) {
      const use = g.inside([graph.producer[tensor] as number, ...listOf(graph.consumers, tensor)]);
      const [first, last] = [use[0], use.at(-1)] as [number, number];
      starts[first] = (starts[first] as number) + bytes;
      ends[last] = (ends[last] as number) + bytes;
    }
    let [now, found] = [0, 0];
    for (const at of g.numbers) {
      now += starts[at] as number;
      found = Math.max(found, now);
      now -= ends[at] as number;
    }
    return found;
  }

  // -- no matrix product ----------------------------------------------------------------------------------------------
  function stream(g: Members): Form {
    const need = most(
      g,
      g.inner.map((tensor) => [tensor, small(tensor)]),
    );
    if (need > unit) throw refuse(g, "capacity", "tiles", g.numbers, { need });
    return { ...PLAIN, name: "stream", need };
  }
  function byRows(g: Group): Form {
    const every = [...g.used, ...g.crossing].sort((a, b) => a - b);
    if (g.crossing.length > 0 && new Set(every.map((at) => g.over(at))).size > 1) {
      try {
        const form = rows(g, every, []);
        if (form.name === "rows") return form;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
    return rows(g, g.used, g.crossing);
  }
  function rows(g: Group, used: Ops, sums: Ops): Form {
    const wide = unionOf(used.map((at) => g.over(at)));
    const differ = new Set(used.map((at) => g.over(at))).size > 1;
    let crossing = sums;
    let base = wide;
    if (used.length === 0 && sums.length > 0) {
      // The kernel runs along the axes of one of the sums, which adds up for free: the others leave partial sums.
      const costs = sums.map((at) => {
        const own = g.over(at);
        return [
          own,
          partials(
            g,
            sums.filter((other) => g.over(other) !== own),
            own,
          ),
        ] as const;
      });
      base = costs.reduce((best, one) => (one[1] < best[1] ? one : best))[0];
      crossing = sums.filter((at) => g.over(at) !== base);
    } else crossing = sums.filter((at) => (g.over(at) & ~wide) > 0n);
    const workspace = partials(g, crossing, base);
    const need = most(g, rowTiles(g, used, wide, differ));
    if (differ && share === undefined) throw refuse(g, "axes", "differ", differing(g, used), { need });
    if (need <= unit) return { ...PLAIN, name: wide > 0n ? "rows" : "stream", need, workspace };
    if (differ) throw refuse(g, "axes", "differ", differing(g, used), { need });
    return passes(g, used, wide, workspace);
  }
  /** Returns two reductions that reduce different axes. */
  function differing(g: Group, used: Ops): number[] {
    const one = used[0] as number;
    return [one, used.find((at) => g.over(at) !== g.over(one)) as number];
  }
  function rowTiles(g: Group, used: Ops, wide: Bits, differ: boolean) {
    const lines = differ ? 1 : linesOf(g, wide);
    return g.touched.flatMap((tensor): (readonly [number, number])[] => {
      const touches = used.some((at) => has(g.maker(tensor) | g.readers(tensor), at));
      const own = held(g, tensor, used);
      const stays = differ && (own > 0n || touches) ? wide : own;
      if ((stays & g.loops.of(tensor)) > 0n) return [[tensor, lines * part(g, tensor, stays)]];
      return g.inner.includes(tensor) ? [[tensor, small(tensor)]] : [];
    });
  }
  /** Returns the loops that a tensor has whole: it is needed for a reduction, and again after it. */
  function held(g: Group, tensor: number, used: Ops): Bits {
    let found = 0n;
    const [made, read] = [g.maker(tensor), g.readers(tensor)];
    for (const at of used) {
      const keeps = keeping[g.opAt(at)];
      if (has(made, at)) {
        const source = g.reads(at)[0] as number;
        const stays = g.maker(source) > 0n || (g.readers(source) & g.after(at)) > 0n;
        if (keeps && !stays) found |= g.over(at);
      } else if ((read & (g.before(at) | bit(at))) > 0n) {
        const twice = keeps && made > 0n && has(read, at);
        if (twice || (read & g.after(at)) > 0n) found |= g.over(at);
      }
    }
    return found;
  }
  /** Returns how many rows a block takes so that each line of memory that it reads or writes is used whole. */
  function linesOf(g: Group, wide: Bits): number {
    if (wide === 0n) return 1;
    let found = 1;
    for (const tensor of [...g.entering, ...g.leaving]) {
      const last = g.loops.axes.get(tensor)?.at(-1);
      if (last === undefined || (g.loops.of(tensor) & wide) === 0n || (last & wide) > 0n) continue;
      if ((shapes[tensor]?.at(-1) ?? 1) > 1) found = Math.max(found, Math.ceil(LINE / widthOf(tensor)));
    }
    return Math.min(found, whole(g, unionOf(g.touched.map((tensor) => g.loops.of(tensor))) & ~wide));
  }
  const results = (g: Group, at: number) => sum(g.makes(at), (tensor) => elements[tensor] as number);
  const stats = (g: Group, at: number) => graph.ops[g.opAt(at)]?.stats ?? 1;
  /** Returns the bytes of partial sums: each unit writes its own once, and they are read once. */
  const partials = (g: Group, sums: Ops, wide: Bits) =>
    sum(sums, (at) => 2 * PARTIAL * stats(g, at) * results(g, at) * Math.min(whole(g, g.over(at) & ~wide), units));
  /** Returns the form of a kernel whose rows do not fit: what a reduction needs is read and made again after it. */
  function passes(g: Group, used: Ops, wide: Bits, workspace: number): Form {
    const deep = new Map<number, number>();
    for (const at of [...used].reverse())
      deep.set(at, 1 + Math.max(0, ...[...deep].map(([other, depth]) => (has(g.after(at), other) ? depth : 0))));
    const deepest = (needs: (at: number) => boolean) =>
      Math.max(0, ...used.map((at) => (needs(at) ? (deep.get(at) as number) : 0)));
    const counted = (items: Ops, of: (item: number) => number) =>
      new Map(items.flatMap((item) => (of(item) > 0 ? [[item, 1 + of(item)] as const] : [])));
    const reads = counted(
      g.entering.filter((tensor) => (g.loops.of(tensor) & wide) > 0n),
      (tensor) => deepest((at) => feeds(g, tensor, at)),
    );
    const times = counted(g.ops, (op) => deepest((at) => has(makers(g, at), g.ops.indexOf(op))));
    return { ...PLAIN, name: "two passes", need: VECTOR * sum(g.inner, widthOf), reads, times, workspace };
  }
  /** Returns the ops that make what a reduction reduces. */
  const makers = (g: Group, at: number) => g.behind(g.reads(at)[0] as number);
  /** Whether a reduction needs a tensor for its result. */
  const feeds = (g: Group, tensor: number, at: number) =>
    g.reads(at)[0] === tensor || (g.readers(tensor) & makers(g, at)) > 0n;

  /** Refuses elements that move in an unknown way beside a product, or after a reduction. */
  function checkShuffles(g: Group) {
    const reducing = setOf([...g.used, ...g.crossing]);
    for (const at of g.numbers) {
      const { kind, index } = graph.ops[g.opAt(at)] as Graph["ops"][number];
      if (kind !== "injective" || index || (g.dots.length === 0 && (g.before(at) & reducing) === 0n)) continue;
      const need = sum(new Set([...g.reads(at), ...g.makes(at)]), (tensor) => values.bytes[tensor] as number);
      if (share === undefined || need > unit) throw refuse(g, "kinds", "shuffle", [at], { need });
    }
  }

  // -- matrix products ------------------------------------------------------------------------------------------------
  /** Returns the ops before a product, and the ops that use the result of one or meet it. */
  function cones(g: Group): { readonly up: Bits; readonly down: Bits } {
    const dots = setOf(g.dots);
    const up = unionOf(g.dots.map(g.before)) & ~dots;
    let down = unionOf(g.dots.map(g.after)) & ~dots;
    const rest = g.numbers.filter((at) => !has(dots | up | down, at));
    down |= setOf(rest.filter((at) => (g.after(at) & down) > 0n));
    const loose = rest.find((at) => !has(down, at));
    if (loose !== undefined) throw refuse(g, "kinds", "beside", [loose, g.dots[0] as number]);
    for (const [place, one] of g.dots.entries())
      for (const other of g.dots.slice(place + 1)) {
        const meet = (g.after(one) & g.after(other)) > 0n || has(g.after(one) | g.before(one), other);
        if (!meet && !g.reads(one).some((tensor) => g.reads(other).includes(tensor)))
          throw refuse(g, "kinds", "unrelated", [one, other]);
      }
    return { up, down };
  }
  const resultLoops = (g: Group, dots: Ops) => unionOf(numbersOf(g.ops, dots).map(g.loops.results));
  /** Returns the bytes of a product's tiles. Rows are of the first operand only, columns of the second only. */
  function tileBytes(g: Group, live: number, side: number, at: number): number {
    const [[, one] = [0, 0n], [, other] = [0, 0n]] = g.operands(at);
    const out = resultLoops(g, [at]);
    return live * Math.min(side, whole(g, out & one & ~other)) * Math.min(side, whole(g, out & other & ~one));
  }
  /** Returns the side of a product's tiles: the largest power of two whose tiles take half of the capacity. */
  function sideOf(g: Group, live: number, at: number): number {
    let side = STEP;
    while (live * (2 * side) ** 2 <= unit / 2 && side < 2 ** 30) side *= 2;
    const need = tileBytes(g, live, side, at);
    if (need > unit)
      throw refuse(g, "capacity", "side", g.numbers, { needs: [{ rows: side, tensors: [], bytes: need }] });
    return side;
  }
  /** Returns how often an op before products runs: once for each block along the loops that its operands lack. */
  function repeats(g: Group, at: number, side: number): number {
    const lacking = new Set<Bits>();
    for (const dot of g.dots)
      for (const [tensor, loops] of g.operands(dot))
        if (has(g.behind(tensor), at)) lacking.add(resultLoops(g, [dot]) & ~loops);
    return Math.max(
      1,
      sum(lacking, (loops) => Math.ceil(whole(g, loops) / side)),
    );
  }
  /** Whether a reduction must be complete before it is used, because it cannot be corrected later. */
  const isFinal = (g: Group, at: number) =>
    graph.ops[g.opAt(at)]?.rescale === false || g.makes(at).some(g.isNeeded) || isRounded(g, at);
  /** Whether something after a reduction is rounded to less than 16 bits, which cannot be corrected. */
  const isRounded = (g: Group, at: number) =>
    membersOf(g.after(at))
      .flatMap(g.makes)
      .some((tensor) => widthOf(tensor) < 2 && dtypeOf(graph, values, tensor) !== "bool");
  /** Returns the bytes on chip for one element of the results of products and of what follows them. */
  const liveOf = (g: Group, of: Bits, dots: Ops) =>
    most(
      g,
      g.inner.flatMap((tensor) => ((g.maker(tensor) & of) > 0n ? [[tensor, widthOf(tensor)] as const] : [])),
    ) || Math.max(...dots.flatMap(g.makes).map(widthOf));
  /** Whether a product reads neighbours: an operand after the first has loops that no other tensor of it has. */
  function isWindow(g: Group, at: number): boolean {
    const all = g.operands(at);
    const out = resultLoops(g, [at]);
    return all.some(([tensor, loops]) => {
      const others = unionOf(all.filter(([other]) => other !== tensor).map(([, each]) => each));
      return whole(g, loops & ~(out | others)) > 1;
    });
  }
  /** Returns the bytes of partial results of sums over tiles, such as a loss over a vocabulary. */
  const edges = (g: Group, side: number) =>
    sum(g.crossing, (at) => {
      const blocks = whole(g, g.over(at));
      return blocks > side ? 2 * PARTIAL * stats(g, at) * results(g, at) * Math.ceil(blocks / side) : 0;
    });
  /** Returns the bytes of a row of the operands that must be complete on chip, and the loops of the rows. */
  function keptRows(g: Group, keep: Ops): readonly [bytes: number, rows: Bits] {
    const summed = unionOf(g.dots.map((at) => g.over(at)));
    const made = g.dots
      .flatMap(g.reads)
      .filter((tensor) => g.maker(tensor) > 0n && keep.some((at) => has(g.behind(tensor), at)));
    const raw = keep.flatMap((at) =>
      g.reads(at).filter((tensor) => g.maker(tensor) === 0n && (g.loops.of(tensor) & g.over(at)) > 0n),
    );
    const bytes = [made, raw].map((tensors) => sum(new Set(tensors), (tensor) => part(g, tensor, summed)));
    return [Math.max(...bytes), made.reduce((rows, tensor) => rows & g.loops.of(tensor), resultLoops(g, g.dots))];
  }
  function product(g: Group): Form[] {
    const { up, down } = cones(g);
    const [dot] = g.dots as [number];
    const [first, last] = [g.used.filter((at) => has(up, at)), g.used.filter((at) => has(down, at))];
    for (const at of first)
      for (const other of g.dots)
        if (has(g.after(at), other) && (g.over(at) & ~g.over(other)) > 0n)
          throw refuse(g, "axes", "prologue axis", [at, other]);
    const beside = g.crossing.find((at) => has(up, at));
    if (beside !== undefined) throw refuse(g, "kinds", "beside", [beside, dot]);
    const epilogue = setOf(g.dots) | down;
    const live = liveOf(g, epilogue, g.dots);
    const final = first.filter((at) => isFinal(g, at));
    const forms = last.length > 0 ? [] : [tiles(g, up, live, final)];
    const wide = unionOf(last.map((at) => g.over(at)));
    if ((wide & ~resultLoops(g, g.dots)) > 0n) throw refuse(g, "axes", "other axes", [last[0] as number, dot]);
    if (share === undefined && last.length > 0) throw refuse(g, "axes", "whole rows", [last[0] as number, dot]);
    if (share !== undefined && last.length + first.length > 0 && !g.dots.some((at) => isWindow(g, at))) {
      const keep = final.length > 0 || last.length > 0 ? final : first;
      const [row, all] = keptRows(g, keep);
      const rowsOf = all & ~wide;
      const isLive = (tensor: number) =>
        (g.maker(tensor) & setOf(g.dots)) > 0n || (g.inner.includes(tensor) && (g.maker(tensor) & epilogue) > 0n);
      const held =
        last.length > 0
          ? most(
              g,
              g.touched.filter(isLive).map((tensor) => [tensor, part(g, tensor, wide)]),
            )
          : 0;
      const found = rowBlocks(g, { ...PLAIN, name: "whole rows", workspace: edges(g, STEP) }, rowsOf, row + held, up);
      if (!found && forms.length === 0) {
        const count = Math.min(STEP, whole(g, rowsOf));
        throw refuse(g, "capacity", "rows", [last[0] as number], {
          needs: [{ rows: count, tensors: g.makes(dot).slice(0, 1), bytes: count * (row + held) }],
        });
      }
      if (found) forms.push(found);
    }
    if (forms.length === 0) throw refuse(g, "kinds", "window rows", [dot, last[0] as number]);
    return forms;
  }
  /** Returns the form of products in tiles of their results. */
  function tiles(g: Group, up: Bits, live: number, final: Ops): Form {
    const size = (at: number) => Math.max(...g.makes(at).map((tensor) => elements[tensor] as number));
    const big = g.dots.reduce((best, at) => (size(at) > size(best) ? at : best));
    const side = sideOf(g, live, big);
    const times = new Map<number, number>();
    for (const at of membersOf(up)) {
      const often = repeats(g, at, side);
      if (often > 1) times.set(g.opAt(at), often);
    }
    const form = {
      ...PLAIN,
      name: "tiles",
      need: tileBytes(g, live, side, big),
      block: side,
      times,
      workspace: edges(g, side),
    } as const;
    if (final.length === 0) return form;
    const [row, rowsOf] = keptRows(g, final);
    const need = row * Math.min(STEP, whole(g, rowsOf)) + tileBytes(g, live, Math.min(side, STEP), big);
    if (need <= unit) return { ...form, need, keeps: "rows" };
    const summed = g.over(final[0] as number);
    const again = g.entering.filter(
      (tensor) => (g.loops.of(tensor) & summed) > 0n && final.some((at) => feeds(g, tensor, at)),
    );
    return { ...form, keeps: "again", reads: new Map(again.map((tensor) => [tensor, 2])) };
  }
  /**
   * Returns the fastest form whose blocks keep rows on chip; undefined if not even one block fits. What lacks the rows is
   * read once in each wave of blocks. It is read once in all if there is one wave, or if the memory that all units share
   * holds it. The smallest of equally fast blocks fills most units.
   */
  function rowBlocks(g: Group, form: Form, all: Bits, perRow: number, up: Bits): Form | undefined {
    const walking = setOf(g.dots) | up;
    const lacking = g.entering.filter((tensor) => (all & ~g.loops.of(tensor)) > 0n);
    const batch = lacking
      .filter((tensor) => (g.readers(tensor) & walking) > 0n)
      .reduce((left, tensor) => left & g.loops.of(tensor), all);
    const rowsOf = all & ~batch;
    const [count, entries] = [whole(g, rowsOf), whole(g, batch)];
    const entry = sum(lacking, (tensor) => (values.bytes[tensor] as number) / whole(g, batch & g.loops.of(tensor)));
    const spread = membersOf(up).filter((at) => (rowsOf & ~resultLoops(g, [at])) > 0n);
    const found: Form[] = [];
    for (let block = Math.min(STEP, count); perRow * block <= unit; block = Math.min(2 * block, count)) {
      const [blocks, need] = [Math.ceil(count / block), perRow * block];
      const waves = Math.ceil(blocks / units);
      const again = waves === 1 || entry <= (units > 1 ? shared : shared - need) ? 1 : waves;
      found.push({
        ...form,
        need,
        block,
        blocks: blocks * entries,
        reads: new Map(again > 1 ? lacking.map((tensor) => [tensor, again]) : []),
        times: new Map(blocks > 1 ? spread.map((at) => [g.opAt(at), blocks]) : []),
      });
      if (block === count) break;
    }
    return found.length > 0 ? fastest(g.ops, found, true) : undefined;
  }
  /** Returns the forms of a group with two levels of products. */
  function chain(g: Group): Form[] {
    const { up, down } = cones(g);
    const dots = setOf(g.dots);
    const ones = g.dots.filter((at) => (g.after(at) & dots) > 0n);
    const twos = g.dots.filter((at) => !ones.includes(at));
    const first = setOf(ones);
    const fed = twos.filter((at) => (g.before(at) & first) > 0n);
    const [head, tailDot] = [ones[0], fed[0]] as [number, number];
    if (share === undefined) throw refuse(g, "axes", "chain", [head, tailDot]);
    const mids = fed.map((at) => {
      const made = g.reads(at).filter((tensor) => (g.behind(tensor) & first) > 0n);
      if (made.length !== 1) throw refuse(g, "kinds", "both made", [at]);
      const [mid] = made as [number];
      if (isWindow(g, at)) throw refuse(g, "kinds", "window", [at, membersOf(g.maker(mid))[0] as number]);
      return mid;
    });
    const fedBits = setOf(fed);
    const middle = setOf(
      g.numbers.filter((at) => !has(dots, at) && (g.before(at) & first) > 0n && (g.after(at) & fedBits) > 0n),
    );
    const [tail, pro] = [down & ~middle, up & ~middle];
    const summed = unionOf(fed.map((at) => g.over(at)));
    const rowsOf = g.loops.of(mids[0] as number) & ~summed;
    for (const at of ones) {
      const out = resultLoops(g, [at]);
      if ((out & ~(rowsOf | summed)) > 0n) throw refuse(g, "axes", "unused axes", [at, tailDot]);
      if ((rowsOf & ~out) > 0n) throw refuse(g, "axes", "no rows", [at, tailDot]);
    }
    const deep = unionOf(ones.map((at) => g.over(at)));
    const among = (cone: Bits) => g.used.filter((at) => has(cone, at));
    const [inMiddle, inTail, atFirst] = [among(middle), among(tail), among(pro)];
    for (const at of [...inMiddle, ...atFirst])
      if ((g.over(at) & ~(has(middle, at) ? summed : deep | summed)) > 0n) throw refuse(g, "axes", "block rows", [at]);
    const spread = g.crossing.find((at) => (g.over(at) & rowsOf) > 0n);
    if (spread !== undefined) throw refuse(g, "axes", "across blocks", [spread]);
    const wide = resultLoops(g, twos) & ~rowsOf;
    /** Returns what products read that has all rows of a block; of a single row, no columns. */
    const withRows = (some: Ops, columns: Bits) =>
      [...new Set(some.flatMap(g.reads))].filter((tensor) => {
        const own = g.loops.of(tensor);
        return (rowsOf > 0n ? rowsOf & ~own : columns & own) === 0n;
      });
    // Products that add up different axes and have no common rows need all of their operands.
    const alike = new Set(fed.map((at) => g.over(at))).size === 1;
    const lefts = withRows(ones, alike ? summed : 0n);
    const beside = twos.filter((at) => !fed.includes(at));
    const sides = withRows(beside, alike ? wide : 0n).filter((tensor) => !lefts.includes(tensor));
    const leftRow = sum(lefts, (tensor) => part(g, tensor, deep | summed));
    const outs = twos.flatMap(g.makes);
    const outRow = sum(outs, (tensor) => part(g, tensor, wide));
    const between = g.inner.filter((tensor) => (g.maker(tensor) & (first | middle)) > 0n);
    const walked =
      STEP *
      most(
        g,
        between.map((tensor) => [tensor, widthOf(tensor)]),
      );
    const inputs = inMiddle
      .flatMap(g.reads)
      .filter((tensor) => g.maker(tensor) > 0n && !mids.includes(tensor) && (g.loops.of(tensor) & summed) > 0n);
    const keptRow = sum([...new Set(mids), ...inputs], (tensor) => part(g, tensor, summed));
    const sideRow = sum(sides, (tensor) => part(g, tensor, g.loops.of(tensor) & ~rowsOf));
    const one = leftRow + outRow + walked;
    const two = leftRow + keptRow + sideRow + (inTail.length > 0 ? outRow : STEP * sum(outs, widthOf));
    const forms = [
      inMiddle.some((at) => isFinal(g, at))
        ? undefined
        : rowBlocks(g, { ...PLAIN, name: "chain", keeps: "result" }, rowsOf, one, pro),
      rowBlocks(g, { ...PLAIN, name: "chain", keeps: "middle" }, rowsOf, two, pro),
      inTail.length > 0 || atFirst.some((at) => isFinal(g, at))
        ? undefined
        : computedAgain(g, { ones, twos, first, middle, tail, pro, rowsOf, wide, keptRow }),
    ].filter((form) => form !== undefined);
    if (forms.length > 0) return forms;
    const block = Math.min(STEP, whole(g, rowsOf));
    throw refuse(g, "capacity", "rows", [head, tailDot], {
      needs: [
        { rows: block, tensors: [...new Set([...outs, ...lefts])], bytes: block * one },
        { rows: block, tensors: [...new Set(mids)], bytes: block * two },
      ],
    });
  }
  interface Chain {
    readonly ones: Ops;
    readonly twos: Ops;
    readonly first: Bits;
    readonly middle: Bits;
    readonly tail: Bits;
    readonly pro: Bits;
    readonly rowsOf: Bits;
    readonly wide: Bits;
    readonly keptRow: number;
  }
  /** Returns the chain that computes the rows between the products again for each block of the result. */
  function computedAgain(
    g: Group,
    { ones, twos, first, middle, tail, pro, rowsOf, wide, keptRow }: Chain,
  ): Form | undefined {
    const lacking = ones
      .flatMap(g.reads)
      .filter((tensor) => (rowsOf & ~g.loops.of(tensor)) > 0n && g.maker(tensor) === 0n);
    if (sum(new Set(lacking), (tensor) => values.bytes[tensor] as number) > shared) return undefined;
    const live = liveOf(g, setOf(twos) | tail, twos);
    const count = whole(g, rowsOf);
    const last = twos[0] as number;
    let side: number;
    try {
      side = sideOf(g, live, last);
    } catch (error) {
      if (error instanceof Refused) return undefined;
      throw error;
    }
    if (count < STEP) side = Math.min(side, Math.max(count, 1));
    const needOf = (rows: number) => keptRow * Math.min(rows, count) + tileBytes(g, live, rows, last);
    while (side > STEP && needOf(side) > unit) side /= 2;
    const need = needOf(side);
    if (need > unit) return undefined;
    const again = Math.ceil(whole(g, wide) / side);
    const repeated = membersOf(first | middle | setOf(membersOf(pro).filter((at) => (g.after(at) & first) > 0n)));
    return {
      ...PLAIN,
      name: "chain",
      keeps: "nothing",
      need,
      block: side,
      times: new Map(again > 1 ? repeated.map((at) => [g.opAt(at), again]) : []),
    };
  }

  // -- prices ---------------------------------------------------------------------------------------------------------
  function loadIn(ops: Ops, { reads, times, workspace }: Pick<Form, "reads" | "times" | "workspace">): Load {
    let bytes = groupBytes(graph, values, ops) + workspace;
    for (const [tensor, often] of reads) bytes += (often - 1) * (values.bytes[tensor] as number);
    const flops = groupFlops(values, ops);
    for (const [op, often] of times)
      values.flops.forEach((column, at) => {
        flops[at] = (flops[at] as number) + (often - 1) * (column[op] as number);
      });
    return { bytes, flops, times };
  }
  function fastest(ops: Ops, forms: readonly Form[], byNeed = false): Form {
    const priced = forms.map((form) => {
      const { bytes, flops } = loadIn(ops, form);
      return { form, bytes, seconds: cost(flops, bytes, ops, form.times) };
    });
    const isBefore = (one: (typeof priced)[number], other: (typeof priced)[number]) => {
      if (Math.abs(one.seconds - other.seconds) > SAME_SECONDS / 2) return one.seconds < other.seconds;
      return one.bytes === other.bytes ? byNeed && one.form.need < other.form.need : one.bytes < other.bytes;
    };
    return priced.reduce((best, one) => (isBefore(one, best) ? one : best)).form;
  }
  function found(ops: Ops): Form | FormRefusal {
    const isAlone = ops.length === 1;
    const hasDot = ops.some(isDot);
    if (isAlone && (hasDot || graph.ops[ops[0] as number]?.kind === "opaque")) return PLAIN;
    if (isAlone && !isReducing(ops[0] as number)) return { ...PLAIN, name: "stream" };
    try {
      const members = membersIn(ops);
      if (!hasDot && !ops.some(isReducing)) return stream(members);
      const g = groupOf(members);
      checkShuffles(g);
      if (g.loops.joined !== undefined && hasDot)
        return { code: "axes", reason: "joined", ops: [], tensor: g.loops.joined };
      if (!hasDot) return byRows(g);
      const dots = setOf(g.dots);
      const forms = g.dots.some((at) => (g.before(at) & dots) > 0n) ? chain(g) : product(g);
      return forms.length === 1 ? (forms[0] as Form) : fastest(ops, forms);
    } catch (error) {
      if (error instanceof Refused) return error.why;
      throw error;
    }
  }
  function formOf(ops: Ops): Form | FormRefusal {
    const key = ops.join();
    const form = known.get(key) ?? found(ops);
    known.set(key, form);
    return form;
  }
  const isGather = (op: number) => graph.ops[op]?.kind === "injective" && walks[op]?.hasAnyOrder === true;
  return {
    formOf,
    loadOf(ops) {
      const form = formOf(ops);
      return loadIn(ops, isForm(form) ? form : PLAIN);
    },
    refusalOf(ops) {
      const form = formOf(ops);
      return isForm(form) ? null : form;
    },
    isGather,
    cost,
    isOfCompilers(ops) {
      const form = formOf(ops);
      const products = ops.filter(isDot).length;
      const isBeside = (op: number) => isReducing(op) || graph.ops[op]?.kind === "scan" || isGather(op);
      if (ops.length === 1) return true;
      return isForm(form) && form.workspace === 0 && (products === 0 || (products === 1 && !ops.some(isBeside)));
    },
  };
}

export const timeOf =
  ({ loadOf }: Pick<Forms, "loadOf">, cost: Cost) =>
  (group: Ops): number => {
    const { flops, bytes, times } = loadOf(group);
    return cost(flops, bytes, group, times);
  };

/** The totals of a partition. */
export interface Tally {
  readonly kernels: number;
  /** FLOPs done: those that kernels compute again count each time. */
  readonly flops: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** Sums over the groups of a partition. Without a cost function, the seconds are NaN. */
export function tally(
  { loadOf }: Pick<Forms, "loadOf">,
  { groups }: { readonly groups: readonly Ops[] },
  cost?: Cost,
): Tally {
  const sum = { kernels: groups.length, flops: 0, bytes: 0, seconds: 0 };
  // Adds up the rounding errors of the sum. They are added to the sum at the end, because Python's sum is exact to the
  // last digit.
  let lost = 0;
  for (const group of groups) {
    const { flops, bytes, times } = loadOf(group);
    sum.flops += flops.reduce((a, b) => a + b, 0);
    sum.bytes += bytes;
    const one = cost ? cost(flops, bytes, group, times) : Number.NaN;
    const next = sum.seconds + one;
    lost += sum.seconds >= one ? sum.seconds - next + one : one - next + sum.seconds;
    sum.seconds = next;
  }
  return { ...sum, seconds: sum.seconds + lost };
}
