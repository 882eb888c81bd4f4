// What a rule means and what edit the tool proposes: in the pane beside the list and in the report.

import { blocksOf, isPage, spansOf, type Span } from "../lib/markdown.ts";
import type { Fix, Page, Report } from "../lib/page.ts";
import { h } from "./dom.ts";

export const spanElement = (span: Span): Node | string => {
  if (span.url !== undefined && isPage(span.url)) return h("a", { class: "marker", href: span.url, rel: "noopener noreferrer", target: "_blank" }, span.text);
  if (span.code) return h("code", {}, span.text);
  return span.strong ? h("b", {}, span.text) : span.text;
};

/** Markdown as elements; nothing of it is parsed as markup. */
export function markdown(text: string): HTMLElement {
  const out = h("div", { class: "md" });
  for (const block of blocksOf(text)) {
    const spans = block.spans.map(spanElement);
    out.append(block.kind === "heading" ? h("h3", {}, spans) : block.kind === "code" ? h("pre", {}, spans) : h("p", { class: block.kind === "item" ? "item" : "" }, spans));
  }
  return out;
}

/** What the tool says about the rule of a report; nothing where it says nothing. */
export function ruleElement(report: Report, page: Page): HTMLElement | undefined {
  const rule = report.help === undefined ? undefined : page.rules?.[report.help];
  if (!rule) return undefined;
  const pane = h("div", { class: "rule-help" });
  const said = new Set<string>();
  const once = (text: string | undefined) => { if (!text || said.has(text)) return; said.add(text); pane.append(markdown(text)); };
  once(rule.summary);
  once(rule.description);
  once(rule.help);
  if (rule.url && isPage(rule.url)) pane.append(h("p", {}, h("a", { class: "link", href: rule.url, rel: "noopener noreferrer", target: "_blank" }, `More about ${rule.id}`)));
  return pane;
}

/** A proposed edit as a diff. */
export function fixElement(fix: Fix): HTMLElement {
  return h("div", { class: "fix" }, fix.description && h("p", {}, spansOf(fix.description).map(spanElement)), ...fix.changes.map(change => {
    const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((line, at) => line === b[at]);
    const line = (kind: "del" | "ins", number: number, text: string) => h("div", { class: `df ${kind}` }, h("span", { class: "no" }, String(number)), h("b", { "aria-label": kind === "del" ? "removed" : "added" }, kind === "del" ? "-" : "+"), h("code", {}, text));
    return h("div", { class: "diff" },
      h("header", {}, h("code", {}, change.file), h("span", { class: "grow" }), h("span", { class: "plus" }, `+${change.new.length}`), h("span", { class: "minus" }, `\u2212${change.old.length}`)),
      same(change.old, change.new) ? h("p", { class: "dim" }, "The source is like this already.") : [
        ...change.old.map((text, at) => line("del", change.first + at, text)), ...change.new.map((text, at) => line("ins", change.first + at, text))]);
  }));
}
