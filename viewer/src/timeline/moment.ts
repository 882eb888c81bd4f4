// The moment: the call stack as nested frames of source, the line it stands at in view, and the values of each frame.

import { h } from "../views/dom.ts";
import { icon } from "./icons.ts";
import { counted, grouped, tokens, type File, type Frame, type Moment, type Timeline } from "./model.ts";

/** Lines that are shown around the line of a frame. */
const AROUND = { inner: [3, 2], outer: [1, 0] } as const;
/** Frames deeper than this are passed over, from the outside: their heads share one chain. */
const DEEPEST = 6;

const textOf = (file: File | undefined, line: number): string | undefined => {
  for (const [first, lines] of file?.chunks ?? []) if (line >= first && line < first + lines.length) return lines[line - first];
  return undefined;
};
const short = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

function codeLine(text: string, number: number, role: string, badge: string, note: Node[]): HTMLElement {
  const code = h("code", {}, ...tokens(text).map(([kind, piece]) => (kind ? h("i", { class: kind }, piece) : piece)));
  const gap = h("span", { class: "mark" }, badge ? h("b", { class: `badge${role.includes("access") ? " access" : ""}` }, badge) : null);
  return h("div", { class: `line${role ? ` step ${role}` : ""}`, "data-line": number }, gap, h("span", { class: "no" }, String(number)), code, note.length ? h("span", { class: "note" }, ...note) : null);
}

function fold(lines: readonly HTMLElement[]): Node[] {
  if (lines.length < 3) return [...lines];
  const button = h("button", { class: "fold", "aria-expanded": "false" }, h("span", { class: "dots" }, h("i"), h("i"), h("i")), h("span", { class: "lbl" }, counted(lines.length, "line")));
  button.addEventListener("click", () => { button.replaceWith(...lines); });
  return [button];
}

/** A frame with its lines, and inside it the frame that it calls. */
function frameOf(data: Timeline, frame: Frame, number: number, depth: number, inner: HTMLElement | undefined, thread: string): { element: HTMLElement; shown: number; all: number } {
  const file = data.files[frame.file];
  const before: HTMLElement[] = [], after: HTMLElement[] = [];
  const body = h("div", { class: "body" });
  const [first, last] = frame.lines ?? [frame.line, frame.line];
  let shown = 0;
  const own = textOf(file, frame.line);
  const note = frame.values.slice(0, inner ? 2 : 3).map(([name, value]) => h("span", { class: "val" }, h("b", {}, name), ` = ${value.length > 28 ? `${value.slice(0, 27)}\u2026` : value}`));
  if (own === undefined) {
    const why = !frame.file && frame.file !== 0 ? "" : file?.missing ?? "the source is not there";
    body.append(h("div", { class: "line unknown step" }, h("span", { class: "mark" }, h("b", { class: "badge" }, String(number))), h("span", { class: "words" }, frame.line ? `line ${frame.line}: ${why}` : "no source is known")));
  } else {
    const around = inner ? AROUND.outer : AROUND.inner;
    for (let line = first; line <= last; line++) {
      const text = textOf(file, line);
      if (text === undefined) continue;
      if (line === frame.line) {
        const here = codeLine(text, line, inner ? "call" : "access current now", String(number), note);
        body.append(...arranged(before, first, frame.line - around[0]), here);
        shown += 1;
        if (inner) body.append(inner);
      } else (line < frame.line ? before : after).push(codeLine(text, line, "", "", []));
    }
    const near = after.filter(line => Number(line.dataset["line"]) <= frame.line + around[1]);
    body.append(...near, ...fold(after.slice(near.length)));
  }
  if (inner && own === undefined) body.append(inner);
  const visible = body.querySelectorAll(":scope > .line").length;
  const header = h("header", { class: "frame-head" }, icon("unfold"), h("span", { class: "fn" }, frame.fn || "??"), h("span", { class: "file" }, file ? short(file.name) : ""), thread ? h("span", { class: "tag" }, thread === "T0" ? null : icon("thread"), thread) : null, frame.inlined ? h("span", { class: "tag" }, "inlined") : null, h("span", { class: "shown" }, own === undefined ? "" : `${visible} of ${counted(last - first + 1, "line")}`));
  const element = h("div", { class: `frame d${Math.min(5, depth)}${thread ? " thread" : ""}`, "data-function": frame.fn }, header, body);
  return { element, shown, all: last - first + 1 };
}

/** The first line of a function and those just above its line; the rest folded. */
function arranged(before: readonly HTMLElement[], first: number, from: number): Node[] {
  const at = (line: HTMLElement): number => Number(line.dataset["line"]);
  const head = before.filter(line => at(line) === first && at(line) < from);
  const near = before.filter(line => at(line) >= from);
  const rest = before.filter(line => !head.includes(line) && !near.includes(line));
  return [...head, ...fold(rest), ...near];
}

