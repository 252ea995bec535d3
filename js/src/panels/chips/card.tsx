// A chip's card: every figure with where it comes from, and who says otherwise. Text only, never markup.

import type { Disclosed } from "../../ui/disclosure.ts";
import type { Chip } from "../../wire/types.ts";
import { strings, words } from "../../words/words.ts";
import { factsOf, type Row, type Run, runsOf, unknownOf } from "./sheet.ts";

export function Card({ opened, chip }: { opened: Disclosed; chip: Chip }) {
  const unknown = unknownOf(chip);
  return (
    <section
      {...opened}
      class="roofwidget-card"
      aria-label={words.detailsOf(chip.name)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must be able to reach it
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
    >
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

function Line({ label, value, measured = false, others = [] }: Pick<Row, "label" | "value"> & Partial<Row>) {
  return (
    <div class="roofwidget-figure">
      <dt>
        {label}
        {measured && <strong> {words.measured}</strong>}
      </dt>
      <dd>{value}</dd>
      {others.map(({ text, source }) => (
        <dd key={`${text} ${source}`} class="roofwidget-dispute">
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
    <div class="roofwidget-origin">
      <dt class="roofwidget-spoken">{words.source}</dt>
      <dd>
        {link === undefined ? (
          title
        ) : (
          <a href={link} target="_blank" rel="noopener noreferrer" data-lm-suppress-shortcuts="true">
            {title}
          </a>
        )}
        {place && `, ${place}`}
        {confidence && ` ${words.confidence(confidence)}`}
      </dd>
    </div>
  );
}
