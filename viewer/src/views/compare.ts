// Two paths side by side, in step: the same steps on the same height, what differs marked, the order drawn between them.

import { compare, missing, type Comparison, type Difference } from "../lib/compare.ts";
import { ordinalOf, passingSteps } from "../lib/describe.ts";
import { keepInStep, partingRow } from "../lib/instep.ts";
import { Finder, remeasure } from "../lib/layout.ts";
import type { Loop } from "../lib/loops.ts";
import type { Page, Path } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { Column } from "./column.ts";
import { differenceRow, partingWords, sideHead, toolbar, type BarEvents, type Mode } from "./comparebar.ts";
import { h, icon } from "./dom.ts";
import type { Pair, PathRef, Side, Which } from "./pair.ts";
import { Rail } from "./rail.ts";

export interface CompareEvents {
  say(text: string): void;
  pick(which: Which): void;
  /** Another step or another pair is shown. */
  moved(): void;
  leave(): void;
  link(): void;
  /** Shows all values, or those that change. */
  values(): void;
}

export class CompareView {
  readonly element = h("main", { class: "compare-view", "aria-label": "Two paths compared" });
  private readonly bar = h("div", { class: "querybar cmpbar" });
  private readonly row = h("div", { class: "diffrow" });
  private readonly heads = h("div", { class: "cmp-heads" });
  private readonly grid = h("div", { class: "cmp-grid" });
  private readonly band = h("div", { class: "divband", hidden: true });
  private readonly rail = new Rail(percent => {
    this.element.style.setProperty("--a", `${percent}fr`);
    this.element.style.setProperty("--b", `${100 - percent}fr`);
  });
  private pair: Pair | undefined;
  private comparison: Comparison | undefined;
  private mode: Mode = "step";
  /** The difference that is current, from zero. */
  private at = 0;
  /** How high the bar stands where the paths part. */
  private parting: number | undefined;
  private chained = true;
  private scrolling = false;

  constructor(private readonly page: Page, private readonly sources: readonly Source[], private readonly events: CompareEvents) {
    this.element.append(this.bar, this.row, this.heads, this.grid);
  }

  get shown(): readonly [PathRef, PathRef] | undefined { return this.pair && [this.pair.a.ref, this.pair.b.ref]; }

  /** The current step of each side, for the address: only that of the side in hand. */
  get steps(): readonly [number | undefined, number | undefined] {
    return this.active === "a" ? [this.pair?.a.column.current, undefined] : [undefined, this.pair?.b.column.current];
  }

  show(a: PathRef, b: PathRef): boolean {
    const [one, other] = [this.pathOf(a), this.pathOf(b)];
    if (!one || !other) return false;
    this.comparison = compare(one, other, this.page);
    this.at = 0;
    const pair = this.build(a, b);
    const first = this.comparison.pairs.length ? this.partsAt(pair) : undefined;
    this.events.moved();
    if (first) this.goTo(first.a, first.b, false); else this.select("a", pair.a.column.first, false);
    return true;
  }

  private pathOf(ref: PathRef): Path | undefined { return this.page.reports[ref.report]?.paths[ref.path]; }

  private side(ref: PathRef, which: Which): Side {
    const report = this.page.reports[ref.report]!, path = report.paths[ref.path]!;
    const column = new Column(which === "a" ? 1 : 2, path, this.page, this.sources, {
      select: step => this.select(which, step), hover: () => undefined, hide: () => undefined, move: () => undefined,
      changed: () => this.sync(), say: text => this.events.say(text), looped: (loop, which) => this.loopAlike(side, loop, which),
      alike: step => { this.setMode("step"); this.select(which, step); },
    });
    const side: Side = { ref, report, path, which, letter: which === "a" ? "A" : "B", column };
    column.decorate = (element, steps) => this.decorate(side, element, steps);
    column.scroller.addEventListener("scroll", () => this.follow(side), { passive: true });
    column.element.dataset["side"] = side.letter;
    return side;
  }

