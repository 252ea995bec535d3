// Requests to Python, which it answers to this page alone. roofwidget/state/requests.py describes them.

import type { Model } from "./model.ts";

/** What Python replies. If the request failed, `refused` is the reason. */
export interface Reply {
  readonly catalogue?: string;
  readonly received?: number;
  readonly shown?: number;
  readonly saved?: string | null;
  readonly best?: { readonly groups: readonly (readonly number[])[]; readonly how: "optimal" | "greedy" } | null;
  readonly effect?: RuleEffect;
  readonly rules?: Readonly<Record<string, string>>;
  readonly refused?: string;
}

/** What a rule of work says of the kernels of a name. Null is unknown. */
export interface RuleEffect {
  /** FLOPs and bytes of all calls, and seconds. */
  readonly flops: number | null;
  readonly bytes: number | null;
  readonly calls: number;
  readonly time: number;
  /** The shares of kernel time with a known roof, before and after. */
  readonly known: readonly [number, number];
  /** Whether the amounts are lower bounds. */
  readonly at_least: boolean;
  /** How the work is counted. */
  readonly read: string;
  /** The keys whose numbers a person has typed. */
  readonly typed: readonly string[];
  /** The shares of the peak and of the roof. */
  readonly peak: number | null;
  readonly roof: number | null;
  readonly chip: string | null;
  readonly precision: string | null;
}

/** What a rule says of the kernels of a name; the rules of a file; rules to be saved beside the profile. */
export type RuleRequest =
  | { readonly ask: "rule"; readonly name: string; readonly text: string }
  | { readonly ask: "rules" | "save rules"; readonly text: string };

type Request =
  | { readonly ask: "catalogue" | "cancel" | "swap" | "stop" | "example" | "best" }
  | {
      readonly ask: "part";
      readonly name: string;
      readonly size: number;
      readonly offset: number;
      readonly beside: boolean;
    }
  | RuleRequest
  | { readonly ask: "show"; readonly compare: boolean; readonly path?: string }
  | { readonly ask: "save"; readonly name: string; readonly style?: string; readonly caption?: boolean };

/** A request without a reply is repeated after this time, ms. Each time, the time doubles, up to the maximum. */
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [4000, 60_000];
const CLOSED = "the widget was closed";

export type Requests = ReturnType<typeof createRequests>;

export function createRequests(model: Model, abort: AbortSignal) {
  const page = Math.random().toString(36).slice(2);
  const kind = "roofwidget-request";
  let number = 0;
  let last: Promise<unknown> = Promise.resolve();
  /** The reply to all requests from now on, because Python cannot reply any more. */
  let refusal: Reply | undefined;
  /** Ends the present request with `refusal`; undefined if there is no request. */
  let refuse: (() => void) | undefined;

  function once(request: Request, data?: ArrayBuffer): Promise<Reply> {
    if (abort.aborted) return Promise.reject(new Error(CLOSED));
    if (refusal) return Promise.resolve(refusal);
    number += 1;
    const content = { kind, page, number, ...request };
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout>;
      function deliver(wait: number) {
        timer = setTimeout(() => deliver(Math.min(2 * wait, MAX_RETRY_MS)), wait);
        try {
          model.send(content, model.widget_manager?.callbacks?.(), data && [data]);
        } catch {
          // The host has no connection to Python. The request is sent again later.
        }
      }
      function stop() {
        refuse = undefined;
        clearTimeout(timer);
        model.off("msg:custom", read);
        abort.removeEventListener("abort", close);
      }
      function close() {
        stop();
        reject(new Error(CLOSED));
      }
      function read(reply?: unknown) {
        const { kind: word, page: to, number: of } = (reply ?? {}) as Record<string, unknown>;
        if (word !== "roofwidget-reply" || to !== page || of !== content.number) return;
        stop();
        resolve(reply as Reply);
      }
      refuse = () => {
        stop();
        resolve(refusal as Reply);
      };
      model.on("msg:custom", read);
      abort.addEventListener("abort", close);
      deliver(FIRST_RETRY_MS);
    });
  }

  return {
    /** Sends a request after those before it were answered. Rejects if the widget is closed first. */
    ask(request: Request, data?: ArrayBuffer): Promise<Reply> {
      const reply = last.then(() => once(request, data));
      last = reply.catch(() => {});
      return reply;
    },
    /** Refuses the present request and all later ones, because the kernel of this model is gone. */
    refuseAll(reason: string) {
      refusal = { refused: reason };
      refuse?.();
    },
  };
}
