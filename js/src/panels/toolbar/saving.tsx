// The dialog that saves and copies figures, with a preview, and saves files of the whole.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pictureOf } from "../../chart/picture.tsx";
import { copyFigure, saveFigure } from "../../chart/save_picture.ts";
import type { Tools } from "../../chart/tools.ts";
import type { FigureStyle } from "../../state/saving.ts";
import type { Store } from "../../state/store.ts";
import { Button } from "../../ui/button.tsx";
import { fileName, saveFile } from "../../ui/download.ts";
import { Tick } from "../../ui/tick.tsx";
import { saveWords as words } from "../../words/words.ts";
import { tableFile } from "../table/table_file.ts";

type Style = FigureStyle | "screen";
type Kind = "svg" | "png";

/** What the names of files of a style end with. */
const SUFFIXES: Readonly<Record<Style, string>> = {
  "paper-1col": "-1col",
  "paper-2col": "-2col",
  slide: "-slide",
  screen: "",
};
const STYLES = Object.keys(SUFFIXES) as Style[];
/** How long a button says that the figure is saved, ms. */
const DONE_MS = 4000;
const POINTS_PER_INCH = 72;

interface SavingProps {
  readonly store: Store;
  readonly tools: Tools;
}

export function Saving({ store, tools }: SavingProps) {
  const style = useSignal<Style>("paper-1col");
  const kind = useSignal<Kind>("svg");
  const hasCaption = useSignal(false);
  const isDone = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const figure = useFigure(store, tools, style.value, hasCaption.value);
  useEffect(() => {
    if (!isDone.value) return;
    const timer = setTimeout(() => {
      isDone.value = false;
    }, DONE_MS);
    return () => clearTimeout(timer);
  }, [isDone.value]);
  const name = store.view.title.value || store.rows.kernels.value.source;
  const nameOf = (extension: string, suffix = "") =>
    fileName(name, extension, words.name).replace(/\.\w+$/, (end) => `${suffix}${end}`);

  async function save() {
    if (!figure.svg || !root.current) return;
    const { ownerDocument } = root.current;
    const done = await saveFigure(ownerDocument, figure.svg, kind.value, (end) => nameOf(end, SUFFIXES[style.value]));
    isDone.value = true;
    if (done === kind.value) store.view.say(words.saved(nameOf(done, SUFFIXES[style.value])));
    else store.view.say(words.noPng, { isFault: true });
  }
  async function copy() {
    if (!figure.svg || !root.current) return;
    const done = await copyFigure(root.current.ownerDocument, figure.svg, kind.value);
    store.view.say(done ? words.copied(kind.value.toUpperCase()) : words.notCopied, { isFault: !done });
  }
  function saveText(extension: string, content: BlobPart) {
    if (!root.current) return;
    saveFile(root.current.ownerDocument, nameOf(extension), new Blob([content], { type: TYPES[extension] ?? "" }));
    store.view.say(words.saved(nameOf(extension)));
  }
  async function ask(extension: "html" | "json") {
    try {
      saveText(extension, await store.python.fileText(extension));
    } catch (error) {
      store.view.say(words.failed(error instanceof Error ? error.message : String(error)), { isFault: true });
    }
  }
  const canAsk = store.python.canAsk;
  const hasTable = store.rows.kernels.value.n > 0 && !store.lesson.hidesHint("table");
  const isReady = figure.svg !== undefined;
  return (
    <div ref={root} class="rw-saving">
      <Choice label={words.style} names={STYLES} textOf={(one) => words.styles[one]} chosen={style} />
      <div class="rw-preview">
        {figure.svg ? (
          <img src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(figure.svg)}`} alt={words.preview} />
        ) : (
          <p role="status">{figure.fault ?? words.drawing}</p>
        )}
      </div>
      <div class="rw-row">
        <Choice label={words.format} names={["svg", "png"]} textOf={(one) => one.toUpperCase()} chosen={kind} />
        {style.value !== "screen" && (
          <Tick
            label={words.caption}
            checked={hasCaption.value}
            onChange={() => {
              hasCaption.value = !hasCaption.value;
            }}
          />
        )}
      </div>
      <div class="rw-row">
        <span class="rw-muted">{figure.svg && sizeText(figure.svg)}</span>
        <span class="rw-buttons">
          <Button aria-disabled={!isReady} onClick={copy}>
            {words.copy}
          </Button>
          <Button look="button rw-primary" data-tool={kind.value} aria-disabled={!isReady} onClick={save}>
            {isDone.value ? words.done : words.save}
          </Button>
        </span>
      </div>
      <div class="rw-files">
        {(["html", "json"] as const).map((extension) => (
          <Button
            key={extension}
            look="action"
            aria-disabled={!canAsk}
            title={canAsk ? undefined : words.needsPython}
            onClick={canAsk ? () => ask(extension) : undefined}
          >
            {extension === "html" ? words.page : words.session}
          </Button>
        ))}
        <Button
          look="action"
          aria-disabled={!hasTable}
          onClick={hasTable ? () => saveText("csv", tableFile(store)) : undefined}
        >
          {words.table}
        </Button>
      </div>
    </div>
  );
}

const TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv;charset=utf-8",
  html: "text/html;charset=utf-8",
  json: "application/json;charset=utf-8",
};

/** Returns the figure, as soon as it is drawn, or the reason why it cannot be drawn. */
function useFigure(store: Store, tools: Tools, style: Style, caption: boolean) {
  const drawn = useSignal<{ readonly svg?: string; readonly fault?: string }>({});
  const plane = tools.plane.value;
  useEffect(() => {
    if (style === "screen") return;
    let isCurrent = true;
    drawn.value = {};
    store.python.figureText(store, style, caption).then(
      (svg) => {
        if (isCurrent) drawn.value = { svg };
      },
      (error: Error) => {
        if (isCurrent) drawn.value = { fault: words.failed(error.message) };
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [style, caption]);
  if (style !== "screen") return drawn.value;
  if (!plane) return {};
  const { width, height } = plane.size;
  return { svg: pictureOf(store, width, () => height, plane.theme).svg };
}

/** Returns the size of a figure in words. Figures have a size in points, a picture of the screen in px. */
function sizeText(svg: string): string {
  const [, width = 0, unit, height = 0] = /width="([\d.]+)(pt)?" height="([\d.]+)/.exec(svg) ?? [];
  if (!unit) return words.size(String(width), String(height), "px");
  const inches = (points: string | number) => String(Number((Number(points) / POINTS_PER_INCH).toFixed(2)));
  return words.size(inches(width), inches(height), "in");
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly names: readonly T[];
  readonly chosen: { value: T };
  textOf(name: T): string;
}

/** Buttons of which one is pressed. */
const Choice = <T extends string>({ label, names, chosen, textOf }: ChoiceProps<T>) => (
  <fieldset class="rw-buttons" aria-label={label}>
    {names.map((name) => (
      <Button
        key={name}
        aria-pressed={chosen.value === name}
        onClick={() => {
          chosen.value = name;
        }}
      >
        {textOf(name)}
      </Button>
    ))}
  </fieldset>
);
