// What a column draws besides lines of code: the box of a function with its head, folds, iterations of a loop, definitions.

import { grouped, ordinalOf, plural } from "../lib/describe.ts";
import type { FoldRow, FrameNode } from "../lib/layout.ts";
import { iterationLabels, offered, type Loop } from "../lib/loops.ts";
import type { Definition, Frame, Path } from "../lib/page.ts";
import { runsOf } from "../lib/runs.ts";
import { chunkLines } from "../lib/source.ts";
import { h, icon } from "./dom.ts";
import { hueClass, runElement } from "./line.ts";

/** Heads below this depth share the last place when they stick. */
export const STACKED_HEADS = 7;

export interface BoxContext {
  /** Of the column, from one. */
  readonly number: number;
  readonly path: Path;
  readonly callees: ReadonlyMap<number, Frame>;
  /** Whether words are kept short: two columns have less room each. */
  readonly tight: boolean;
  /** Whether some of the function was unfolded by hand. */
  readonly opened: boolean;
  unfold(): void;
  /** Takes the functions that only pass the call on out of the head. */
  openChain(): void;
}

/** The box of a function, with an empty body. */
export function frameElement(node: FrameNode, body: HTMLElement, context: BoxContext): HTMLElement {
  const { frame, depth, source } = node, { path, opened } = context;
  const name = frame.fn || (source ? "file scope" : "unknown place");
  const closed = closedWords(node, path);
  const shown = node.total === 0 ? (source?.file.lines ? `beyond the ${plural(source.file.lines, "line")} of the file` : "no source") : closed ? `${node.shown} of ${node.total}` : node.shown === node.total ? plural(node.shown, "line") : `${node.shown} of ${plural(node.total, "line")}`;
  const caller = node.via[node.via.length - 1]?.frame ?? node.parent?.frame;
  const where = caller ? `called from ${caller.fn || "outside functions"}` : "start of the path";
  const thread = [...node.via.map(one => one.frame), frame].find(one => one.thread !== undefined);
  const element = h("div", {
    class: `frame ${hueClass(depth)}${thread === undefined ? "" : " thread"}${node.level > 12 ? " deep" : ""}`, role: "group",
    "data-function": frame.fn, "data-file": source?.name ?? "", "data-depth": depth,
    "aria-label": `Path ${context.number}: ${name} in ${source?.name ?? "an unknown file"}, depth ${depth}, ${where}`,
  },
    h("header", { class: "frame-head" },
      h("button", { class: "unfold", "aria-pressed": String(opened), "aria-label": `Unfold all of ${name}`, title: "Unfold function (e)", onclick: () => context.unfold() }, icon(opened ? "fold" : "unfold")),
      chainElement(node, context), h("span", { class: "fn" }, name), h("span", { class: "file" }, source?.name ?? ""),
      // What a path begins in was started by no step of it.
      thread && h("span", { class: "tag" }, !isRoot(thread, path) && icon("thread"), threadWords(thread, context)),
      h("span", { class: "shown", title: source?.file.missing ?? "" }, source?.file.missing ? `no source: ${source.file.missing}` : shown, closed)),
    body);
  element.style.setProperty("--depth", String(Math.min(node.level, STACKED_HEADS)));
  element.style.setProperty("--z", String(node.level < STACKED_HEADS ? 20 - node.level : 14 + Math.min(node.level - STACKED_HEADS, 400)));
  return element;
}

/** The names of the functions that only pass the call on; a click takes them out. */
function chainElement(node: FrameNode, context: BoxContext): HTMLElement | null {
  if (node.via.length === 0) return null;
  const names = node.via.flatMap(({ frame, depth }) => [h("span", { class: `via ${hueClass(depth)}` }, frame.fn || "unknown"), h("span", { class: "gt", "aria-hidden": "true" }, "\u203a")]);
  return h("button", { class: "chain", "aria-expanded": "false", title: "Show these calls (C for all)", onclick: () => context.openChain() }, names);
}

