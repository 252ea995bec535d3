// Every word a person reads, in the language that the bundle is built for: build.mjs puts another catalogue in the
// place of the English one. Words are added in words/en and, which tsc holds to the same shape, in words/de.

export * from "./en/index.ts";
