// Tests run in English: this declares what the script of the words declares in a page.

import { catalogue } from "../src/words/en.ts";

Object.assign(globalThis, { roofwidgetWords: catalogue });
