// The functions that the build calls for JSX.

export { Fragment as JsxFragment, h as jsxElement } from "preact";
