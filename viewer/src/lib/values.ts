// Values along a path: what a step changes, what it only repeats, and where a value comes from.

import type { Path } from "./page.ts";

export interface Shown {
  readonly name: string;
  readonly value: string;
  /** What it was before, where that is known and differs. */
  readonly old?: string;
  /** Whether it only repeats what was written above. */
  readonly same: boolean;
}

/** What stands between a name and its value; some tools know a comparison only, such as `> 1`. */
export const sign = (value: string): string => (/^(?:[<>]=?|!=) /.test(value) ? " " : " = ");

/** The frame each step lies in. */
export function framesOf(path: Path): Map<number, number> {
  const homes = new Map<number, number>();
  path.frames.forEach((frame, index) => { for (const item of frame.items) if (item >= 0) homes.set(item, index); });
  return homes;
}

/** For every step the values it has, each beside what the same name had before in the same activation. */
export function valuesOf(path: Path): readonly (readonly Shown[])[] {
  const homes = framesOf(path), known = new Map<string, string>();
  return path.steps.map((step, index) => (step.v ?? []).map(([name, value]) => {
    const key = `${homes.get(index) ?? -1} ${name}`, old = known.get(key);
    known.set(key, value);
    return { name, value, same: old === value, ...(old !== undefined && old !== value && { old }) };
  }));
}

/**
 * Where the value of a name at a step was set: the last step before that gives it this value, in the same activation or,
 * for what a function is given, the call. Undefined where the path does not say.
 */
export function originOf(path: Path, step: number, name: string): number | undefined {
  const homes = framesOf(path), home = homes.get(step);
  const at = (index: number) => path.steps[index]?.v?.find(([known]) => known === name)?.[1];
  for (let before = step - 1; before >= 0; before--) {
    if (homes.get(before) === home && at(before) !== undefined) return before;
  }
  if (path.steps[step]?.r !== "entry") return undefined;
  for (let before = step - 1; before >= 0; before--) if (path.steps[before]?.r === "call" && homes.get(before) !== home) return before;
  return undefined;
}
