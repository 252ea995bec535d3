// The model that anywidget gives to the page, and what this model says about its kernel.

/** The part of anywidget's model that the store uses. */
export interface Model {
  get(name: string): unknown;
  /** Sends a custom message. `callbacks` get the text that Python prints while it handles the message. */
  send(content: unknown, callbacks?: unknown, buffers?: readonly ArrayBuffer[]): void;
  /** Sets a value, which `save_changes` sends to Python. Models that are not a host's lack both. */
  set?(name: string, value: unknown, options?: { readonly unset: true; readonly silent: true }): void;
  save_changes?(): void;
  /** The callback of a custom message, "msg:custom", gets its content. */
  on(event: string, callback: (content?: unknown) => void): void;
  off(event: string, callback: (content?: unknown) => void): void;
  /** The host's manager of widgets. With the manager's callbacks, JupyterLab shows in its log what Python prints. */
  readonly widget_manager?: HostManager | undefined;
}

/** The parts of an ipywidgets model and of its manager that the page uses. In some hosts, these parts are missing. */
export interface HostModel {
  readonly model_id?: unknown;
  readonly comm_live?: unknown;
  readonly comm?: Comm | undefined;
  on?(event: "destroy", callback: (closed: HostModel) => void): void;
}
/** The connection of one model to the kernel. */
interface Comm {
  /** Replaces the callback of messages. */
  on_msg?(callback: () => void): void;
  /** Replaces the callback of the end. */
  on_close?(callback: () => void): void;
}
interface HostManager {
  callbacks?(): unknown;
  /** The host's connection to the kernel. Null if the kernel has ended and there is no other kernel. */
  readonly kernel?: unknown;
  /** Returns the comms that the present kernel knows, by comm id. */
  _get_comm_info?(): Promise<Readonly<Record<string, unknown>>>;
}

// anywidget does not give the page the ipywidgets model itself. The page can get the layout, which is another
// ipywidgets model of the same kernel.
export const layoutOf = (model: Model) => model.get("layout") as HostModel | null | undefined;

/** Returns whether the host has a connection to the kernel of the model. */
export const isLive = (model: Model) => layoutOf(model)?.comm_live === true;

/** Returns whether the host says that it has no kernel. */
export const hasNoKernel = (model: Model) => model.widget_manager?.kernel === null;

/**
 * Returns whether the present kernel knows the model. If the kernel is busy, the answer comes later. If the host cannot
 * say, for example because there is no kernel, returns undefined.
 */
export async function isKnown(model: Model): Promise<boolean | undefined> {
  const id = layoutOf(model)?.model_id;
  const manager = model.widget_manager;
  if (typeof id !== "string" || !manager?._get_comm_info) return undefined;
  try {
    return id in (await manager._get_comm_info());
  } catch {
    return undefined;
  }
}