  /** Draws both columns for the mode. Boxes that were opened belong to the way they stood before. */
  private build(refA: PathRef, refB: PathRef): Pair {
    const pair = this.pair = { a: this.side(refA, "a"), b: this.side(refB, "b") }, { a, b } = pair;
    const passing = this.passing(a, b);
    for (const side of [a, b]) side.column.manner = { tight: true, ...(this.chained && { passing: passing[side.which] }), ...(this.mode === "differences" && { alike: this.far(side) }) };
    this.grid.replaceChildren(a.column.element, this.rail.element, b.column.element, this.band);
    this.drawBars();
    const finder = new Finder([]);
    for (const { column } of [a, b]) column.drawWindow();
    for (const { column } of [a, b]) column.relayout(finder);
    this.sync();
    return pair;
  }

  private rebuild(): void { if (this.pair) this.build(this.pair.a.ref, this.pair.b.ref); }

  /** Closes the functions that only pass the call on, or opens them. */
  toggleChains(): boolean {
    const at = this.active, step = this.column()?.current;
    this.chained = !this.chained;
    this.rebuild();
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
    for (const difference of this.comparison?.differences ?? []) add(difference[side.which]);
    side.path.steps.forEach((step, at) => { if (step.x) keep.add(at); });
    return keep;
  }

  /** Opens the loop of the other side that takes the same steps: both tell the same iteration, or their last ones. */
  private loopAlike({ which: here }: Side, loop: Loop, to: number | "all" | undefined): void {
    const there = here === "a" ? "b" : "a", other = this.pair?.[there].column;
    const steps = new Set(loop.iterations.flat()), pair = this.comparison?.pairs.find(one => steps.has(one[here])), twin = pair && other?.loopOf(pair[there]);
    if (twin) other?.setLoop(twin.key, typeof to === "number" ? (to === loop.count - 1 ? twin.count - 1 : Math.min(to, twin.count - 1)) : to);
  }

  /** Puts the same steps on the same height. */
  private sync(): void {
    const { pair, comparison } = this;
    if (!pair || !comparison) return;
    const { a, b } = pair;
    const clear = (column: Column) => { const todo = [...column.layout.roots]; for (let node = todo.pop(); node; node = todo.pop()) { node.pads.clear(); node.reasons.clear(); node.parting = undefined; for (const row of node.rows) if (row.kind === "frame") todo.push(row.node); } };
    // Places are measured without the room of before: only one of the columns may have been laid out anew.
    for (const { column } of [a, b]) { clear(column); column.layout.height = remeasure(column.layout, this.page.definitions); }
    this.parting = keepInStep(a.column.layout, b.column.layout, this.mode === "apart" || comparison.pairs.length === 0 ? { ...comparison, pairs: [], parting: undefined } : comparison, this.page.definitions, (side, from, to) => missing(comparison, a.path, b.path, side, from, to));
    a.column.redraw();
    b.column.redraw();
    this.drawRail();
  }

