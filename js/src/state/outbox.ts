// What Python is told and when: of a stream of changes at once, then at most once a period, and always the last one.

interface Asked {
  readonly stream?: boolean;
  /** In a task of its own: a long message would keep the next frame waiting. */
  readonly later?: boolean;
}

/** What the store needs of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** Python hears of a stream of changes this often, ms: with the first and the last at most ten times in any second. */
const PERIOD = 125;

export function createOutbox(model: Model) {
  const pending = new Map<string, unknown>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function send(): boolean {
    if (pending.size === 0) return false;
    for (const [name, value] of pending) model.set(name, value);
    pending.clear();
    model.save_changes();
    return true;
  }
  function tick() {
    timer = send() ? setTimeout(tick, PERIOD) : undefined;
  }
  function tellAll(changes: Readonly<Record<string, unknown>>, { stream = false, later = false }: Asked = {}) {
    for (const [name, value] of Object.entries(changes)) pending.set(name, value);
    if (later) timer ??= setTimeout(tick);
    else if (!stream) send();
    else if (timer === undefined) tick();
  }
  return {
    /** Tell it with the next message. */
    put: (name: string, value: unknown) => void pending.set(name, value),
    /** Do not tell it after all. */
    drop: (...names: readonly string[]) => {
      for (const name of names) pending.delete(name);
    },
    send,
    tell: (name: string, value: unknown, how?: Asked) => tellAll({ [name]: value }, how),
    tellAll,
    close: () => {
      clearTimeout(timer);
      send();
    },
  };
}
