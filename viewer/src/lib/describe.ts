// Steps, paths and reports in words: what stands at the end of a line, in the step list, in the head of a column.

import type { Frame, Path, Step } from "./page.ts";
import type { Shown } from "./values.ts";

const ACCESS = { read: "read", write: "write", "read-write": "read and write" } as const;

/** Locks held at a step as the report has them; undefined where it does not say. */
export function locksOf(step: Step | undefined): readonly string[] | undefined {
  const entry = step?.s?.find(([name]) => /lock/i.test(name));
  if (!entry) return undefined;
  // Brackets around all of them go; "M1 (read)" keeps its own.
  const value = entry[1].trim().replace(/^(?:\{(.*)\}|\[(.*)\]|\((.*)\)|<(.*)>)$/s, "$1$2$3$4").trim();
  // Names may have blanks in them, so only commas part them.
  return value === "" || /^(none|empty|no locks?)$/i.test(value) ? [] : value.split(",").map(name => name.trim()).filter(Boolean);
}

/** Whether one lock keeps two from running at once: held by both, and not by both for reading only. */
export function excludes(one: readonly string[], other: readonly string[]): boolean {
  const plain = (lock: string) => lock.replace(/ \(read\)$/, "");
  return one.some(lock => other.some(also => plain(lock) === plain(also) && (lock === plain(lock) || also === plain(also))));
}

export interface Note {
  readonly condition?: { readonly icon: "taken" | "skip" | "thread"; readonly text: string };
  readonly values: readonly Shown[];
  readonly failing?: string;
  readonly message?: string;
}

/** Everything known at a step that the code itself does not say. */
export function noteOf(step: Step, callee: Frame | undefined, known: readonly Shown[]): Note {
  const values = [...known];
  let condition: Note["condition"];
  if (callee?.thread !== undefined) condition = { icon: "thread", text: `starts ${callee.thread || "a thread"}` };
  else if (step.t !== undefined) condition = step.t ? { icon: "taken", text: "taken" } : { icon: "skip", text: "not taken" };
  const message = isRedundant(step, callee) || step.m === condition?.text ? undefined : step.m;
  const facts: string[] = [];
  // "writes 4 bytes" says already that it is a write.
  if (step.a && !message?.toLowerCase().startsWith(ACCESS[step.a])) facts.push(ACCESS[step.a]);
  const locks = locksOf(step);
  if (locks) facts.push(locks.length ? `holding ${locks.join(", ")}` : "no lock held");
  for (const [name, value] of step.s ?? []) if (!/lock/i.test(name)) values.push({ name, value, same: false });
  const words = [facts.join(", "), message ?? ""].filter(Boolean).join(": ");
  return {
    ...(condition && { condition }),
    values,
    ...(step.x && words && { failing: words }),
    ...(!step.x && words && { message: words }),
  };
}

/** The steps that only pass a call on: they say nothing that the functions' names do not. Stacks are told by nothing else. */
export function passingSteps(path: Path): ReadonlySet<number> {
  const passing = new Set<number>();
  if (path.stack) return passing;
  const callees = calleesOf(path);
  path.steps.forEach((step, at) => {
    const says = step.x || step.t !== undefined || step.a || step.v?.length || step.s?.length || (step.m && !isRedundant(step, callees.get(at)));
    if (!says && (step.r === "call" || step.r === "entry")) passing.add(at);
  });
  return passing;
}

