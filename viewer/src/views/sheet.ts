// On a phone: the call stack of the current step above the path, and below it the step itself, its neighbours and the way to
// the report and its checklist.

import { ordinalOf, stepCount } from "../lib/describe.ts";
import { h, icon } from "./dom.ts";
import type { Column } from "./column.ts";

export interface SheetEvents {
  move(by: number): void;
  /** To where it goes wrong: on another path if there is one. */
  access(): void;
  link(): void;
  show(what: Part): void;
}

export type Part = "path" | "report" | "checklist" | "verdict";
const PARTS: readonly (readonly [Part, string, string])[] = [["path", "stack", "Path"], ["report", "list", "Report"], ["checklist", "check", "Checklist"], ["verdict", "true", "Verdict"]];

export class Sheet {
  readonly stack = h("nav", { class: "stackbar", "aria-label": "Call stack", tabindex: "0" });
  readonly element = h("section", { class: "sheet", "aria-label": "Current step" });
  private part: Part = "path";

  constructor(private readonly events: SheetEvents) {}

  /** Says which part of the report is on screen. */
  at(part: Part): void {
    this.part = part;
    for (const button of this.element.querySelectorAll<HTMLElement>("[data-part]")) button.setAttribute("aria-pressed", String(button.dataset["part"] === part));
  }

  private counted = "";
  /** Says how much of the checklist is answered. */
  answered(words: string): void {
    this.counted = words;
    for (const count of this.element.querySelectorAll("[data-part=checklist] i")) count.textContent = words;
  }

  show(column: Column, step: number, others: number): void {
    const data = column.path.steps[step], place = column.placeOf(step), names: string[] = [];
    const threads: string[] = [];
    for (let node = place?.node; node; node = node.parent) {
      names.unshift(node.frame.fn || "?");
      if (node.frame.thread) threads.push(node.frame.thread);
    }
    this.stack.replaceChildren(...names.flatMap((name, at) => [at > 0 ? icon("next") : "", h("span", { class: `fn d${at % 6}` }, name)]).filter(child => child !== ""));
    // The innermost call is the one that matters.
    requestAnimationFrame(() => { this.stack.scrollLeft = this.stack.scrollWidth; });
    const source = place?.node.source, number = ordinalOf(column.path, step), count = stepCount(column.path);
    const words = data?.m || (data?.l !== undefined && source?.line(data.l).text.trim()) || "step";
    const thread = threads[0] ?? column.path.thread ?? "";
    const where = [source && data?.l !== undefined ? `${source.name}:${data.l}` : source?.name ?? "", thread, number === count ? `last step of ${count}` : `step ${number} of ${count}`].filter(Boolean);
    const before = column.neighbour(step, -1), after = column.neighbour(step, 1);
    const move = (by: number, text: string, on: boolean) => h("button", { disabled: !on, onclick: () => this.events.move(by) }, by < 0 && icon("prev"), text, by > 0 && icon("next"));
    this.element.replaceChildren(
      h("i", { class: "grab", "aria-hidden": "true" }),
      h("div", { class: "sheet-step" }, h("span", { class: data?.x ? "badge access" : "badge", "aria-hidden": "true" }, String(number)),
        h("div", {}, h("b", {}, words), h("small", {}, where.map(part => h("span", {}, part)))),
        h("button", { class: "icon", title: "Copy the link to this step", "aria-label": "Copy the link to this step", onclick: () => this.events.link() }, icon("link"))),
      h("div", { class: "sheet-move" }, move(-1, before === undefined ? "First" : `Step ${ordinalOf(column.path, before)}`, before !== undefined),
        h("button", { onclick: () => this.events.access() }, others > 0 ? "Other access" : "Access", icon("swap")), move(1, "Next", after !== undefined)),
      h("div", { class: "sheet-parts", role: "group", "aria-label": "What to show" }, PARTS.map(([part, name, text]) =>
        h("button", { "data-part": part, "aria-pressed": String(part === this.part), onclick: () => { this.at(part); this.events.show(part); } }, icon(name), text, part === "checklist" && h("i", {}, this.counted)))));
  }
}
