// Choosing a path to compare with: of this report, of one that passed, of one alike, of any.

import { pathTitle, plural, stepCount } from "../lib/describe.ts";
import type { Page } from "../lib/page.ts";
import { h, icon, titled } from "./dom.ts";
import type { PathRef } from "./pair.ts";

const MOST = 200;

/** Candidates in the order they are likely to be wanted. */
export function candidates(page: Page, from: PathRef): { readonly ref: PathRef; readonly why: string }[] {
  const here = page.reports[from.report];
  const out: { ref: PathRef; why: string; rank: number }[] = [];
  page.reports.forEach((report, index) => report.paths.forEach((path, at) => {
    if ((index === from.report && at === from.path) || path.steps.length === 0) return;
    const shares = here?.paths[from.path]?.frames.some(frame => frame.fn && path.frames.some(other => other.fn === frame.fn)) ?? false;
    const [why, rank] = index === from.report ? ["this report", 0] as const : report.passed && shares ? ["known good", 1] as const : report.baseline === "absent" && report.rule === here?.rule ? ["earlier run", 2] as const
      : report.rule === here?.rule && shares ? ["same rule, same functions", 3] as const : shares ? ["same functions", 4] as const : report.passed ? ["known good", 5] as const : report.rule === here?.rule ? ["same rule", 6] as const : ["", 7] as const;
    out.push({ ref: { report: index, path: at }, why, rank });
  }));
  return out.sort((a, b) => a.rank - b.rank || a.ref.report - b.ref.report || a.ref.path - b.ref.path);
}

export function pickPath(page: Page, from: PathRef, chosen: (ref: PathRef) => void): void {
  const all = candidates(page, from);
  const list = h("div", { class: "pick-list" });
  const input = h("input", { type: "text", class: "field", placeholder: "Report, title, function", "aria-label": "Filter paths", spellcheck: "false", oninput: () => draw() });
  const dialog = h("dialog", { id: "picker", "aria-labelledby": "picker-heading", onclose: () => dialog.remove() },
    h("header", {}, h("h2", { id: "picker-heading" }, "Compare with"), h("button", { class: "icon", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))), h("div", { class: "pick-body" }, input, list));
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = all.filter(({ ref }) => { const report = page.reports[ref.report]!; const said = `${report.id} ${report.title} ${report.rule} ${report.paths[ref.path]!.frames.map(frame => frame.fn).join(" ")}`.toLowerCase(); return words.every(word => said.includes(word)); });
    list.replaceChildren(...fits.slice(0, MOST).map(({ ref, why }) => {
      const report = page.reports[ref.report]!, path = report.paths[ref.path]!;
      return h("button", { class: "pick-row", onclick: () => { dialog.close(); chosen(ref); } }, h("span", { class: "rid" }, `${report.id}${report.paths.length > 1 ? `/${ref.path + 1}` : ""}`), h("span", { class: "ttl" }, titled(report.title)), h("span", { class: "dim" }, titled(pathTitle(path)), `, ${plural(stepCount(path), "step")}`), why && h("span", { class: "bdg new" }, why));
    }), ...(fits.length === 0 ? [h("p", { class: "dim" }, all.length ? "No path matches." : "There is no other path on this page.")] : []));
  };
  draw();
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}
