// Lines of files, and which lines frame which: the page's side of path-derived folding.

import type { Chunk, FileData, Page } from "./page.ts";

export interface SourceLine { readonly text: string; readonly tokens: string }

const nothing: SourceLine = { text: "", tokens: "" };

export class Source {
  constructor(readonly file: FileData) {}

  get name(): string { return this.file.name; }

  /** Where it lies on this machine; only pages with an editor know. */
  get path(): string | undefined { return this.file.path; }

  line(number: number): SourceLine {
    for (const chunk of this.file.chunks) {
      const at = number - chunk.first;
      if (at >= 0 && at < chunk.lines.length) return { text: chunk.lines[at] ?? "", tokens: chunk.tokens[at] ?? "" };
    }
    return nothing;
  }

  private readonly ranges = new Map<string, readonly (readonly number[])[]>();

  /** Blocks that reach into a range; a frame asks for the same range again and again. */
  private blocks(first: number, last: number): readonly (readonly number[])[] {
    const key = `${first}-${last}`;
    let found = this.ranges.get(key);
    if (!found) {
      found = this.file.blocks.filter(block => (block[0] ?? 0) <= last && (block[1] ?? 0) >= first);
      this.ranges.set(key, found);
    }
    return found;
  }

  /** Adds to `into` a line and the lines that frame it: heads, ends, guards and `else` lines of what encloses it. */
  reveal(line: number, first: number, last: number, into: Set<number>): void {
    into.add(line);
    for (const block of this.blocks(first, last)) {
      if ((block[0] ?? 0) > line || (block[1] ?? 0) < line) continue;
      for (let at = 2; at < block.length; at++) {
        const shown = block[at] ?? 0;
        if (shown >= first && shown <= last) into.add(shown);
      }
    }
  }
}

export const sourcesOf = (page: Page): Source[] => page.files.map(file => new Source(file));

export type TokenClass = "k" | "s" | "n" | "c" | "p" | "d";
export interface Token { readonly kind: TokenClass; readonly start: number; readonly end: number; readonly definition: number }

/** Reads `k0,3 d8,8,12`. */
export function tokensOf(encoded: string): Token[] {
  if (!encoded) return [];
  return encoded.split(" ").map(word => {
    const [start = 0, length = 0, definition = -1] = word.slice(1).split(",").map(Number);
    return { kind: word[0] as TokenClass, start, end: start + length, definition };
  });
}

export const chunkLines = (chunk: Chunk): { number: number; line: SourceLine }[] =>
  chunk.lines.map((text, at) => ({ number: chunk.first + at, line: { text, tokens: chunk.tokens[at] ?? "" } }));
