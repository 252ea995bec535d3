// The entry of an exported page: it starts each widget of the page, without Python.

import { showSaved, unpackedModel } from "./saved_view.ts";
import { hasGraph, LinkError, linkOf, readLink, titleOf, traitsOf } from "./state/graph_link.ts";
import { type Answers, answersStorage } from "./state/kept_answers.ts";
import type { Model } from "./state/model.ts";
import { keepProgress, progressOf, showProgress, stepAddress, type Told } from "./state/progress.ts";
import type { ShareGraph } from "./state/saving.ts";
import type { StepLink } from "./state/step_link.ts";
import type { Store } from "./state/store.ts";
import type { Workload } from "./state/workload.ts";
import { copyText } from "./ui/copy.ts";
import { decodeChips } from "./wire/decode.ts";
import { inflatedText } from "./wire/packed.ts";
import type { Chip, Story, WireGraph } from "./wire/types.ts";
import { storyWords, unknownWords, graphLinkWords as words } from "./words/words.ts";

/** The catalogue of chips, which all widgets of the page share. */
const CATALOGUE = document.querySelector("[data-catalogue]")?.textContent;

/** The element that says how many questions of the page are answered. Pages of a course have one. */
const PROGRESS = document.querySelector<HTMLElement>("[data-progress]");
const TITLE = document.title;
/** The width of A4 without the margins that the style of a course sets, px. */
const PAPER_PX = 672;

/** The first story of a page is linked by "#step=3", the second by "#story=2&step=3", and so on. */
function stepLink(place: number, steps: number): StepLink {
  const parts = () => new URLSearchParams(location.hash.slice(1));
  return {
    read: () =>
      Number(parts().get("story") ?? 1) === place ? Number.parseInt(parts().get("step") ?? "", 10) : Number.NaN,
    write(step) {
      document.title = `${storyWords.step(step, steps)}, ${TITLE}`;
      // A page within another page has no address of its own.
      try {
        history.replaceState(null, "", stepAddress(place, step));
      } catch {}
    },
    follow: (changed, signal) => addEventListener("hashchange", changed, { signal }),
  };
}

/** Asks for a title and copies the address of the page with the graph. Returns what is said then. */
const shareGraph: ShareGraph = async (store, workload) => {
  const { rates } = store as Store;
  const [chip, now] = [rates.focusChip.value, workload as Workload];
  const title = prompt(words.copy, titleOf(now));
  if (title === null) return undefined;
  const link = await linkOf(now, chip, title);
  const isCopied = link !== undefined && (await copyText(document, location.href.split("#")[0] + link));
  return isCopied ? unknownWords.copied : words.notCopied;
};

/** Shows the graph of the page's address above everything else. `saved` is the state of a widget with a graph. */
async function showLinked(saved: Model) {
  const section = document.createElement("section");
  document.querySelector("main")?.prepend(section);
  section.dataset["roofwidget"] = "";
  try {
    const linked = await readLink(location.hash);
    const chips = saved.get("chips") as readonly Chip[];
    const all = [...chips, ...(CATALOGUE ? (JSON.parse(await inflatedText(CATALOGUE)) as readonly Chip[]) : [])];
    const chip = all.find(({ id }) => id === linked.chip);
    const [[, known]] = saved.get("graphs") as [[string, WireGraph]];
    if (!chip) throw new LinkError(words.damaged);
    const own = new Map<string, unknown>([
      ...traitsOf(linked, known, decodeChips([chip])[0] as never),
      ["chips", [chip]],
      ["catalogue", CATALOGUE],
      ["share_graph", shareGraph],
    ]);
    await showSaved(section, saved, own, new AbortController().signal);
  } catch (error) {
    section.setAttribute("role", "alert");
    section.textContent = error instanceof LinkError ? error.message : words.damaged;
  }
  section.scrollIntoView();
}
addEventListener("hashchange", () => hasGraph(location.hash) && location.reload());

const told: Told[] = [];
/** Shows and keeps how many questions are answered, if the browser keeps it. */
function updateProgress() {
  const progress = progressOf(told);
  if (PROGRESS && keepProgress(location.href, progress, () => localStorage)) showProgress(PROGRESS, progress);
}

/** Returns the storage of a story's answers, each change of which updates the progress. */
function storageOf(story: Story, place: number) {
  const storage = answersStorage(story, place, () => localStorage);
  if (!storage) return undefined;
  const at = told.push({ place, story, answers: storage.read() ?? {} }) - 1;
  return {
    ...storage,
    write(answers: Answers) {
      told[at] = { place, story, answers };
      updateProgress();
      return storage.write(answers);
    },
  };
}

/** Starts a widget in the place of its picture. `place` is that of its story, from 1. */
async function start(element: HTMLElement, saved: Model, place: number) {
  const story = (saved.get("story") ?? null) as Story | null;
  const storage = story ? storageOf(story, place) : undefined;
  const own = new Map<string, unknown>([
    ["catalogue", CATALOGUE],
    ["step_link", story ? stepLink(place, story.steps.length) : undefined],
    ["answers_storage", storage],
    ["answers", storage?.read()],
    ["share_graph", shareGraph],
  ]);
  const el = document.createElement("div");
  element.prepend(el);
  await showSaved(el, saved, own, new AbortController().signal);
  for (const other of [...element.children]) if (other !== el && other.localName !== "script") other.remove();
}

async function startAll() {
  const elements = [...document.querySelectorAll<HTMLElement>("[data-roofwidget]")];
  const models = await Promise.all(
    elements.map((element) => unpackedModel(element.querySelector("script")?.textContent ?? "")),
  );
  const known = models.find((saved) => (saved.get("graphs") as readonly unknown[]).length > 0);
  if (hasGraph(location.hash) && known) void showLinked(known);
  let stories = 0;
  for (const [at, element] of elements.entries()) {
    const saved = models[at] as Model;
    await start(element, saved, saved.get("story") ? ++stories : 0);
  }
  if (told.length > 0) updateProgress();
  // Output that is wider than the page is scrolled by keys too.
  for (const pre of document.querySelectorAll("pre")) if (pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;
  // Where the address leads to has moved: widgets above it have become taller.
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

void startAll();
// A chart keeps the width in which it was drawn, and is made smaller for paper.
addEventListener("beforeprint", () => {
  for (const root of document.querySelectorAll<HTMLElement>(".roofwidget"))
    root.style.setProperty("--on-paper", `${Math.min(1, PAPER_PX / (root.clientWidth || PAPER_PX))}`);
});
