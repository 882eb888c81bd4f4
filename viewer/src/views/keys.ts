// The keyboard: what each key does in each view. What the keys are for, in words, stands in `help.ts`.

import type { CompareView } from "./compare.ts";
import type { ListView } from "./list.ts";
import type { ReadingView } from "./reading.ts";

export type Keys = Readonly<Record<string, () => void>>;

/** What leads from one view to another, or is the same in all. */
export interface Commands {
  showList(): void;
  /** Back to the report that was open last. */
  showReport(): void;
  go(by: number): void;
  compare(): void;
  leaveCompare(): void;
  copyLink(): void;
  showValues(): void;
  showHelp(): void;
  say(text: string): void;
}

const CHAINED = "Functions that only pass the call on share a head", UNCHAINED = "Every function has its own box";
const ARROWS: Readonly<Record<string, string>> = { ArrowDown: "j", ArrowUp: "k", ArrowLeft: "h", ArrowRight: "l" };

/** Runs what `keys` has for a key that is pressed, unless it is meant for a field or a button; `submit` for Ctrl Enter, `elsewhere` for keys of other views. */
export function listen(keys: () => Keys, submit: () => void, blocked: () => boolean, elsewhere: (key: string) => void): void {
  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { submit(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || blocked()) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.matches("input[type=text], textarea")) { if (event.key === "Escape") target.blur(); return; }
    // Radio buttons and tabs have arrow keys of their own, buttons have Enter.
    if (event.key in ARROWS && !target.matches(".step, body, .scroller, tr a, [role=treeitem]")) return;
    if (event.key === "Enter" && target.matches("button, a:not(tr a)")) return;
    if (event.key === " " && target.matches("button, summary, input")) return;
    const key = ARROWS[event.key] ?? event.key, run = keys()[key];
    if (run) { event.preventDefault(); run(); } else elsewhere(key);
  });
}

export const listKeys = (list: ListView, app: Commands): Keys => ({
  j: () => list.step(1), k: () => list.step(-1),
  J: () => list.stepGroup(1), K: () => list.stepGroup(-1),
  x: () => list.toggleCurrent(), X: () => list.selectAlike(),
  T: () => list.judge("true"), F: () => list.judge("false"), U: () => list.judge("unsure"),
  z: () => list.judging.undo(), "=": () => list.confirm(),
  r: () => list.beside(() => list.pane.choose("rule", true)),
  a: () => list.beside(() => list.pane.take()), A: () => list.beside(() => list.pane.preview()),
  h: () => list.outward(), l: () => list.inward(), Home: () => list.toEnd(false), End: () => list.toEnd(true), " ": () => list.toggleCurrent(),
  p: () => list.togglePane(),
  "/": () => list.focusFilter(),
  Enter: () => list.openSelected(), Escape: () => list.clear(),
  b: () => app.showReport(), "?": () => app.showHelp(),
});

export function reportKeys(view: ReadingView, app: Commands): Keys {
  const { columns, search, checklist } = view;
  return {
    j: () => columns.move(1), k: () => columns.move(-1),
    h: () => columns.sideways(-1), l: () => columns.sideways(1),
    H: () => columns.shift(columns.active, -1), L: () => columns.shift(columns.active, 1),
    g: () => columns.first(), a: () => columns.failing(),
    e: () => columns.current?.unfoldCurrent(), E: () => columns.current?.unfoldAll(),
    o: () => { if (!columns.current?.toggleCurrentLoop()) app.say("No loop on this path"); },
    w: () => columns.current?.origin(),
    V: () => app.showValues(),
    C: () => { const closed = columns.all.map(one => one.toggleChains()); app.say(closed[0] ? CHAINED : UNCHAINED); },
    d: () => { if (!columns.current?.nextDefinition()) app.say("No definition on this line"); },
    "/": () => search.bar.input.focus(), n: () => search.jump(1), N: () => search.jump(-1),
    c: () => view.toChecklist(),
    "=": () => { if (!checklist.confirmFirst()) app.say("No report of before looks like this one"); },
    T: () => checklist.choose("true"), F: () => checklist.choose("false"), U: () => checklist.choose("unsure"),
    "[": () => app.go(-1), "]": () => app.go(1),
    b: () => app.showList(), v: () => app.compare(), y: () => app.copyLink(), "?": () => app.showHelp(),
    p: () => view.togglePanel(), i: () => view.openInEditor(), r: () => view.aboutRule(),
    Escape: () => { if (!columns.all.some(one => one.closeDefinition())) app.say("Nothing is open here: b leads to all reports"); },
  };
}

export const compareKeys = (pair: CompareView, app: Commands): Keys => ({
  j: () => pair.move(1), k: () => pair.move(-1),
  h: () => pair.sideways("a"), l: () => pair.sideways("b"),
  n: () => pair.difference(1), N: () => pair.difference(-1),
  D: () => pair.first(), s: () => pair.swap(),
  o: () => { if (!pair.column()?.toggleCurrentLoop()) app.say("No loop on this path"); },
  w: () => pair.column()?.origin(),
  V: () => app.showValues(),
  e: () => pair.column()?.unfoldCurrent(), E: () => pair.column()?.unfoldAll(),
  C: () => app.say(pair.toggleChains() ? CHAINED : UNCHAINED),
  v: () => app.compare(), y: () => app.copyLink(), b: () => app.showList(), "?": () => app.showHelp(),
  Escape: () => app.leaveCompare(),
});
