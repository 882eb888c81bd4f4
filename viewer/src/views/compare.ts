// Two paths side by side, in step: the same steps on the same height, what differs marked, the order drawn between them.

import { compare, missing, type Comparison, type Difference } from "../lib/compare.ts";
import { ordinalOf, passingSteps, pathTitle, plural, stepCount, threadsOf } from "../lib/describe.ts";
import { keepInStep } from "../lib/instep.ts";
import { Finder, remeasure, topOf } from "../lib/layout.ts";
import type { Page, Path, Report } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { Column } from "./column.ts";
import { h, icon, titled } from "./dom.ts";

export interface PathRef { readonly report: number; readonly path: number }
export interface CompareEvents {
  say(text: string): void;
  pick(side: "a" | "b"): void;
  /** Another step or another pair is shown. */
  moved(): void;
  leave(): void;
  link(): void;
  /** Shows all values, or those that change. */
  values(): void;
}
type Mode = "step" | "differences" | "apart";
const MODES: readonly (readonly [Mode, string])[] = [["step", "In step"], ["differences", "Differences only"], ["apart", "Apart"]];
const SVG = "http://www.w3.org/2000/svg";

interface Side { readonly ref: PathRef; readonly report: Report; readonly path: Path; column: Column; letter: "A" | "B" }

