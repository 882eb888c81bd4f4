// Lanes over a window of time: threads, calls, items, values. Each draws itself anew when the window moves.

import { h } from "../views/dom.ts";
import { icon } from "./icons.ts";
import { cluster, counted, grouped, lowerBound, turnsOf, type Calls, type Lane, type Thread } from "./model.ts";

/** The window of time that is looked at, and what is looked at in it. */
export interface View {
  readonly from: number;
  readonly to: number;
  readonly moment: number;
  /** The lane whose items are walked through. */
  readonly lane: number;
  /** The thread of the moment. */
  readonly thread: number;
}

const SVG = "http://www.w3.org/2000/svg";
const place = (t: number, view: View): number => (100 * (t - view.from)) / (view.to - view.from);
const style = (left: number, width?: number): string => `left:${left.toFixed(3)}%${width === undefined ? "" : `;width:${width.toFixed(3)}%`}`;

/** Styles are set by property, which the page's policy allows; a `style` attribute it would not. */
function mark(className: string, css: string, ...children: (Node | string)[]): HTMLElement {
  const element = h("i", { class: className }, ...children);
  element.style.cssText = css;
  return element;
}

export const HUES: Readonly<Record<Lane["kind"], string>> = { breakpoints: "d1", watchpoints: "d4", syscalls: "d0", signals: "d3", calls: "d2", script: "d5" };
const ICONS: Readonly<Record<Lane["kind"], string>> = { breakpoints: "flag", watchpoints: "eye", syscalls: "to", signals: "flag", calls: "stack", script: "script" };

/** A lane on the page. */
export interface Row { readonly element: HTMLElement; readonly track: HTMLElement; draw(view: View): void }

function row(hue: string, kind: string, height: number, label: string, ...head: Node[]): Row & { track: HTMLElement } {
  const track = h("div", { class: "track" });
  const element = h("section", { class: `lane frame ${hue} ${kind}`, "aria-label": label }, h("header", { class: "lh" }, ...head), track);
  element.style.height = `${height}px`;
  return { element, track, draw: () => undefined };
}

function head(symbol: string, name: string, count: string, sub: string): Node[] {
  return [h("div", { class: "lh-top" }, icon(symbol), h("b", { title: name }, name), h("span", {}, count)), h("div", { class: "lh-sub", title: sub }, sub)];
}

/** Which thread runs when. One runs at a time. */
export function threadsLane(threads: readonly Thread[], pick: (thread: number) => void): Row {
  const turns = threads.map(turnsOf);
  const labels = threads.map((thread, index) => h("button", { class: "tlab", title: `thread ${thread.id}: ${thread.name}`, onclick: () => pick(index) }, h("b", {}, `T${index}`), h("span", {}, thread.name)));
  const made = row("d0", "threads", Math.max(1, threads.length) * 17 + 9, "Threads", h("div", { class: "tlabs" }, labels));
  const { track } = made;
  const rows = threads.map(() => h("div", { class: "trow" }));
  track.append(...rows);
  const aggregate = h("span", { class: "agg" });
  track.append(aggregate);
  const draw = (view: View): void => {
    const width = track.clientWidth || 700;
    let switches = 0, dense = false;
    rows.forEach((line, index) => {
      const { starts, ends } = turns[index]!;
      const [first, last] = [lowerBound(ends, view.from + 1), lowerBound(starts, view.to)];
      switches += Math.max(0, last - first);
      line.className = `trow${index === view.thread ? " sel" : ""}`;
      labels[index]!.classList.toggle("sel", index === view.thread);
      const parts: HTMLElement[] = [];
      if (last - first > width / 8) {
        // Shades: how much of each bin it ran.
        dense = true;
        const bins = Math.floor(width / 4), size = (view.to - view.from) / bins;
        for (let bin = 0; bin < bins; bin++) {
          const [a, b] = [view.from + bin * size, view.from + (bin + 1) * size];
          let ran = 0;
          for (let at = lowerBound(ends, a + 1); at < starts.length && starts[at]! < b && ran < size; at++) ran += Math.min(b, ends[at]!) - Math.max(a, starts[at]!);
          if (ran > 0) parts.push(mark("run dn", `${style((100 * bin) / bins, 100 / bins)};opacity:${(0.15 + 0.85 * Math.min(1, ran / size)).toFixed(2)}`));
        }
      } else {
        for (let at = first; at < last; at++) {
          const [a, b] = [Math.max(view.from, starts[at]!), Math.min(view.to, ends[at]!)];
          const current = starts[at]! <= view.moment && view.moment < ends[at]!;
          parts.push(mark(`run${current ? " cur" : ""}`, style(place(a, view), (100 * (b - a)) / (view.to - view.from))));
        }
      }
      line.replaceChildren(...parts);
    });
    aggregate.textContent = dense ? counted(Math.max(0, switches - 1), "switch", "switches") : "";
    aggregate.hidden = !dense;
    track.setAttribute("role", "img");
    track.setAttribute("aria-label", `${counted(threads.length, "thread")}, ${counted(Math.max(0, switches - 1), "switch", "switches")} in view`);
  };
  return { ...made, draw };
}

