// The rail between two columns that are compared: the order of the steps of both, and a handle that makes one wider.

import type { Comparison } from "../lib/compare.ts";
import { ordinalOf, threadsOf } from "../lib/describe.ts";
import { topOf } from "../lib/layout.ts";
import { h } from "./dom.ts";
import type { Pair, Side } from "./pair.ts";

const SVG = "http://www.w3.org/2000/svg";
/** From left to right: the numbers of A, the lines between, the numbers of B. `style.css` has the width. */
const WIDTH = 76, NUMBER_A = 14, LINE_A = 26, MIDDLE = 38, LINE_B = 50, NUMBER_B = 62;
/** How far the handle goes, in percent of the window. */
const LEAST = 20, MOST = 80, STEP = 4;

export class Rail {
  readonly element = h("div", { class: "rail", role: "separator", "aria-orientation": "vertical", "aria-label": "Width of the columns", "aria-valuenow": 50, "aria-valuemin": LEAST, "aria-valuemax": MOST, tabindex: 0, title: "Drag, or press the arrow keys, to make a column wider; double click: equal" });
  private readonly body = h("div", { class: "rail-in" });
  private split = 50;

  /** `resized` is told how wide A is, in percent. */
  constructor(private readonly resized: (percent: number) => void) {
    this.element.append(this.body);
    this.element.addEventListener("keydown", event => {
      const to = { ArrowLeft: this.split - STEP, ArrowRight: this.split + STEP, Home: LEAST, End: MOST }[event.key];
      if (to !== undefined) { this.resize(to); event.preventDefault(); event.stopPropagation(); }
    });
    this.element.addEventListener("dblclick", () => this.resize(50));
    this.element.addEventListener("pointerdown", event => {
      this.element.setPointerCapture(event.pointerId);
      const box = this.element.parentElement!.getBoundingClientRect();
      const drag = (move: PointerEvent) => this.resize((100 * (move.clientX - box.left - WIDTH / 2)) / (box.width - WIDTH));
      this.element.addEventListener("pointermove", drag);
      for (const end of ["pointerup", "pointercancel"]) this.element.addEventListener(end, () => this.element.removeEventListener("pointermove", drag), { once: true });
    });
  }

  private resize(percent: number): void {
    this.split = Math.min(MOST, Math.max(LEAST, percent));
    this.element.setAttribute("aria-valuenow", String(Math.round(this.split)));
    this.resized(this.split);
  }

  /** Draws the order of both sides as far as it is on screen. */
  draw({ a, b }: Pair, comparison: Comparison, height: number): void {
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("width", String(WIDTH));
    drawing.setAttribute("height", String(height));
    const out: Node[] = [drawing];
    const put = (kind: string, text: string, x: number, y: number) => { const element = h("span", { class: kind }, text); element.style.left = `${x}px`; element.style.top = `${y}px`; out.push(element); };
    const line = (shape: string, kind: string) => { const element = document.createElementNS(SVG, "path"); element.setAttribute("d", shape); element.setAttribute("class", kind); drawing.append(element); };
    const visible = (y: number | undefined): y is number => y !== undefined && y > -20 && y < height + 20;
    const heights = (one: number, other: number): readonly [number, number] | undefined => {
      const left = heightOf(a, one), right = heightOf(b, other);
      return left === undefined || right === undefined || (!visible(left) && !visible(right)) ? undefined : [left, right];
    };
    const passing = (side: Side, step: number) => !!side.path.steps[step]?.p;
    const swapped = new Set(comparison.differences.flatMap(one => (one.kind === "order" && one.a ? [one.a[0]] : [])));
    const told = { a: new Set<number>(), b: new Set<number>() };
    for (const pair of comparison.pairs) {
      const at = passing(a, pair.a) && passing(b, pair.b) ? undefined : heights(pair.a, pair.b);
      if (!at) continue;
      const [left, right] = at, one = ordinalOf(a.path, pair.a), other = ordinalOf(b.path, pair.b), hot = swapped.has(pair.a);
      line(Math.abs(left - right) < 2 ? `M${LINE_A} ${left}H${LINE_B}` : `M${LINE_A} ${left}C40 ${left} 36 ${right} ${LINE_B} ${right}`, hot ? "x" : one === other ? "" : "ne");
      if (!passing(a, pair.a)) put(hot ? "o hot" : "o", String(one), NUMBER_A, left);
      if (!passing(b, pair.b)) put(hot ? "o hot" : "o", String(other), NUMBER_B, right);
      told.a.add(pair.a);
      told.b.add(pair.b);
    }
    // What both take at another time crosses.
    for (const move of comparison.moves) {
      const at = passing(a, move.a) || passing(b, move.b) ? undefined : heights(move.a, move.b);
      if (at) line(`M${LINE_A} ${at[0]}C48 ${at[0]} 28 ${at[1]} ${LINE_B} ${at[1]}`, "x");
    }
    for (const [side, x] of [[a, NUMBER_A], [b, NUMBER_B]] as const) side.path.steps.forEach((step, at) => {
      const y = step.p || told[side.which].has(at) ? undefined : heightOf(side, at);
      if (visible(y)) put(comparison.pairs.length > 0 ? "o hot" : "o", String(ordinalOf(side.path, at)), x, y);
    });
    for (const { step, name } of turns(a)) { const y = heightOf(a, step); if (visible(y)) put("th", name, MIDDLE, y - 14); }
    this.body.replaceChildren(...out);
  }
}

/** Where the middle of a step's row is, in the window. */
function heightOf({ column }: Side, step: number): number | undefined {
  const place = column.layout.places[step];
  return place && topOf(place) + 10 - column.scroller.scrollTop;
}

/** Where another thread goes on. */
function turns(side: Side): { readonly step: number; readonly name: string }[] {
  const pills: { step: number; name: string }[] = [];
  let before = "";
  threadsOf(side.path).forEach((name, step) => { if (name && name !== before && !side.column.layout.hidden.has(step)) { pills.push({ step, name }); before = name; } });
  return pills;
}
