// The steps of all paths of a report in the order they happen.

import type { Path } from "./page.ts";

export interface Ordered { readonly path: number; readonly step: number }

/**
 * Steps that say something, by their number over all paths. A step without one comes right after the step before it; paths
 * without any number stand one after the other, and `known` says so.
 */
export function interleaved(paths: readonly Path[]): { readonly steps: readonly Ordered[]; readonly known: boolean } {
  const known = paths.some(path => path.steps.some(step => step.o !== undefined));
  const steps = paths.flatMap((path, number) => {
    let order = known ? -1 : number;
    return path.steps.flatMap((step, at) => {
      if (known) order = step.o ?? order;
      return step.p ? [] : [{ path: number, step: at, order }];
    });
  });
  return { steps: steps.sort((a, b) => a.order - b.order || a.path - b.path || a.step - b.step), known };
}
