// The inspector beside the chart: tabs for what can be listed, changed or compared.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Theme } from "../chart/theme.ts";
import type { Hint } from "../state/lesson.ts";
import type { Store } from "../state/store.ts";
import { Button } from "../ui/button.tsx";
import { isModified, OWN_KEYS, used } from "../ui/keys.ts";
import { useUid } from "../ui/uid.ts";
import { storyWords, tabWords as words } from "../words/words.ts";
import { FusionTab, fusionNote, hasFusion } from "./fusion/fusion.tsx";
import { ChipTab, hasChip } from "./hardware/chip_tab.tsx";
import { hasSnapshots, SnapshotsTab } from "./hardware/snapshots.tsx";
import { hasMessages, MessagesTab, messagesNote } from "./network/messages_tab.tsx";
import { ChangesTab, changesNote, hasChanges } from "./profile/changes_tab.tsx";
import { hasProjection, ProjectionTab } from "./profile/projection_tab.tsx";
import type { TabProps } from "./tab.ts";
import { AllColumns, hasKernels, KernelsTab, kernelsNote } from "./table/kernels_tab.tsx";
import { hasUnknown, UnknownTab, unknownNote } from "./unknown_tab.tsx";
import { hasWorkload, WorkloadTab } from "./workload/workload.tsx";

interface Tab {
  /** Whether the tab has content. */
  has(store: Store): boolean;
  /** The name by which a lesson hides the panel. */
  readonly panel: string;
  /** What hides the whole tab while a question is open. Without it, the panel does. */
  readonly hint?: Hint;
  /** A number or a few words beside the title. */
  note?(store: Store): string;
  readonly Content: (props: TabProps) => ComponentChildren;
  /** What stands beside the tabs while the tab is open. */
  readonly Aside?: (props: { readonly store: Store }) => ComponentChildren;
}

const TABS = {
  changes: { panel: "comparison", has: hasChanges, note: changesNote, Content: ChangesTab },
  fusion: { panel: "fusion", hint: "graph", has: hasFusion, note: fusionNote, Content: FusionTab },
  kernels: { panel: "table", has: hasKernels, note: kernelsNote, Content: KernelsTab, Aside: AllColumns },
  messages: { panel: "table", has: hasMessages, note: messagesNote, Content: MessagesTab },
  unknown: { panel: "table", has: hasUnknown, note: unknownNote, Content: UnknownTab },
  workload: { panel: "workload", has: hasWorkload, Content: WorkloadTab },
  projection: { panel: "projection", has: hasProjection, Content: ProjectionTab },
  chip: { panel: "hardware", has: hasChip, Content: ChipTab },
  snapshots: { panel: "hardware", has: hasSnapshots, Content: SnapshotsTab },
} satisfies Record<string, Tab>;

type TabName = keyof typeof TABS;

/** The tabs that show a result. With another tab alone, the inspector is closed at first. */
const OPEN_AT_FIRST: readonly TabName[] = ["changes", "fusion", "workload", "projection"];
const isResult = (store: Store, name: TabName) =>
  OPEN_AT_FIRST.includes(name) ||
  (name === "messages" && store.view.plane.value === "network") ||
  (name === "kernels" && store.rows.kernels.value.totalTime > 0);

const NAMES = Object.keys(TABS) as TabName[];
const tabOf = (name: TabName): Tab => TABS[name];

/** The network plane has its table first. */
const namesOf = (store: Store): readonly TabName[] =>
  store.view.plane.value === "network" ? ["messages", ...NAMES.filter((name) => name !== "messages")] : NAMES;

const tabsOf = (store: Store): readonly TabName[] =>
  namesOf(store).filter((name) => !store.view.hiddenPanels.value.includes(tabOf(name).panel) && tabOf(name).has(store));

/**
 * Returns the open tab. Undefined if the inspector is closed. In a presentation it is closed until a tab is chosen,
 * because the chart needs the room.
 */
export function openTab(store: Store): TabName | undefined {
  const tabs = tabsOf(store);
  const chosen = store.view.tab.value;
  if (chosen === "closed") return;
  const kept = tabs.find((name) => name === chosen);
  const isOpen = !store.view.presentation.value && tabs.some((name) => isResult(store, name));
  return kept ?? (isOpen ? tabs[0] : undefined);
}

interface InspectorProps {
  readonly store: Store;
  readonly theme: Theme;
  readonly open: TabName | undefined;
  /** The height of the inspector, px, with the row of its tabs. */
  readonly height: number;
  readonly narrow: boolean;
}

/** The height of the row of tabs, px. */
const TABS_PX = 32;

export function Inspector({ store, theme, open, height, narrow }: InspectorProps) {
  const id = useUid();
  const list = useRef<HTMLDivElement>(null);
  const tabs = tabsOf(store);
  if (tabs.length === 0) return null;
  const stop = open ?? tabs[0];
  function onKeyDown(event: KeyboardEvent) {
    const now = tabs.indexOf((event.target as HTMLElement).dataset["tab"] as TabName);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (now < 0 || to === undefined || isModified(event)) return;
    const next = tabs[(to + tabs.length) % tabs.length] as TabName;
    store.view.openTab(next);
    list.current?.querySelector<HTMLElement>(`[data-tab='${next}']`)?.focus();
    used(event);
  }
  function close() {
    // The button goes.
    list.current?.querySelector<HTMLElement>(`[data-tab='${open}']`)?.focus();
    store.view.openTab("closed");
  }
  const isAsked = (name: TabName) => store.lesson.hidesHint(tabOf(name).panel as Hint);
  const { Content, Aside } = open ? tabOf(open) : {};
  const isSecret = open !== undefined && store.lesson.hidesHint(tabOf(open).hint ?? (tabOf(open).panel as Hint));
  return (
    <section class="rw-inspector" data-rw="inspector">
      <div class="rw-tabs">
        <div ref={list} role="tablist" aria-label={words.title} onKeyDown={onKeyDown}>
          {tabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`${id}-${name}`}
              data-rw={`tab-${name}`}
              data-tab={name}
              {...OWN_KEYS}
              aria-selected={name === open}
              aria-controls={name === open ? id : undefined}
              tabIndex={name === stop ? 0 : -1}
              onClick={() => store.view.openTab(name)}
            >
              {words.names[name]}
              {tabOf(name).note && !isAsked(name) && <span class="rw-muted"> {tabOf(name).note?.(store)}</span>}
            </button>
          ))}
        </div>
        {Aside && !isSecret && <Aside store={store} />}
        {open && (
          <Button look="tool" title={words.close} aria-label={words.close} onClick={close}>
            ×
          </Button>
        )}
      </div>
      {Content && (
        <div
          key={open}
          class="rw-tab"
          role="tabpanel"
          id={id}
          aria-labelledby={`${id}-${open}`}
          style={{ height: `${height - TABS_PX}px` }}
        >
          {isSecret ? (
            <p class="rw-muted">{storyWords.hidden}</p>
          ) : (
            <Content store={store} theme={theme} height={height - TABS_PX} narrow={narrow} />
          )}
        </div>
      )}
    </section>
  );
}
