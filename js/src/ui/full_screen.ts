// Full screen for one view of the widget.

/**
 * Enters or leaves full screen. Escape leaves full screen too. Does nothing if the host forbids full screen, or if the
 * device has no full screen, such as some phones.
 */
export function toggleFullscreen(within: Element): void {
  const root = within.closest(".roofwidget") ?? within;
  const change = isFullscreen(root) ? root.ownerDocument.exitFullscreen() : root.requestFullscreen?.();
  change?.catch(() => undefined);
}

// For an element in a shadow root, `document.fullscreenElement` is the host of the shadow root, not the element.
// Therefore `document.fullscreenElement` is not used here.
export const isFullscreen = (root: Element) => root.matches(":fullscreen");
