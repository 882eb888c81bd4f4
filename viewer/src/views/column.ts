// One path in its column. Small paths are drawn whole; of long ones only the boxes and rows near the window are,
// and what is not drawn keeps its height, which the layout knows.

import { calleesOf, grouped, passingSteps, pathTitle, plural, stepCount } from "../lib/describe.ts";
import { Finder, layoutPath, rowsBetween, rowsOf, topOf, SIZE, type FrameNode, type Layout, type Manner, type Place } from "../lib/layout.ts";
import type { Loop } from "../lib/loops.ts";
import type { Frame, Page, Path } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { runsOf } from "../lib/runs.ts";
import { originOf, valuesOf, type Shown } from "../lib/values.ts";
import { definitionElement, foldElement, frameElement, iterationsElement, padElement, STACKED_HEADS } from "./boxes.ts";
import { h, icon, titled } from "./dom.ts";
import { hiddenLineElement, lineElement, noteRowElement, type LineContext } from "./line.ts";

/** Paths with more to draw than this are drawn piece by piece. */
const DRAWN_WHOLE = 2_500;
/** Paths with more than this are drawn piece by piece at first, so that what is on screen comes at once. */
const DRAWN_AT_ONCE = 600;
/** What is known at a line gets at least so many pixels beside the code; with fewer it stands below. */
const ROOM = 240;
/** How far beyond the window to draw. */
const MARGIN = 600;
/** Below this width lines wrap and one path is shown at a time; `style.css` has the same number. */
export const NARROW = "(max-width: 640px)";

export interface ColumnEvents {
  select(step: number): void;
  hover(step: number | undefined): void;
  hide(): void;
  move(by: number): void;
  changed(): void;
  /** Says why nothing happened. */
  say(text: string): void;
  /** Copies the address of the current step. */
  link?(): void;
  /** Another iteration of a loop is drawn, or all; undefined: its list was closed. */
  looped?(loop: Loop, which: number | "all" | undefined): void;
  /** Shows the steps that were left out because both paths take them. */
  alike?(step: number): void;
}

/** Before the first `relayout`. */
const nothing: Layout = { roots: [], height: 0, places: [], hidden: new Map(), shownBy: new Map(), shown: 0, total: 0, size: 0 };

interface Drawn { readonly element: HTMLElement; readonly body: HTMLElement; range: readonly [number, number] }

export class Column {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  private readonly paper: HTMLElement;
  private readonly count: HTMLElement;
  private readonly unfoldButton: HTMLElement;
  private readonly callees: ReadonlyMap<number, Frame>;
  readonly open = new Map<number, Set<number>>();
  readonly definitions = new Map<string, number>();
  readonly loops = new Map<string, number | "all">();
  /** Functions taken out of their chain. */
  readonly chains = new Set<number>();
  /** How the path is drawn. */
  manner: Manner = {};
  private readonly values: readonly (readonly Shown[])[];
  private drawn = new Map<FrameNode, Drawn>();
  private finder = new Finder([]);
  private whole = true;
  private pending = false;
  /** Whether a first screen has been shown, after which there is time to draw more. */
  private painted = false;
  layout: Layout = nothing;
  current: number | undefined;
  /** Whether the current step of the page is in this column. */
  active = false;
  /** Changes a layout before it is drawn: two columns that are kept in step do. */
  adjust: ((layout: Layout) => void) | undefined;
  /** Draws something of its own on a row: marks of a comparison. */
  decorate: ((element: HTMLElement, steps: readonly number[]) => void) | undefined;

