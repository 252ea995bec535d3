// The contents of the toolbar's menus.

import { STEP, type Tool } from "../../chart/gestures/navigate.ts";
import type { ToolMenu, Tools } from "../../chart/tools.ts";
import type { Topology } from "../../roofline/network.ts";
import { ALL_LEVELS } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import type { View } from "../../state/traits.ts";
import { toggleFullscreen } from "../../ui/full_screen.ts";
import type { MenuGroup, MenuItem } from "../../ui/menu.tsx";
import type { Chip } from "../../wire/types.ts";
import {
  instructionWords,
  marksWords,
  networkWords,
  openWords,
  rulerWords,
  saveWords,
  snapshotWords,
  strings,
  toolWords,
  words,
} from "../../words/words.ts";

const distinct = (names: readonly string[]) => [...new Set(names)];

/** Whether the plane has zoom, marks and gaps: the roofline and the time view have. */
export const hasZoom = ({ view: { plane } }: Store) => plane.value === "roofline" || plane.value === "time";

/** A menu of values, of which one is chosen. */
interface ValueMenu {
  readonly name: ToolMenu;
  readonly label: string;
  /** The value in force, as it is shown. */
  readonly value: string;
  /** The value and what it means, such as "auto, bf16". */
  readonly inFull: string;
  readonly lock: string | undefined;
  readonly group: MenuGroup;
}

/** A value of a menu: its name, its text, and what it means now, if its text does not say it. */
export type Choice = readonly [value: string, text: string, meaning?: string | undefined];

function valueMenu(
  name: ToolMenu,
  label: string,
  chosen: string,
  choices: readonly Choice[],
  lock: string | undefined,
  choose: (value: string) => void,
): ValueMenu {
  const [, text = chosen, meaning] = choices.find(([value]) => value === chosen) ?? [];
  const items = choices.map(([value, own, means]) => ({
    name: value,
    text: means ? `${own} (${means})` : own,
    isOn: value === chosen,
    act: () => choose(value),
  }));
  const inFull = meaning ? `${text}, ${meaning}` : text;
  return { name, label, value: meaning ?? text, inFull, lock, group: { label, items, isChoice: true } };
}

/** The menus of precision and memory. In the network plane, the menus of the link and the topology. */
export function judgingOf(store: Store): readonly [precision: ValueMenu, memory: ValueMenu] {
  if (store.view.plane.value === "network") return networkMenus(store);
  const {
    rates: { precision, memory, choosePrecision, chooseMemory },
    lesson: { lockNote },
  } = store;
  const chips = store.rates.chips.value;
  const common = store.rates.commonPrecision.value;
  const own = (chip: Chip) => (common !== undefined && chip.peaks.has(common) ? common : chip.precision);
  const names = distinct(chips.flatMap((chip) => [...chip.peaks.keys()])).map((name): Choice => [name, name]);
  const auto: Choice = ["auto", strings.auto, onlyOf(distinct(chips.map(own)))];
  return [
    valueMenu(
      "precision",
      strings.precision,
      precision.value,
      [auto, ...names],
      lockNote("precision"),
      choosePrecision,
    ),
    valueMenu(
      "memory",
      strings.memory,
      memory.value,
      memoriesOf(chips, memory.value),
      lockNote("memory"),
      chooseMemory,
    ),
  ];
}

function networkMenus({ rates, lesson }: Store): readonly [ValueMenu, ValueMenu] {
  const links = rates.chips.value.find(({ id }) => id === rates.focusChip.value)?.links ?? [];
  const known = links.flatMap(({ name, bandwidth }): Choice[] => (bandwidth === null ? [] : [[name, name]]));
  const topologies = Object.entries(networkWords.topologies).map(([name, text]): Choice => [name, text]);
  return [
    valueMenu(
      "link",
      networkWords.link,
      rates.focusLink.value?.name ?? strings.unknown,
      known,
      lesson.lockNote("memory"),
      // The first is the link of each chip to other chips, also after another chip was chosen.
      (name) => rates.setLink(name === links[0]?.name ? "" : name),
    ),
    valueMenu("topology", networkWords.topology, rates.topology.value, topologies, lesson.lockNote("view"), (name) =>
      rates.setTopology(name as Topology),
    ),
  ];
}

const onlyOf = (names: readonly string[]) => (names.length === 1 ? names[0] : undefined);

/**
 * Returns the choices of the memory menu: the main memory, all levels, and each known level. The choice "all" is
 * present only if a chip has several levels.
 */
export function memoriesOf(chips: readonly Chip[], chosen: string): readonly Choice[] {
  const mains = distinct(chips.flatMap((chip) => [...chip.memories.keys()].slice(0, 1)));
  const known = chips.map((chip) => [...chip.memories].flatMap(([level, rate]) => (rate === null ? [] : [level])));
  const several = chosen === "all" || known.some((levels) => levels.length > 1);
  // If all chips have the same main level, the choice of the main memory already means this level. The level then has
  // no other choice.
  const levels = distinct(known.flat()).filter((level) => mains.length > 1 || level !== mains[0] || level === chosen);
  return [
    ["main", strings.main, onlyOf(mains)],
    ...(several ? [["all", words.allLevels] as const] : []),
    ...levels.map((name): Choice => [name, name]),
  ];
}

export const planesGroup = (store: Store): MenuGroup => ({
  label: words.view,
  isChoice: true,
  items: Object.entries(words.views).map(([name, text]) => ({
    name,
    text,
    isOn: store.view.plane.value === name,
    ...planeChoice(store, name as View),
  })),
});

