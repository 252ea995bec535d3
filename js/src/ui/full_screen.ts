// Full screen for one view of the widget.

/**
 * Enters or leaves full screen. Escape leaves full screen too. Does nothing if the host forbids full screen, or on a
 * phone without full screen.
 */
export function toggleFullscreen(within: Element): void {
  const root = within.closest(".roofwidget") ?? within;
  const change = isFullscreen(root) ? root.ownerDocument.exitFullscreen() : root.requestFullscreen?.();
  change?.catch(() => undefined);
}

// `document.fullscreenElement` does not work here: for an element in a shadow root, it is the host of that root.
export const isFullscreen = (root: Element) => root.matches(":fullscreen");