  constructor(readonly number: number, readonly path: Path, private readonly page: Page, private readonly sources: readonly Source[], private readonly events: ColumnEvents) {
    this.callees = calleesOf(path);
    this.values = valuesOf(path);
    this.count = h("span", { class: "count" });
    this.paper = h("div", { class: "paper" });
    this.scroller = h("div", { class: "scroller", tabindex: -1, onscroll: () => this.draw() }, this.paper);
    const title = pathTitle(path);
    this.unfoldButton = h("button", { "aria-pressed": "false", title: "Unfold everything (E)", "aria-label": `Unfold all of Path ${number}`, onclick: () => this.unfoldAll() }, icon("unfold"));
    this.element = h("section", { class: "path-column", "data-path": number, "aria-label": `Path ${number}, ${plural(stepCount(path), "step")}` },
      h("header", { class: "col-head" }, h("h2", {}, `Path ${number}`), h("span", { class: "sub", title: title.replaceAll("`", "") }, titled(title)), this.count,
        h("span", { class: "tools" },
          h("button", { title: "Copy the link to this step (y)", "aria-label": `Copy the link to the step of Path ${number}`, onclick: () => this.events.link?.() }, icon("link")), this.unfoldButton,
          h("button", { title: "Move column (L, H)", "aria-label": `Move Path ${number} to the other side`, onclick: () => this.events.move(1) }, icon("swap")),
          h("button", { title: "Hide column", "aria-label": `Hide Path ${number}`, onclick: () => this.events.hide() }, icon("close")))),
      this.scroller);
    // Numbers of steps and lines have room, and code starts at one place in all boxes.
    const digits = (most: number) => String(most).length;
    const lastLine = path.frames.reduce((most, frame) => Math.max(most, frame.lines?.[1] ?? 0), 0);
    this.element.style.setProperty("--mark", `${Math.max(24, 10 + 7 * digits(path.steps.length))}px`);
    this.element.style.setProperty("--no", `${Math.max(26, 2 + 8 * digits(lastLine))}px`);
    new ResizeObserver(() => this.place()).observe(this.scroller);
    this.paper.addEventListener("click", event => this.clicked(event));
    this.paper.addEventListener("mouseover", event => this.events.hover(stepAt(event.target)));
    this.paper.addEventListener("mouseleave", () => this.events.hover(undefined));
  }

  /** Lays the path out anew after a change of queries or folds, keeping the scroll position. */
  relayout(finder: Finder = this.finder): void {
    this.finder = finder;
    this.layout = layoutPath(this.path, this.sources, this.page.definitions, finder, { open: this.open, definitions: this.definitions, loops: this.loops, chains: this.chains }, this.manner);
    this.adjust?.(this.layout);
    this.redraw();
  }

  redraw(): void {
    const { shown, total, size } = this.layout;
    this.whole = size <= (this.painted ? DRAWN_WHOLE : DRAWN_AT_ONCE);
    this.element.classList.toggle("whole", this.whole);
    this.count.textContent = total === 0 ? plural(this.path.steps.length, "step") : shown === total ? plural(shown, "line") : `${grouped(shown)} of ${plural(total, "line")}`;
    this.drawn = new Map();
    const { scrollTop, scrollLeft } = this.scroller;
    this.paper.replaceChildren(...this.layout.roots.map(root => this.drawFrame(root).element));
    this.paper.style.minHeight = this.whole ? "" : `${this.layout.height}px`;
    if (this.layout.roots.length === 0) this.paper.append(h("p", { class: "dim empty" }, "This report names no path and no place."));
    this.update();
    this.scroller.scrollTop = scrollTop;
    this.scroller.scrollLeft = scrollLeft;
    this.place();
    this.draw();
  }

  /** Puts what is known at a line below it where its code leaves no room. Rows of a comparison, or of a path that is drawn around the
      window alone, have one height. */
  private place(): void {
    const { left, width } = this.scroller.getBoundingClientRect();
    if (!this.whole || this.adjust || width === 0) return;
    const all = [...this.paper.querySelectorAll<HTMLElement>(".line > .notes")];
    for (const notes of all) { notes.parentElement!.classList.remove("below"); notes.style.maxWidth = ""; }
    const measured = all.map(notes => ({
      notes, wanted: notes.offsetWidth, line: notes.parentElement!.getBoundingClientRect().left - left + this.scroller.scrollLeft,
      room: this.scroller.clientWidth - 2 - (notes.previousElementSibling!.getBoundingClientRect().right - left + this.scroller.scrollLeft),
    }));
    for (const { notes, wanted, room, line } of measured) {
      if (wanted <= room) continue;
      if (room >= ROOM) { notes.style.maxWidth = `${room}px`; continue; }
      notes.style.setProperty("--room", `${this.scroller.clientWidth - line - 12}px`);
      notes.parentElement!.classList.add("below");
    }
  }

