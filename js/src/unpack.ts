// The first script of an exported page. The code and the style of the widgets are in the page as compressed text. This
// script adds them as elements. The page's policy allows these two elements by their hashes, and no other.

import { inflatedText } from "./wire/packed.ts";

for (const place of document.querySelectorAll<HTMLScriptElement>("script[data-unpack]")) {
  void inflatedText(place.textContent ?? "").then((text) => {
    const element = document.createElement(place.dataset["unpack"] as string);
    element.textContent = text;
    place.replaceWith(element);
  });
}
