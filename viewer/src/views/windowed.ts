// A long list of rows of one height: only those near the window are drawn.

import { h } from "./dom.ts";

const DRAWN_WHOLE = 400;
const BEYOND = 20;

export class Windowed {
  private range: readonly [number, number] = [-1, -1];

  /** Draws `count` rows into `container`, which scrolls inside `scroller`. `spacer` makes what stands for the rest. */
  constructor(
    private readonly container: HTMLElement, private readonly scroller: HTMLElement,
    private readonly count: number, private readonly height: number,
    private readonly row: (at: number) => HTMLElement,
    private readonly spacer: (height: number) => HTMLElement = height => {
      const element = h("div", { class: "gap", "aria-hidden": "true" });
      element.style.height = `${height}px`;
      return element;
    },
  ) {
    if (count > DRAWN_WHOLE) scroller.addEventListener("scroll", this.update, { passive: true });
    this.update();
  }

  readonly update = (): void => {
    let first = 0, last = this.count;
    if (this.count > DRAWN_WHOLE) {
      const above = this.scroller.getBoundingClientRect().top - this.container.getBoundingClientRect().top;
      const window = this.scroller.clientHeight || 800;
      first = Math.max(0, Math.floor(above / this.height) - BEYOND);
      last = Math.min(this.count, Math.ceil((above + window) / this.height) + BEYOND);
      first = Math.min(Math.floor(first / BEYOND) * BEYOND, this.count);
      last = Math.max(first, Math.min(Math.ceil(last / BEYOND) * BEYOND, this.count));
    }
    if (first === this.range[0] && last === this.range[1]) return;
    this.range = [first, last];
    const rows: HTMLElement[] = [];
    if (first > 0) rows.push(this.spacer(first * this.height));
    for (let at = first; at < last; at++) rows.push(this.row(at));
    if (last < this.count) rows.push(this.spacer((this.count - last) * this.height));
    this.container.replaceChildren(...rows);
  };

  /** Scrolls a row into the window and draws it. */
  show(at: number): void {
    const top = this.container.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top + at * this.height;
    const { clientHeight } = this.scroller;
    if (top < 40) this.scroller.scrollTop += top - 40;
    else if (top + this.height > clientHeight - 8) this.scroller.scrollTop += top + this.height - clientHeight + 8;
    this.update();
  }

  stop(): void { this.scroller.removeEventListener("scroll", this.update); }
}
