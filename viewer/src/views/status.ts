// The bar at the bottom: what has just happened, and the keys that matter in each view.

import { h } from "./dom.ts";

type Hints = readonly (readonly [string, string])[];
const REPORT: Hints = [["j k", "step"], ["h l", "path"], ["a", "access"], ["e", "unfold"], ["d", "definition"], ["v", "compare"], ["/", "find"], ["?", "all keys"]];
const COMPARE: Hints = [["j k", "step in both"], ["h l", "side"], ["n N", "difference"], ["D", "first divergence"], ["o", "open loop"], ["v", "other path"], ["y", "copy link"], ["?", "all keys"]];
const LIST: Hints = [["j k", "report"], ["J K", "group"], ["x X", "select one, alike"], ["T F U", "verdict"], ["z", "undo"], ["Enter", "path"], ["r", "rule"], ["a A", "fix"], ["?", "all keys"]];

export class StatusBar {
  private readonly where = h("span", { id: "where", role: "status", "aria-live": "polite" });
  private readonly pending = h("span", { id: "unsaved", hidden: true });
  readonly element = h("footer", { class: "status" }, this.where, this.pending, h("span", { class: "grow" }), hints("report-hints", REPORT), hints("compare-hints", COMPARE), hints("list-hints", LIST));

  say(text: string): void { this.where.textContent = text; }

  /** So many answers are in this browser only. */
  waiting(count: number): void {
    this.pending.hidden = count === 0;
    this.pending.textContent = `${count} not saved yet`;
  }
}

function hints(kind: string, rows: Hints): HTMLElement {
  return h("span", { class: `hints ${kind}`, "aria-hidden": "true" }, rows.map(([keys, what]) => h("span", {}, keys.split(" ").map(key => h("kbd", {}, key)), what)));
}
