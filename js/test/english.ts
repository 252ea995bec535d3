// Tests run in English: this declares what the script of the words declares in a page.

import { catalogue } from "../src/words/en/index.ts";

Object.assign(globalThis, { roofwidgetWords: catalogue });
