// Holding a range input: from pressing its thumb to letting go, with Escape to take it back.

export interface Grip {
  /** The value when it was taken; undefined while nobody holds it. */
  before: number | undefined;
}

export interface GripActions {
  hold(): void;
  release(): void;
  set(value: number): void;
}

export function take(grip: Grip, value: number, actions: GripActions): void {
  if (grip.before !== undefined) return;
  grip.before = value;
  actions.hold();
}

export function letGo(grip: Grip, actions: GripActions): void {
  if (grip.before === undefined) return;
  grip.before = undefined;
  actions.release();
}

/** Back to the value when it was taken. */
export function takeBack(grip: Grip, input: HTMLInputElement, actions: GripActions): void {
  if (grip.before === undefined) return;
  actions.set(grip.before);
  letGo(grip, actions);
  // Without this the thumb would go on following the pointer that still presses it.
  input.disabled = true;
  input.disabled = false;
  input.focus();
}