/** What choosing a plane does, or why it cannot be chosen. */
export function planeChoice(store: Store, name: View) {
  const { messages, instructions } = store.rows.kernels.value;
  const missing =
    name === "network" && messages.length === 0
      ? networkWords.noSizes
      : name === "instructions" && !instructions
        ? instructionWords.noCounts
        : undefined;
  const reason = store.lesson.lockNote("view") ?? missing;
  return { reason, act: reason === undefined ? () => store.view.setPlane(name) : undefined };
}

const opener = (name: ToolMenu, text: string, { open }: Tools): MenuItem => ({
  name,
  text,
  act: () => {
    open.value = name;
  },
});

/** An item that is switched on and off. */
const switching = (name: string, text: string, isOn: boolean, set: (isOn: boolean) => void): MenuItem => ({
  name,
  text,
  isOn,
  act: () => set(!isOn),
});

/** The tools of the chart. */
export function chartGroups(store: Store, tools: Tools): readonly MenuGroup[] {
  const patterns = switching("patterns", rulerWords.patterns, store.view.patterns.value, store.view.setPatterns);
  if (!hasZoom(store)) return store.view.plane.value === "network" ? [{ label: words.view, items: [patterns] }] : [];
  const navigation = tools.plane.value?.navigation;
  const reason = store.lesson.lockNote("view");
  const unlocked = (act: (() => unknown) | undefined) => ({ reason, act: reason === undefined ? act : undefined });
  const ceilings = store.rates.possibleCeilings.value;
  const hasCeilings = ceilings.some(({ on }) => on);
  const drag = (name: Tool): MenuItem => ({
    name,
    text: toolWords[name],
    isOn: (navigation?.tool.value ?? "select") === name,
    ...(name === "select" ? {} : { reason }),
    act:
      name !== "select" && reason !== undefined
        ? undefined
        : () => {
            if (navigation) navigation.tool.value = name;
          },
  });
  return [
    {
      label: words.view,
      items: [
        opener("axes", toolWords.axes, tools),
        switching("rulers", rulerWords.rulers, store.view.rulers.value, store.view.setRulers),
        patterns,
        ...(store.view.plane.value === "time"
          ? []
          : [
              {
                ...switching("joins", rulerWords.joins, store.view.allJoins.value, store.view.setAllJoins),
                ...(store.rates.memory.value === ALL_LEVELS ? {} : { act: undefined, reason: rulerWords.noJoins }),
              },
            ]),
        {
          name: "ceilings",
          text: toolWords.ceilings,
          isOn: hasCeilings,
          act:
            ceilings.length === 0
              ? undefined
              : () => store.rates.setCeilings(hasCeilings ? [] : ceilings.map(({ key }) => key)),
        },
        { name: "freeze", text: snapshotWords.freeze, act: store.rates.focusRoof.value && (() => store.view.freeze()) },
      ],
    },
    {
      label: toolWords.everything,
      items: [
        { name: "in", text: toolWords.zoomIn, ...unlocked(() => navigation?.by(STEP)) },
        { name: "out", text: toolWords.zoomOut, ...unlocked(() => navigation?.by(1 / STEP)) },
        { name: "fit", text: toolWords.fit, ...unlocked(store.view.zoom.value ? () => navigation?.fit() : undefined) },
      ],
    },
    {
      label: rulerWords.gaps,
      isChoice: true,
      items: (["first", "all", "none"] as const).map((name) => ({
        name: `gaps ${name}`,
        text: `${rulerWords.gaps}: ${rulerWords.gapKinds[name]}`,
        isOn: store.view.gaps.value === name,
        act: () => store.view.setGaps(name),
      })),
    },
    { label: toolWords.drag, isChoice: true, items: (["select", "zoom", "pan"] as const).map(drag) },
  ];
}

/** The items of a narrow toolbar, which has no room for their buttons. */
export function actionGroups(
  store: Store,
  tools: Tools,
  { canOpen, hasTools }: { readonly canOpen: boolean; readonly hasTools: boolean },
): readonly MenuGroup[] {
  const file = canOpen ? [opener("open", `${openWords.open}…`, tools)] : [];
  if (!hasTools) return [{ label: toolWords.more, items: file }];
  const undo = store.history.canUndo.value ? store.history.undo : undefined;
  const redo = store.history.canRedo.value ? store.history.redo : undefined;
  return [
    {
      label: toolWords.undo,
      items: [
        { name: "undo", text: toolWords.undoKeys, act: undo },
        { name: "redo", text: toolWords.redoKeys, act: redo },
      ],
    },
    {
      label: toolWords.more,
      items: [
        ...file,
        opener("save", `${saveWords.save}…`, tools),
        switching("present", toolWords.present, store.view.presentation.value, store.view.setPresentation),
        ...(hasZoom(store) ? [opener("marks", marksWords.open, tools)] : []),
      ],
    },
  ];
}

/** The items that have no button of their own in any toolbar. */
export const moreGroup = (store: Store, tools: Tools): MenuGroup => ({
  label: toolWords.more,
  items: [
    {
      name: "screen",
      text: toolWords.screen,
      act: ({ currentTarget }) => toggleFullscreen(currentTarget as Element),
    },
    opener("keys", `${toolWords.keys}…`, tools),
    {
      name: "figures",
      text: toolWords.figures,
      act: store.rates.focusRoof.value && (() => store.view.openTab("chip")),
    },
  ],
});