  /** Draws everything, for printing. */
  drawWhole(): void { this.drawAs(this.whole || this.layout.size <= 40_000); }

  /** Draws what the size of the path allows, now that there is time. */
  drawWindow(): void {
    this.painted = true;
    this.drawAs(this.layout.size <= DRAWN_WHOLE);
  }

  private drawAs(whole: boolean): void {
    if (whole !== this.whole) for (const drawn of this.drawn.values()) drawn.range = [-1, -1];
    this.whole = whole;
    this.element.classList.toggle("whole", whole);
    const focused = this.paper.contains(document.activeElement);
    this.update();
    if (focused && !this.paper.contains(document.activeElement) && this.current !== undefined) this.elementOf(this.current)?.focus({ preventScroll: true });
  }

  private draw(): void {
    if (this.whole || this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.update(); });
  }

  private update(): void {
    const from = this.scroller.scrollTop - MARGIN, to = this.scroller.scrollTop + (this.scroller.clientHeight || 1200) + MARGIN;
    for (const root of this.layout.roots) this.updateFrame(root, from, to);
  }

  private updateFrame(node: FrameNode, from: number, to: number): void {
    const drawn = this.drawFrame(node);
    const range = this.whole ? ([0, node.rows.length] as const) : rowsBetween(node, from, to);
    if (range[0] !== drawn.range[0] || range[1] !== drawn.range[1]) {
      drawn.range = range;
      const children: Node[] = [];
      gap(children, (node.tops[range[0]] ?? 0) - (node.pads.get(range[0]) ?? 0));
      for (let at = range[0]; at < range[1]; at++) this.drawRow(node, at, children);
      gap(children, (node.tops[node.rows.length] ?? 0) - ((node.tops[range[1]] ?? 0) - (node.pads.get(range[1]) ?? 0)));
      drawn.body.replaceChildren(...children);
    }
    for (let at = range[0]; at < range[1]; at++) {
      const row = node.rows[at];
      if (row?.kind === "frame") this.updateFrame(row.node, from, to);
    }
  }

  private drawFrame(node: FrameNode): Drawn {
    const known = this.drawn.get(node);
    if (known) return known;
    const body = h("div", { class: "body" });
    const element = frameElement(node, body, {
      number: this.number, path: this.path, callees: this.callees, tight: !!this.manner.tight, opened: (this.open.get(node.index)?.size ?? 0) > 0,
      unfold: () => this.unfold([node]), openChain: () => this.openChain(node),
    });
    const drawn: Drawn = { element, body, range: [-1, -1] };
    this.drawn.set(node, drawn);
    return drawn;
  }

  private openChain(node: FrameNode): void {
    for (const { index } of node.via) this.chains.add(index);
    this.relayout();
    this.events.changed();
    this.paper.querySelector<HTMLElement>(`.frame[data-function="${CSS.escape(node.via[0]?.frame.fn ?? "")}"] .unfold`)?.focus({ preventScroll: true });
  }

  /** Closes all functions that only pass the call on into the heads of those they call, or opens them; says which. */
  toggleChains(): boolean {
    const closed = this.manner.passing === undefined;
    const { passing: _, ...rest } = this.manner;
    this.chains.clear();
    this.manner = closed ? { ...rest, passing: passingSteps(this.path) } : rest;
    this.relayout();
    this.events.changed();
    return closed;
  }

  private drawRow(node: FrameNode, at: number, into: Node[]): void {
    const row = node.rows[at];
    if (!row) return;
    const pad = node.pads.get(at);
    if (pad) into.push(padElement(pad, node.reasons.get(at) ?? "", node.parting === at));
    const context = (key: string): LineContext => ({
      path: this.path, callees: this.callees, values: this.values, source: node.source, depth: node.depth,
      definition: this.definitions.get(key), current: this.active ? this.current : undefined,
    });
    switch (row.kind) {
      case "line": {
        const element = lineElement(row, context(row.key));
        if (row.steps.length) this.decorate?.(element, row.steps);
        into.push(element);
        break;
      }
      case "note": {
        const file = this.path.steps[row.step]?.f;
        const element = noteRowElement(row, context(row.key), file === undefined ? undefined : this.sources[file]?.name);
        this.decorate?.(element, [row.step]);
        into.push(element);
        break;
      }
      case "frame": into.push(this.drawFrame(row.node).element); break;
      case "iterations": into.push(iterationsElement(row.loop, this.path, which => this.showIteration(row.loop, which))); break;
      case "alike": into.push(h("button", { class: "alike", title: "Show them", onclick: () => this.events.alike?.(row.first) }, icon("unfold"), `${plural(row.count, "step")} alike`)); break;
      case "again": into.push(h("div", { class: "again" }, icon("again"), `back to line ${row.to}`)); break;
      case "definition": into.push(definitionElement(this.page.definitions[row.definition], () => this.reveal(row.key, undefined))); break;
      case "fold": {
        if (!row.blank) into.push(foldElement(row, () => this.toggleFold(node, row.first, row.last, !row.open)));
        // Hidden lines stand in the document too, as long as there are not too many of them.
        if (!row.open && this.whole) {
          for (let number = row.first; number <= row.last; number++) into.push(hiddenLineElement(number, node.source));
        }
      }
    }
  }

  /* Folding ------------------------------------------------------------------ */

  private toggleFold(node: FrameNode, first: number, last: number, open: boolean): void {
    const lines = this.open.get(node.index) ?? new Set<number>();
    for (let line = first; line <= last; line++) if (open) lines.add(line); else lines.delete(line);
    this.open.set(node.index, lines);
    this.relayout();
    this.events.changed();
    this.paper.querySelector<HTMLElement>(`.fold[data-first="${first}"]`)?.focus({ preventScroll: true });
  }

  /** Unfolds all of some functions, or folds them when nothing is left to unfold. */
  unfold(nodes: readonly FrameNode[]): void {
    const hasFolded = (node: FrameNode) => node.rows.some(row => row.kind === "fold" && !row.open && !row.blank);
    const open = nodes.some(hasFolded);
    if (!open && !nodes.some(node => this.open.get(node.index)?.size)) { this.events.say("Nothing is folded here"); return; }
    for (const node of nodes) {
      const [first, last] = node.frame.lines ?? [1, 0];
      const lines = new Set<number>();
      if (open) for (let line = first; line <= last; line++) lines.add(line);
      this.open.set(node.index, lines);
    }
    this.relayout();
    this.unfoldButton.setAttribute("aria-pressed", String([...this.open.values()].some(lines => lines.size > 0)));
    this.events.changed();
  }

  unfoldAll(): void {
    const all: FrameNode[] = [];
    const collect = (node: FrameNode) => { all.push(node); for (const row of node.rows) if (row.kind === "frame") collect(row.node); };
    this.layout.roots.forEach(collect);
    this.unfold(all);
  }

  unfoldCurrent(): void {
    const place = this.placeOf(this.current);
    this.unfold(place ? [place.node] : []);
  }

  /* Loops and values ----------------------------------------------------------- */

  /** The loops that have a row, in reading order. */
  private *drawnLoops(): Generator<Loop> {
    for (const { node, row } of rowsOf(this.layout.roots)) { const line = node.rows[row]; if (line?.kind === "line" && line.loop) yield line.loop; }
  }

  /** The loop that goes through a step. */
  loopOf(step: number): Loop | undefined {
    return [...this.drawnLoops()].find(loop => loop.iterations.some(items => items.includes(step)));
  }

  private loopNamed(key: string): Loop | undefined { return [...this.drawnLoops()].find(loop => loop.key === key); }

  private toggleLoop(key: string): void {
    const loop = this.loopNamed(key);
    if (!loop) return;
    this.drawLoop(loop, this.loops.has(key) ? undefined : loop.count - 1);
    this.paper.querySelector<HTMLElement>(`.loop[data-loop="${key}"]`)?.focus({ preventScroll: true });
  }

  private showIteration(loop: Loop, which: number | "all"): void {
    this.drawLoop(loop, which);
    this.paper.querySelector<HTMLElement>(".iters .on")?.focus({ preventScroll: true });
  }

  private drawLoop(loop: Loop, which: number | "all" | undefined): void {
    this.setLoop(loop.key, which);
    this.events.looped?.(loop, which);
    this.events.changed();
  }

  /** Lists the iterations of a loop, and draws one of them or all; undefined closes the list again. */
  setLoop(key: string, which: number | "all" | undefined): void {
    if (which === undefined) this.loops.delete(key); else this.loops.set(key, which);
    this.relayout();
  }

  /** Opens or closes the loop that the current step, or the nearest line above it, is the head of. */
  toggleCurrentLoop(): boolean {
    const place = this.placeOf(this.current), rows = place?.node.rows ?? [];
    for (let at = Math.min(place?.row ?? -1, rows.length - 1); at >= 0; at--) {
      const row = rows[at];
      if (row?.kind === "line" && row.loop) { this.toggleLoop(row.loop.key); return true; }
    }
    const [first] = this.drawnLoops();
    if (first) this.toggleLoop(first.key);
    return !!first;
  }

  /** Opens what hides a step: draws its iteration, takes its function out of the chain. */
  uncover(step: number): void {
    for (let tries = 0; tries < 64; tries++) {
      const cover = this.layout.hidden.get(step);
      if (!cover) break;
      if ("loop" in cover) this.loops.set(cover.loop, cover.iteration); else this.chains.add(cover.chain);
      this.relayout();
    }
    this.events.changed();
  }

  goToOrigin(step: number, name: string): void {
    const origin = originOf(this.path, step, name);
    if (origin === undefined) this.events.say(`The path does not say where ${name} was set before`);
    else this.events.select(origin);
  }

  /** Follows the first value of the current step. */
  origin(): void {
    const name = this.current === undefined ? undefined : this.path.steps[this.current]?.v?.[0]?.[0];
    if (name === undefined || this.current === undefined) this.events.say("No value is told at this step");
    else this.goToOrigin(this.current, name);
  }

  /** The first step that says something, and not only that its line is passed. */
  get first(): number { return Math.max(0, this.path.steps.findIndex(step => !step.p)); }

  /** The next step that is on screen and says something. */
  neighbour(from: number, by: number): number | undefined {
    const { steps } = this.path;
    for (let at = from + by; at >= 0 && at < steps.length; at += by) if (!steps[at]!.p && !this.layout.hidden.has(at)) return at;
    return undefined;
  }

  /* Definitions --------------------------------------------------------------- */

  /** Opens a definition under a row, or closes what is open there. */
  reveal(key: string, definition: number | undefined): void {
    if (definition === undefined || this.definitions.get(key) === definition) this.definitions.delete(key);
    else this.definitions.set(key, definition);
    this.relayout();
    this.events.changed();
    this.pointAt(key);
  }

  /** Puts the tip of a definition's box under the word it belongs to. */
  private pointAt(key: string): void {
    const line = this.paper.querySelector<HTMLElement>(`.line[data-key="${key}"]`), word = line?.querySelector(".id.open"), box = line?.nextElementSibling;
    if (!word || !(box instanceof HTMLElement) || !box.matches(".definition")) return;
    const at = word.getBoundingClientRect(), here = box.getBoundingClientRect();
    box.style.setProperty("--at", `${Math.max(8, Math.min(at.left + at.width / 2 - here.left - 4, here.width - 20))}px`);
  }

  closeDefinition(): boolean {
    const last = [...this.definitions.keys()].pop();
    if (last === undefined) return false;
    this.reveal(last, undefined);
    return true;
  }

  /** Opens the next definition on the current step's line; says whether the line has any. */
  nextDefinition(): boolean {
    const place = this.placeOf(this.current);
    const row = place?.node.rows[place.row];
    if (row?.kind !== "line") return false;
    const all = [...new Set(runsOf(place?.node.source?.line(row.number) ?? { text: "", tokens: "" }, [], {}).runs.flatMap(run => (run.definition !== undefined && run.definition >= 0 ? [run.definition] : [])))];
    if (all.length === 0) return false;
    const at = all.indexOf(this.definitions.get(row.key) ?? -1);
    this.reveal(row.key, at === all.length - 1 ? undefined : all[at + 1]);
    return true;
  }

  private clicked(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const id = target?.closest<HTMLElement>(".id");
    const key = id?.closest<HTMLElement>(".line")?.dataset["key"];
    if (id && key && !id.closest(".definition")) { this.reveal(key, Number(id.dataset["def"])); return; }
    const loop = target?.closest<HTMLElement>(".loop")?.dataset["loop"];
    if (loop !== undefined) { this.toggleLoop(loop); return; }
    const value = target?.closest<HTMLElement>(".val");
    if (value) { this.goToOrigin(Number(value.dataset["of"]), value.dataset["name"] ?? ""); return; }
    if (target?.closest("button")) return;
    const step = stepAt(target ?? null);
    if (step !== undefined) this.events.select(step);
  }

  /* Steps ---------------------------------------------------------------------- */

  placeOf(step: number | undefined): Place | undefined {
    return step === undefined ? undefined : this.layout.places[step];
  }

  elementOf(step: number): HTMLElement | null {
    return this.paper.querySelector<HTMLElement>(`.step[data-index="${step + 1}"]`);
  }

  /** Marks a step as current, and shows and focuses it if asked to. */
  select(step: number | undefined, focus: boolean): void {
    for (const old of this.paper.querySelectorAll(".current")) { old.classList.remove("current"); old.setAttribute("tabindex", "-1"); }
    this.current = step;
    this.element.classList.toggle("active", this.active);
    if (step === undefined || !this.active) return;
    if (this.layout.hidden.has(step)) this.uncover(step);
    if (focus) this.show(this.placeOf(step));
    const element = this.elementOf(step);
    if (!element) return;
    element.classList.add("current");
    element.closest(".line")?.classList.add("current");
    element.tabIndex = 0;
    if (focus) element.focus({ preventScroll: true });
  }

  /** Scrolls a row into the part of the window that the sticky heads leave free; never sideways. */
  show(place: Place | undefined): void {
    if (!place) return;
    const y = topOf(place), heads = SIZE.head * (Math.min(place.node.level, STACKED_HEADS) + 1) + 44;
    const { scrollTop, clientHeight } = this.scroller;
    // Where lines wrap, only the browser knows where they are.
    if (this.whole && matchMedia(NARROW).matches) {
      this.drawn.get(place.node)?.body.querySelector(`:scope > [data-key="${(place.node.rows[place.row] as { key?: string } | undefined)?.key ?? ""}"]`)?.scrollIntoView({ block: "center" });
      return;
    }
    if (y < scrollTop + heads) this.scroller.scrollTop = y - heads;
    else if (y + SIZE.line > scrollTop + clientHeight - 64) this.scroller.scrollTop = Math.min(y + SIZE.line + 64 - clientHeight, y - heads);
    if (!this.whole) this.update();
  }

  link(step: number | undefined): void {
    for (const old of this.paper.querySelectorAll(".linked")) old.classList.remove("linked");
    if (step !== undefined) this.elementOf(step)?.classList.add("linked");
  }

  /** Rows with matches, in reading order. */
  matches(term: string | undefined): Place[] {
    return [...rowsOf(this.layout.roots)].filter(place => {
      const row = place.node.rows[place.row];
      return row?.kind === "line" && row.matches.some(match => term === undefined || match.query.term === term);
    });
  }

  markNow(place: Place, term: string | undefined): string {
    this.show(place);
    const row = place.node.rows[place.row];
    if (row?.kind !== "line") return "";
    const line = this.drawn.get(place.node)?.body.querySelector<HTMLElement>(`:scope > .line[data-key="${row.key}"]:not([hidden])`);
    const marks = [...(line?.querySelectorAll("mark") ?? [])].filter(mark => term === undefined || mark.dataset["query"] === term);
    marks[0]?.classList.add("now");
    return `${term ?? row.matches[0]?.query.term ?? ""} at ${place.node.source?.name ?? ""}:${row.number}`;
  }
}

function gap(into: Node[], height: number): void {
  if (height <= 0) return;
  const spacer = h("div", { class: "gap", "aria-hidden": "true" });
  spacer.style.height = `${height}px`;
  into.push(spacer);
}

function stepAt(target: EventTarget | null): number | undefined {
  const step = target instanceof Element ? target.closest<HTMLElement>(".step")?.dataset["index"] : undefined;
  return step === undefined ? undefined : Number(step) - 1;
}
