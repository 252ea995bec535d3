// The model that anywidget hands over, and what it tells of its kernel.

/** The part of anywidget's model that the store uses. */
export interface Model {
  get(name: string): unknown;
  /** Sends a custom message. `callbacks` receive what Python prints while it handles the message. */
  send(content: unknown, callbacks?: unknown): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
  /** What else the host offers. JupyterLab shows in its log what Python prints. */
  readonly widget_manager?: HostManager | undefined;
}

/** The parts of an ipywidgets model and of its manager that the page uses. Some hosts do not have them. */
interface HostModel {
  readonly model_id?: unknown;
  readonly comm_live?: unknown;
}
interface HostManager {
  callbacks?(): unknown;
  /** Asks the present kernel for the comms that it knows, by id. */
  _get_comm_info?(): Promise<Readonly<Record<string, unknown>>>;
}

// anywidget does not hand over the model itself. The layout is a model of the same kernel, and it is handed over.
const layoutOf = (model: Model) => model.get("layout") as HostModel | null | undefined;

/** Returns whether the host has a connection to the kernel of the model. */
export const isLive = (model: Model) => layoutOf(model)?.comm_live === true;

/**
 * Returns whether the present kernel knows the model. A busy kernel answers later. Returns undefined if the host cannot
 * say, for example because there is no kernel.
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
