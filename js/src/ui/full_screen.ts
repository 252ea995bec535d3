// The whole screen for one view of the widget.

/** Enters it, or leaves it again; Escape leaves it too. A host may forbid it, and a telephone lack it: then nothing happens. */
export function toggleFullscreen(within: Element): void {
  const root = within.closest(".roofwidget") ?? within;
  const change = isFullscreen(root) ? root.ownerDocument.exitFullscreen() : root.requestFullscreen?.();
  change?.catch(() => undefined);
}

// Within a shadow root the document names the host of that root alone.
export const isFullscreen = (root: Element) => root.matches(":fullscreen");