/** Whether the tool's words only repeat what badge, box and condition show already. */
function isRedundant(step: Step, callee: Frame | undefined): boolean {
  const words = step.m ?? "";
  if (step.r === "entry" && /^(entry to|entered call from) /i.test(words)) return true;
  if (/^\.\.\.to here\.?$/i.test(words)) return true;
  if (callee && /^(\W*)(call|fork|calling|enter(ing|ed)?( call)?)\b/i.test(words) && words.length < 80) return true;
  return step.t !== undefined && /^(taking|following|assuming the condition is) ['‘"]?(true|false)\b/i.test(words);
}

const ROLE = { entry: "entry", call: "call", return: "return", branch: "condition", access: "access", note: "note" } as const;
export const roleWord = (step: Step): string => (step.x ? "where it goes wrong" : ROLE[step.r]);

const ordinals = new WeakMap<Path, readonly number[]>();
/** The number that a step goes by: lines that are merely passed have none, and share that of the step before. */
export function ordinalOf(path: Path, step: number): number {
  let numbers = ordinals.get(path);
  if (!numbers) {
    let count = 0;
    ordinals.set(path, numbers = path.steps.map(one => (one.p ? count : ++count)));
  }
  return numbers[step] ?? step + 1;
}
/** How many steps have a number. */
export const stepCount = (path: Path): number => path.steps.reduce((count, step) => count + (step.p ? 0 : 1), 0);

/** What the shape of the badge says. */
export const badgeOf = (step: Step): "access" | "branch" | "call" | "plain" | "pass" =>
  step.p ? "pass" : step.x ? "access" : step.r === "branch" ? "branch" : step.r === "call" || step.r === "entry" ? "call" : "plain";

/** One line about a step for the step list. */
export function summaryOf(step: Step, callee: Frame | undefined, code: string): string {
  if (callee?.fn && !step.x) return `${callee.thread === undefined ? "call" : "FORK"} ${callee.fn}`;
  return step.m || code.trim() || roleWord(step);
}

/** What stands beside a path's number: its label, or where it begins and ends. Names of functions are in backquotes. */
export function pathTitle(path: Path): string {
  if (path.label) return path.label;
  const first = path.frames[path.roots[0] ?? -1]?.fn;
  const failing = path.steps.findLastIndex(step => step.x);
  const last = path.frames.find(frame => frame.items.includes(failing))?.fn;
  if (!first) return "";
  return last && last !== first ? `\`${first}\` to \`${last}\`` : `\`${first}\``;
}

/** The deepest nesting of a path. */
export function depthOf(path: Path): number {
  let deepest = 0;
  const pending = path.roots.map(root => ({ root, depth: 1 }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    deepest = Math.max(deepest, next.depth);
    for (const item of path.frames[next.root]?.items ?? []) if (item < 0) pending.push({ root: -1 - item, depth: next.depth + 1 });
  }
  return deepest;
}

/** The frame each step opens. A thread that merely runs in between is not opened by the step before it. */
export function calleesOf(path: Path): Map<number, Frame> {
  const callees = new Map<number, Frame>(), openers = new Map<number, number>(), begun = new Set<string>();
  for (const frame of path.frames) frame.items.forEach((item, at) => { const before = frame.items[at - 1]; if (item < 0 && before !== undefined && before >= 0) openers.set(-1 - item, before); });
  // Frames stand in the order they are entered.
  path.frames.forEach((frame, index) => {
    const before = openers.get(index), role = before === undefined ? undefined : path.steps[before]?.r;
    const between = frame.thread !== undefined && (role === "access" || role === "branch" || (frame.thread !== "" && begun.has(frame.thread)));
    if (before !== undefined && !between) callees.set(before, frame);
    if (frame.thread) begun.add(frame.thread);
  });
  return callees;
}

/** The thread each step runs in, as far as the path says. */
export function threadsOf(path: Path): readonly string[] {
  const names = new Array<string>(path.steps.length).fill("");
  const todo = path.roots.map(root => [root, path.thread ?? ""] as const);
  for (let next = todo.pop(); next; next = todo.pop()) {
    const frame = path.frames[next[0]], own = frame?.thread ?? next[1];
    for (const item of frame?.items ?? []) if (item >= 0) names[item] = own; else todo.push([-1 - item, own]);
  }
  return names;
}

/** Digits in groups of three, as far as a number is a whole one. */
export const spaced = (value: string): string => (/^-?\d{5,}$/.test(value) ? value.replace(/\B(?=(\d{3})+$)/g, "\u2009") : value);

/** Two long numbers without the groups of digits that they begin with alike. */
export function spacedPair(old: string, now: string): readonly [string, string] {
  const [a, b] = [spaced(old), spaced(now)];
  if (!/^\d{10,}$/.test(old) || !/^\d{10,}$/.test(now) || old.length !== now.length) return [a, b];
  const groups = [a.split("\u2009"), b.split("\u2009")] as const;
  let same = 0;
  while (same < groups[0].length - 1 && groups[0][same] === groups[1][same]) same++;
  return same === 0 ? [a, b] : [`\u2026${groups[0].slice(same).join("\u2009")}`, `\u2026${groups[1].slice(same).join("\u2009")}`];
}

/** A number with its thousands apart. Not `toLocaleString`: setting that up takes longer than drawing a small path. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

export const plural = (count: number, word: string): string => `${grouped(count)} ${word}${count === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