export class CompareView {
  readonly element = h("main", { class: "compare-view", "aria-label": "Two paths compared" });
  private readonly bar = h("div", { class: "querybar cmpbar" });
  private readonly row = h("div", { class: "diffrow" });
  private readonly heads = h("div", { class: "cmp-heads" });
  private readonly grid = h("div", { class: "cmp-grid" });
  private readonly rail = h("div", { class: "rail", role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the columns", "aria-valuenow": 50, "aria-valuemin": 20, "aria-valuemax": 80, tabindex: 0 });
  private readonly railBody = h("div", { class: "rail-in" });
  private readonly band = h("div", { class: "divband", hidden: true });
  private a: Side | undefined;
  private b: Side | undefined;
  private comparison: Comparison | undefined;
  private mode: Mode = "step";
  private at = 0;
  private parting: number | undefined;
  private split = 50;
  private scrolling = false;

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: CompareEvents) {
    this.rail.append(this.railBody);
    this.element.append(this.bar, this.row, this.heads, this.grid);
    this.rail.addEventListener("keydown", event => {
      const by = { ArrowLeft: -4, ArrowRight: 4 }[event.key];
      if (by) { this.resize(this.split + by); event.preventDefault(); event.stopPropagation(); }
    });
    this.rail.addEventListener("pointerdown", event => {
      this.rail.setPointerCapture(event.pointerId);
      const box = this.grid.getBoundingClientRect();
      const drag = (move: PointerEvent) => this.resize((100 * (move.clientX - box.left)) / box.width);
      this.rail.addEventListener("pointermove", drag);
      this.rail.addEventListener("pointerup", () => this.rail.removeEventListener("pointermove", drag), { once: true });
    });
  }

  get shown(): readonly [PathRef, PathRef] | undefined { return this.a && this.b ? [this.a.ref, this.b.ref] : undefined; }

  /** The current step of each side, for the address: only that of the side in hand. */
  get steps(): readonly [number | undefined, number | undefined] {
    return this.active === "a" ? [this.a?.column.current, undefined] : [undefined, this.b?.column.current];
  }

  private resize(percent: number): void {
    this.split = Math.min(80, Math.max(20, percent));
    this.rail.setAttribute("aria-valuenow", String(Math.round(this.split)));
    this.element.style.setProperty("--a", `${this.split}fr`);
    this.element.style.setProperty("--b", `${100 - this.split}fr`);
  }

  show(a: PathRef, b: PathRef): boolean {
    const side = (ref: PathRef, letter: "A" | "B"): Side | undefined => {
      const report = this.page.reports[ref.report], path = report?.paths[ref.path];
      return report && path ? { ref, report, path, letter, column: undefined as unknown as Column } : undefined;
    };
    const one = side(a, "A"), other = side(b, "B");
    if (!one || !other) return false;
    this.comparison = compare(one.path, other.path, this.page);
    this.a = one;
    this.b = other;
    this.at = 0;
    this.build();
    const first = this.comparison.pairs.length ? this.comparison.parting : undefined;
    this.events.moved();
    if (first) this.goTo(this.told(one, first.a), this.told(other, first.b), false); else this.select("a", 0, false);
    return true;
  }

  /** Draws both columns for the mode. */
  private build(): void {
    const { a, b, comparison } = this;
    if (!a || !b || !comparison) return;
    const passing = this.passing(a, b);
    for (const side of [a, b]) {
      const column = new Column(side.letter === "A" ? 1 : 2, side.path, this.page, this.sources, {
        select: step => this.select(side.letter === "A" ? "a" : "b", step), hover: () => undefined, hide: () => undefined, move: () => undefined,
        changed: () => this.sync(), say: text => this.events.say(text),
        alike: step => { this.setMode("step"); this.select(side.letter === "A" ? "a" : "b", step); },
      });
      column.manner = { tight: true, ...(this.chained && { passing: side === a ? passing.a : passing.b }), ...(this.mode === "differences" && { alike: this.far(side) }) };
      column.decorate = (element, steps) => this.decorate(side, element, steps);
      column.scroller.addEventListener("scroll", () => this.follow(side), { passive: true });
      column.element.dataset["side"] = side.letter;
      side.column = column;
    }
    this.grid.replaceChildren(a.column.element, this.rail, b.column.element, this.band);
    this.drawBars();
    const finder = new Finder([]);
    a.column.drawWindow();
    b.column.drawWindow();
    a.column.relayout(finder);
    b.column.relayout(finder);
    this.sync();
  }

  private chained = true;
  /** Closes the functions that only pass the call on, or opens them. */
  toggleChains(): boolean {
    const { a, b } = this, at = this.active, step = (at === "a" ? a : b)?.column.current;
    this.chained = !this.chained;
    this.build();
    if (step !== undefined) this.select(at, step, false);
    return this.chained;
  }

  /** Steps that only pass the call on, on both sides alike. */
  private passing(a: Side, b: Side): { readonly a: ReadonlySet<number>; readonly b: ReadonlySet<number> } {
    const [left, right] = [passingSteps(a.path), passingSteps(b.path)], both = { a: new Set<number>(), b: new Set<number>() };
    for (const pair of this.comparison?.pairs ?? []) if (left.has(pair.a) && right.has(pair.b)) { both.a.add(pair.a); both.b.add(pair.b); }
    return both;
  }

  /** The steps of a side that both take, apart from the few around those that are not alike. */
  private far(side: Side): ReadonlySet<number> {
    const keep = this.near(side), far = new Set<number>();
    side.path.steps.forEach((_, step) => { if (!keep.has(step)) far.add(step); });
    return far;
  }

  /** The steps of a side that are not alike, and the few around them. */
  private near(side: Side): Set<number> {
    const keep = new Set<number>(), add = (range: readonly [number, number] | undefined) => { if (range) for (let step = range[0] - 2; step <= range[1] + 2; step++) if (step >= 0 && step < side.path.steps.length) keep.add(step); };
    for (const difference of this.comparison?.differences ?? []) add(side.letter === "A" ? difference.a : difference.b);
    side.path.steps.forEach((step, at) => { if (step.x) keep.add(at); });
    return keep;
  }

  /** Puts the same steps on the same height. */
  private sync(): void {
    const { a, b, comparison } = this;
    if (!a || !b || !comparison) return;
    const clear = (column: Column) => { const todo = [...column.layout.roots]; for (let node = todo.pop(); node; node = todo.pop()) { node.pads.clear(); node.reasons.clear(); for (const row of node.rows) if (row.kind === "frame") todo.push(row.node); } };
    // Places are measured without the room of before: only one of the columns may have been laid out anew.
    for (const { column } of [a, b]) { clear(column); column.layout.height = remeasure(column.layout, this.page.definitions); }
    this.parting = keepInStep(a.column.layout, b.column.layout, this.mode === "apart" || comparison.pairs.length === 0 ? { ...comparison, pairs: [], parting: undefined } : comparison, this.page.definitions, (side, from, to) => missing(comparison, a.path, b.path, side, from, to));
    a.column.redraw();
    b.column.redraw();
    this.drawRail();
  }

  private follow(side: Side): void {
    const other = side === this.a ? this.b : this.a;
    if (this.mode !== "apart" && this.comparison?.pairs.length && other && !this.scrolling) {
      this.scrolling = true;
      other.column.scroller.scrollTop = side.column.scroller.scrollTop;
      requestAnimationFrame(() => { this.scrolling = false; });
    }
    this.drawRail();
  }

  private decorate(side: Side, element: HTMLElement, steps: readonly number[]): void {
    const { comparison } = this;
    // Without a common step the marks would be everywhere, and say nothing.
    if (!comparison || comparison.pairs.length === 0) return;
    const mine = (difference: Difference) => (side.letter === "A" ? difference.a : difference.b), alone = side.letter === "A" ? "only-a" : "only-b";
    const within = (range: readonly [number, number] | undefined, step: number) => !!range && step >= range[0] && step <= range[1];
    const inside = (range: readonly [number, number] | undefined) => steps.some(step => within(range, step));
    const own = steps.filter(step => !side.path.steps[step]?.p && comparison.differences.some(difference => difference.kind === alone && within(mine(difference), step)));
    if (own.length && own.length === steps.filter(step => !side.path.steps[step]?.p).length) {
      element.classList.add("only");
      element.append(h("span", { class: "only-tag" }, `only in ${side.letter}`));
    } else for (const step of own) element.querySelector(`.note.step[data-index="${step + 1}"]`)?.classList.add("only");
    const parting = side.letter === "A" ? comparison.parting?.a : comparison.parting?.b;
    if (parting !== undefined && steps.includes(parting)) element.classList.add("dv");
    this.tellResult(side, element, steps);
    for (const difference of comparison.differences) {
      if (difference.kind !== "value" || !inside(mine(difference))) continue;
      for (const value of element.querySelectorAll<HTMLElement>(".val")) if (value.dataset["name"] === difference.text) value.classList.add("diff");
    }
  }

  /** How it ends, where it ends. */
  private tellResult(side: Side, element: HTMLElement, steps: readonly number[]): void {
    const good = side.report.passed, marked = good ? -1 : side.path.steps.findLastIndex(step => step.x), end = marked >= 0 ? marked : side.path.steps.findLastIndex(step => !step.p);
    if (!steps.includes(end)) return;
    element.classList.add("end", good ? "ok" : "bad");
    // A failure that has words of its own at its step needs no others.
    if (!good && element.querySelector(".acc")) return;
    element.append(h("span", { class: `res ${good ? "ok" : "bad"}` }, icon(good ? "true" : "false"), good ? "passes" : "fails"));
  }

  /* Moving ------------------------------------------------------------------------ */

  private select(which: "a" | "b", step: number, focus = true): void {
    const { a, b, comparison } = this;
    if (!a || !b || !comparison) return;
    const side = which === "a" ? a : b, other = which === "a" ? b : a;
    this.element.dataset["show"] = which;
    for (const button of this.bar.querySelectorAll<HTMLElement>("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset["show"] === which));
    side.column.active = true;
    other.column.active = true;
    const pair = comparison.pairs.find(one => one[which] === step), twin = pair?.[which === "a" ? "b" : "a"];
    other.column.select(twin, false);
    other.column.active = false;
    side.column.select(step, focus);
    if (!focus) side.column.show(side.column.placeOf(step));
    const data = side.path.steps[step], file = side.column.placeOf(step)?.node.source?.name.split("/").pop() ?? "";
    const place = data?.l === undefined ? "" : `, ${file ? `${file}:` : "line "}${data.l}`;
    const parting = comparison.parting?.[which] === step ? ", first divergence" : "";
    this.events.say(`${which.toUpperCase()} step ${ordinalOf(side.path, step)}${twin === undefined ? ", not in the other" : `, ${which === "a" ? "B" : "A"} step ${ordinalOf(other.path, twin)}`}${place}${parting}`);
    this.events.moved();
  }

  /** Goes to a step that an address names. */
  goToStep(which: "a" | "b", step: number): void { if ((which === "a" ? this.a : this.b)?.path.steps[step]) this.select(which, step, false); }

  /** The side whose step is current. */
  private get active(): "a" | "b" { return this.b?.column.active ? "b" : "a"; }

  move(by: number): void {
    const side = this.active === "a" ? this.a : this.b, next = side?.column.neighbour(side.column.current ?? -1, by);
    if (next !== undefined) this.select(this.active, next);
  }

  sideways(to: "a" | "b"): void {
    const side = to === "a" ? this.a : this.b;
    if (side) this.select(to, side.column.current ?? 0);
  }

  private goTo(a: number | undefined, b: number | undefined, focus = true): void {
    if (a !== undefined) this.select("a", a, focus); else if (b !== undefined) this.select("b", b, focus);
  }

  first(): void {
    const { parting } = this.comparison ?? {}, { a, b } = this;
    if (parting && a && b) this.goTo(this.told(a, parting.a), this.told(b, parting.b)); else this.events.say("The paths do not part");
  }

  /** The first step from here on that has a row of its own: iterations that are told by a count stay closed. */
  private told(side: Side, from: number | undefined): number | undefined {
    if (from === undefined) return undefined;
    const { hidden, shownBy, places } = side.column.layout, taken = new Set<number>();
    for (const [step, shown] of shownBy) if (step < from) taken.add(shown);
    for (let step = from; step < side.path.steps.length; step++) if (!hidden.has(step) && !taken.has(step) && places[step]) return step;
    return from;
  }

  difference(by: number): void {
    const all = this.comparison?.differences ?? [];
    if (all.length === 0) { this.events.say("No differences"); return; }
    this.at = (this.at + by + all.length) % all.length;
    const one = all[this.at]!;
    if (one.kind === "only-b") this.goTo(undefined, one.b?.[0]); else this.goTo(one.a?.[0], one.b?.[0]);
    this.drawBars();
  }

  swap(): void { const { shown } = this; if (shown) this.show(shown[1], shown[0]); }

  setMode(mode: Mode): void { this.mode = mode; this.build(); this.first(); }

  column(): Column | undefined { return (this.active === "a" ? this.a : this.b)?.column; }

  /* Drawing ------------------------------------------------------------------------ */

  private drawBars(): void {
    const { a, b, comparison } = this;
    if (!a || !b || !comparison) return;
    const all = comparison.differences;
    const act = (title: string, label: string, children: (Node | string)[], run: () => void) => h("button", { class: "tb", title, "aria-label": label, onclick: run }, children);
    this.bar.replaceChildren(
      h("span", { class: "seg sides", role: "group", "aria-label": "Side" }, (["a", "b"] as const).map(which => h("button", { "data-show": which, "aria-pressed": String(this.element.dataset["show"] === which), onclick: () => this.sideways(which) }, which === "a" ? "A" : "B"))),
      h("span", { class: "seg", role: "group", "aria-label": "How to stand" }, MODES.map(([mode, name]) => h("button", { "aria-pressed": String(this.mode === mode), "data-mode": mode, onclick: () => this.setMode(mode) }, name))),
      h("span", { class: "seg", role: "group", "aria-label": "Values" }, ([["changed", "Changed values"], ["all", "All"]] as const).map(([which, name]) =>
        h("button", { "aria-pressed": String((document.body.dataset["values"] === "all") === (which === "all")), "data-values": which, onclick: () => { if ((document.body.dataset["values"] === "all") !== (which === "all")) this.events.values(); this.drawBars(); } }, name))),
      h("span", { class: "grow" }),
      h("span", { class: "tgroup" }, act("Swap (s)", "Swap the sides", [icon("swap"), "Swap", h("kbd", { "aria-hidden": "true" }, "s")], () => this.swap())),
      h("span", { class: "tgroup" }, act("Previous difference (N)", "Previous difference", [icon("up"), h("kbd", { "aria-hidden": "true" }, "N")], () => this.difference(-1)),
        h("span", { class: "zl2", id: "difference" }, all.length ? h("b", {}, String(this.at + 1)) : "", all.length ? ` of ${plural(all.length, "difference")}` : "no differences"),
        act("Next difference (n)", "Next difference", [icon("down"), h("kbd", { "aria-hidden": "true" }, "n")], () => this.difference(1))),
      h("span", { class: "tgroup" }, act("Back to the report (Esc)", "Leave the comparison", [icon("close"), "Close"], () => this.events.leave())));
    const [start = "", ...rest] = comparison.sentence.split(/(?<=\.) /);
    this.row.replaceChildren(h("span", { class: "lead", title: comparison.sentence }, h("b", {}, start), ` ${rest.join(" ")}`), h("span", { class: "grow" }),
      ...all.slice(0, 5).map((difference, at) => h("button", { class: at === this.at ? "dchip on" : "dchip", onclick: () => { this.at = at - 1; this.difference(1); } }, h("b", {}, String(at + 1)), difference.kind === "value" ? h("code", {}, difference.text) : difference.text)));
    const head = (side: Side, which: "a" | "b") => h("header", { class: `col-head cmp-head ${side.report.passed ? "ok" : "bad"}` },
      h("span", { class: "side-l" }, side.letter), h("h2", {}, side.report.passed ? "Passing" : "Failing"),
      h("button", { class: "pick", title: "Choose another path (v)", onclick: () => this.events.pick(which) }, side.path.label && side.path.label.length <= 24 ? side.path.label : `${side.report.id}${side.report.paths.length > 1 ? `, path ${side.ref.path + 1}` : ""}`, icon("down")),
      h("span", { class: "sub", title: side.report.title }, titled(side.path.label ? side.report.title : pathTitle(side.path) || side.report.title)), h("span", { class: "count" }, plural(stepCount(side.path), "step")),
      h("span", { class: "tools" }, h("button", { title: "Copy the link to this step (y)", "aria-label": `Copy the link to the step of ${side.letter}`, onclick: () => { this.sideways(which); this.events.link(); } }, icon("link")),
        h("button", { title: "Unfold everything (E)", "aria-label": `Unfold all of ${side.letter}`, onclick: () => side.column.unfoldAll() }, icon("unfold"))));
    this.heads.replaceChildren(head(a, "a"), h("span", { class: "rail-h" }, "order"), head(b, "b"));
    const turns = comparison.pairs.some(pair => pair.a === comparison.parting?.a && pair.b === comparison.parting.b);
    const where = (step: number | undefined, path: Path) => { const data = step === undefined ? undefined : path.steps[step]; return data ? (turns && data.t !== undefined ? (data.t ? "holds" : "does not hold") : `line ${data.l ?? "?"}${data.m && data.m.length < 40 ? `, ${data.m}` : ""}`) : "ends"; };
    this.band.replaceChildren(h("span", { class: "dl-a" }, comparison.clauses?.[0] ?? where(comparison.parting?.a, a.path)), h("b", {}, "First divergence", h("i", {}, comparison.parting ? `step ${ordinalOf(a.path, comparison.parting.a ?? comparison.alike)}` : "")), h("span", { class: "dl-b" }, comparison.clauses?.[1] ?? where(comparison.parting?.b, b.path)));
  }

  /** The order of both sides between the columns, as far as it is on screen. */
  private drawRail(): void {
    const { a, b, comparison } = this;
    if (!a || !b || !comparison) return;
    const top = a.column.scroller.scrollTop, topB = b.column.scroller.scrollTop, height = this.grid.clientHeight || 900;
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("width", "76");
    drawing.setAttribute("height", String(height));
    const out: Node[] = [drawing];
    const swapped = new Set(comparison.differences.flatMap(one => (one.kind === "order" && one.a ? [one.a[0]] : [])));
    const y = (column: Column, step: number, scroll: number) => { const place = column.layout.places[step]; return place ? topOf(place) + 10 - scroll : undefined; };
    const label = (text: string, x: number, at: number, hot: boolean) => { const element = h("span", { class: hot ? "o hot" : "o" }, text); element.style.left = `${x}px`; element.style.top = `${at}px`; out.push(element); };
    const visible = (at: number | undefined): at is number => at !== undefined && at > -20 && at < height + 20;
    const told = { a: new Set<number>(), b: new Set<number>() };
    for (const pair of comparison.pairs) {
      if (a.path.steps[pair.a]?.p && b.path.steps[pair.b]?.p) continue;
      const left = y(a.column, pair.a, top), right = y(b.column, pair.b, topB);
      if (left === undefined || right === undefined || (!visible(left) && !visible(right))) continue;
      const one = ordinalOf(a.path, pair.a), other = ordinalOf(b.path, pair.b), hot = swapped.has(pair.a);
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", Math.abs(left - right) < 2 ? `M26 ${left}H50` : `M26 ${left}C40 ${left} 36 ${right} 50 ${right}`);
      line.setAttribute("class", hot ? "x" : one === other ? "" : "ne");
      drawing.append(line);
      if (!a.path.steps[pair.a]?.p) label(String(one), 14, left, hot);
      if (!b.path.steps[pair.b]?.p) label(String(other), 62, right, hot);
      told.a.add(pair.a);
      told.b.add(pair.b);
    }
    // What both take at another time crosses.
    for (const move of comparison.moves) {
      if (a.path.steps[move.a]?.p || b.path.steps[move.b]?.p) continue;
      const left = y(a.column, move.a, top), right = y(b.column, move.b, topB);
      if (left === undefined || right === undefined || (!visible(left) && !visible(right))) continue;
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", `M26 ${left}C48 ${left} 28 ${right} 50 ${right}`);
      line.setAttribute("class", "x");
      drawing.append(line);
    }
    const rest = (side: Side, known: Set<number>, x: number, scroll: number) => side.path.steps.forEach((step, at) => {
      if (step.p || known.has(at)) return;
      const here = y(side.column, at, scroll);
      if (visible(here)) label(String(ordinalOf(side.path, at)), x, here, comparison.pairs.length > 0);
    });
    rest(a, told.a, 14, top);
    rest(b, told.b, 62, topB);
    for (const pill of this.threads(a)) { const here = y(a.column, pill.step, top); if (visible(here)) { const element = h("span", { class: "th" }, pill.name); element.style.left = "38px"; element.style.top = `${here - 14}px`; out.push(element); } }
    this.railBody.replaceChildren(...out);
    this.band.hidden = this.parting === undefined || this.mode === "apart";
    if (this.parting !== undefined) this.band.style.top = `${this.parting - top}px`;
  }

  /** Where another thread goes on. */
  private threads(side: Side): { readonly step: number; readonly name: string }[] {
    const pills: { step: number; name: string }[] = [];
    let before = "";
    threadsOf(side.path).forEach((name, step) => { if (name && name !== before && !side.column.layout.hidden.has(step)) { pills.push({ step, name }); before = name; } });
    return pills;
  }
}
