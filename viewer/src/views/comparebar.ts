// What stands above two columns that are compared: the tools, the difference in a sentence, and who is who.

import type { Comparison, Difference } from "../lib/compare.ts";
import { ordinalOf, pathTitle, plural, stepCount } from "../lib/describe.ts";
import type { Path } from "../lib/page.ts";
import { allValues } from "./appearance.ts";
import { h, icon, titled } from "./dom.ts";
import type { Pair, Side, Which } from "./pair.ts";

export type Mode = "step" | "differences" | "apart";
const MODES: readonly (readonly [Mode, string])[] = [["step", "In step"], ["differences", "Differences only"], ["apart", "Apart"]];
/** So many differences have a chip; the others are reached by key. */
const CHIPS = 5;

export interface BarEvents {
  show(which: Which): void;
  setMode(mode: Mode): void;
  /** Shows all values, or those that change. */
  values(): void;
  swap(): void;
  /** To the next difference, or the one before. */
  difference(by: number): void;
  /** To a difference, from zero. */
  goTo(difference: number): void;
  leave(): void;
  pick(which: Which): void;
  link(which: Which): void;
  unfold(which: Which): void;
}

export function toolbar(all: readonly Difference[], at: number, mode: Mode, shown: string | undefined, events: BarEvents): HTMLElement[] {
  const act = (title: string, label: string, children: (Node | string)[], run: () => void) => h("button", { class: "tb", title, "aria-label": label, onclick: run }, children);
  const choice = (label: string, kind: string, buttons: HTMLElement[]) => h("span", { class: `seg ${kind}`, role: "group", "aria-label": label }, buttons);
  const key = (name: string) => h("kbd", { "aria-hidden": "true" }, name);
  return [
    choice("Side", "sides", (["a", "b"] as const).map(which => h("button", { "data-show": which, "aria-pressed": String(shown === which), onclick: () => events.show(which) }, which.toUpperCase()))),
    choice("How to stand", "", MODES.map(([one, name]) => h("button", { "aria-pressed": String(mode === one), "data-mode": one, onclick: () => events.setMode(one) }, name))),
    choice("Values", "", ([["changed", "Changed values"], ["all", "All"]] as const).map(([which, name]) => {
      const on = allValues() === (which === "all");
      return h("button", { "aria-pressed": String(on), "data-values": which, onclick: () => { if (!on) events.values(); } }, name);
    })),
    h("span", { class: "grow" }),
    h("span", { class: "tgroup" }, act("Swap (s)", "Swap the sides", [icon("swap"), "Swap", key("s")], () => events.swap())),
    h("span", { class: "tgroup" }, act("Previous difference (N)", "Previous difference", [icon("up"), key("N")], () => events.difference(-1)),
      h("span", { class: "zl2", id: "difference" }, all.length ? h("b", {}, String(at + 1)) : "", all.length ? ` of ${plural(all.length, "difference")}` : "no differences"),
      act("Next difference (n)", "Next difference", [icon("down"), key("n")], () => events.difference(1))),
    h("span", { class: "tgroup" }, act("Back to the report (Esc)", "Close the comparison", [icon("close"), "Close"], () => events.leave())),
  ];
}

export function differenceRow({ sentence, differences }: Comparison, at: number, events: BarEvents): HTMLElement[] {
  const [start = "", ...rest] = sentence.split(/(?<=\.) /);
  return [h("span", { class: "lead", title: sentence }, h("b", {}, start), ` ${rest.join(" ")}`), h("span", { class: "grow" }),
    ...differences.slice(0, CHIPS).map((difference, number) => h("button", { class: number === at ? "dchip on" : "dchip", onclick: () => events.goTo(number) }, h("b", {}, String(number + 1)), difference.kind === "value" ? h("code", {}, difference.text) : difference.text))];
}

export function sideHead({ which, letter, report, path, ref }: Side, events: BarEvents): HTMLElement {
  const named = path.label && path.label.length <= 24 ? path.label : `${report.id}${report.paths.length > 1 ? `, path ${ref.path + 1}` : ""}`;
  return h("header", { class: `col-head cmp-head ${report.passed ? "ok" : "bad"}` },
    h("span", { class: "side-l" }, letter), h("h2", {}, report.passed ? "Passing" : "Failing"),
    h("button", { class: "pick", title: "Choose another path (v)", onclick: () => events.pick(which) }, named, icon("down")),
    h("span", { class: "sub", title: report.title }, titled(path.label ? report.title : pathTitle(path) || report.title)), h("span", { class: "count" }, plural(stepCount(path), "step")),
    h("span", { class: "tools" }, h("button", { title: "Copy the link to this step (y)", "aria-label": `Copy the link to the step of ${letter}`, onclick: () => events.link(which) }, icon("link")),
      h("button", { title: "Unfold everything (E)", "aria-label": `Unfold all of ${letter}`, onclick: () => events.unfold(which) }, icon("unfold"))));
}

/** The words on the bar where the paths part: what each side does there. */
export function partingWords({ a, b }: Pair, { pairs, parting, clauses, alike }: Comparison): HTMLElement[] {
  // A condition that both meet and that goes both ways is told by its outcome.
  const turns = pairs.some(pair => pair.a === parting?.a && pair.b === parting.b);
  const does = (path: Path, at: number | undefined) => {
    const step = at === undefined ? undefined : path.steps[at];
    if (!step) return "ends";
    if (turns && step.t !== undefined) return step.t ? "holds" : "does not hold";
    return `line ${step.l ?? "?"}${step.m && step.m.length < 40 ? `, ${step.m}` : ""}`;
  };
  return [h("span", { class: "dl-a" }, clauses?.[0] ?? does(a.path, parting?.a)), h("b", {}, "First divergence", h("i", {}, parting ? `step ${ordinalOf(a.path, parting.a ?? alike)}` : "")), h("span", { class: "dl-b" }, clauses?.[1] ?? does(b.path, parting?.b))];
}