/** The calls of the thread that is followed, by depth. */
export function callsLane(calls: Calls, threads: readonly Thread[]): Row {
  const depth = Math.max(1, ...calls.byThread.map(spans => spans.reduce((most, value, at) => (at % 4 === 2 ? Math.max(most, value + 1) : most), 0)));
  const shown = Math.min(depth, 8);
  const title = h("b", {}, "Calls");
  const sub = h("div", { class: "lh-sub" });
  const made = row("d2", "calls", 8 + Math.max(2, shown) * 18, "Calls", h("div", { class: "lh-top" }, icon("stack"), title, h("span", {}, `${depth} deep`)), sub);
  const { track } = made;
  const decoded = calls.byThread.map(flat => {
    const spans: { from: number; to: number; depth: number; name: string }[] = [];
    let at = 0;
    for (let index = 0; index + 3 < flat.length; index += 4) {
      at += flat[index]!;
      spans.push({ from: at, to: at + flat[index + 1]!, depth: flat[index + 2]!, name: calls.names[flat[index + 3]!] ?? "?" });
    }
    return spans;
  });
  const draw = (view: View): void => {
    title.textContent = `Calls in T${view.thread}`;
    sub.textContent = calls.without ? `without ${calls.without}` : threads[view.thread]?.name ?? "";
    sub.title = sub.textContent;
    const width = track.clientWidth || 700, scale = width / (view.to - view.from);
    const parts: HTMLElement[] = [];
    const rows: { x: number; count: number; from: number }[] = Array.from({ length: shown }, () => ({ x: -9, count: 0, from: 0 }));
    const flush = (level: number): void => {
      const pending = rows[level]!;
      if (pending.count > 1) {
        const dense = mark("dense-f", `left:${pending.from.toFixed(1)}px;width:${Math.max(4, pending.x - pending.from).toFixed(1)}px;top:${4 + level * 18}px`);
        const words = counted(pending.count, "call");
        if (pending.x - pending.from > words.length * 7) dense.append(h("span", {}, words));
        parts.push(dense);
      }
      pending.count = 0;
    };
    let inView = 0;
    for (const span of decoded[view.thread] ?? []) {
      if (span.to <= view.from || span.depth >= shown) continue;
      if (span.from >= view.to) break;
      inView++;
      const [a, b] = [Math.max(0, (span.from - view.from) * scale), Math.min(width, (span.to - view.from) * scale)];
      const pending = rows[span.depth]!;
      if (b - a < 3) {
        if (!pending.count || a - pending.x > 6) { flush(span.depth); pending.from = a; }
        pending.count++;
        pending.x = b;
        if (pending.count > 1) continue;
      } else flush(span.depth);
      const on = span.from <= view.moment && view.moment < span.to;
      const box = h("div", { class: `sp frame d${Math.min(5, span.depth + 1)}${on ? " on" : ""}`, title: span.name });
      box.style.cssText = `left:${a.toFixed(1)}px;width:${Math.max(2, b - a).toFixed(1)}px;top:${4 + span.depth * 18}px`;
      if (b - a > span.name.length * 6.8 + 12) box.append(h("b", {}, span.name));
      parts.push(box);
    }
    rows.forEach((_, level) => flush(level));
    track.replaceChildren(...parts);
    track.setAttribute("role", "img");
    track.setAttribute("aria-label", `${counted(inView, "call")} in view`);
  };
  return { ...made, draw };
}

