// The report text by lines: how far each is indented, which are headings, and which are nothing but a step.

import type { Segment } from "./page.ts";

export interface TextLine {
  readonly kind: "blank" | "heading" | "step" | "words";
  /** Blanks the line begins with; they are not in the pieces. */
  readonly indent: number;
  readonly pieces: readonly Segment[];
}

/** Cuts the text at its line ends. Blank lines at either end and repeated ones are left out. */
export function linesOf(text: readonly Segment[]): TextLine[] {
  const raw: Segment[][] = [[]];
  for (const { text: words, link } of text) {
    words.split(/\r?\n/).forEach((part, at) => {
      if (at > 0) raw.push([]);
      if (part !== "") raw[raw.length - 1]!.push(link ? { text: part, link } : { text: part });
    });
  }
  const lines: TextLine[] = [];
  for (const pieces of raw) {
    const line = lineOf(pieces);
    if (line.kind === "blank" && (lines.length === 0 || lines[lines.length - 1]!.kind === "blank")) continue;
    lines.push(line);
  }
  if (lines[lines.length - 1]?.kind === "blank") lines.pop();
  // A line of words between a blank and a step says what the steps are.
  return lines.map((line, at) => (line.kind === "words" && lines[at - 1]?.kind === "blank" && lines[at + 1]?.kind === "step" ? { ...line, kind: "heading" } : line));
}

function lineOf(pieces: readonly Segment[]): TextLine {
  const [first, ...rest] = pieces;
  const words = first?.text.trimStart() ?? "", indent = first ? first.text.length - words.length : 0;
  const trimmed = words === "" || !first ? rest : [{ ...first, text: words }, ...rest];
  if (trimmed.every(piece => piece.text.trim() === "")) return { kind: "blank", indent: 0, pieces: [] };
  const links = trimmed.filter(piece => piece.link && "step" in piece.link);
  const isStep = links.length === 1 && trimmed.every(piece => piece === links[0] || piece.text.trim() === "");
  return { kind: isStep ? "step" : "words", indent, pieces: isStep ? links : trimmed };
}

/** `file.c:12: words` as its place and its words; without a place, words alone. */
export function placeAndWords(text: string): readonly [string, string] {
  const parts = /^(\S+?:\d+)(?::\d+)?(?::\s+|\s+|$)(.*)$/s.exec(text);
  return parts ? [parts[1]!, parts[2]!] : ["", text];
}
