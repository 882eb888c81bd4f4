// Reads the data that stands in the page and starts: lanes on the left, the moment on the right, the script below.

import "./timeline.css";
import { h } from "../views/dom.ts";
import { icon } from "./icons.ts";
import { HUES, callsLane, itemsLane, threadsLane, type Row, type View } from "./lanes.ts";
import { counted, grouped, lowerBound, nearest, sums, tickDistance, tokens, type Lane, type Moment, type Timeline } from "./model.ts";
import { momentColumn, type LastWrite } from "./moment.ts";

/** The window is never shorter than this many steps. */
const SHORTEST = 12;

class App {
  private view: View;
  private readonly times: readonly (readonly number[])[];
  private readonly momentTimes: readonly number[];
  private readonly rows: Row[] = [];
  private readonly laneRows: Row[] = [];
  private hover: { lane: number; index: number } | undefined;
  private marks: number[] = [];
  private pending = 0;

  private readonly lanes = h("div", { class: "lanes", tabindex: "0", role: "region", "aria-label": "Lanes" });
  private readonly hair = h("i", { class: "hair" });
  private readonly hoverHair = h("i", { class: "hair hv" });
  private readonly hairs = h("div", { class: "hairs", "aria-hidden": "true" }, this.hair, this.hoverHair);
  private readonly card = h("div", { class: "card-h", role: "tooltip" });
  private readonly axis = h("div", { class: "ovt ticks", "aria-hidden": "true" });
  private readonly overview = h("div", { class: "ovt", role: "img" });
  private readonly brush = h("div", { class: "brush" });
  private readonly brushLabel = h("span", { class: "brl" });
  private readonly wedge = document.createElementNS("http://www.w3.org/2000/svg", "path");
  private readonly column = h("section", { class: "moment", "aria-label": "Moment" });
  private readonly clock = h("b");
  private readonly where = h("span", { class: "dim nb" });
  private readonly zoomLabel = h("span", { class: "zl" });
  private readonly status = h("span", { role: "status" });
  private readonly help = h("dialog", { class: "keys", "aria-label": "Keys" });

  constructor(private readonly data: Timeline) {
    this.times = data.lanes.map(lane => sums(lane.times));
    this.momentTimes = data.moments.map(moment => moment.t);
    const first = data.moments[data.moments.length - 1];
    // Opens at the last item of the last lane that has any: what a script looks for comes last.
    let lane = data.lanes.length - 1;
    while (lane > 0 && !this.times[lane]?.length) lane--;
    const own = this.times[lane] ?? [];
    // A run that a signal ended opens where it ended: the state there is the first thing that people ask for.
    const moment = data.ending?.signal ? data.end : own[own.length - 1] ?? first?.t ?? 1;
    this.view = { from: 1, to: Math.max(data.end, 1 + SHORTEST), moment, lane, thread: this.momentAt(moment)?.thread ?? 0 };
  }