/** Values that were other ones in a frame of the same function of the earlier moment. */
function changedSince(earlier: Moment | undefined, frame: Frame, level: number): Map<string, string> {
  const older = earlier?.frames[earlier.frames.length - 1 - level];
  const changed = new Map<string, string>();
  if (older?.fn !== frame.fn) return changed;
  const old = new Map(older.values);
  for (const [name, value] of frame.values) { const was = old.get(name); if (was !== undefined && was !== value) changed.set(name, was); }
  return changed;
}

/** A write; without a time where it is not known. */
export interface LastWrite { readonly time: number | undefined; readonly who: string }

/** The column. `writes` tells who wrote a variable last before the moment, where a lane watches it. */
export function momentColumn(data: Timeline, moment: Moment | undefined, asked: number, earlier: Moment | undefined, writes: (name: string) => LastWrite | undefined, go: (time: number) => void): HTMLElement[] {
  if (!moment) return [h("header", { class: "col-head" }, h("h2", {}, "No moment")), h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Call stack" }, h("p", { class: "empty" }, "The page holds no state: the script's traces have no items.")), h("div", { class: "values" })];
  const thread = `T${moment.thread}`;
  const inner = moment.frames[0];
  // What started the program has no source, and says nothing: it goes into the chain, as do frames that would be too many.
  let known = moment.frames.length;
  while (known > 1 && moment.frames[known - 1]!.file < 0) known--;
  const outside = moment.frames.slice(Math.min(known, DEEPEST)), nested = moment.frames.slice(0, Math.min(known, DEEPEST));
  let element: HTMLElement | undefined, shown = 0, all = 0;
  nested.forEach((frame, level) => {
    const depth = nested.length - level;
    const made = frameOf(data, frame, depth + outside.length, depth, element, level === nested.length - 1 ? thread : "");
    element = made.element;
    shown += made.shown;
    all += made.all;
  });
  const chain = outside.length ? h("div", { class: "startedby" }, icon("thread"), h("span", {}, "called by"), ...[...outside].reverse().slice(-4).flatMap((frame, at) => [at ? h("span", { class: "gt" }, "\u203a") : null, h("b", { class: `via frame-c d${at % 6}` }, frame.fn || "??")]).filter((node): node is HTMLElement => node !== null)) : null;
  const visible = element?.querySelectorAll(".line:not(.unknown)").length ?? 0;
  const away = asked !== moment.t ? h("span", { class: "count away" }, `state at ${grouped(moment.t)}, the nearest kept`) : h("span", { class: "count" }, all ? `${visible} of ${counted(all, "line")}` : "");
  // Only the state at the very end is that of a crash.
  const killer = moment.t === data.end ? data.ending?.signal : undefined;
  const header = h("header", { class: "col-head" }, h("h2", {}, thread), h("span", { class: "sub" }, killer ? h("b", { class: "killed" }, killer) : null, killer ? " in " : "running ", h("code", {}, inner?.fn || "??"), `, ${counted(moment.frames.length, "call")} deep`), away);
  const scroller = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Call stack" }, h("div", { class: "paper" }, chain, element));
  const rows: Node[] = [];
  moment.frames.slice(0, 3).forEach((frame, level) => {
    if (!frame.values.length) return;
    const changed = changedSince(earlier, frame, moment.frames.length - 1 - level);
    rows.push(h("h3", { class: `frame d${Math.min(5, nested.length - level)}` }, h("span", { class: "fn" }, frame.fn || "??")));
    for (const [name, value] of frame.values) {
      const was = changed.get(name), wrote = writes(name);
      const written = wrote?.time;
      const link = !wrote ? null : written === undefined ? h("span", { class: "lw dim" }, wrote.who)
        : h("button", { class: "lw", onclick: () => go(written) }, icon("write"), h("span", { class: "who" }, wrote.who), h("span", {}, `\u2212${grouped(moment.t - written)}`));
      rows.push(h("div", { class: `vr${was === undefined ? "" : " chg"}${wrote ? " hot" : ""}` }, h("code", { title: name }, name), h("span", { class: "vv", title: value }, was === undefined ? null : h("s", {}, was), was === undefined ? null : icon("to"), h("u", {}, value)), link));
    }
  });
  const values = h("div", { class: "values", tabindex: "0", role: "region", "aria-label": "Values" }, h("header", {}, h("h2", {}, "Values"), h("span", { class: "dim" }, "marked: changed since the item before"), h("span", { class: "grow" }), h("span", { class: "dim" }, "Last written")), ...rows);
  return [header, scroller, values];
}
