// The type of a translated catalogue.

/** The type of a translated catalogue: the same keys and parameters, with other texts. */
export type Like<T> = T extends (...parts: infer Parts) => string
  ? (...parts: Parts) => string
  : T extends string
    ? string
    : T extends RegExp
      ? RegExp
      : { readonly [Key in keyof T]: Like<T[Key]> };