  start(body: HTMLElement): void {
    const state = new URLSearchParams(location.hash.slice(1));
    const theme = state.get("theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset["theme"] = theme;
    body.classList.add("p-timeline");
    body.append(this.topbar(), this.main(), this.footer(), this.help);
    this.keys();
    this.pointers();
    new ResizeObserver(() => this.later()).observe(this.lanes);
    const number = (name: string): number | undefined => { const text = state.get(name); return text !== null && /^\d+$/.test(text) ? Number(text) : undefined; };
    const inside = (time: number | undefined): boolean => time !== undefined && time >= 1 && time <= this.data.end;
    const [t, lane, from, to] = [number("t"), number("lane"), number("from"), number("to")];
    if (lane !== undefined && lane < this.data.lanes.length) this.view = { ...this.view, lane };
    const window = from !== undefined && to !== undefined && from < to && inside(from);
    if (window) this.window(from, to);
    this.go(inside(t) ? t! : this.view.moment, !inside(t) && !window);
    const refused = [!inside(t) && state.get("t") !== null && `moment ${state.get("t")}`, !window && from !== undefined && to !== undefined && `window ${from} to ${to}`].filter(Boolean).join(" and ");
    if (refused) this.say(`There is no ${refused}: the run goes from 1 to ${grouped(this.data.end)}`);
  }

  // What is on the page

  private topbar(): HTMLElement {
    const { data } = this;
    const theme = h("button", { class: "icon", "data-act": "theme", title: "Light or dark", "aria-label": "Light or dark", onclick: () => this.theme() }, icon("theme"));
    const keys = h("button", { class: "icon", "data-act": "help", title: "Keys", "aria-label": "Keys", onclick: () => this.help.showModal() }, h("kbd", {}, "?"));
    return h("header", { class: "topbar" }, h("span", { class: "brand" }, icon("logo"), h("span", {}, "Parallax")), h("nav", { class: "crumbs", "aria-label": "Place" }, h("span", {}, data.program)), h("h1", {}, data.recording), h("span", { id: "meta" }, h("span", { class: "tool" }, `${counted(data.threads.length, "thread")}, ${counted(data.end - 1, "step")}`), data.ending?.signal ? h("button", { class: "tool killed", title: data.ending.words, onclick: () => this.go(data.end) }, data.ending.signal) : null), h("span", { class: "grow" }), theme, keys);
  }

  private main(): HTMLElement {
    const button = (symbol: string, label: string, key: string, act: () => void, more = ""): HTMLElement =>
      h("button", { class: `tb ${more}`, title: `${label} (${key})`, onclick: act }, icon(symbol), h("span", {}, label), h("kbd", {}, key));
    const zoom = (symbol: string, label: string, act: () => void): HTMLElement => h("button", { class: "tb", "aria-label": label, title: label, onclick: act }, icon(symbol));
    const transport = h("div", { class: "querybar transport", role: "toolbar", "aria-label": "Move" },
      h("span", { class: "tgroup" }, button("itemb", "Item", "k", () => this.item(-1)), button("stepb", "Moment", ",", () => this.step(-1)), h("span", { class: "clock" }, this.clock), button("stepf", "Moment", ".", () => this.step(1)), button("itemf", "Item", "j", () => this.item(1))),
      h("span", { class: "tgroup soft" }, button("call", "To call", "F", () => this.call(-1)), button("out", "Finish", "f", () => this.call(1)), button("write", "Last write", "w", () => this.lastWrite(), "hi")),
      h("span", { class: "grow" }), this.where,
      h("span", { class: "tgroup zoom" }, zoom("minus", "Zoom out", () => this.zoom(2)), this.zoomLabel, zoom("plus", "Zoom in", () => this.zoom(0.5)), h("button", { class: "tb", title: "The whole run (0)", "aria-label": "The whole run (0)", onclick: () => this.all() }, icon("fit"), h("kbd", {}, "0"))));
    const { data } = this;
    if (data.threads.length) this.rows.push(threadsLane(data.threads, thread => { this.view = { ...this.view, thread }; this.later(); }));
    if (data.calls) this.rows.push(callsLane(data.calls, data.threads));
    data.lanes.forEach((lane, index) => {
      const row = itemsLane(lane, this.times[index]!, () => (this.hover?.lane === index ? this.hover.index : -1));
      row.element.dataset["lane"] = String(index);
      this.rows.push(row);
      this.laneRows.push(row);
    });
    this.lanes.append(...this.rows.map(row => row.element), this.hairs, this.card);
    if (!data.lanes.length) this.lanes.append(h("p", { class: "empty" }, "The script made no traces: each trace that it gives a name becomes a lane."));
    const wedge = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    wedge.setAttribute("viewBox", "0 0 1000 14");
    wedge.setAttribute("preserveAspectRatio", "none");
    wedge.setAttribute("aria-hidden", "true");
    wedge.append(this.wedge);
    this.overview.setAttribute("aria-label", `All ${counted(this.times.reduce((sum, own) => sum + own.length, 0), "item")} of the run`);
    const left = h("div", { class: "tl-left" },
      h("div", { class: "over" }, h("div", { class: "lh ov" }, h("b", {}, "Run"), h("span", {}, counted(data.end - 1, "step"))), this.overview),
      h("div", { class: "wedge", "aria-hidden": "true" }, h("div", { class: "lh" }), h("div", { class: "ovt" }, wedge)),
      h("div", { class: "axis" }, h("div", { class: "lh" }), this.axis),
      this.lanes, this.script());
    this.drawOverview();
    return h("main", { class: "tl" }, transport, h("div", { class: "tl-stage" }, left, this.column));
  }

  private script(): HTMLElement {
    const { script, lanes, notes } = this.data;
    const made = new Map<number, { lane: Lane; index: number }[]>();
    lanes.forEach((lane, index) => { if (lane.line) made.set(lane.line, [...(made.get(lane.line) ?? []), { lane, index }]); });
    const body = h("div", { class: "pbody", tabindex: "0", role: "region", "aria-label": "Script" }, ...script.lines.map((text, at) => {
      const own = made.get(at + 1) ?? [];
      return h("div", { class: "pl" }, h("span", { class: "no" }, String(at + 1)), h("code", {}, ...tokens(text).map(([kind, piece]) => (kind ? h("i", { class: kind }, piece) : piece))),
        ...own.map(({ lane, index }) => h("button", { class: `made frame ${HUES[lane.kind]}`, title: `Go to lane ${lane.name}`, onclick: () => this.pick(index) }, h("i"), h("span", {}, lane.name), h("b", {}, grouped(lane.times.length)))));
    }));
    return h("section", { class: "prompt" }, h("header", {}, h("b", {}, script.name), h("span", { class: "dim" }, `made ${counted(lanes.length, "lane")} in ${script.seconds.toFixed(1)} s`), h("span", { class: "grow" }), h("span", { class: "dim" }, notes.join("; "))), body);
  }

  private footer(): HTMLElement {
    const pairs: [string, string][] = [["j k", "item"], ["h l", "lane"], [", .", "moment back, on"], ["w", "who wrote"], ["+ -", "zoom"], ["?", "all keys"]];
    const all: [string, string][] = [["j k", "next, previous item of the lane"], ["h l", "lane above, below"], [". ,", "next, previous kept moment of any lane"], ["f F", "end of the call, back to it"], ["w", "last write of what the lane watches"], ["m", "mark the moment"], ["+ - 0", "zoom in, out, the whole run"], ["\u2190 \u2192", "pan"], ["y", "copy a link to the moment"], ["?", "this"]];
    const pair = ([keys, words]: [string, string]): HTMLElement => h("span", {}, ...keys.split(" ").map(key => h("kbd", {}, key)), words);
    this.help.append(h("h2", {}, "Keys"), ...all.map(one => h("p", {}, pair(one))), h("p", { class: "dim" }, "The wheel zooms at the pointer, dragging pans; dragging in the overview picks a window."), h("form", { method: "dialog" }, h("button", { class: "tb" }, "Close")));
    return h("footer", { class: "status" }, this.status, h("span", { class: "grow" }), h("span", { class: "hints" }, ...pairs.map(pair)));
  }

  // Moving

  private momentAt(time: number): Moment | undefined { return this.data.moments[nearest(this.momentTimes, time)]; }

  /** Goes to a moment; the window follows if it is outside. */
  private go(time: number, center = false): void {
    const moment = this.momentAt(time);
    this.view = { ...this.view, moment: time, thread: moment?.thread ?? this.view.thread };
    const { from, to } = this.view;
    if (!center && (time < from || time >= to)) this.window(time - (to - from) / 2, time + (to - from) / 2);
    // The window follows: that is nothing to speak of.
    this.said = "";
    const at = this.momentTimes.indexOf(moment?.t ?? -1);
    const own = this.times[this.view.lane] ?? [];
    const before = own[lowerBound(own, time) - 1];
    const earlier = before === undefined ? this.data.moments[at - 1] : this.momentAt(before);
    this.column.replaceChildren(...momentColumn(this.data, moment, time, earlier === moment ? undefined : earlier, name => this.writeBefore(name, time), to => this.go(to)));
    const scroller = this.column.querySelector<HTMLElement>(".scroller"), now = this.column.querySelector<HTMLElement>(".now");
    if (scroller && now) scroller.scrollTop += Math.max(0, now.getBoundingClientRect().bottom + 28 - scroller.getBoundingClientRect().bottom);
    this.later();
    history.replaceState(null, "", `#${this.address()}`);
  }

  private address(): string {
    const { moment, lane, from, to } = this.view, theme = document.documentElement.dataset["theme"];
    return `t=${moment}&lane=${lane}&from=${Math.round(from)}&to=${Math.round(to)}${theme ? `&theme=${theme}` : ""}`;
  }

  private item(by: 1 | -1): void {
    const own = this.times[this.view.lane] ?? [];
    const at = by > 0 ? lowerBound(own, this.view.moment + 1) : lowerBound(own, this.view.moment) - 1;
    if (own[at] !== undefined) this.go(own[at]!); else this.say(`There is no item ${by > 0 ? "after" : "before"} the moment in this lane`);
  }

  /** Says something until the next move. */
  private say(text: string): void { this.said = text; this.later(); }
  private said = "";

  private step(by: 1 | -1): void {
    const at = by > 0 ? lowerBound(this.momentTimes, this.view.moment + 1) : lowerBound(this.momentTimes, this.view.moment) - 1;
    if (this.momentTimes[at] !== undefined) this.go(this.momentTimes[at]!); else this.say(`No state is kept ${by > 0 ? "after" : "before"} the moment`);
  }

  private pick(lane: number): void {
    const count = this.data.lanes.length;
    if (!count) { this.say("The script made no lanes"); return; }
    this.view = { ...this.view, lane: (lane + count) % count };
    const own = this.times[this.view.lane]!;
    this.laneRows[this.view.lane]!.element.scrollIntoView({ block: "nearest" });
    const at = nearest(own, this.view.moment);
    if (at >= 0) this.go(own[at]!); else this.later();
  }

  /** To the start or the end of the innermost call around the moment. */
  private call(by: 1 | -1): void {
    const flat = this.data.calls?.byThread[this.view.thread] ?? [];
    let at = 0, best: number | undefined, deepest = -1;
    for (let index = 0; index + 3 < flat.length; index += 4) {
      at += flat[index]!;
      const end = at + flat[index + 1]!;
      const inside = by < 0 ? at < this.view.moment && this.view.moment < end : at <= this.view.moment && this.view.moment < end - 1;
      if (inside && flat[index + 2]! > deepest) { deepest = flat[index + 2]!; best = by < 0 ? at : end - 1; }
      if (at > this.view.moment) break;
    }
    if (best !== undefined) this.go(best); else this.say("The moment is in no call that is drawn");
  }

  private writeBefore(name: string, time: number): LastWrite | undefined {
    const index = this.data.lanes.findIndex(lane => lane.kind === "watchpoints" && lane.name === name);
    if (index < 0) return undefined;
    const own = this.times[index]!, { writes, cut } = this.data.lanes[index]!;
    // Behind the last item that was kept there may be writes that the page does not know.
    if (cut && time > (own[own.length - 1] ?? 0)) return { time: undefined, who: "not known: the lane was cut" };
    for (let at = lowerBound(own, time) - 1; at >= 0; at--) {
      if (writes && !writes[at]) continue;
      const moment = this.momentAt(own[at]!), inner = moment && moment.t === own[at] ? moment.frames[0] : undefined;
      const file = inner ? this.data.files[inner.file]?.name ?? "" : "";
      return { time: own[at]!, who: inner ? `T${moment?.thread ?? 0} ${file.slice(file.lastIndexOf("/") + 1)}:${inner.line}` : `at ${grouped(own[at]!)}` };
    }
    return undefined;
  }

  private lastWrite(): void {
    const { lanes } = this.data;
    const lane = lanes[this.view.lane]?.kind === "watchpoints" ? this.view.lane : lanes.findIndex(one => one.kind === "watchpoints");
    const wrote = lane < 0 ? undefined : this.writeBefore(lanes[lane]!.name, this.view.moment);
    if (wrote?.time !== undefined) { this.view = { ...this.view, lane }; this.go(wrote.time); }
    else this.say(lane < 0 ? "No lane watches a variable" : wrote ? `The last write is ${wrote.who}` : "No write before");
  }

  private window(from: number, to: number): void {
    const end = Math.max(this.data.end, 1 + SHORTEST), size = Math.min(Math.max(to - from, SHORTEST), end - 1);
    const start = Math.min(Math.max(from, 1), end - size), { from: was, to: until } = this.view;
    const unmoved = start === was && start + size === until;
    this.said = !unmoved ? "" : size >= end - 1 ? "The whole run is in view" : size <= SHORTEST ? "Single steps: closer does not go" : "The run goes no further";
    this.view = { ...this.view, from: start, to: start + size };
    window.clearTimeout(this.addressed);
    this.addressed = window.setTimeout(() => history.replaceState(null, "", `#${this.address()}`), 200);
    this.later();
  }
  private addressed = 0;

  private all(): void { this.window(1, this.data.end); }

  /** At the moment if it is in view, else in the middle. */
  private zoom(by: number, at = this.view.moment): void {
    const { from, to } = this.view, center = at >= from && at <= to ? at : (from + to) / 2;
    this.window(center - (center - from) * by, center + (to - center) * by);
  }

  private theme(): void {
    const root = document.documentElement;
    const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = dark ? "light" : "dark";
    history.replaceState(null, "", `#${this.address()}`);
  }

  // Input

  private keys(): void {
    addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
      const act: Readonly<Record<string, () => void>> = {
        j: () => this.item(1), k: () => this.item(-1), h: () => this.pick(this.view.lane - 1), l: () => this.pick(this.view.lane + 1),
        ".": () => this.step(1), ",": () => this.step(-1), f: () => this.call(1), F: () => this.call(-1), w: () => this.lastWrite(),
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.all(),
        ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
        m: () => { this.marks.push(this.view.moment); this.say(`Moment ${grouped(this.view.moment)} is marked`); },
        y: () => {
          const done = () => this.say("The link is copied"), failed = () => this.say(location.href);
          try { navigator.clipboard.writeText(location.href).then(done, failed); } catch { failed(); }
        },
        "?": () => this.help.showModal(),
      };
      const found = act[event.key];
      if (found) { event.preventDefault(); found(); }
    });
  }

  private pan(by: number): void { const { from, to } = this.view, shift = (to - from) * by; this.window(from + shift, to + shift); }

  /** The time under the pointer, and the lane. */
  private under(event: PointerEvent | WheelEvent): { time: number; lane: number; inTrack: boolean } {
    const track = this.rows[0]?.track.getBoundingClientRect() ?? this.lanes.getBoundingClientRect();
    const { from, to } = this.view;
    const time = from + ((event.clientX - track.left) / Math.max(track.width, 1)) * (to - from);
    const section = (event.target as HTMLElement).closest<HTMLElement>("[data-lane]");
    return { time, lane: section ? Number(section.dataset["lane"]) : -1, inTrack: event.clientX >= track.left && event.clientX <= track.right };
  }

  private pointers(): void {
    let drag: { x: number; from: number; to: number; moved: boolean } | undefined;
    this.lanes.addEventListener("wheel", event => {
      if (!event.ctrlKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); this.pan(event.deltaX / 800); return; }
      const { time, inTrack } = this.under(event);
      if (!inTrack || event.shiftKey) return;
      event.preventDefault();
      const { from, to } = this.view, by = Math.exp(Math.max(-0.7, Math.min(0.7, event.deltaY / 300)));
      this.window(time - (time - from) * by, time + (to - time) * by);
    }, { passive: false });
    this.lanes.addEventListener("pointerdown", event => {
      if (event.button !== 0 || !this.under(event).inTrack) return;
      drag = { x: event.clientX, from: this.view.from, to: this.view.to, moved: false };
    });
    addEventListener("pointermove", event => {
      if (drag) {
        const width = this.rows[0]?.track.clientWidth ?? 1, shift = ((drag.x - event.clientX) / width) * (drag.to - drag.from);
        drag.moved ||= Math.abs(event.clientX - drag.x) > 3;
        if (drag.moved) { this.hover = undefined; this.window(drag.from + shift, drag.to + shift); }
        return;
      }
      if (!this.lanes.contains(event.target as Node)) { if (this.hover) { this.hover = undefined; this.later(); } return; }
      const { time, lane, inTrack } = this.under(event);
      const own = this.times[lane] ?? [], index = inTrack ? nearest(own, time) : -1;
      const reach = (8 / (this.rows[0]?.track.clientWidth ?? 1)) * (this.view.to - this.view.from);
      const found = index >= 0 && Math.abs(own[index]! - time) <= Math.max(reach, 0.5) ? { lane, index } : undefined;
      if (found?.lane !== this.hover?.lane || found?.index !== this.hover?.index) { this.hover = found; this.later(); }
    });
    addEventListener("pointerup", event => {
      const was = drag;
      drag = undefined;
      if (!was || was.moved) return;
      const { time, lane, inTrack } = this.under(event);
      if (!inTrack) return;
      if (lane >= 0) {
        const own = this.times[lane]!, index = nearest(own, time);
        this.view = { ...this.view, lane };
        const reach = (10 / (this.rows[0]?.track.clientWidth ?? 1)) * (this.view.to - this.view.from);
        if (index >= 0 && Math.abs(own[index]! - time) <= Math.max(reach, 1)) { this.go(own[index]!); return; }
      }
      if (this.lanes.contains(event.target as Node)) this.go(Math.max(1, Math.min(this.data.end, Math.round(time))));
    });
    const over = (event: PointerEvent): number => { const box = this.overview.getBoundingClientRect(); return 1 + (Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (this.data.end - 1)); };
    let picked: number | undefined;
    this.overview.addEventListener("pointerdown", event => { picked = over(event); this.overview.setPointerCapture(event.pointerId); });
    this.overview.addEventListener("pointermove", event => { if (picked !== undefined) { const other = over(event); if (Math.abs(other - picked) > (this.data.end - 1) / 400) this.window(Math.min(picked, other), Math.max(picked, other)); } });
    this.overview.addEventListener("pointerup", event => {
      const from = picked, to = over(event), size = this.view.to - this.view.from;
      picked = undefined;
      if (from !== undefined && Math.abs(to - from) <= (this.data.end - 1) / 400) this.window(to - size / 2, to + size / 2);
    });
  }

  // Drawing

  private later(): void { if (!this.pending) this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); }); }

  private draw(): void {
    const { view, data } = this, { from, to, moment } = view;
    for (const row of this.rows) row.draw(view);
    this.laneRows.forEach((row, index) => row.element.classList.toggle("picked", index === view.lane));
    const share = (t: number): number => (100 * (t - from)) / (to - from);
    this.hair.style.left = `${share(moment)}%`;
    this.hair.hidden = moment < from || moment > to;
    this.hairs.style.height = `${this.lanes.scrollHeight}px`;
    this.hairs.querySelectorAll(".hair.mk").forEach(old => old.remove());
    for (const time of this.marks) if (time >= from && time <= to) { const mark = h("i", { class: "hair mk" }); mark.style.left = `${share(time)}%`; this.hairs.append(mark); }
    this.drawAxis(share);
    const [a, b] = [(100 * (from - 1)) / Math.max(1, data.end - 1), (100 * (to - 1)) / Math.max(1, data.end - 1)];
    this.brush.style.left = `${a}%`;
    this.brush.style.width = `${b - a}%`;
    this.brushLabel.textContent = counted(Math.round(to - from), "step");
    this.brushLabel.hidden = b - a > 98;
    this.brushLabel.style.left = `${b}%`;
    this.brushLabel.classList.toggle("flip", a < 20);
    this.wedge.setAttribute("d", `M${a * 10} 0H${b * 10}L1000 14H0Z`);
    this.clock.textContent = grouped(moment);
    this.zoomLabel.textContent = counted(Math.round(to - from), "step");
    const lane = data.lanes[view.lane], own = this.times[view.lane] ?? [];
    const at = lowerBound(own, moment), is = own[at] === moment;
    const count = grouped(own.length) + (lane?.cut ? "+" : "");
    this.where.replaceChildren(...(lane ? [is ? `item ${grouped(at + 1)} of ${count}` : `${count} ${count === "1" ? "item" : "items"}`, h("span", { class: "of" }, " in ", h("code", {}, lane.name))] : []));
    const state = this.momentAt(moment), inner = state?.frames[0], file = inner ? data.files[inner.file]?.name ?? "" : "";
    const place = state && state.t === moment && inner ? `, T${state.thread}, ${inner.line ? `${file.slice(file.lastIndexOf("/") + 1)}:${inner.line}` : inner.fn || "??"}` : "";
    const killer = moment === data.end && data.ending?.signal ? `, ${data.ending.signal}` : "";
    this.status.textContent = this.said || `Moment ${grouped(moment)}${killer}${place}${is && lane ? `, item ${grouped(at + 1)} of ${count} in ${lane.name}` : ""}`;
    this.drawCard(share);
  }

  private drawAxis(share: (t: number) => number): void {
    const { from, to, moment } = this.view, width = this.axis.clientWidth || 700;
    const distance = tickDistance(from, to, width);
    const ticks: HTMLElement[] = [];
    for (let t = Math.ceil(from / distance) * distance; t <= to; t += distance) {
      const at = share(t), near = Math.abs(at - share(moment)) * width < 5500;
      const tick = h("span", { class: at < 3 ? "first" : at > 97 ? "last" : "" }, near ? "" : grouped(t));
      tick.style.left = `${at}%`;
      ticks.push(tick);
    }
    if (moment >= from && moment <= to) { const flag = h("b", { class: "flagt" }, grouped(moment)); flag.style.left = `clamp(30px, ${share(moment)}%, calc(100% - 30px))`; ticks.push(flag); }
    this.axis.replaceChildren(...ticks);
  }

  private drawOverview(): void {
    const bins = 150, { end } = this.data, counts = new Array<number>(bins).fill(0), findings = new Set<number>();
    this.data.lanes.forEach((lane, index) => {
      const own = this.times[index]!;
      for (let bin = 0; bin < bins; bin++) {
        const inside = lowerBound(own, 1 + ((bin + 1) * (end - 1)) / bins) - lowerBound(own, 1 + (bin * (end - 1)) / bins);
        counts[bin]! += inside;
        if (inside && lane.finding) findings.add(bin);
      }
    });
    const most = Math.max(1, ...counts), SVG = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("viewBox", "0 0 1000 40");
    drawing.setAttribute("preserveAspectRatio", "none");
    drawing.setAttribute("aria-hidden", "true");
    const bar = (bin: number, y: number, height: number, kind: string): void => {
      const rect = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ x: (bin * 1000) / bins, y, width: 1000 / bins - 0.6, height, class: kind })) rect.setAttribute(name, String(value));
      drawing.append(rect);
    };
    counts.forEach((count, bin) => { if (count) { const height = 4 + (24 * Math.log1p(count)) / Math.log1p(most); bar(bin, 30 - height, height, ""); } });
    for (const bin of findings) bar(bin, 32, 7, "r");
    const ticks = h("div", { class: "ovx" });
    const distance = tickDistance(1, end, 700, 140);
    for (let t = 0; t < end; t += distance) { const tick = h("span", { class: t > 0.92 * end ? "last" : "" }, grouped(t)); tick.style.left = `${(100 * t) / end}%`; ticks.append(tick); }
    this.overview.append(drawing, this.brush, this.brushLabel, ticks);
  }

  private drawCard(share: (t: number) => number): void {
    const { hover, data } = this;
    this.hoverHair.hidden = !hover;
    this.card.hidden = !hover;
    if (!hover) return;
    const lane = data.lanes[hover.lane]!, time = this.times[hover.lane]![hover.index]!;
    this.hoverHair.style.left = `${share(time)}%`;
    const moment = data.moments[lowerBound(this.momentTimes, time)], exact = moment?.t === time ? moment : undefined;
    const inner = exact?.frames[0], file = inner ? data.files[inner.file]?.name ?? "" : "";
    const what = lane.writes ? (lane.writes[hover.index] ? "Write of " : "Read of ") : lane.kind === "breakpoints" ? "At " : "";
    const says = data.texts[lane.says?.[hover.index] ?? -1] ?? "";
    const number = lane.numbers?.[hover.index], was = lane.numbers?.[hover.index - 1];
    const lines: [string, Node | string][] = [];
    if (exact && inner) lines.push(["By", h("span", {}, h("b", {}, `T${exact.thread}`), " ", h("code", {}, inner.fn || "??"), inner.line ? ` ${file.slice(file.lastIndexOf("/") + 1)}:${inner.line}` : "")]);
    const distance = time - this.view.moment;
    lines.push(["When", distance === 0 ? "the moment" : `${counted(Math.abs(distance), "step")} ${distance < 0 ? "before" : "after"} the moment`]);
    const value = number != null ? h("p", {}, h("span", { class: "val chg" }, was != null && was !== number ? h("s", {}, grouped(was)) : null, was != null && was !== number ? icon("to") : null, h("u", {}, grouped(number)))) : says ? h("p", {}, h("span", { class: "val" }, says)) : null;
    this.card.className = `card-h frame-c ${HUES[lane.kind]}`;
    this.card.replaceChildren(h("header", {}, h("i", { class: "it acc-i" }), h("b", {}, what, h("code", {}, lane.name)), h("span", { class: "t" }, grouped(time))), ...(value ? [value] : []),
      h("dl", {}, ...lines.flatMap(([term, words]) => [h("dt", {}, term), h("dd", {}, words)])), h("footer", {}, h("span", {}, "click: go there"), exact ? null : h("span", {}, "no state kept here")));
    const box = this.laneRows[hover.lane]!.element, room = this.lanes.clientWidth, head = box.querySelector<HTMLElement>(".lh")!.offsetWidth;
    const x = 8 + head + ((room - 16 - head) * share(time)) / 100;
    const below = box.offsetTop + box.offsetHeight + 6, fits = below + this.card.offsetHeight < this.lanes.scrollTop + this.lanes.clientHeight;
    this.card.style.left = `${Math.max(8, Math.min(room - 288, x - 258))}px`;
    this.card.style.top = `${fits ? below : Math.max(this.lanes.scrollTop + 4, box.offsetTop - this.card.offsetHeight - 6)}px`;
  }
}

const data = JSON.parse(document.getElementById("page")?.textContent ?? "null") as Timeline;
new App(data).start(document.body);
