// The paths of one report side by side: which are shown, in which order, and which step is current.

import { plural } from "../lib/describe.ts";
import { Finder } from "../lib/layout.ts";
import type { Page, Report } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { Column, NARROW } from "./column.ts";
import { h } from "./dom.ts";
import { orderElement } from "./order.ts";

/** Of reports with more paths, only so many are shown at first. */
const SHOWN_AT_FIRST = 3;

export interface ColumnsEvents {
  /** A step has become the current one. */
  selected(path: number, step: number): void;
  hover(path: number, step: number | undefined): void;
  say(text: string): void;
  /** Copies the address of the current step. */
  link(): void;
}

export class Columns {
  readonly element = h("div", { class: "columns" });
  /** One button for each path. */
  readonly buttons = h("span", { class: "seg", role: "group", "aria-label": "Columns" });
  all: readonly Column[] = [];
  /** The path whose step is current. */
  active = 0;
  private report: Report | undefined;
  private order: HTMLElement | undefined;
  private finder = new Finder([]);

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: ColumnsEvents) {}

  get current(): Column | undefined { return this.all[this.active]; }

  /** Makes the columns of a report; `relayout` and `begin` follow. */
  show(report: Report): void {
    this.report = report;
    this.active = 0;
    this.all = report.paths.map((path, number) => new Column(number + 1, path, this.page, this.sources, {
      select: step => this.select(number, step), hover: step => this.events.hover(number, step), hide: () => this.toggle(number), move: by => this.shift(number, by),
      changed: () => this.remark(), say: text => this.events.say(text), link: () => { this.select(number, this.all[number]?.current ?? 0); this.events.link(); },
    }));
    this.order = undefined;
    this.element.classList.remove("ordered");
    this.element.replaceChildren(...this.all.map(column => column.element));
    const most = matchMedia(NARROW).matches ? 1 : SHOWN_AT_FIRST;
    this.all.forEach((column, number) => { column.element.hidden = number >= most; });
    if (this.all.length === 0) this.element.append(h("p", { class: "elsewhere dim" }, "This report names no path and no place in the source."));
    this.drawButtons();
  }

  /** Makes the first step of the first path the current one. */
  begin(): void {
    for (const column of this.all) if (column.path.steps.length) column.current = column.first;
    this.select(0, this.current?.current ?? 0, false);
    if (this.all.length > SHOWN_AT_FIRST) this.events.say(`${SHOWN_AT_FIRST} of ${plural(this.all.length, "path")} shown: choose others above`);
  }

  /** Brings the current step into sight, where it is not. */
  showCurrent(): void { const { current } = this; current?.show(current.placeOf(current.current)); }

  relayout(finder: Finder): void {
    this.finder = finder;
    for (const column of this.all) if (!column.element.hidden) column.relayout(finder);
    this.remark();
  }

  /** Numbers of the columns on screen, from the left. */
  visible(): number[] {
    const order = [...this.element.children];
    return this.all.map((_, number) => number).filter(number => !this.all[number]!.element.hidden)
      .sort((a, b) => order.indexOf(this.all[a]!.element) - order.indexOf(this.all[b]!.element));
  }

  private drawButtons(): void {
    this.buttons.hidden = this.all.length < 2;
    this.buttons.replaceChildren(...this.all.map((column, number) =>
      h("button", { "data-col": number + 1, "aria-pressed": String(!column.element.hidden && !this.order), onclick: () => this.toggle(number) }, this.all.length > 6 ? String(number + 1) : `Path ${number + 1}`)),
      ...(matchMedia(NARROW).matches ? [h("button", { "data-col": "order", "aria-pressed": String(!!this.order), onclick: () => this.toggleOrder() }, "Order")] : []));
  }

  /** On a phone, the order of all paths takes the place of the one that is shown. */
  private toggleOrder(): void {
    if (this.order) { this.order.remove(); this.order = undefined; }
    else if (this.report) this.element.append(this.order = orderElement(this.report, this.sources, (path, step) => { this.toggleOrder(); this.select(path, step); }));
    this.element.classList.toggle("ordered", !!this.order);
    this.drawButtons();
    if (this.order) this.buttons.querySelector<HTMLElement>('[data-col="order"]')?.focus();
  }

  private toggle(number: number): void {
    const column = this.all[number];
    if (this.order) { this.toggleOrder(); if (column && !column.element.hidden) return; }
    if (!column || (!column.element.hidden && this.visible().length === 1)) return;
    // Where there is room for one, another takes its place.
    if (matchMedia(NARROW).matches) for (const other of this.all) other.element.hidden = other !== column;
    else column.element.hidden = !column.element.hidden;
    this.drawButtons();
    if (column.element.hidden && this.active === number) this.active = this.visible()[0] ?? 0;
    if (!column.element.hidden) column.relayout(this.finder);
    this.remark();
    this.buttons.querySelector<HTMLElement>(`[data-col="${number + 1}"]`)?.focus();
  }

  /** Moves a column past its neighbour; past the end it comes round. */
  shift(number: number, by: number): void {
    const column = this.all[number], order = this.visible(), at = order.indexOf(number);
    if (!column) return;
    if (order.length < 2) { this.events.say("There is one column"); return; }
    const focused = document.activeElement;
    const to = at + by;
    if (to < 0) this.element.append(column.element);
    else if (to >= order.length) this.element.prepend(column.element);
    else if (by > 0) this.all[order[to]!]!.element.after(column.element);
    else this.all[order[to]!]!.element.before(column.element);
    column.redraw();
    if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    this.events.say(`Path ${number + 1} is now column ${this.visible().indexOf(number) + 1} of ${order.length}`);
  }

  select(path: number, step: number, focus = true): void {
    const column = this.all[path];
    if (!column || step < 0 || step >= column.path.steps.length) return;
    if (column.element.hidden) this.toggle(path);
    this.active = path;
    this.all.forEach((other, number) => {
      other.active = number === path;
      if (!other.active) other.select(other.current, false);
    });
    column.select(step, focus);
    this.events.selected(path, step);
  }

  move(by: number): void {
    const next = this.current?.neighbour(this.current.current ?? -1, by);
    if (next !== undefined) this.select(this.active, next); else this.events.say(by > 0 ? "That was the last step" : "That was the first step");
  }

  sideways(by: number): void {
    const order = this.visible(), to = order[order.indexOf(this.active) + by];
    if (to !== undefined) this.select(to, this.all[to]?.current ?? 0); else this.events.say(`There is no path to the ${by > 0 ? "right" : "left"}`);
  }

  /** To the first step of the current path. */
  first(): void { this.select(this.active, this.current?.first ?? 0); }

  /** To where the current path goes wrong. */
  failing(): void {
    const step = (this.current?.path.steps ?? []).findLastIndex(step => step.x);
    if (step >= 0) this.select(this.active, step); else this.events.say("The report does not say at which step it goes wrong");
  }

  /** To where it goes wrong: on the next path, if there are several. */
  otherAccess(): void {
    const path = this.all.length > 1 ? (this.active + 1) % this.all.length : this.active;
    const steps = this.all[path]?.path.steps ?? [], failing = steps.findLastIndex(step => step.x);
    this.select(path, failing >= 0 ? failing : steps.length - 1);
  }

  /** Marks the current steps again after a change of layout. */
  private remark(): void {
    for (const column of this.all) if (column.current !== undefined) column.select(column.current, false);
  }
}