/** A lane of items, with a line above them where their values are numbers. */
export function itemsLane(lane: Lane, times: readonly number[], hovered: () => number): Row {
  const values = lane.numbers;
  const total = grouped(times.length) + (lane.cut ? "+" : "");
  const kind = lane.kind === "watchpoints" ? "watch" : lane.kind === "script" ? `scr${lane.finding ? " finding" : ""}` : lane.kind;
  const made = row(HUES[lane.kind], kind, values ? 82 : 38, `${lane.name}, ${total} items`, ...head(ICONS[lane.kind], lane.name, total, lane.line ? `${lane.sub}:${lane.line}` : lane.sub));
  const { track } = made;
  if (values) made.element.querySelector(".lh")!.append(h("div", { class: "lh-sub key" }, h("i", {}), "value"));
  const shape = values ? `${lane.kind === "watchpoints" ? "acc-i" : "bar"}` : lane.finding ? "race" : lane.kind === "breakpoints" ? "sq" : lane.kind === "watchpoints" ? "acc-i" : "bar";
  const until = lane.cut ? times[times.length - 1] ?? 1 : Infinity;
  const draw = (view: View): void => {
    const width = track.clientWidth || 700;
    const drawn = cluster(times, view.from, view.to, width);
    const parts: (HTMLElement | SVGElement)[] = [];
    if (values) parts.push(...valueLine(times, values, view, width, until));
    // Behind the last item that was kept nothing is known.
    if (until < view.to) {
      const from = Math.max(0, (until - view.from) * (width / (view.to - view.from)));
      const unknown = mark("not-known", `left:${from.toFixed(1)}px;right:0`, h("span", {}, `cut after ${grouped(times.length)} items: not known from here on`));
      unknown.title = `The lane was cut after ${grouped(times.length)} items, at ${grouped(until)}`;
      parts.push(unknown);
    }
    const hover = hovered();
    const current = lowerBound(times, view.moment);
    for (const index of drawn.items) {
      const classes = ["it", shape];
      if (lane.writes && !lane.writes[index]) classes.push("read");
      if (times[index] === view.moment && current === index) classes.push("now");
      if (hover === index) classes.push("hov");
      parts.push(mark(classes.join(" "), style(place(times[index]!, view))));
    }
    for (const stretch of drawn.dense) {
      const most = Math.max(...stretch.bars);
      const bars = h("div", {}, ...stretch.bars.map(count => mark("", `height:${count ? Math.round(30 + (70 * count) / most) : 0}%`)));
      const box = mark("dens", `left:${stretch.from}px;width:${Math.max(4, stretch.to - stretch.from)}px`, h("span", {}, counted(stretch.count, "item")), bars);
      box.classList.toggle("narrow", stretch.to - stretch.from < 56);
      box.classList.toggle("first", stretch.from + stretch.to < 60);
      box.classList.toggle("last", stretch.from + stretch.to > 2 * width - 60);
      parts.push(box);
      // Where the moment is inside, it still shows.
      const at = times[current] === view.moment ? (view.moment - view.from) * (width / (view.to - view.from)) : -1;
      if (at >= stretch.from && at < stretch.to) parts.push(mark(`it ${shape} now`, style(place(view.moment, view))));
    }
    track.replaceChildren(...parts);
    track.setAttribute("role", "img");
    track.setAttribute("aria-label", `${lane.name}: ${counted(drawn.count, "item")} in view of ${total}${until < view.to ? `, cut at ${grouped(until)}: what follows is not known` : ""}`);
  };
  return { ...made, draw };
}

/** The value as steps over time, at most two points a pixel. */
function valueLine(times: readonly number[], values: readonly (number | null)[], view: View, width: number, until: number): (HTMLElement | SVGElement)[] {
  const height = 52, scale = width / (view.to - view.from);
  const first = Math.max(0, lowerBound(times, view.from) - 1), last = Math.min(times.length, lowerBound(times, view.to) + 1);
  let [least, most] = [Infinity, -Infinity];
  for (let index = first; index < last; index++) { const value = values[index]; if (value != null) { least = Math.min(least, value); most = Math.max(most, value); } }
  if (least > most) return [];
  const y = (value: number): string => (most === least ? height / 2 : height - 6 - ((height - 12) * (value - least)) / (most - least)).toFixed(1);
  let path = "", x = -1, pen = false;
  for (let index = first; index < last; index++) {
    const value = values[index];
    if (value == null) { pen = false; continue; }
    const at = Math.min(width, Math.max(0, (times[index]! - view.from) * scale));
    if (pen && at - x < 0.5 && index + 1 < last) { continue; }
    path += pen ? `H${at.toFixed(1)}V${y(value)}` : `M${at.toFixed(1)} ${y(value)}`;
    pen = true;
    x = at;
  }
  path += `H${Math.max(0, Math.min(width, (until - view.from) * scale)).toFixed(1)}`;
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "vline");
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  const fill = document.createElementNS(SVG, "path");
  fill.setAttribute("class", "fill");
  fill.setAttribute("d", `${path}V${height}H${path.slice(1, path.indexOf(" "))}Z`);
  drawing.append(fill, line);
  const label = (text: string, css: string): HTMLElement => { const element = h("span", { class: "vlab" }, text); element.style.cssText = css; return element; };
  return [drawing, label(grouped(most), "left:4px;top:2px"), ...(least === most ? [] : [label(grouped(least), "left:4px;top:42px")])];
}
