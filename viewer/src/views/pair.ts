// Two paths that are compared: where each comes from, and its column.

import type { Path, Report } from "../lib/page.ts";
import type { Column } from "./column.ts";

/** A path of the page, counted from zero. */
export interface PathRef { readonly report: number; readonly path: number }

export type Which = "a" | "b";

export interface Side { readonly ref: PathRef; readonly report: Report; readonly path: Path; readonly which: Which; readonly letter: "A" | "B"; readonly column: Column }

export interface Pair { readonly a: Side; readonly b: Side }
