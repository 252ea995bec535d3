// The groups that may run next once some ops are finished: all of them, each once.

import { ascending, type Bodies, type Body } from "./bodies.ts";
import type { Graph, Values } from "./graph.ts";
import { neighbours } from "./legality.ts";

type Ops = readonly number[];

/** What a kernel moves and computes. */
export interface Load {
  readonly flops: Float64Array;
  readonly bytes: number;
}

/** One more group, which `group` holds at that moment, and what can run next after it. */
export interface Step {
  readonly ready: Ops;
  readonly load: Load;
}

/** A group on the way to larger ones. */
interface Frame extends Step {
  /** Ops that may make it larger, and how many of them were tried. */
  readonly others: Ops;
  tried: number;
  /** What made it of the group before, and those of `others` that were not tried there. */
  readonly added: Ops;
  readonly fresh: Ops;
}

/** A group that ops enter and leave, each after those it reads from; what it moves follows op by op. */
export function growing(graph: Graph, { bytes, extra, flops }: Values, { singles, clashes }: Bodies) {
  const n = graph.ops.length;
  const done = new Uint8Array(n);
  const inside = new Uint8Array(n);
  /** Ops that make the group no larger: what they lead to was found before. And those that will be tried. */
  const past = new Uint8Array(n);
  const queued = new Uint8Array(n);
  const uses = new Int32Array(graph.tensors.length);
  const group: number[] = [];
  const alone = { groups: graph.ops.map((_, op) => [op]), groupOf: Int32Array.from(graph.ops.keys()) };
  const known: Ops[] = [];
  const near = (op: number) => {
    known[op] ??= neighbours(graph, alone, op);
    return known[op] as Ops;
  };
  const clashing = (a: number, b: number) => clashes(singles[a] as Body, singles[b] as Body);
  const isReady = (op: number) => (graph.before[op] as Ops).every((other) => done[other]);

  /** The bytes that an op adds to the group: what it reads from inside may no longer have to be written. */
  function join(op: number): number {
    done[op] = 1;
    inside[op] = 1;
    group.push(op);
    let moved = extra[op] as number;
    for (const tensor of graph.reads[op] as Ops) {
      const count = (uses[tensor] as number) + 1;
      uses[tensor] = count;
      const size = bytes[tensor] as number;
      if (!inside[graph.producer[tensor] as number]) moved += count === 1 ? size : 0;
      else if (count === graph.consumers[tensor]?.length && !graph.isOutput[tensor]) moved -= size;
    }
    for (const tensor of graph.makes[op] as Ops) moved += bytes[tensor] as number;
    return moved;
  }
  function leave(ops: Ops) {
    for (const op of ops) {
      done[op] = 0;
      inside[op] = 0;
      for (const tensor of graph.reads[op] as Ops) uses[tensor] = (uses[tensor] as number) - 1;
    }
    group.length -= ops.length;
  }
  /** An op and all that it waits for, in order; null if one of them is past, or clashes with another or the group. */
  function closure(op: number): Ops | null {
    const found: number[] = [];
    const left = [op];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (found.includes(at)) continue;
      const one = at;
      const isApart = (other: number) => clashing(one, other);
      if (past[one] || group.some(isApart) || found.some(isApart)) return null;
      found.push(one);
      for (const other of graph.before[one] as Ops) if (!done[other]) left.push(other);
    }
    return found.sort(ascending);
  }
  /** What can run next, and the load, once these ops are in the group. */
  function enter(ops: Ops, { ready, load }: Step): Step {
    const next = new Set(ready);
    const work = load.flops.slice();
    let moved = load.bytes;
    for (const op of ops) {
      moved += join(op);
      next.delete(op);
      for (const later of graph.after[op] as Ops) if (isReady(later)) next.add(later);
      for (let at = 0; at < work.length; at++) work[at] = (work[at] as number) + (flops[at]?.[op] as number);
    }
    return { ready: [...next].sort(ascending), load: { flops: work, bytes: moved } };
  }
  return {
    /** The group of the last step, in the order in which its ops came. */
    group: group as Ops,
    /** Goes through all groups that may run next; null is a try that led to none. */
    *steps(ready: Ops): Generator<Step | null, void> {
      const start = { ready, load: { flops: new Float64Array(flops.length), bytes: 0 } };
      const frames: Frame[] = [{ ...start, others: ready, tried: 0, added: [], fresh: [] }];
      for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
        const op = frame.others[frame.tried++];
        if (op === undefined) {
          for (const other of frame.others) past[other] = 0;
          for (const other of frame.fresh) queued[other] = 0;
          leave(frame.added);
          frames.pop();
          continue;
        }
        if (done[op]) continue;
        const added = closure(op);
        // A larger group clashes with all that this one clashes with.
        past[op] = 1;
        if (!added) {
          yield null;
          continue;
        }
        const step = enter(added, frame);
        const fresh: number[] = [];
        for (const other of added.flatMap(near)) {
          if (done[other] || past[other] || queued[other]) continue;
          queued[other] = 1;
          fresh.push(other);
        }
        // The first op of a group brings its neighbours; the others that are ready are no neighbours for that.
        const rest = frames.length > 1 ? frame.others.slice(frame.tried) : [];
        frames.push({ ...step, others: [...rest, ...fresh], tried: 0, added, fresh });
        yield step;
      }
    },
    /** Starts anew with the ops of these groups finished. */
    reset(groups: Iterable<Ops>) {
      done.fill(0);
      for (const ops of groups) for (const op of ops) done[op] = 1;
    },
  };
}
