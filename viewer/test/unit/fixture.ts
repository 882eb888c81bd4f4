// Small pages made from text: a function per file, steps by line.

import { layoutPath, Finder, type FrameNode, type Layout, type Manner, type Row } from "../../src/lib/layout.ts";
import type { FileData, Frame, Path, Step } from "../../src/lib/page.ts";
import { addQuery, type Query } from "../../src/lib/query.ts";
import { Source } from "../../src/lib/source.ts";

export const CODE = [
  "int f(int a) {", //      1
  "    int b = a;", //      2
  "", //                    3
  "    while (b) {", //     4
  "        if (a)", //      5
  "            g(b);", //   6
  "        b--;", //        7
  "    }", //               8
  "    log(a);", //         9
  "    return b;", //      10
  "}", //                  11
];

export const file = (extra: Partial<FileData> = {}): FileData => ({
  name: "f.c", lines: CODE.length, chunks: [{ first: 1, lines: CODE, tokens: CODE.map(() => "") }],
  blocks: [[1, 11, 1, 11], [4, 8, 4, 8], [5, 6, 5]], ...extra,
});

export const step = (l: number | undefined, more: Partial<Step> = {}): Step => ({ r: "note", ...(l !== undefined && { l }), ...more });

export const path = (frames: readonly Partial<Frame>[], steps: readonly Step[], roots: readonly number[] = [0]): Path =>
  ({ label: "", stack: false, roots, steps, frames: frames.map(frame => ({ fn: "f", file: 0, lines: [1, 11] as const, items: [], ...frame })) });

export const queriesOf = (...terms: string[]): readonly Query[] => {
  let queries: readonly Query[] = [];
  for (const term of terms) queries = addQuery(queries, term) ?? queries;
  return queries;
};

export function layout(of: Path, options: { terms?: string[]; open?: [number, number[]][]; definitions?: [string, number][]; data?: FileData; loops?: [string, number | "all"][]; chains?: number[]; manner?: Manner } = {}): Layout {
  const unfolding = { open: new Map((options.open ?? []).map(([frame, lines]) => [frame, new Set(lines)])), definitions: new Map(options.definitions ?? []), loops: new Map(options.loops ?? []), chains: new Set(options.chains ?? []) };
  const definition = { name: "x", kind: "variable", file: "f.c", chunk: { first: 1, lines: ["int x;"], tokens: [""] } };
  return layoutPath(of, [new Source(options.data ?? file())], [definition], new Finder(queriesOf(...(options.terms ?? []))), unfolding, options.manner);
}

/** Rows as words: `4` a line, `(2-3)` a fold, `[...]` an open fold, `{...}` a box, `^4` back to line 4. */
export function told(node: FrameNode): string {
  return node.rows.map((row: Row): string => {
    switch (row.kind) {
      case "line": return `${row.number}${row.steps.length ? `:${row.steps.join("+")}` : ""}${row.loop ? `*${row.loop.count}` : ""}${row.relevant ? "" : "~"}`;
      case "fold": return row.blank ? "" : row.open ? `[${row.first}-${row.last}]` : `(${row.first}-${row.last})`;
      case "frame": return `{${row.node.via.map(one => `${one.frame.fn}>`).join("")}${told(row.node)}}`;
      case "iterations": return `<${row.loop.shown}>`;
      case "alike": return `=${row.count}`;
      case "again": return `^${row.to}`;
      case "note": return `?${row.step}`;
      case "definition": return "def";
    }
  }).filter(Boolean).join(" ");
}