  private follow(side: Side): void {
    if (this.mode !== "apart" && this.comparison?.pairs.length && this.pair && !this.scrolling) {
      const other = this.pair[side.which === "a" ? "b" : "a"];
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
    const mine = (difference: Difference) => difference[side.which], alone = `only-${side.which}`;
    const within = (range: readonly [number, number] | undefined, step: number) => !!range && step >= range[0] && step <= range[1];
    const inside = (range: readonly [number, number] | undefined) => steps.some(step => within(range, step));
    const own = steps.filter(step => !side.path.steps[step]?.p && comparison.differences.some(difference => difference.kind === alone && within(mine(difference), step)));
    if (own.length && own.length === steps.filter(step => !side.path.steps[step]?.p).length) {
      element.classList.add("only");
      element.append(h("span", { class: "only-tag" }, `only in ${side.letter}`));
    } else for (const step of own) element.querySelector(`.note.step[data-index="${step + 1}"]`)?.classList.add("only");
    const parting = comparison.parting?.[side.which];
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

  private select(which: Which, step: number, focus = true): void {
    const { pair, comparison } = this;
    if (!pair || !comparison) return;
    const side = pair[which], other = pair[which === "a" ? "b" : "a"];
    this.element.dataset["show"] = which;
    for (const button of this.bar.querySelectorAll<HTMLElement>("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset["show"] === which));
    side.column.active = true;
    other.column.active = true;
    const twin = comparison.pairs.find(one => one[which] === step)?.[other.which];
    other.column.select(twin, false);
    other.column.active = false;
    side.column.select(step, focus);
    if (!focus) side.column.show(side.column.placeOf(step));
    const data = side.path.steps[step], file = side.column.placeOf(step)?.node.source?.name.split("/").pop() ?? "";
    const place = data?.l === undefined ? "" : `, ${file ? `${file}:` : "line "}${data.l}`;
    const parting = this.partsAt(pair)?.[which] === step ? ", first divergence" : "";
    this.events.say(`${side.letter} step ${ordinalOf(side.path, step)}${twin === undefined ? ", not in the other" : `, ${other.letter} step ${ordinalOf(other.path, twin)}`}${place}${parting}`);
    this.events.moved();
  }

  /** Goes to a step that an address names. */
  goToStep(which: Which, step: number): void { if (this.pair?.[which].path.steps[step]) this.select(which, step, false); }

  /** The side whose step is current. */
  private get active(): Which { return this.pair?.b.column.active ? "b" : "a"; }

  move(by: number): void {
    const column = this.column(), next = column?.neighbour(column.current ?? -1, by);
    if (next !== undefined) this.select(this.active, next); else this.events.say(by > 0 ? "That was the last step" : "That was the first step");
  }

  sideways(to: Which): void { if (this.pair) this.select(to, this.pair[to].column.current ?? this.pair[to].column.first); }

  private goTo(a: number | undefined, b: number | undefined, focus = true): void {
    if (a !== undefined) this.select("a", a, focus); else if (b !== undefined) this.select("b", b, focus);
  }

  first(): void {
    const parting = this.pair && this.partsAt(this.pair);
    if (parting) this.goTo(parting.a, parting.b); else this.events.say("The paths do not part");
  }

  /** The steps right under the bar. */
  private partsAt({ a, b }: Pair): Comparison["parting"] {
    const { comparison } = this, at = comparison && partingRow(a.column.layout, b.column.layout, comparison);
    return at && { a: this.told(a, at.a), b: this.told(b, at.b) };
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

  setMode(mode: Mode): void { this.mode = mode; this.rebuild(); this.first(); }

  /** The column whose step is current. */
  column(): Column | undefined { return this.pair?.[this.active].column; }

  /* Drawing ------------------------------------------------------------------------ */

  private readonly tools: BarEvents = {
    show: which => this.sideways(which), setMode: mode => this.setMode(mode), values: () => { this.events.values(); this.drawBars(); }, swap: () => this.swap(),
    difference: by => this.difference(by), goTo: difference => { this.at = difference - 1; this.difference(1); },
    leave: () => this.events.leave(), pick: which => this.events.pick(which), link: which => { this.sideways(which); this.events.link(); }, unfold: which => this.pair?.[which].column.unfoldAll(),
  };

  private drawBars(): void {
    const { pair, comparison, tools } = this;
    if (!pair || !comparison) return;
    this.bar.replaceChildren(...toolbar(comparison.differences, this.at, this.mode, this.element.dataset["show"], tools));
    this.row.replaceChildren(...differenceRow(comparison, this.at, tools));
    this.heads.replaceChildren(sideHead(pair.a, tools), h("span", { class: "rail-h" }, "order"), sideHead(pair.b, tools));
    this.band.replaceChildren(...partingWords(pair, comparison));
  }

  private drawRail(): void {
    const { pair, comparison } = this;
    if (!pair || !comparison) return;
    this.rail.draw(pair, comparison, this.grid.clientHeight || 900);
    this.band.hidden = this.parting === undefined || this.mode === "apart";
    if (this.parting !== undefined) this.band.style.top = `${this.parting - pair.a.column.scroller.scrollTop}px`;
  }
}
