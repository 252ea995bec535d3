// A chip's card. It shows each figure with its source, and the other sources that give a different value. All texts of
// the card are drawn as text, never as markup.

import { formatCapacity, formatQuantity, formatSignificant, type Unit } from "../../text/numbers.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import type { Chip, Figure } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";

export function Card({ chip }: { readonly chip: Chip }) {
  const unknown = unknownOf(chip);
  return (
    <section class="rw-card" aria-label={words.detailsOf(chip.name)}>
      <dl>
        {factsOf(chip).map(([label, value]) => (
          <Line key={label} label={label} value={value} />
        ))}
      </dl>
      {runsOf(chip).map((run) => (
        <dl key={run.rows[0]?.label}>
          {run.rows.map((row) => (
            <Line key={row.label} {...row} />
          ))}
          <Origin run={run} />
        </dl>
      ))}
      {unknown.length > 0 && (
        <dl>
          {unknown.map((label) => (
            <Line key={label} label={label} value={strings.unknown} />
          ))}
        </dl>
      )}
      {chip.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </section>
  );
}

function Line({ label, value, measured = false, others = [] }: Pick<SheetRow, "label" | "value"> & Partial<SheetRow>) {
  return (
    <div class="rw-figure">
      <dt>
        {label}
        {measured && <strong> {words.measured}</strong>}
      </dt>
      <dd>{value}</dd>
      {others.map(({ text, source }) => (
        <dd key={`${text} ${source}`} class="rw-dispute">
          {text} {source}
        </dd>
      ))}
    </div>
  );
}

function Origin({ run }: { run: Run }) {
  const { source, link, place, confidence } = run;
  const title = source || words.noSource;
  return (
    <div class="rw-origin">
      <dt class="rw-spoken">{words.source}</dt>
      <dd>
        {link === undefined ? (
          title
        ) : (
          <a href={link} target="_blank" rel="noopener noreferrer" {...OWN_KEYS}>
            {title}
          </a>
        )}
        {place && `, ${place}`}
        {confidence && ` ${words.confidence(confidence)}`}
      </dd>
    </div>
  );
}

interface SheetRow {
  readonly label: string;
  readonly value: string;
  /** True if the figure was measured (a ceiling). False if the figure is from the data sheet. */
  readonly measured: boolean;
  /** Values from other sources, if they differ from this value. */
  readonly others: readonly { readonly text: string; readonly source: string }[];
}

/** Neighbouring figures that have the same source. */
export interface Run {
  readonly source: string;
  readonly confidence: string;
  /** The address of the source. Undefined if the source has no address that a browser may open. */
  readonly link: string | undefined;
  /** The source as given. Empty if the source is an address. */
  readonly place: string;
  readonly rows: readonly SheetRow[];
}

type KnownFigure = Figure & { readonly value: number };

/** Units that take SI prefixes. All other units are words, such as SM. */
const PREFIXED = /^(?:FLOP\/s|OP\/s|B\/s|s|Hz|W|J\/FLOP|J\/B)$/;

export function runsOf(chip: Chip): readonly Run[] {
  const runs: (Run & { rows: SheetRow[] })[] = [];
  for (const figure of chip.figures) {
    if (!isKnown(figure)) continue;
    const last = runs.at(-1);
    const link = linkOf(figure.url);
    const place = link === undefined ? figure.url : "";
    const { source, confidence } = figure;
    const same = last?.source === source && last.confidence === confidence && last.link === link;
    if (same) last.rows.push(rowOf(figure));
    else runs.push({ source, confidence, link, place, rows: [rowOf(figure)] });
  }
  return runs;
}

/** Returns the labels of figures without a value, such as levels without a bandwidth. */
export function unknownOf(chip: Chip): readonly string[] {
  return chip.figures.filter((figure) => !isKnown(figure)).map(({ label }) => words.figure(label));
}

/** Returns vendor, family, year and status of a chip, if known. */
export function factsOf(chip: Chip): readonly (readonly [label: string, value: string])[] {
  const facts = [
    [words.vendor, chip.vendor],
    [words.family, chip.family],
    [words.year, chip.year === null ? "" : String(chip.year)],
    [words.status, words.statuses[chip.status] ?? chip.status],
  ] as const;
  return facts.filter(([, value]) => value);
}

function rowOf(figure: KnownFigure): SheetRow {
  return {
    label: words.figure(figure.label),
    value: amount(figure.value, figure.unit),
    measured: figure.measured,
    others: figure.checks.map(([value, source]) => ({
      text: words.othersSay(amount(value, figure.unit), formatSignificant(value / figure.value)),
      source,
    })),
  };
}

function amount(value: number, unit: string): string {
  if (unit === "B") return formatCapacity(value);
  if (PREFIXED.test(unit)) return formatQuantity(value, unit as Unit, 4);
  return `${formatSignificant(value, 6)} ${unit}`.trim();
}

/** Returns the address if it is the address of a web page. Otherwise, returns undefined. */
export function linkOf(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}

const isKnown = (figure: Figure): figure is KnownFigure => figure.value !== null;