const isRoot = (frame: Frame, path: Path): boolean => path.roots.some(root => path.frames[root] === frame);

/** Whether a thread begins here, or goes on where it was. */
function threadWords(frame: Frame, { path, callees, tight }: BoxContext): string {
  if (isRoot(frame, path)) return frame.thread || "a thread";
  const begins = [...callees.values()].includes(frame);
  if (begins && tight && frame.thread) return frame.thread;
  return begins ? (frame.thread ? `new thread ${frame.thread}` : "new thread") : `${frame.thread || "another thread"} runs`;
}

/** Which steps the head stands for. */
function closedWords(node: FrameNode, path: Path): string {
  const steps = [...new Set(node.closed.filter(step => !path.steps[step]?.p).map(step => ordinalOf(path, step)))];
  if (steps.length === 0) return "";
  const last = steps[steps.length - 1] ?? 0, told = steps.length > 2 ? `${steps[0]} to ${last}` : steps.join(", ");
  return `, ${steps.length === 1 ? "step" : "steps"} ${told} closed`;
}

export function foldElement({ first, last, open }: FoldRow, toggle: () => void): HTMLElement {
  return h("button", { class: "fold", "aria-expanded": String(open), title: `${open ? "Fold" : "Unfold"} lines ${first} to ${last}`, "data-first": first, onclick: toggle },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("span", { class: "lbl" }, `${open ? "fold " : ""}${plural(last + 1 - first, "line")}`));
}

/** The iterations of a loop, to choose one from. */
export function iterationsElement(loop: Loop, path: Path, choose: (which: number | "all") => void): HTMLElement {
  const which = offered(loop), labels = iterationLabels(path, loop, which);
  const chip = (to: number | "all", ...children: (Node | string)[]) => h("button", { class: loop.shown === to ? "on" : "", "aria-pressed": String(loop.shown === to), onclick: () => choose(to) }, children);
  return h("div", { class: "iters", role: "group", "aria-label": "Iteration" }, h("span", { class: "il", "aria-hidden": "true" }, "Iteration"),
    which.flatMap((at, index) => [index > 0 && at > (which[index - 1] ?? 0) + 1 && h("span", { class: "dim", "aria-hidden": "true" }, "\u2026"), chip(at, h("b", {}, grouped(at + 1)), labels[index] ?? "")]),
    chip("all", "all"));
}

export function definitionElement(definition: Definition | undefined, close: () => void): HTMLElement {
  if (!definition) return h("div");
  const body = h("div", { class: "body" });
  for (const { number, line } of chunkLines(definition.chunk)) {
    const code = h("code");
    for (const run of runsOf(line, [], {}).runs) code.append(runElement(run, { depth: 0, definition: undefined }));
    body.append(h("div", { class: "line", "data-file": definition.file, "data-line": number, "data-relevant": "true" }, h("span", { class: "no" }, String(number)), code));
  }
  if (definition.more) body.append(h("div", { class: "line dim more" }, `${plural(definition.more, "more line")} in ${definition.file}`));
  return h("div", { class: "definition", role: "group", "aria-label": `Definition of ${definition.name}`, "data-name": definition.name },
    h("header", {}, h("span", { class: "fn" }, definition.name), h("span", { class: "kind" }, definition.kind), h("span", { class: "file" }, definition.file),
      h("button", { class: "close", "aria-label": "Close definition", title: "Close (Esc)", onclick: close }, icon("close"))),
    body);
}

/** Room that the other column needs, and why; on a phone the bar's words stand in the room made for it. */
export function padElement(height: number, why: string, parting: boolean): HTMLElement {
  const pad = h("div", { class: parting ? "pad parting" : "pad", "aria-hidden": "true" }, height >= 18 && why && h("span", {}, why));
  pad.style.height = `${height}px`;
  return pad;
}
