// The bar of communication above the network plane: what of it is exposed, and the legend of the kinds.

import { textWidth } from "../../chart/labels/text_fitting.ts";
import { CategoryDot } from "../../chart/layers/points.tsx";
import { kindCode, kindColour } from "../../chart/network/scene.ts";
import { isPatternedIn } from "../../chart/scene.ts";
import type { Theme } from "../../chart/theme.ts";
import { kindsOf } from "../../roofline/network.ts";
import type { Store } from "../../state/store.ts";
import { formatPercent, formatQuantity } from "../../text/numbers.ts";
import { OWN_KEYS } from "../../ui/keys.ts";
import { networkWords as words } from "../../words/words.ts";

interface BarProps {
  readonly store: Store;
  readonly theme: Theme;
  /** The width of the bar, px. */
  readonly width: number;
  readonly narrow: boolean;
}

/** The space that a text of the bar takes beside its letters, px. */
const AROUND_PX = 24;

interface DotProps {
  readonly store: Store;
  readonly kind: string;
  readonly theme: Theme;
}

/** The dot of a kind of messages, as in the plane. */
export const KindDot = ({ store, kind, theme }: DotProps) => (
  <svg width={12} height={12} style={{ verticalAlign: "-1px" }} aria-hidden="true">
    <CategoryDot
      {...{ x: 6, y: 6, colour: kindColour(kind, theme), outline: theme.background }}
      category={kindCode(kind)}
      isPatterned={isPatternedIn(store, theme)}
    />
  </svg>
);

export function NetworkBar({ store, theme, width, narrow }: BarProps) {
  const { communication, messages } = store.rows.kernels.value;
  const kinds = kindsOf(store.rows.messages.value);
  // While a question hides the messages, the bar could tell the answer.
  const isHidden = messages.length > 0 && kinds.length === 0;
  if (isHidden || (!communication && kinds.length === 0)) return null;
  const { time, hidden } = communication ?? { time: 0, hidden: 0 };
  const text = (of: (percent: string, time: string) => string, part: number) =>
    of(formatPercent(part / time), formatQuantity(part, "s"));
  const [exposed, covered] = [text(words.exposed, time - hidden), text(words.hidden, hidden)];
  const fits = (told: string, part: number) => textWidth(told) + AROUND_PX < (part / time) * width;
  const isOn = fits(exposed, time - hidden) && (hidden === 0 || fits(covered, hidden));
  return (
    <div data-rw="time-bar" class="rw-time">
      {time > 0 && (
        <div class="rw-timebar rw-comm" aria-hidden="true">
          {time > hidden && <i style={{ flexGrow: (100 * (time - hidden)) / time }}>{isOn && exposed}</i>}
          {hidden > 0 && (
            <i class="rw-idle" style={{ flexGrow: (100 * hidden) / time }}>
              {isOn && <span>{covered}</span>}
            </i>
          )}
        </div>
      )}
      <section
        class="rw-legend"
        data-rw="legend"
        aria-label={words.communication}
        tabIndex={narrow ? 0 : undefined}
        {...OWN_KEYS}
      >
        {time > 0 && <span class={isOn ? "rw-spoken" : undefined}>{`${exposed}, ${covered}`}</span>}
        <div class="rw-entries">
          <span class="rw-muted">{words.communication}</span>
          {kinds.map(([kind, share]) => (
            <span key={kind} class="rw-entry">
              <KindDot store={store} kind={kind} theme={theme} />
              {kind}
              <span class="rw-muted"> {formatPercent(share)}</span>
            </span>
          ))}
        </div>
      </section>
    </div>
  );
}
