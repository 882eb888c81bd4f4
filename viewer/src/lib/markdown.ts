// Markdown as far as rules' help needs it: headings, lists, code and links to pages. What is not that is words, and a link
// that does not lead to a page is words too.

export interface Span { readonly text: string; readonly code?: boolean; readonly strong?: boolean; readonly url?: string }
export interface Block { readonly kind: "heading" | "item" | "code" | "words"; readonly spans: readonly Span[] }

/** Only pages: `javascript:` and its kin stay words. */
export const isPage = (url: string): boolean => /^https?:\/\/[^\s<>"'`]+$/i.test(url);

export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  const push = (span: Span) => { if (span.text !== "") spans.push(span); };
  let at = 0;
  for (const found of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]{1,300})\]\(((?:[^()\s]|\([^()\s]*\)){1,2000})\)/g)) {
    push({ text: text.slice(at, found.index) });
    at = found.index + found[0].length;
    if (found[1] !== undefined) push({ text: found[1], code: true });
    else if (found[2] !== undefined) push({ text: found[2], strong: true });
    else if (isPage(found[4] ?? "")) push({ text: found[3] ?? "", url: found[4]! });
    else push({ text: found[0] });
  }
  push({ text: text.slice(at) });
  return spans;
}

/** Longer texts are cut: help is read, not searched. */
const LONGEST = 40_000;

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let words: string[] = [], fence: string[] | undefined;
  const flush = () => { if (words.length) blocks.push({ kind: "words", spans: spansOf(words.join(" ")) }); words = []; };
  for (const line of markdown.slice(0, LONGEST).split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) {
      if (fence) { blocks.push({ kind: "code", spans: [{ text: fence.join("\n") }] }); fence = undefined; } else { flush(); fence = []; }
      continue;
    }
    if (fence) { fence.push(line); continue; }
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line), item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (heading || item || line.trim() === "") flush();
    if (heading) blocks.push({ kind: "heading", spans: spansOf(heading[1] ?? "") });
    else if (item) blocks.push({ kind: "item", spans: spansOf(item[1] ?? "") });
    else if (line.trim() !== "") words.push(line.trim());
  }
  if (fence) blocks.push({ kind: "code", spans: [{ text: fence.join("\n") }] });
  flush();
  return blocks;
}
