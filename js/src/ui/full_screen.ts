// Full screen for one view of the widget.

/** Enters or leaves full screen; Escape leaves it too. Does nothing where the host forbids it or a phone lacks it. */
export function toggleFullscreen(within: Element): void {
  const root = within.closest(".roofwidget") ?? within;
  const change = isFullscreen(root) ? root.ownerDocument.exitFullscreen() : root.requestFullscreen?.();
  change?.catch(() => undefined);
}

// `document.fullscreenElement` does not work here: in a shadow root it is the host of that root.
export const isFullscreen = (root: Element) => root.matches(":fullscreen");
