import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { formsOn, isForm } from "../../src/fusion/forms.ts";
import { environment, evaluate, decoding } from "../../src/fusion/graph.ts";
import { precisionOf } from "../../src/fusion/partition.ts";
import { finish } from "../../src/ui/slices.ts";
const cases = JSON.parse(readFileSync("/tmp/w/forms_golden.json", "utf8"));
it("agrees", () => {
  let n = 0; const bad: string[] = [];
  const t0 = performance.now();
  for (const one of cases) {
    const gen = decoding(one.graph); let r = gen.next(); while (!r.done) r = gen.next();
    const graph: any = r.value;
    const values = evaluate(graph, environment(graph));
    const seconds = (flops: Float64Array, bytes: number, group: readonly number[]) => {
      const p = precisionOf(graph, values, group);
      let c = 0;
      flops.forEach((f, at) => { if (f) { const w = graph.classes[at]; c += f / (w === "tensor" ? one.peaks[p as string] : one.peaks[`${p}_vector`] ?? one.peaks[p as string]); } });
      return Math.max(c, bytes / one.bandwidth);
    };
    const forms = formsOn(graph, values, one.share, seconds);
    for (const [ops, name, keeps, need, bytes, flops, secs, block, blocks, work] of one.rows) {
      n++;
      const found = forms.formOf(ops);
      if (!isForm(found)) { if (name !== null || found.code !== keeps) bad.push(`${one.name} ${ops} ${JSON.stringify(found)} | ${name} ${keeps} ${need}`); continue; }
      const price = forms.price(ops);
      const f = price.flops.reduce((a, b) => a + b, 0);
      if (found.name !== name || found.keeps !== keeps || found.need !== need || price.bytes !== bytes || f !== flops || found.block !== block || found.blocks !== blocks || found.workspace !== work)
        bad.push(`${one.name} ${ops} ${found.name} ${found.keeps} ${found.need} ${price.bytes} ${f} ${found.block} ${found.blocks} ${found.workspace} | ${name} ${keeps} ${need} ${bytes} ${flops} ${block} ${blocks} ${work}`);
    }
  }
  console.log(n, performance.now() - t0, bad.length, bad.slice(0, 12).join("\n"));
  expect(bad.length).toBe(0);
});
