// Where a pointer is on an element that its host may have scaled, as slides do.

/** From the corner of an element, which is `width` wide by its own count, in px by that count. */
export function placeIn(
  element: Element,
  width: number,
  { clientX, clientY }: { readonly clientX: number; readonly clientY: number },
): [x: number, y: number] {
  const box = element.getBoundingClientRect();
  const scale = width / box.width;
  return [(clientX - box.left) * scale, (clientY - box.top) * scale];
}
