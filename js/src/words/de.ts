// Every text that a user reads, in German, with the keys of the English catalogue.

import type { Terms } from "../wire/types.ts";
import type * as en from "./en.ts";
import type { Like } from "./words.ts";

/** Formats a count with separators between thousands. */
const whole = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ".");
const PREFIXES: Record<string, string> = { k: "Kilo", M: "Mega", G: "Giga", T: "Tera", P: "Peta", E: "Exa" };
/** The chosen word for a ridge point; `usual` if none was chosen. */
const ridge = ({ ridge: word = "ridge point" }: Terms, usual: string) =>
  ({ "ridge point": usual, knee: "Knickpunkt", "machine balance": "Maschinenbalance" })[word];
const ai = ({ intensity }: Terms) => (intensity === "operational" ? "OI" : "AI");
/** Translates Python's texts for the confidence in a source. */
const CONFIDENCES: Readonly<Record<string, string>> = {
  datasheet: "Datenblatt",
  derived: "abgeleitet",
  given: "wie angegeben",
  measured: "gemessen",
  secondary: "zweite Hand",
  "source code": "Quelltext",
  "vendor doc": "Hersteller-Doku",
};
/** Translates Python's labels of a chip's figures, such as "Peak fp16". */
const FIGURES = [
  [/^Peak /, "Spitze "],
  [/^Host memory /, "Host-Speicher "],
  [/^(.+?) bandwidth\b/, "Bandbreite $1"],
  [/^(.+) usable capacity$/, "nutzbare Kapazität $1"],
  [/^(.+) capacity for one block$/, "Kapazität $1 für einen Block"],
  [/^(.+) capacity$/, "Kapazität $1"],
  [/, one way, per chip/, ", eine Richtung, je Chip"],
  [/, one way, per link/, ", eine Richtung, je Link"],
  [/, latency per hop$/, ", Latenz je Hop"],
  [/^Clock$/, "Takt"],
  [/^Units$/, "Einheiten"],
  [/^Power$/, "Leistungsaufnahme"],
  [/^Energy, /, "Energie, "],
  [/^Ceiling: /, "Zwischendecke: "],
] as const;
/** Returns a number of kernels as text in the dative case, which follows "von" and "mit". */
const kernels = (count: number, written = String(count)) => (count === 1 ? "1 Kernel" : `${written} Kerneln`);
const rows = (count: number) => (count === 1 ? "1 Zeile" : `${whole(count)} Zeilen`);
const listed = (names: readonly string[]) =>
  [...(names.length > 1 ? [names.slice(0, -1).join(", ")] : []), ...names.slice(-1)].join(" und ");
const reduced = (axes: readonly number[]) => `${axes.length === 1 ? "Achse" : "Achsen"} ${axes.join(", ")}`;
const ofBytes = (bytes: number) => (bytes === 0 ? "" : ` zu ${bytes} B`);

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const theDevice = (device: string) => (device === "chip" ? "der Chip" : `die ${device}`);
const firstToFix = (count: number) => (count === 1 ? "Der erste Kernel könnte" : `Die ersten ${count} Kernel könnten`);
const BOUND_WORDS: Readonly<Record<string, string>> = {
  memory: "speichergebunden",
  compute: "rechengebunden",
  network: "durch das Netzwerk begrenzt",
  overhead: "durch Kernelstarts begrenzt",
};
const boundWord = (regime: string) => BOUND_WORDS[regime] ?? "ohne bekannte Grenze";
/** The subject and the verb of a headline on kernels of one family, and the family's plural noun. */
const FAMILIES: Readonly<Record<string, readonly [takes: string, noun: string]>> = {
  "matrix product": ["Matrixprodukte brauchen", "Matrixprodukte"],
  attention: ["Attention braucht", "Attention-Kernel"],
  "element by element": ["Elementweise Kernel brauchen", "elementweisen Kernel"],
  normalisation: ["Normalisierungen brauchen", "Normalisierungen"],
  collective: ["Kollektive Operationen brauchen", "kollektiven Operationen"],
  copy: ["Kopien brauchen", "Kopien"],
  "look-up": ["Look-ups brauchen", "Look-ups"],
};

