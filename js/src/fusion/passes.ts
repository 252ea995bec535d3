// What each kernel of a partition reads and writes: the passes of its tensors, in the order of its ops.

import { type Forms, isForm } from "./forms.ts";
import type { Graph, GraphValues, Ops } from "./graph.ts";
import { total, traffic } from "./partition.ts";

/** One tensor that a kernel reads or writes once. */
export interface Pass {
  /** Which pass of the kernel it is: the direction, the tensor, and how often it came before. */
  readonly key: string;
  readonly isWrite: boolean;
  /** The tensor. Undefined for bytes beside tensors: those that ops read again, and partial results. */
  readonly tensor: number | undefined;
  readonly bytes: number;
}

interface Counted {
  readonly graph: Graph;
  readonly values: GraphValues;
  readonly forms: Forms;
}

/** Returns the passes of a group that runs as one kernel. */
export function passesOf({ graph, values, forms }: Counted, group: Ops): Pass[] {
  const [reads, writes] = traffic(graph, group);
  const form = forms.formOf(group);
  const each = (isWrite: boolean, tensor: number, times: number): Pass[] =>
    Array.from({ length: times }, (_, at) => ({
      key: `${isWrite ? "w" : "r"}${tensor} ${at}`,
      ...{ isWrite, tensor, bytes: values.bytes[tensor] as number },
    }));
  const more = total(values.extra, group) + (isForm(form) ? form.workspace : 0);
  return [
    ...reads.flatMap((tensor) => each(false, tensor, (isForm(form) && form.reads.get(tensor)) || 1)),
    ...writes.flatMap((tensor) => each(true, tensor, 1)),
    ...(more > 0 ? [{ key: "more", isWrite: false, tensor: undefined, bytes: more }] : []),
  ];
}

/** A pass of a merged kernel, or one that its parts had and that it saves. */
export interface Kept extends Pass {
  readonly isSaved: boolean;
}

/** Returns the passes of the parts of a kernel in their order, of which the kernel saves some. */
export function savedPasses(parts: readonly (readonly Pass[])[], now: readonly Pass[]): Kept[] {
  const left = new Map<string, number>();
  const bare = ({ key }: Pass) => key.split(" ")[0] as string;
  for (const pass of now) left.set(bare(pass), (left.get(bare(pass)) ?? 0) + 1);
  return parts.flat().map((pass, at) => {
    const count = left.get(bare(pass)) ?? 0;
    left.set(bare(pass), count - 1);
    return { ...pass, key: `${bare(pass)} ${at}`, isSaved: count <= 0 };
  });
}
