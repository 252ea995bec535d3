// Puts the style of the widgets into the document, or into the shadow root of a view.

/**
 * Adds the style before the view is drawn. If the view is not in the page yet, the view's shadow root is unknown. In
 * this case, this function adds the style again in the next frame.
 */
export function addStyle(el: HTMLElement, style: string) {
  insertStyle(el, style);
  if (!el.isConnected) el.ownerDocument.defaultView?.requestAnimationFrame(() => insertStyle(el, style));
}

/**
 * Adds a style element to the view's shadow root. If the view has no shadow root, adds the element to the document. If
 * the same style is already there, adds nothing.
 */
function insertStyle(el: HTMLElement, style: string) {
  const root = el.getRootNode();
  const place = "host" in root ? (root as ShadowRoot) : el.ownerDocument.head;
  const known = place.querySelectorAll("style[data-roofwidget]");
  if (Array.from(known).some(({ textContent }) => textContent === style)) return;
  const element = el.ownerDocument.createElement("style");
  element.dataset["roofwidget"] = "";
  element.textContent = style;
  place.append(element);
}
