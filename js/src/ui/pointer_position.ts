// The position of a pointer on an element. The host may have scaled the element, as presentation tools do.

/**
 * Returns the position relative to the top left corner of an element, in px of the unscaled element. The unscaled
 * element is `width` px wide.
 */
export function placeIn(
  element: Element,
  width: number,
  { clientX, clientY }: { readonly clientX: number; readonly clientY: number },
): [x: number, y: number] {
  const box = element.getBoundingClientRect();
  const scale = width / box.width;
  return [(clientX - box.left) * scale, (clientY - box.top) * scale];
}
