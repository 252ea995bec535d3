// What one language's catalogue must have for another's to take its place.

/** Of the same keys and parameters, in other words. */
export type Like<T> = T extends (...parts: infer Parts) => string
  ? (...parts: Parts) => string
  : T extends string
    ? string
    : T extends RegExp
      ? RegExp
      : { readonly [Key in keyof T]: Like<T[Key]> };