export const catalogue: Like<typeof en.catalogue> = {
  // How numbers are written and read.
  numerals: {
    whole,
    language: "de",
    mark: ",",
    // Separates the numbers with semicolons, because a comma would be read as a decimal mark.
    list: (numbers) => numbers.join("; "),
    apart: /[\s;]+|,\s+/,
    read: (typed) => typed.replace(",", "."),
    // A point before exactly three digits separates thousands: "4.096" is 4096. Any other point is a decimal mark:
    // "1.5k" is 1500.
    readWhole: (typed) => typed.replace(/\.(?=\d{3}(?!\d))/g, "_").replace(",", "."),
    spoken(number, prefix, unit) {
      const [many, joint, one] = [
        PREFIXES[prefix] ?? prefix,
        ...{ "B/s": ["byte", "Byte"], "OP/s": ["-Operationen", "Operationen"], "FLOP/s": ["-FLOP", "FLOP"] }[unit],
      ];
      return `${number} ${many ? `${many}${joint}` : one} pro Sekunde`;
    },
  },

  // Texts of the chart, the tooltip, the sentence under the chart, the inputs for rates, and the controls above the
  // chart.
  strings: {
    unknown: "unbekannt",
    locked: "In dieser Lektion gesperrt",
    noNumber: (typed, example) => `keine Zahl in „${typed}“; zum Beispiel „${example}“ schreiben`,
    notAUnit: (suffix, unit, example) =>
      `„${suffix}“ ist keine Einheit von ${unit}; zum Beispiel „${example}“ schreiben`,
    unitMissing: (typed, example) => `„${typed}“ hat keine Einheit; zum Beispiel „${example}“ schreiben`,
    notAboveZero: (example) => `eine Rate muss größer als null sein; zum Beispiel „${example}“ schreiben`,
    noHardware: (low, high, example) =>
      `Hardware hat eine Rate von ${low} bis ${high}; zum Beispiel „${example}“ schreiben`,
    precision: "Genauigkeit",
    memory: "Speicher",
    auto: "auto",
    main: "Haupt",
    focus: (chip) => `${chip} in den Fokus: die Regler ändern ihn`,
    show: (chip) => `${chip} zeigen`,
    lacksPeak: (precision) => `ohne ${precision}`,
    lacksBandwidth: (memory) => `ohne ${memory}`,
    lacksPeakReason: (chip, precision) => `${chip} hat keine Spitzenleistung für ${precision}`,
    lacksBandwidthReason: (chip, memory) => `${chip} hat keine Bandbreite für ${memory}`,
    failed: (reason) => `Dieses Roofwidget ließ sich nicht zeichnen (${reason}): Zelle noch einmal ausführen.`,
    noSliders: (reason) => `${reason}: anderen Chip, andere Genauigkeit oder anderen Speicher wählen.`,
    peak: (precision) => `Spitze ${precision}`,
    bandwidth: (level) => `Bandbreite ${level}`,
    typed: (label) => `${label}, eingetippt`,
    reset: "Zurück zum Datenblatt",
    chart: (chips, count) =>
      count === 0
        ? `Roofline von ${chips || "keinem Chip"}.`
        : `Roofline von ${chips || "keinem Chip"} mit ${kernels(count)}. Pfeiltasten gehen von Kernel zu Kernel, Enter wählt einen aus, M verschiebt einen.`,
    memoryRegion: "speichergebunden",
    computeRegion: "rechengebunden",
    noChip: "Kein Chip wird gezeigt: einen einschalten.",
    noPlaces: (count) =>
      count === 1
        ? "Der Kernel hat keine FLOPs oder keine Bytes.\nSeine Zeit steht in der Tabelle."
        : `Keiner der ${whole(count)} Kernel hat FLOPs und Bytes.\nIhre Zeiten stehen in der Tabelle.`,
    noChips: "Kein Chip zum Vergleich mit diesen Kerneln: mit „+ Chip“ einen hinzufügen.",
    ridge: (roof, intensity, peak, bandwidth, terms) =>
      `${roof.chip.name} · ${peak} bei ${roof.precision}, ${bandwidth} aus ${roof.level} · ${ridge(terms, "Ridge Point")} ${intensity}`,
    ridges: (roof, peak) =>
      `${roof.chip.name} · ${peak} bei ${roof.precision} · jede Ebene zählt; die langsamste begrenzt`,
    ridgeAt: (intensity, terms) => `${ridge(terms, "Ridge")} ${intensity}`,
    sides: {
      roofline: "links davon sind Kernel speichergebunden, rechts davon rechengebunden",
      time: "über der Diagonale sind Kernel speichergebunden, darunter rechengebunden",
    },
    sidesOf: (chip, ridge) => `${chip}: Kernel links von ${ridge} sind speichergebunden, rechts davon rechengebunden.`,
    on: (kernel, chip) => `${kernel} auf ${chip}`,
    measuredOn: (chip) => `gemessen auf ${chip}`,
    leaving: (percent, formula) => `${percent} von ${formula}`,
    least: (terms) => `min(${terms.join("; ")})`,
    attainable: (formula, rate) => `${formula} = ${rate} erreichbar`,
    bound: (by, regime, time) =>
      ({
        memory: `speichergebunden (${by})`,
        compute: "rechengebunden",
        network: `netzgebunden: ${time} über den Link`,
        overhead: `startgebunden: ${time} Start-Overhead`,
      })[regime] ?? "Grenze unbekannt",
    binding: {
      compute: "Rechenleistung",
      network: "Netzwerk",
      overhead: "Kernelstarts",
      unknown: "unbekannt",
    },
    ofPeak: (percent) => `${percent} der Spitze`,
    atMostOfPeak: (percent) => `höchstens ${percent} der Spitze`,
    ofRoof: (percent) => `${percent} der Roofline`,
    possible: (ratio) => `${ratio}× möglich`,
    upTo: (ratio) => `bis zu ${ratio}×`,
    belowRoof: (ratio) => `${ratio}× unter seinem Dach`,
    namesAbove: (names, isOffScale) => `${names}: über der Roofline${isOffScale ? ", außerhalb der Skala" : ""}`,
    measuredRoof: (rate) => ` · gemessen ${rate}`,
    atClock: (clock) => ` bei ${clock}`,
    countAbove: (count) => `${count} über der Roofline`,
    farBelow: "weit unter der Roofline",
    moreThan: (ratio) => `> ${ratio}`,
    aboveRoof: "über der Roofline: Zählung, Zeit und Spitzenleistung prüfen",
    aboveRoofShort: "über der Roofline",
    work: { FLOP: "FLOPs", OP: "Operationen" },
    zeroFlopsSentence: (unit, bytes, time, bandwidth) => `0 ${unit}, ${bytes}: mindestens ${time} bei ${bandwidth}`,
    unknownSentence: (work) => `${work} oder Bytes sind unbekannt, daher nicht im Diagramm`,
    bytesElsewhere: (levels, level) => `seine Bytes zählen für ${levels}, nicht für ${level}`,
    bytesUnrated: (levels, chip, level) =>
      `seine Bytes zählen für ${levels}, und ${chip} hat keine Bandbreite für ${level}`,
    bytesLacked: (levels, chip, own) => `seine Bytes zählen für ${levels}; das hat ${chip} nicht, nur ${own}`,
    noLinkForKernel: (chip) => `von ${chip} ist kein Link zu anderen Chips bekannt`,
    noPeakForKernel: (chip, precision, work) => `${chip} hat keine Spitzenleistung für die ${work} in ${precision}`,
    notDrawn: (count, names) =>
      count === 1
        ? `1 Kernel ist nicht gezeichnet: ${names[0]}. Seine FLOPs, Bytes oder Spitzenleistung sind unbekannt.`
        : `${whole(count)} Kernel sind nicht gezeichnet: ${names.join(", ")}${count > names.length ? ", …" : ""}. Ihre FLOPs, Bytes oder Spitzenleistungen sind unbekannt.`,
    outside: (count, names) =>
      count === 1
        ? `1 Kernel liegt außerhalb der Achsen: ${names[0]}. Er ist zu sehen, wenn die Achsen zu den Kerneln passen.`
        : `${whole(count)} Kernel liegen außerhalb der Achsen: ${names.join(", ")}${count > names.length ? ", …" : ""}. Sie sind zu sehen, wenn die Achsen zu den Kerneln passen.`,
    noCategory: "ohne Kategorie",
    moreCategories: (count) => `und ${count} weitere, in denselben Farben`,
    series: "Reihe",
    scale: (column, ticks) => `${column}: Farbskala, ${ticks.join(", ")}`,
    unnamed: (row) => `(unbenannt ${row})`,
    level: (name, bandwidth, illustrative) => `${name} · ${bandwidth}${illustrative ? " (Beispielwert)" : ""}`,
    exposed: (percent) => `${percent} unverdeckt`,
    tooltip: {
      category: "Kategorie",
      chip: "auf",
      measuredOn: "gemessen auf",
      ai,
      aiAt: (level, terms) => `${ai(terms)} bei ${level}`,
      achieved: "erreicht",
      attainable: "erreichbar",
      withOutside: "mit Netzwerk und Starts",
      roof: "der Roofline",
      peak: "der Spitze",
      atMost: "der Spitze, höchstens",
      boundBy: "begrenzt durch",
      why: "Grund",
      bandwidth: (level) => `Rate ${level}`,
      flip: "rechengebunden ab",
      computeBoundOn: "rechengebunden auf",
      time: "Zeit",
      noTime: "unbekannt: keine Mengen gegeben",
      selfTime: "eigene Zeit",
      boundTime: "Mindestzeit",
      launches: "Starts",
      share: (percent) => `${percent} des Laufs`,
      of: (rate, limit) => `${rate} von ${limit}`,
      limit: "höchstens",
      ofRoof: "vom Dach",
      above: "darüber",
    },
    time: {
      chart: (chip, count) =>
        `Rechen- und Speicherzeit von ${kernels(count)} auf ${chip || "keinem Chip"}. Pfeiltasten gehen von Kernel zu Kernel, Enter wählt einen aus.`,
      axisX: "Rechenzeit je Start",
      axisY: "Speicherzeit je Start",
      diagonal: (chip) => `${chip}: Rechnen = Speicher`,
      overhead: (seconds) => `Start-Overhead ${seconds}`,
      zeroFlops: "0 FLOP",
      zeroBytes: "0 B",
      empty: "Kein Kernel hat sowohl FLOPs als auch Bytes.",
    },
  },

  // Texts of the chip picker, the chip card and the folded panels.
  words: {
    addChip: "Chip",
    addAChip: "Chip hinzufügen",
    addChipKey: "Chip hinzufügen (C)",
    loadingCatalogue: "Der Katalog wird geladen…",
    noCatalogue: "Weitere Chips kommen von Python: zuerst die Zelle ausführen.",
    picker: "Chips",
    search: "Chips suchen",
    searchHint: "H200, AMD, 2023",
    found: (count, all) => `${count} von ${all} Chips`,
    noneFound: (query) => `Kein Chip hat „${query}“. Ein eigener: rw.Chip(…)`,
    best: "Beste Treffer",
    inUse: "In Gebrauch",
    likely: (vendor) => `Naheliegend: ${vendor}, neueste zuerst`,
    also: (vendor) => `Auch von ${vendor}, neueste zuerst`,
    generations: (vendor) => `${vendor}, alle Generationen`,
    peakAt: (precision) => `Spitze, ${precision}`,
    enter: { adds: "Eingabe fügt hinzu", hides: "Eingabe verbirgt" },
    addAndStay: "Hinzufügen und hier bleiben (Umschalt+Eingabe)",
    keys: ["↑ ↓ wählen", "Eingabe fügt hinzu und schließt", "Umschalt+Eingabe bleibt", "Esc schließt"],
    many: "8 Chips: Namen können fehlen.",
    close: "Schließen",
    otherVendor: "Andere",
    allLevels: "alle Ebenen",
    view: "Ansicht",
    views: { roofline: "Roofline", time: "Zeit", network: "Netz", instructions: "Instruktionen" },
    details: "Details",
    waiting: "Python ist beschäftigt oder beendet; Änderungen warten.",
    ended: "Python wurde beendet: Zelle noch einmal ausführen.",
    restarted: "Python wurde neu gestartet: Zelle noch einmal ausführen.",
    detailsOf: (chip) => `Details zu ${chip}`,
    vendor: "Hersteller",
    family: "Familie",
    year: "Jahr",
    status: "Stand",
    statuses: {
      "single-source": "aus einer Quelle; keine zweite gefunden",
      "cross-checked": "mit einer zweiten Quelle verglichen",
      given: "wie angegeben, nicht geprüft",
    },
    noSource: "keine Quelle angegeben",
    source: "Quelle",
    confidence: (word) => `(${CONFIDENCES[word] ?? word})`,
    othersSay: (value, ratio) => `anderswo ${value} (×${ratio}):`,
    measured: "gemessen",
    figure: (label) => FIGURES.reduce((text, [named, said]) => text.replace(named, said), label),
    peaks: "Spitzen",
    printed: "Datenblatt",
    achievable: "erreichbar",
    changed: "geändert",
    clock: "Takt",
    clockTyped: "Takt, eingegeben",
    clockTitle:
      "Ein Was-wäre-wenn: Spitzen und Speicher auf dem Chip laufen mit diesem Takt. Hauptspeicher und Verbindungen behalten ihre Raten.",
    ceilings: "Zwischendecken",
    communication: "Kommunikation",
    exposed: "Unverdeckte Kommunikation",
    exposedShort: "unverdeckt",
    exposedFractions: "Unverdeckte Anteile, eingetippt",
    noneExposed: "keine unverdeckt",
    fractionsHint: "20; 40; 60 %",
    nothingExposed: "Keine unverdeckte Kommunikation",
    flat: (percent, rate) => `${percent} unverdeckt → Plateau ${rate}`,
    noFraction: (typed) => `keine Zahl in „${typed}“; zum Beispiel „20; 40; 60 %“ schreiben`,
    notAFraction: (typed) => `„${typed}“ ist kein Anteil von 0 bis unter 100 %`,
    levels: "Ebenen",
    level: "Ebene",
    bandwidth: "Bandbreite",
    ridgeAt: (precision, terms) => `${ridge(terms, "Kante")}, ${precision}`,
    showAllLevels: "auch Ebenen zeigen, die keinen Kernel begrenzen",
    unknownLevels: "Bandbreite unbekannt, daher nicht gezeichnet:",
  },

  sourceWords: {
    before: "Vorher",
    now: "Jetzt",
    python: "Python",
    graph: (ops) => `Graph aus ${ops} Operationen`,
    leastTimes: "Zeiten sind die kürzesten, die das Dach erlaubt",
    count: (count) => `${whole(count)} Kernel`,
    fromPython: (count) => `${whole(count)} Kernel aus Python`,
    onChip: (count, chip) => `${whole(count)} Kernel auf ${chip}`,
    onUnknown: (count, chip) => `${whole(count)} Kernel · Chip in der Datei nicht genannt, gezeigt auf ${chip}`,
    swap: "Tauschen",
    stop: "Vergleich beenden",
    remarks: (count) => (count === 1 ? "1 Anmerkung" : `${count} Anmerkungen`),
    readAs: "Wie die Datei gelesen wurde",
    readAsNote: (format) => `(Format ${format})`,
    readAsColumns: ["Feld", "Zeilen", "aus"],
  },
  tabWords: {
    title: "Inspektor",
    close: "Inspektor schließen",
    allColumns: "Alle Spalten",
    names: {
      changes: "Änderungen",
      fusion: "Fusion",
      kernels: "Kernel",
      messages: "Nachrichten",
      unknown: "Unbekannt",
      workload: "Workload",
      projection: "Hochrechnung",
      chip: "Chip",
      snapshots: "Momentaufnahmen",
    },
  },

  unknownWords: {
    operation: "Operation",
    calls: "Aufrufe",
    withoutWork: "Ohne Arbeit",
    ofTime: (time, percent) => `${time}, ${percent} der Kernelzeit`,
    hasRule: "hat eine Regel",
    sizes: "Größen",
    missing: "fehlt",
    rule: "Regel für",
    proposed: "Vorschlag aus den Größen",
    says: "Was sie besagt",
    atLeast: "mindestens ",
    amount: (call, total) => `${call} je Aufruf · ${total} zusammen`,
    known: "Bekannte Kernelzeit:",
    check: (keys) => `Nicht im Trace: ${keys}. Mit config.json prüfen.`,
    fill: (keys) => `Zahl oder Ausdruck statt "?": ${keys}`,
    needsPython: "Regeln liest Python.",
    save: "In work.toml sichern",
    saved: (file) => `${file} gesichert`,
    copy: "Kopieren",
    copied: "Kopiert",
    apply: "Anwenden",
    discard: "Verwerfen",
    atOnce: "Regeln gelten sofort. Datei:",
    openFile: "work.toml öffnen …",
  },

  emptyWords: {
    drop: "Ein Profil hierher ziehen",
    files: "Nsight Compute, PyTorch, XProf, rocprof, LIKWID oder eine Tabelle mit FLOPs, Bytes und Zeit",
    open: "Datei öffnen…",
    another: "Andere Datei öffnen…",
    example: "Ein Beispiel ansehen",
    pick: "Chip wählen",
    python: "In Python:",
    code: 'rw.roofline("profile.ncu-rep")',
  },

  openWords: {
    open: "Öffnen",
    title: "Ein Profil öffnen",
    choose: "Datei wählen…",
    hint: "Oder eine Datei irgendwo auf dieses Widget ziehen.",
    drop: "Loslassen, um das Profil zu öffnen",
    path: "Pfad im Ordner des Notebooks",
    pathHint: "runs/step_7.json.gz",
    openPath: "Pfad öffnen",
    close: "Schließen",
    both: (name) => `${name}: mit den gezeigten Kernels vergleichen oder allein zeigen?`,
    compare: "Vergleichen",
    replace: "Allein zeigen",
    cancel: "Abbrechen",
    sending: (name, sent, size) => `${name} wird gesendet: ${sent} von ${size}`,
    reading: (name) => `Python liest ${name}…`,
    opened: (name, count) => `${kernels(count, whole(count))} aus ${name}`,
    invite: "Zum Anfang ein Profil öffnen oder einen Chip hinzufügen.",
  },

  // The filter bar.
  filterWords: {
    title: "Filter",
    menu: (count) => (count === 0 ? "Filter" : `Filter · ${whole(count)}`),
    remove: (filter) => `Filter „${filter}“ aufheben`,
    only: (count) => (count === 1 ? "Nur 1 Kernel" : `Nur ${whole(count)} Kernel`),
    noInfeed: "Ohne Infeed und Outfeed",
    counted: (shown, all) => `${whole(shown)} von ${kernels(all, whole(all))}`,
    ofTime: (percent) => `${percent} der Zeit`,
    totals: (count) => (count === 1 ? "1 Summe" : `${whole(count)} Summen`),
    search: "Namen suchen",
    searchHint: "gemm  fused*norm",
    category: "Kategorie",
    boundBy: "Begrenzt durch",
    precision: "Genauigkeit",
    all: "alle",
    chosen: (count) => `${count} gewählt`,
    notTold: "ohne Angabe",
    timeShare: "Zeit",
    longest: (percent) => `die längsten Kernel, zusammen ${percent} der Zeit`,
    top: "Erste",
    infeed: "Infeed und Outfeed",
    scope: "Punkte",
    scopes: { kernels: "Kernel", program: "Programm und Schritte" },
    clear: "Filter aufheben",
    toggle: "Klick: nur diese. Umschalt oder Strg und Klick: dazunehmen oder weglassen.",
    idle: (percent, time) => `untätig ${percent} · ${time}`,
    kernelTime: "Kernelzeit",
    kernelTimeNow: "Kernelzeit jetzt",
    moreEntries: (count) => `+ ${whole(count)} weitere`,
    colourBy: "Farbe",
    byCategory: "Kernelzeit nach Kategorie",
  },

  // The fusion panel.
  fusionWords: {
    title: "Fusion",
    ops: (count) => `${count} Operationen`,
    graph: (name, ops) => `${name || "Graph"} mit ${ops === 1 ? "1 Operation" : `${ops} Operationen`}.`,
    hint: "Kante anklicken: verschmelzen; im Kernel: trennen.",
    keys: "Tasten",
    keyList:
      "Pfeiltasten gehen von Operation zu Operation, Tab zu den Kanten darunter. Enter verschmilzt oder trennt an einer Kante; auf einer Operation verschmilzt es mit der vorgemerkten oder der nächsten dahinter. M merkt eine vor, S löst sie heraus, X schneidet ihren Kernel über ihr durch, Leertaste klappt ihn auf oder zu, Strg+Z und Strg+Y machen rückgängig und stellen wieder her. Eine Operation lässt sich auf eine andere oder aus ihrem Kernel ziehen.",
    edge: (from, to, tensors) => `Von ${from} nach ${to}, ${tensors}`,
    proposed: (isMerge, before, now) => `${isMerge ? "Verschmelzen" : "Trennen"}: ${before} → ${now}`,
    noGain: (isMerge, time) => (isMerge ? `Kein Gewinn: ${time}` : `Kein Verlust: ${time}`),
    cannot: (why) => `Geht nicht: ${why}`,
    barred: ", nicht vereinbar",
    runs: (op, times, flops) => `${op} läuft ${times}-mal: ${flops}`,
    isRead: (tensor, times) => `${tensor} wird ${times}-mal gelesen`,
    partial: (bytes) => `${bytes} Teilsummen geschrieben und gelesen`,
    sides: { memory: "speichergebunden", compute: "rechengebunden", "": "" },
    fold: "Diesen Kernel zuklappen",
    fuse: (kernels, ops, chip, time) =>
      `${kernels === 1 ? `Alle ${ops} verschmelzen` : kernels === ops ? "Alle trennen" : `Zu ${kernels} Kerneln verschmelzen`} für ${chip}: ${time}`,
    fuseFor: (chip) => (chip ? `Verschmelzen für ${chip}` : "Verschmelzen"),
    bestFor: (isProven, chip, time) => `${isProven ? "Am besten" : "Nichts Besseres gefunden"} für ${chip}: ${time}`,
    others: "Andere",
    details: "Alle Zahlen",
    ends: (first, last, count) => `${first} + … + ${last} (${count} Operationen)`,
    same: (group) => `${group} ist schon ein Kernel`,
    notConnected: (one, other) => `${one} und ${other} haben keinen Tensor gemeinsam`,
    barrier: (op) => `${op} ist undurchsichtig: ein ganzer Algorithmus, der seinen Kernel nicht teilen kann`,
    reasons: {
      beside: (op, product) => `${op} speist ${product} nicht und nutzt dessen Ergebnis nicht`,
      unrelated: (one, other) =>
        `${one} und ${other} sind Matrixprodukte ohne gemeinsamen Eingang und gemeinsames Ergebnis`,
      levels: (one, two, three) =>
        `${one}, ${two} und ${three} sind drei Produkte nacheinander: ein Kernel hat höchstens zwei`,
      "both made": (op) =>
        `beide Operanden von ${op} sind Produkte desselben Kernels: ein Block hat Zeilen nur von einem`,
      window: (op, maker) =>
        `${op} liest ein Fenster des Ergebnisses von ${maker}: Nachbarblöcke würden dasselbe berechnen`,
      "window rows": (op, reduction) =>
        `${op} liest Nachbarn jedes Elements, daher kann ${reduction} seine Zeilen nicht ganz haben`,
      "other axes": (op, product) => `${op} reduziert andere Achsen als die von ${product}`,
      "unused axes": (op, product) => `${op} hat Achsen, die ${product} nicht verwendet`,
      "no rows": (op, product) => `${op} hat die Zeilen von ${product} nicht`,
      "block rows": (op) => `${op} reduziert entlang der Zeilen, die über Blöcke verteilt sind`,
      "across blocks": (op) => `${op} summiert Zeilen auf, die über Blöcke verteilt sind`,
      "whole rows": (op, product) => `${op} braucht ganze Zeilen von ${product}: den Chip anzeigen, der sie fasst`,
      chain: (one, other) => `${one} und ${other} sind zwei Produkte nacheinander: einen Chip anzeigen, der sie fasst`,
    },
    joined: (tensor) => `jeder Block von ${tensor} braucht Elemente, die andere Blöcke berechnen`,
    prologueAxis: ({ name, axes }, product) =>
      `${name} reduziert ${reduced(axes)}, die ${product} nicht aufsummiert: jeder Block bräuchte alle Zeilen`,
    shuffle: (op, size, holds) =>
      `${op} verschiebt Elemente auf unbekannte Weise: die Tensoren (${size}) passen nicht ganz auf den Chip; ${holds}`,
    notConvex: (inner, first, last) => `${inner} muss nach ${first} und vor ${last} laufen`,
    cycle: (group, between) => `${group} in einem Kernel liefe sowohl vor als auch nach ${between}`,
    tiles: (group) => `die Kacheln von ${group}`,
    tilesOf: (side) => `Kacheln aus ${side} × ${side} Elementen`,
    capacity: (what, need, holds) => `${what} brauchen ${need} zugleich; ${holds}`,
    holds: ({ level, units }, chip, there) =>
      `${units > 1 ? `der Anteil einer Einheit am ${level}` : `der ${level}`} von ${chip} fasst ${there}`,
    holdsUnknown: "den Chip anzeigen, der so viel fasst",
    rows: (needs, holds) => {
      const each = needs.map(([count, of, need], at) => {
        const verb = count === 1 ? " braucht" : " brauchen";
        return `${rows(count)} von ${listed(of)}${at === 0 ? verb : ""} ${need}`;
      });
      return `${each.join(", ")}${needs.length === 1 ? " zugleich" : ""}; ${holds}`;
    },
    axes: (one, other, { group, need, holds }) =>
      `${
        reduced(one.axes) === reduced(other.axes)
          ? `${one.name} und ${other.name} reduzieren ${reduced(one.axes)}, aber dazwischen werden Elemente verschoben`
          : `${one.name} reduziert ${reduced(one.axes)}, ${other.name} reduziert ${reduced(other.axes)}`
      }: ein Kernel aus ${group} hielte ${need} zugleich auf dem Chip; ${holds}`,
    crowded: (sentence, more) =>
      `${sentence}${more > 0 ? `, und ${more} ${more === 1 ? "weiterer Kernel passt" : "weitere Kernel passen"} nicht` : ""}: die Zahlen nehmen an, dass sie passen`,
    merged: (group) => `${group}: ein Kernel`,
    apartNow: (op) => `${op} ist jetzt ein eigener Kernel`,
    alone: (op) => `${op} ist schon ein eigener Kernel`,
    last: (op) => `keine Operation liest die Ausgabe von ${op}: eine der beiden mit M vormerken`,
    marked: (op) => `${op} ist vorgemerkt: Enter auf einer anderen verschmilzt beide`,
    topmost: (op) => `${op} ist die erste Operation ihres Kernels`,
    at: (op, kind, parts) =>
      [
        ...[op, kind, `${parts.enters} hinein, ${parts.leaves} hinaus`],
        ...(parts.from ? [`von ${parts.from}`] : []),
        ...(parts.to ? [`nach ${parts.to}`] : []),
        ...(parts.others ? [`in einem Kernel mit ${parts.others}`] : []),
      ].join(" · "),
    members: "Kernel und ihre Operationen",
    passes: (count: number) => (count === 1 ? "1 Durchgang" : `${count} Durchgänge`),
    direction: (isWrite: boolean) => (isWrite ? "schreibt" : "liest"),
    more: (kernels) => `und ${kernels} weitere`,
    none: "Keine: alle trennen",
    pairs: "Paare",
    xla: "Wie XLA",
    flops: "FLOPs",
    unfused: "Unfusioniert",
    compiler: "Wie Compiler",
    best: (isProven) => (isProven ? "Beste" : "Beste gefundene"),
    light: "Lichtgeschwindigkeit",
    now: (ratio) => `jetzt ${ratio}×`,
    fewerBytes: (ratio) => `${ratio}× weniger Bytes`,
    fewerBytesSameTime: (ratio) => `${ratio}× weniger Bytes · gleiche Zeit`,
    mergeFaster: (ratio) => `dieser Schritt: ${ratio}× schneller`,
    mergeSlower: (ratio) => `dieser Schritt: ${ratio}× langsamer`,
    working: "wird berechnet…",
    counted: (kernels) => `${kernels} Kernel`,
  },

  // Texts about the what-ifs of kernels.
  moveWords: {
    less: (ratio) => `${ratio}× weniger Datenverkehr`,
    more: (ratio) => `${ratio}× mehr Datenverkehr`,
    faster: (change, ratio) => `${change} (${ratio}× schneller)`,
    slower: (change, ratio) => `${change} (${ratio}× langsamer)`,
    still: (time) => `weiterhin ${time}`,
    unknownTime: "Zeit unbekannt",
    attainable: (change) => `erreichbar ${change}`,
    atRoof: "erreicht seine Roofline",
    all: (change) => `alle Kernel ${change}`,
    whatIf: (parts) => `was wäre, wenn: ${parts}`,
    told: "was wäre, wenn",
    pickedUp: (kernel, can, byKeys) => {
      const ways = [
        ...(can.bytes ? ["links und rechts ändern die Bytes"] : []),
        ...(can.time ? [can.bytes ? "auf und ab die Zeit" : "auf und ab ändern die Zeit"] : []),
      ];
      return `${kernel} lässt sich verschieben: ${ways.join(", ")}${byKeys ? ", um 5 %; Enter beendet, Escape nimmt zurück" : ""}`;
    },
    reset: (kernel) => `Annahme zu ${kernel} zurücknehmen`,
    moved: (count) => (count === 1 ? "1 Kernel ist verschoben" : `${count} Kernel sind verschoben`),
    back: "Zurücknehmen",
    resetAll: (count) =>
      count === 1 ? "Den verschobenen Kernel zurücknehmen" : "Alle verschobenen Kernel zurücknehmen",
  },

  workWords: {
    panel: (kernel) => `Arbeit von ${kernel}`,
    amounts: { FLOP: "FLOPs", OP: "Operationen", B: "Bytes" },
    box: (amount, count) => (count === 1 ? amount : `${amount} eines Starts`),
    example: (amount) => `z. B. ${amount}`,
    reset: (amount) => `Eingegebene ${amount} entfernen`,
    total: (count, amounts) => `${whole(count)} Starts${amounts.length > 0 ? `: ${amounts.join(", ")}` : ""}`,
    negative: (example) => `ein Kernel hat nicht weniger als nichts; zum Beispiel „${example}“ schreiben`,
    tooMuch: (most, example) => `ein Start hat höchstens ${most}; zum Beispiel „${example}“ schreiben`,
  },

  // Rulers and snapshots.
  rulerWords: {
    roofsAbove: (limits) => `Rooflines darüber: ${limits.join("; ")}.`,
    rulers: "Lineale",
    patterns: "Muster",
    joins: "Die Ebenen jedes Kernels verbinden (L)",
    noJoins: "Zuerst alle Ebenen des Speichers wählen.",
    gaps: "Abstandspfeile (R)",
    gapKinds: { first: "die ersten", all: "alle", none: "keine" },
  },

  snapshotWords: {
    title: "Momentaufnahmen",
    freeze: "Diese Kurve festhalten (F)",
    hint: "F hält die jetzige Kurve fest; R ändert, welche Kernel Abstandspfeile haben.",
    name: (place) => `Aufnahme ${place}`,
    nameOf: (name) => `Name von ${name}`,
    show: (name) => `${name} zeigen`,
    remove: (name) => `${name} löschen`,
    noName: "Eine Momentaufnahme braucht einen Namen.",
    kept: (name, chip, peak, count) => `Festgehalten als ${name}: ${chip}, ${peak}, ${count} Kernel.`,
    faster: (ratio) => `${ratio}×`,
    intensity: (ratio, terms) => `${ai(terms)} ${ratio}×`,
    peak: (ratio) => `Spitze ${ratio}×`,
    bandwidth: (level, ratio) => `${level} ${ratio}×`,
  },

  verdictWords: {
    // In German a whole sentence after a colon begins with a capital letter.
    withWhatIf: (text) => `Mit Ihrem Was-wäre-wenn: ${text}`,
    noMatch: "Kein Kernel der beiden Läufe hat denselben Namen.",
    totals: (before, now) =>
      `Nur die Summen sind vergleichbar: vorher ${before}, jetzt ${now}. Wenn die Läufe aus verschiedenen Werkzeugen kommen, sind die Namen verschieden.`,
    noChange: (time) => `Keine Änderung: vorher und jetzt ${time}.`,
    timesAsFast: (factor, before, now) => `${factor}× so schnell: vorher ${before}, jetzt ${now}.`,
    timesAsLong: (factor, before, now) => `${factor}× so lange: vorher ${before}, jetzt ${now}.`,
    lessTime: (percent, before, now) => `${percent} weniger Zeit: vorher ${before}, jetzt ${now}.`,
    moreTime: (percent, before, now) => `${percent} mehr Zeit: vorher ${before}, jetzt ${now}.`,
    changed: (parts) =>
      `${parts
        .map(([kind, count, change], at) => {
          const who = at === 0 ? `${whole(count)} Kernel` : whole(count);
          if (kind === "same") return `${who} gleich auf 1 %`;
          if (kind === "other") return `${who} nicht vergleichbar`;
          return `${who} ${kind === "faster" ? "schneller" : "langsamer"} (${change})`;
        })
        .join(", ")}.`,
    only: (before, now) =>
      `${[before && `${whole(before)} nur vorher`, now && `${whole(now)} nur jetzt`].filter(Boolean).join(", ")}.`,
    inBoth: (count) => `${count === 1 ? "Der Kernel ist" : `Alle ${whole(count)} Kernel sind`} in beiden Läufen.`,
    above: "Die meisten Kernel sind über der Roofline: Der Chip oder die Zählungen stimmen nicht.",
    aboveDetail: (above, count, chip) =>
      `${whole(above)} von ${kernels(count, whole(count))} ${above === 1 ? "braucht" : "brauchen"} weniger Zeit, als die Roofline von ${chip} erlaubt. Chip, Genauigkeit, FLOPs und Bytes prüfen.`,
    idle: (device, percent) => `${capital(theDevice(device))} ist ${percent} der Zeit untätig.`,
    noneRan: (time) => `In ${time} lief kein Kernel.`,
    run: (running, time, launches, each) =>
      `Kernel laufen ${running} von ${time}, in ${launches === 1 ? "einem Start" : `${whole(launches)} Starts zu ${each}`}.`,
    runWithGap: (running, time, gap, start) =>
      `Kernel laufen ${running} von ${time}. Die meiste untätige Zeit ist eine Lücke von ${gap}, die ${start} nach dem Start des ersten Kernels beginnt.`,
    savings: (count, time, rest) => `${firstToFix(count)} bis zu ${time} sparen; an allen Rooflines blieben ${rest}.`,
    firstSave: (count, time) => `${firstToFix(count)} bis zu ${time} sparen.`,
    firstSaveOf: (count, saved, time) => `${firstToFix(count)} bis zu ${saved} von ${time} sparen.`,
    remains: (time) => `An allen Rooflines blieben ${time}.`,
    between: (least, most) => `${least} bis ${most}`,
    exposed: (percent) => `Offene Kommunikation nimmt ${percent} der belegten Zeit ein.`,
    exposedDetail: (time, percent) => `Sie läuft ${time}, davon ${percent || "nichts"} verdeckt von anderen Kernels.`,
    waited: (time) => `In allen Aufrufen gleicher Nachrichten zusammen warteten Ränge höchstens ${time}.`,
    overLink: (link, now, before) =>
      `Mit Ihrer Annahme: über einen Link mit ${link} brauchen dieselben Nachrichten mindestens ${now} statt ${before}.`,
    category: (family, percent, device, idle) =>
      `${FAMILIES[family]?.[0] ?? `Kernel der Kategorie „${family}“ brauchen`} ${percent} der Zeit${idle && `; ${theDevice(device)} ist ${idle} untätig`}.`,
    slowest: (family, count, regime, limit, percent) => {
      const who = count === 1 ? "Der langsamste davon" : `Die ${count} langsamsten ${FAMILIES[family]?.[1] ?? "davon"}`;
      if (regime === "memory")
        return `${who} ${count === 1 ? "bewegt" : "bewegen"} Bytes mit ${percent} der ${limit}-Bandbreite.`;
      const runs = count === 1 ? "läuft" : "laufen";
      if (regime === "compute") return `${who} ${runs} mit ${percent} der ${limit}-Spitze.`;
      return `${who} ${runs} mit ${percent} ${count === 1 ? "seiner Roofline" : "ihrer Rooflines"}.`;
    },
    noRoof: (count, time) => `${whole(count)} Kernel in ${time}.`,
    noRoofDetail: "Den Chip einschalten, auf dem sie liefen: Dann ist zu sehen, was zu sparen ist.",
    noneKnown: (count) =>
      count === 1 ? "Der Kernel hat keine bekannte Roofline." : "Kein Kernel hat eine bekannte Roofline.",
    fewKnown: (percent) => `Nur ${percent} der Kernelzeit haben eine bekannte Roofline.`,
    giveWork: "FLOPs und Bytes angeben: Dann ist zu sehen, was zu sparen ist.",
    restUnknown: "Ohne FLOPs und Bytes lässt sich über die anderen Kernel nichts sagen.",
    one: (name, percent, saved, time) =>
      `${name} läuft mit ${percent} seiner Roofline: Bis zu ${saved} von ${time} wären zu sparen.`,
    oneDetail: (regime, rest) => `Er ist ${boundWord(regime)}: An seiner Roofline blieben ${rest}.`,
    near: (name, percent, chip) =>
      `${name ? `${name} läuft mit ${percent} seiner Roofline` : `Kernel laufen mit ${percent} ihrer Rooflines`}: Auf ${chip} ist kaum noch etwas zu sparen.`,
    first: (first, count, saved, time) =>
      `In ${first} von ${kernels(count, whole(count))} liegt das meiste, was zu sparen ist: bis zu ${saved} von ${time}.`,
    spread: (saved, time, percent) =>
      `Bis zu ${saved} von ${time} wären zu sparen: Kernel laufen mit ${percent} ihrer Rooflines.`,
    noneStandsOut: (count, time) => `Kein Kernel ragt heraus: Die ersten ${count} könnten bis zu ${time} sparen.`,
    mostIn: (parts) => `Am meisten wäre zu sparen in ${parts.join(" und ")}.`,
    fused: (count, factor) =>
      `Zu ${count === 1 ? "einem Kernel" : kernels(count, whole(count))} fusioniert läuft dieser Graph ${factor}× so schnell.`,
    bestPartition: (chip, isExact) =>
      `Diese Partition ist die beste${isExact ? "" : ", die gefunden wurde,"} für ${chip}.`,
    graphDetail: (isUnfused, bound, count, moved, least) => {
      const some =
        bound === count
          ? `alle ${whole(count)}`
          : bound === 0
            ? `keiner der ${whole(count)}`
            : `${whole(bound)} von ${whole(count)}`;
      const who =
        count === 1 && bound === 1
          ? "ist der Kernel"
          : bound === 0
            ? `ist ${some} Kernel`
            : `sind ${some} Kernel${bound === count ? "" : "n"}`;
      return `${isUnfused ? "Unfusioniert" : "So"} ${who} speichergebunden: ${count === 1 ? "Er bewegt" : "Sie bewegen"} ${moved}, wo der Graph mindestens ${least} braucht.`;
    },
    noTimes: (count) => `${whole(count)} Kernel ohne Zeiten.`,
    showAChip: (count) => `Einen Chip einschalten, um zu sehen, was ${count === 1 ? "ihn" : "sie"} begrenzt.`,
    unmeasured: (name, count, parts, chip) => {
      const told = parts.map(([regime, each]) => [whole(each), boundWord(regime)] as const);
      const all = told[0]?.[1] ?? "";
      if (name) return `${name} ist ${all} auf ${chip}.`;
      const which = told.length > 1 ? `: ${told.map((part) => part.join(" ")).join(", ")}` : `, alle ${all}`;
      return `${whole(count)} Kernel${which} auf ${chip}.`;
    },
    atRoofs: (count, time, isWhole) =>
      `${count === 1 ? "An seiner Roofline braucht er" : "An ihren Rooflines brauchen sie"} ${isWhole ? "" : "mindestens "}${time}.`,
  },

  latencyWords: {
    name: "Latenz",
    moves: (bytes) => `bewegt ${bytes}`,
    hasInFlight: (bytes) => `hat ${bytes} unterwegs`,
    atMost: (what, latency, rate, bandwidth) => `${what}: bei ${latency} sind das höchstens ${rate} von ${bandwidth}`,
    explains: (percent) => `Latenz erklärt ${percent} der Zeit`,
    contradicted: (factor) =>
      `das bräuchte ${factor}× die Zeit, also sind die Bytes falsch gezählt oder die einer näheren Ebene`,
    label: (latency, bytes, rate) => `bei ${latency}, ${bytes} unterwegs: höchstens ${rate}`,
    brief: (rate) => `Latenz: höchstens ${rate}`,
    and: (boundBy) => `${boundBy}, Latenz`,
  },
  networkWords: {
    link: "Link",
    topology: "Topologie",
    topologies: { ring: "Ring", switch: "Switch", "in-network": "addierender Switch" },
    latency: "Latenz",
    latencyOf: (time) => `Latenz ${time}`,
    axisX: "Nachrichtengröße, Bytes",
    axisY: "Busbandbreite, B/s",
    halfAt: (size) => `Hälfte bei ${size}`,
    latencyBound: "◂ latenzbegrenzt",
    bandwidthBound: "bandbreitenbegrenzt ▸",
    ifAdds: (rate) => `${rate}, wenn der Switch addiert`,
    model: (factor, link) => `Zeit = Latenz + ${factor}Größe / ${link}`,
    flatFor: (rate, kind) => `${rate} für ${kind}`,
    whatIf: "Annahme:",
    noSizes: "Dieses Profil hat keine Nachrichtengrößen.",
    noLink: "Die Bandbreite der Links des Chips ist unbekannt.",
    noRates: "Die Ränge oder die Zeiten dieser Nachrichten sind unbekannt.",
    nothingSent: "Diese Nachrichten senden nichts: ein Rang, oder keine Bytes.",
    noLatency: (link) =>
      `Die Latenz von ${link} ist unbekannt: geben Sie sie ein, um latenzbegrenzte Nachrichten zu sehen.`,
    typeLatency: "Die Latenz ist unbekannt: geben Sie sie in das Feld ein",
    fixed: "Annahmen ändern nur den Link zwischen Chips",
    unknown: "unbekannt",
    meanCall: "mittlerer Aufruf",
    fastestCall: "schnellster Aufruf",
    algorithm: "algbw",
    ofLinkRow: "vom Link",
    ofNamed: (percent, link) => `${percent} von ${link}`,
    waitingRow: "Warten, höchstens",
    note: "Hinweis",
    group: "Gruppe",
    above: {
      ring: "über dem Dach eines Rings: vielleicht verbindet ein Switch die Ränge",
      switch: "mehr, als die Leitung trägt: vielleicht addiert der Switch",
      "in-network": "über dem Dach eines addierenden Switchs: vielleicht lief der Ring-Algorithmus",
      all: "über jedem Dach des Links: bitte Link, Größe und Ränge prüfen",
    },
    severalNodes: (link) => `wenn ${link} nicht alle Ränge verbindet, ist das Netz zwischen ihnen die Grenze`,
    ranks: (count) => (count === 1 ? "1 Rang" : `${whole(count)} Ränge`),
    chart: (chip, count) =>
      `Netz-Ansicht von ${chip}: Busbandbreite nach Nachrichtengröße, ${whole(count)} Nachrichten. Die Pfeiltasten gehen von Nachricht zu Nachricht.`,
    exposed: (percent, time) => `offen ${percent} · ${time}`,
    hidden: (percent, time) => `verdeckt ${percent} · ${time}`,
    communication: "Kommunikation",
    counted: (count, ranks, topology) => {
      const of = ranks.length > 0 ? ` von ${listed(ranks.map(whole))} ${ranks.join() === "1" ? "Rang" : "Rängen"}` : "";
      return `${count === 1 ? "1 Nachricht" : `${whole(count)} Nachrichten`}${of} · Dach bei Topologie „${topology}“`;
    },
    heads: ["Nachricht", "Aufrufe", "Busband\u00adbreite", "Vom Link", "Warten\u00a0≤"],
    ofLink: (percent) => `${percent} vom Link`,
    waiting: "Warten",
    waitLongest: "Warten am längsten",
    takeLongest: "Dauern am längsten",
    sum: (count, part, total) => `${count === 1 ? "diese" : `diese ${count}`}: ${part} von ${total}`,
    dragHint: {
      peak: "Ziehen: Bandbreite des Links",
      bandwidth: "Ziehen: Latenz",
      ridge: "Ziehen: Bandbreite und Latenz",
    },
  },

  instructionWords: {
    axisX: "Instruktionen je Transaktion",
    axisY: { warp: "Warp-Instruktionen/s", wavefront: "Wavefront-Instruktionen/s" },
    peak: "Spitze",
    about: (rate) => `etwa ${rate}`,
    walls: {
      "stride 0": "Schrittweite 0",
      "stride 1, 4 B": "Schrittweite 1, 4 B",
      "stride 1, 8 B": "Schrittweite 1, 8 B",
      "stride 8 and more, 4 B": "Schrittweite ab 8, 4 B",
      "no bank conflict": "ohne Bankkonflikt",
      "32-way bank conflict": "32-facher Bankkonflikt",
    },
    rate: "Rate",
    perLevelRow: (level) => `je ${level}-TXN`,
    perLevel: (ratio, level) => `${ratio} je ${level}-Transaktion`,
    ofRoof: (percent) => `${percent} vom Dach`,
    ofPeak: (percent, peak) => `${percent} der Spitze von ${peak}`,
    ofProduct: (percent, product) => `${percent} von ${product}`,
    lowest: "vom niedrigsten Dach",
    lanes: "aktive Lanes",
    accesses: { global: "globale Zugriffe", shared: "Shared-Zugriffe" },
    each: {
      global: (count) => `je ${count} Transaktionen`,
      shared: (count) => `je ${count} Durchgänge`,
    },
    model: "Dach = min(Spitze, Instruktionen je Transaktion × Transaktionen/s)",
    estimate: "die Spitze ist eine Schätzung, eine Instruktion je Takt und CU",
    unknownRoof: "das niedrigste Dach ist unbekannt",
    uncounted: "Instruktionen nicht gezählt",
    noCounts: "Dieses Profil zählt keine Instruktionen.",
    noRoofs: "Dieses Profil nennt seinen Chip nicht, also sind die Dächer unbekannt.",
    fixed: "Diese Dächer sind die des Chips im Profil. Regler, Genauigkeit und Speicher ändern sie nicht.",
    chart: (chip, count) =>
      `Instruktions-Roofline von ${chip}: Instruktionen pro Sekunde nach Instruktionen je Transaktion, ${count === 1 ? "1 Kernel" : `${whole(count)} Kernel`}. Die Pfeiltasten gehen von Kernel zu Kernel und von Ebene zu Ebene.`,
  },

  // Texts of the ranking, the projected time, and the comparison of two runs.
  runWords: {
    timeOn: (time, chip, precision) => `${time} auf ${chip} in ${precision}`,
    projected: (before, now, ratio) => `${before} → ${now} (${ratio}×)`,
    sameChip: "Einen anderen Chip wählen, um die Laufzeit dort zu sehen.",
    projectOnto: "Übertragen auf",
    keeps: "Jeder Kernel behält seinen Anteil an der Roofline.",
    stays: (time) => `${time} von Kerneln mit unbekannter Grenze bleiben wie gemessen.`,
    far: (percent, limit) =>
      `Kernel unter ${limit} ihrer Roofline (${percent} der Zeit) werden auf einem anderen Chip kaum schneller.`,
    above: (percent) =>
      `Bei Kerneln über ihrer Roofline (${percent} der Zeit) sind Zählungen, Zeiten oder Spitzen falsch, also auch ihre projizierten Zeiten.`,
    ranOn: "Gelaufen auf",
    chooseRan: "Chip wählen",
    ranNowhere: "Diese Kernel nennen nicht den Chip, auf dem sie gelaufen sind: bitte wählen.",
    runIn: "Alle FLOPs in",
    asTold: "wie gemessen",
    reaching: "Wenn diese ihre Roofline erreichen:",
    selectSome: "Kernel auswählen, die ihre Roofline erreichen sollen.",
    allSelected: (count) => (count === 1 ? "der ausgewählte Kernel" : `alle ${count} ausgewählten`),
    more: (count) => `und ${count} weitere`,

    verdicts: {
      faster: "schneller",
      slower: "langsamer",
      same: "gleich",
      "other work": "andere Arbeit",
      unknown: "unbekannt",
    },
    verdictTitle:
      "Kernel gehören zusammen, wenn ihr Name gleich ist, bei mehreren gleichen Namen auch ihre Arbeit. Gleich: Die Bereiche der Zeiten überlappen, oder einzelne Zeiten liegen innerhalb von 1 %. Andere Arbeit: Die FLOPs sind verschieden.",
    before: "Vorher",
    now: "Jetzt",
    change: "Änderung",
    same: (count) => `${whole(count)} gleich`,
    matched: "Zugeordnet nach Name und Arbeit.",
    how: "Wie",
    launches: (time, count) => `${time} × ${whole(count)}`,
    perLaunch: (count) =>
      `${count} Kernel ${count === 1 ? "wurde" : "wurden"} öfter oder seltener gestartet als vorher; verglichen sind die Zeiten je Start.`,
    onlyBefore: (count, time) => `${whole(count)} nur vorher (${time})`,
    onlyNow: (count, time) => `${whole(count)} nur jetzt (${time})`,
    showAlone: "Zeigen",
    titleBefore: "Nur vorher",
    titleNow: "Nur jetzt",
  },

  // The table.
  tableWords: {
    title: "Alle Spalten",
    close: "Tabelle schließen",
    tabHeads: { self_time: "Zeit", headroom: "Sparbar", ai: "AI" },
    above: "darüber",
    ofItsRoof: (percent) => `${percent} der Roofline`,
    boundBy: (limit) => `begrenzt durch ${limit}`,
    fixFirst: (chip) => (chip ? `Zuerst beheben auf ${chip}` : "Zuerst beheben"),
    couldSave: (count, time) => `${count === 1 ? "dieser spart" : `diese ${count} sparen`} bis zu ${time}`,
    select: "Auswählen",
    selectFirst: (count) => (count === 1 ? "Ihn auswählen" : `Diese ${count} auswählen`),
    others: "Andere",
    ofKernelTime: (time, percent) => `${time}, ${percent} der Kernelzeit`,
    saves: (time) => `sparen bis zu ${time}`,
    onlyThese: "Nur diese",
    clear: "Aufheben",
    areAbove: (count) =>
      count === 1 ? "1 Kernel ist über der Roofline." : `${whole(count)} Kernel sind über der Roofline.`,
    causes: {
      asynchronous: () =>
        "Vermutlich asynchrone Kopien: Die Zeit ist die zum Anstoßen oder Beenden der Kopie, nicht die der Kopie.",
      precision: (ran, judged) => `Vermutlich liefen sie in ${ran}, beurteilt sind sie in ${judged}.`,
      cache: (level) => `Vermutlich kommen ihre Bytes aus ${level}.`,
      shapes: () => "Vermutlich, weil ihre Bytes aus Formen berechnet und nicht gemessen sind.",
      chip: (chip) => `Vermutlich ist der Chip nicht ${chip}.`,
      clock: () => "Vermutlich erhöhter Takt oder Rundung.",
      wrong: () => "Vermutlich falsche Zählungen, eine falsche Zeit oder eine falsche Spitze.",
    },
    judgeAt: (precision) => `In ${precision} beurteilen`,
    showLevels: "Alle Ebenen zeigen",
    showThem: (count) => (count === 1 ? "Zeigen" : "Diese zeigen"),
    withoutWork: (count, percent) =>
      `${count === 1 ? "1 Kernel hat" : `${whole(count)} Kernel haben`} keine FLOPs oder Bytes${percent && ` (${percent} der Kernelzeit)`}.`,
    typeWork: () => "Arbeit eingeben …",
    why: "Warum unter dem Dach",
    notRanked: (count, percent) =>
      `${count === 1 ? "1 kollektive Operation" : `${whole(count)} kollektive Operationen`} (${percent} der Zeit) ohne Rang: Die Datei hat keine Bytes über den Link.`,
    whatIfs: (count) => `${count === 1 ? "1 Was-wäre-wenn" : `${whole(count)} Was-wäre-wenn`} ·`,
    removeWhatIfs: "Entfernen",
    chosen: (count) => `${whole(count)} ausgewählt`,
    grid: (count) =>
      `Tabelle mit ${whole(count)} ${count === 1 ? "Kernel" : "Kerneln"}. Pfeiltasten gehen von Zeile zu Zeile, Enter wählt eine Zeile, die Leertaste nimmt eine dazu, Escape hebt die Auswahl auf.`,
    unknown: "–",
    unknownTitle: "unbekannt",
    less: (percent) => `< ${percent}`,
    aboveRoof: "über der Roofline: Zählung, Zeit und Spitzenleistung prüfen",
    columns: "Spalten",
    allColumns: "Alle",
    usualColumns: "Vorgabe",
    ours: "Zählungen und Grenzen",
    ofFile: "Aus der Datei",
    sortBy: "Sortieren nach",
    sort: (title) => `Sortieren: ${title}`,
    copy: "Kopieren",
    csv: "CSV",
    copyTitle: (what) => `${what} zum Einfügen in eine Tabellenkalkulation kopieren`,
    csvTitle: (what) => `${what} als CSV-Datei speichern`,
    selectedRows: (count) => (count === 1 ? "Die ausgewählte Zeile" : `Die ${whole(count)} ausgewählten Zeilen`),
    allRows: (count) => (count === 1 ? "Die Zeile" : `Alle ${whole(count)} Zeilen`),
    copied: (count) => `${rows(count)} kopiert`,
    notCopied: "Der Browser erlaubt hier kein Kopieren: stattdessen eine CSV-Datei speichern.",
    saved: (count, file) => `${rows(count)} in ${file}`,
    none: "Kein Kernel passt durch die Filter.",
    elsewhere: (ran, judging) =>
      `Gemessen auf ${ran}; Grenzen, Anteile an der Roofline und Reserven gelten für ${judging}.`,
    main: "Hauptspeicher",
    heads: {
      name: "Kernel",
      category: "Kategorie",
      precision: "Genauigkeit",
      count: "Starts",
      rank: "Rang",
      time: "Zeit",
      self_time: "Eigene Zeit",
      share: "Anteil",
      cumulative_share: "Kumuliert",
      flops: "FLOPs",
      achieved: "Erreicht",
      attainable: "Erreichbar",
      bound_by: "Begrenzt durch",
      bound_time: "Mindestzeit",
      utilization: "% Roofline",
      roof_fraction: "% Erreichbar",
      peak_fraction: "% Spitze",
      headroom: "Reserve",
    },
    operations: "Operationen",
    flopsOf: (key, work) => `${work} ${key}`,
    bytesAt: (level) => `Bytes ${level}`,
    aiAt: (level) => `AI ${level}`,
    rateAt: (level) => `Rate ${level}`,
    usedAt: (level) => `Nutzung ${level}`,
    meanings: {
      name: "Der Name des Kernels",
      category: "Die Kategorie in der Datei",
      precision: "Die Genauigkeit, wo die Datei sie nennt",
      count: "Anzahl der Starts; alle anderen Spalten sind Summen darüber",
      rank: "Der Platz nach eigener Zeit, die längste zuerst",
      time: "Gemessene Zeit",
      self_time: "Gemessene Zeit ohne die darin geschachtelten Zeilen",
      share: "Eigene Zeit durch die aller Kernel",
      cumulative_share: "Anteil dieses Kernels und derer mit mehr eigener Zeit",
      flops: (work) => `${work} über alle Genauigkeiten`,
      achieved: (work) => `${work} durch gemessene Zeit`,
      attainable: "min(Spitze; AI × Bandbreite)",
      bound_by: "Was am meisten Zeit braucht",
      bound_time: "Die kürzeste Zeit, die die Roofline erlaubt",
      utilization: "Mindestzeit durch gemessene Zeit",
      roof_fraction: "Erreicht durch erreichbar",
      peak_fraction: "Erreicht durch Spitze",
      headroom: "Eigene Zeit, die der Kernel an seiner Roofline spart",
    },
    flopsMeaning: (key, work) => `${work} in ${key}`,
    bytesMeaning: (level) => `Bewegte Bytes, ${level}`,
    aiMeaning: (level, work) => `${work} durch Bytes, ${level}`,
    rateMeaning: (level) => `Bytes durch gemessene Zeit, ${level}`,
    usedMeaning: (level) => `Bytes durch gemessene Zeit gegen die Bandbreite, ${level}`,
    ofTheFile: (name) => `„${name}“ aus der Datei`,
  },

  // Texts of the axes, the units and the tools of the chart.
  figureWords: {
    performance: (unit) => `Leistung (${unit})`,
    across: (title) => (title.charAt(0).toUpperCase() + title.slice(1)).replace(/OP\/B\b/g, "OP/Byte"),
    more: (count) => `+ ${count} weitere`,
    caption: (count, file, of, isTimed) =>
      `Roofline ${count > 0 ? `von ${whole(count)} ${count === 1 ? "Kernel" : "Kerneln"}${file && ` aus ${file}`} auf ${of}` : `von ${of}`}.${isTimed ? " Fläche: Anteil an der Kernelzeit." : ""}`,
    at: (chips, precision) => `${chips} bei ${precision}`,
    notShown: (zeroFlops, withoutCounts, share) => {
      const parts = [
        zeroFlops > 0 ? `${whole(zeroFlops)} Kernel mit 0 FLOP` : "",
        withoutCounts > 0 ? `${whole(withoutCounts)} ${zeroFlops > 0 ? "" : "Kernel "}ohne Zählwerte` : "",
      ].filter(Boolean);
      return `Nicht gezeigt: ${parts.join(" und ")}${share && `, zusammen ${share} der Kernelzeit`}.`;
    },
  },

  axisWords: {
    word: "Wort",
    cycle: "Takt",
    intensity: (unit, bytes, { intensity }) =>
      `${intensity === "operational" ? "operationale" : "arithmetische"} Intensität (${unit}${ofBytes(bytes)})`,
    intensityShort: (unit, bytes, terms) => `${ai(terms)} (${unit}${ofBytes(bytes)})`,
    balance: (unit, bytes) => `Balance (${unit}${bytes === 0 ? "" : `, Wörter${ofBytes(bytes)}`})`,
    inWords: (title) => title.replaceAll("/B", " pro Byte").replaceAll("/Wort", " pro Wort"),
    zeroFlops: (operation) => `0 ${operation}`,
    byBandwidth: (unit) => `nach ${unit.replace("B/", "Bytes/")}`,
    menu: "Achsen",
    note: "Einheiten des Diagramms. Sätze, Kurzinfos und Tabellen bleiben bei FLOP/s oder OP/s und Bytes.",
    frame: "Bereich",
    frames: { points: "passend zu den Kerneln", chip: "allein nach den Chips" },
    frameNote: "Diagramme anderer Kernel auf diesen Chips haben denselben Bereich.",
    rate: "Rate",
    rates: { "FLOP/s": "pro Sekunde", "FLOP/cycle": "pro Takt" },
    clock: (chip, clock) => `Takte von ${chip}: ${clock}`,
    noClock: (chip) => `${chip}: Takt unbekannt, Raten sind pro Sekunde`,
    data: "Daten",
    bytes: (bytes) => (bytes === 0 ? "in Byte" : `in Wörtern zu ${bytes} Byte`),
    across: "Waagerecht",
    kinds: {
      intensity: (unit) => `Intensität, ${unit}`,
      balance: (unit) => `Balance, ${unit}`,
    },
    ticks: "Striche",
    bases: { 10: "Zehnerpotenzen", 2: "Zweierpotenzen" },
    times: "Zeitachsen",
    scales: { log: "logarithmisch", linear: "linear, ab 0" },
  },

  toolWords: {
    bar: "Werkzeugleiste",
    zoomIn: "Vergrößern (+)",
    zoomOut: "Verkleinern (−)",
    everything: "Alles zeigen",
    fit: "Alles zeigen (0)",
    undo: "Zurück",
    undoKeys: "Rückgängig machen (Strg+Z)",
    redo: "Wiederherstellen",
    redoKeys: "Wiederherstellen (Strg+Umschalt+Z)",
    undone: (what) => `Rückgängig gemacht: ${what}`,
    redone: (what) => `Wiederhergestellt: ${what}`,
    rateOf: {
      peak_flops: (chip) => `Spitze von ${chip}`,
      bandwidth: (chip) => `Bandbreite von ${chip}`,
      latency: (chip) => `Latenz von ${chip}`,
    },
    rates: "Raten",
    parts: {
      graph: "Graph",
      precision: "Genauigkeit",
      memory: "Speicher",
      link: "Link",
      topology: "Topologie",
      addedChips: "Chips",
      shown: "Chips",
      focusChip: "Chip im Fokus",
      exposedRoofs: "Kommunikation",
      ceilings: "Zwischendecken",
      allLevels: "Ebenen",
      moves: "Annahme zu einem Kernel",
      rules: "Regel der Arbeit",
      typedWork: "eingetippte Arbeit",
      snapshots: "Momentaufnahmen",
      timeScale: "Achsen",
      frame: "Achsen",
      view: "Ansicht",
      zoom: "Ausschnitt",
      step: "Schritt",
    },
    select: "Ziehen wählt aus",
    zoom: "Ziehen vergrößert",
    pan: "Ziehen verschiebt (W A S D)",
    ceilings: "Zwischendecken",
    axes: "Achsen…",
    present: "Vortrag",
    screen: "Ganzer Bildschirm",
    figures: "Über die Zahlen",
    more: "Mehr",
    drag: "Ziehen",
    outside: (count) => `${count} Kernel außerhalb`,
    shows: (x, y, outside) => `Ausschnitt: ${x.join(" bis ")}, ${y.join(" bis ")}.${outside && ` ${outside}.`}`,
    whole: "Alles ist zu sehen.",
    keys: "Tasten",
    keyList: [
      ["← → Pos1 Ende", "von Kernel zu Kernel"],
      ["↑ ↓", "zwischen den Zeichen eines Kernels"],
      ["Eingabe, Leertaste", "den Kernel auswählen, dazunehmen"],
      ["M", "den Kernel verschieben"],
      ["C", "einen Chip hinzufügen"],
      ["N", "Netz-Ansicht"],
      ["F", "diese Kurve festhalten"],
      ["R", "Abstandspfeile: die ersten, alle, keine"],
      ["L", "Speicherebenen: alle, die jedes Kernels verbunden, Hauptspeicher"],
      ["+ − 0", "vergrößern, verkleinern, alles zeigen"],
      ["W A S D", "das Diagramm verschieben"],
      ["?", "was die Zeichen bedeuten"],
      ["Esc", "schließen, abbrechen, nichts auswählen"],
      ["Strg+Z, Strg+Umschalt+Z", "rückgängig machen, wiederherstellen"],
    ],
  },
  saveWords: {
    save: "Speichern",
    title: "Ein Bild oder eine Datei speichern",
    style: "Stil",
    styles: { "paper-1col": "Papier 1", "paper-2col": "Papier 2", slide: "Folie", screen: "Schirm" },
    format: "Format",
    caption: "Beschriftung",
    preview: "Vorschau",
    size: (width, height, unit) => `${width} × ${height} ${unit === "in" ? "Zoll" : unit}`,
    drawing: "Python zeichnet das Bild…",
    copy: "Kopieren",
    copied: (kind) => `Bild kopiert (${kind})`,
    done: "Gespeichert ✓",
    saved: (file) => `${file} gespeichert`,
    failed: (reason) => `Nicht gespeichert: ${reason}`,
    noPng: "Hier ließ sich kein PNG machen: stattdessen als SVG gespeichert.",
    notCopied: "Der Browser erlaubt hier kein Kopieren: das Bild stattdessen speichern.",
    page: "Seite (.html)",
    table: "Tabelle (.csv)",
    session: "Sitzung (.json)",
    needsPython: "Diese Datei kann nur ein Notebook machen.",
    name: "Roofline",
  },

  // The legend of the chart.
  marksWords: {
    open: "Was die Zeichen bedeuten (?)",
    title: "Was die Zeichen bedeuten",
    gestures: "Was sich ziehen lässt",
    dragHint: { peak: "ziehen: Peak", bandwidth: "ziehen: Bandbreite", ridge: "ziehen: beide" },
    fine: "Fein: das Dach bewegt sich ein Fünftel des Wegs.",
    shapes: {
      kernel: "ein Kernel",
      memory: "ein Kernel, den der Speicher begrenzt",
      compute: "ein Kernel, den die Rechenleistung begrenzt",
      outside: "ein Kernel, den seine Verbindung oder sein Start begrenzt",
      program: "ein ganzes Programm",
    },
    area: "größere Fläche: mehr von der Zeit",
    unmeasured: "auf dem Dach: nicht gemessen, das höchste Erreichbare",
    otherLevel: "Umriss: an einer Speicherebene, die nicht begrenzt",
    aboveRoof: "schneller als sein Dach: Zahlen und Chip prüfen",
    ring: "Ring: der Kernel unter dem Zeiger oder in der Auswahl",
    roof: "dicke Linie: das Dach des Chips im Fokus",
    ceilings: (terms) =>
      `Striche über ${terms.ridge === "knee" ? "den" : "die"} ${ridge(terms, "Kante")} hinaus: Spitze oder Bandbreite allein`,
    sheet: "Striche: das Datenblatt, vor der Änderung",
    measured: "Punkte: ein gemessenes Dach",
    ceiling: "Striche und Punkte: eine Grenze im Chip",
    link: "lange Striche: eine Verbindung zwischen Chips",
    snapshot: "kurze Striche: ein festgehaltenes Dach",
    latency: "dünne Schräge: was die Bytes unterwegs einem Kernel erlauben",
    gap: "Pfeil nach oben: von der gemessenen Leistung zum Dach",
    moved: "Pfeil: ein Was-wäre-wenn des Kernels",
    trail: "dünner Pfeil: von einem Teil zu seinem verschmolzenen Kernel",
    runs: "Pfeil: vom früheren Lauf zu diesem; gestrichelt, wenn langsamer",
    strip: "linker Streifen: Kernel ohne FLOPs, nach Bytes pro Sekunde",
    diagonal: "Diagonale: Rechnen und Speicher dauern gleich lang",
    isochrone: "dünne Ecke: alle Kernel mit derselben kleinsten Zeit",
    drag: {
      peak: "die Waagerechte, auf und ab: die Spitze",
      bandwidth: "eine Schräge, seitwärts: ihre Bandbreite",
      ridge: (terms) => `${terms.ridge === "knee" ? "der" : "die"} ${ridge(terms, "Kante")}: beides`,
      fine: "mit Umschalt, oder nachdem ein Finger geruht hat: fein",
      kernel: "ein Kernel, seitwärts: weniger Bytes; nach oben: weniger Zeit (ein Finger ruht erst)",
      select: "der Hintergrund: wählt Kernel aus",
      wheel: "Strg und Mausrad, oder zwei Finger: vergrößert",
    },
  },

  // The steps of a story and their questions.
  storyWords: {
    title: "Geschichte",
    step: (step: number, steps: number) => `Schritt ${step} von ${steps}`,
    back: "Zurück",
    next: "Weiter",
    restart: "Anfang des Schritts",
    restartHint: "Zeigt das Diagramm wie am Anfang dieses Schritts",
    save: "Antworten speichern",
    forget: "Antworten entfernen",
    forgetNow: "Wirklich alle entfernen?",
    forgetHint: "Dieser Browser behält deine Antworten für das nächste Öffnen der Seite",
    notKept:
      "Dieser Browser behält deine Antworten nicht: Sie gehen verloren, wenn die Seite geschlossen wird. Speichere sie als Datei.",
    check: "Prüfen",
    show: "Antwort zeigen",
    right: "Richtig.",
    notYet: "Noch nicht",
    tooLarge: "zu groß",
    tooSmall: "zu klein",
    bands: {
      near: "höchstens um den Faktor 2.",
      some: "um das 2- bis 10-Fache: ein Faktor wie 2, oder die Bytes einer Zahl.",
      far: "um mehr als das 10-Fache: auf die Präfixe achten.",
    },
    fewerBytes: "Es geht mit weniger Bytes.",
    lessTime: "Es geht in weniger Zeit.",
    costsMost: (tensor: string) => `„${tensor}“ kostet die meisten Bytes.`,
    notFastest: (kernel: string) => `„${kernel}“ ist kein Kernel der schnellsten Aufteilung.`,
    moves: (count: number, moved: string) => `${count} Kernel ${count === 1 ? "bewegt" : "bewegen"} ${moved}.`,
    takes: (count: number, taken: string) => `${count} Kernel ${count === 1 ? "braucht" : "brauchen"} ${taken}.`,
    reachable: (least: string) => `Erreichbar sind ${least}.`,
    noNumber: (typed: string, example: string) => `„${typed}“ ist keine Zahl; zum Beispiel „${example}“`,
    dividedByZero: (typed: string) => `„${typed}“ teilt durch null`,
    tooLargeToRead: (typed: string) => `„${typed}“ ist zu groß`,
    wrongUnit: (typed: string, is: string, asked: string) => `„${typed}“ ist ${is}; gefragt ist ${asked}`,
    quantities: {
      "FLOP/s": "eine Rate",
      "B/s": "eine Bandbreite",
      FLOP: "eine Anzahl von FLOPs",
      B: "eine Anzahl von Bytes",
      s: "eine Zeit",
      "FLOP/B": "eine Intensität",
      Hz: "ein Takt",
      W: "eine Leistung",
    },
    noUnit: "eine Zahl ohne Einheit",
    readAs: (number: string) => `gelesen als ${number}`,
    thousands: "Tausender?",
    example: (number: string) => `zum Beispiel ${number}`,
    choose: "Bitte zuerst auswählen.",
    answer: "Deine Antwort",
    answerIs: (answer: string) => `Die Antwort ist ${answer}.`,
    yours: (answer: string) => `Deine Antwort: ${answer}`,
    isRight: "richtig",
    isYours: "deine Antwort",
    hidden: "Verborgen, solange die Geschichte danach fragt.",
    attempts: (count: number) => (count === 1 ? "1 Antwort" : `${count} Antworten`),
    dragMarker: (within) =>
      `Die Marke im Diagramm auf ${within} genau ziehen oder mit den Pfeiltasten bewegen. Dann prüfen.`,
    dragRoof: (within) => `Das Dach oder seinen Regler auf ${within} genau ziehen. Dann prüfen.`,
    merge: "Operationen unter „Fusion“ zusammenlegen. Dann prüfen.",
    marker: { intensity: "Deine Intensität", rate: "Deine Rate" },
    source: (source: string) => `Quelle: ${source}`,
  },

  // The workload panel.
  graphLinkWords: {
    newer: "Dieser Link wurde mit einer neueren Version gemacht.",
    damaged: "Dieser Link ist beschädigt.",
    ask: "Wie viel mal schneller sind die Kernel des Absenders?",
    times: "mal",
    asSent: "Die Kernel des Absenders.",
    gain: (before: number, after: number, times: string) => `${before} → ${after} Durchgänge: ${times} mal.`,
    yours: "Welcher Graph ist deiner?",
    copy: "Link kopieren",
    notCopied: "Der Link ist nicht kopiert.",
  },

  workloadWords: {
    title: "Arbeitslast",
    phase: "Phase",
    dtype: "Datentyp",
    asBuilt: (dtype) => `wie gebaut (${dtype})`,
    noPeak: (dtype, chip) => `${dtype} (${chip} ohne Spitze)`,
    convention: "Zählweise",
    asPeaks: "Kernel zählen ein Multiply-Add als 2 FLOPs, wie Spitzenleistungen.",
    reset: (name, size) => `Zurück zur Vorgabe: ${name} = ${size}`,
    notWhole: (typed, example) => `„${typed}“ ist keine ganze Zahl; zum Beispiel „${example}“ schreiben`,
    outside: (name, low, high) => `${name} muss von ${low} bis ${high} sein`,
    tooSmall: (whose, size) => `${whose} = ${size} ist nicht mindestens 1`,
    noMultiple: (whose, count, divisor) => `${whose} = ${count} ist kein Vielfaches von ${divisor}`,
    wouldDo: (fault, name, size) => (size === undefined ? fault : `${fault}; ${name} = ${size} ist möglich`),
    operations: "Operationen",
    counted: (ops) => (ops === 1 ? "1 Operation" : `${ops} Operationen`),
    pointAtOne: "Auf eine Operation zeigen oder mit den Pfeiltasten zu ihr gehen, um ihre Formel zu sehen.",
    flops: (kind, work) => (kind === "" ? work : `${work}, ${kind}`),
    bytes: "Bytes",
    terms: (work) => `Von den ${work}`,
  },
};

// Loader.
export const loadWords: Like<typeof en.loadWords> = {
  language: "de",
  noCode:
    "Der Code dieses Roofwidgets hat die Seite nicht erreicht. Die Zelle, die das Widget erzeugt, noch einmal " +
    "ausführen; hilft das nicht, vor dem Start des Kernels die Umgebungsvariable ROOFWIDGET_INLINE=1 setzen.",
};
