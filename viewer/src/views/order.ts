// Where there is room for one path at a time: the order of all paths alone, one lane for each.

import { calleesOf, summaryOf } from "../lib/describe.ts";
import { interleaved } from "../lib/order.ts";
import type { Report } from "../lib/page.ts";
import type { Source } from "../lib/source.ts";
import { framesOf } from "../lib/values.ts";
import { h } from "./dom.ts";
import { badge } from "./line.ts";

/** More lanes than this do not fit beside the words. */
const LANES = 4;

export function orderElement(report: Report, sources: readonly Source[], select: (path: number, step: number) => void): HTMLElement {
  const { steps, known } = interleaved(report.paths), lanes = Math.min(report.paths.length, LANES);
  const facts = report.paths.map(path => ({ homes: framesOf(path), callees: calleesOf(path) }));
  const list = h("ol", { class: "order-list" });
  list.style.setProperty("--lanes", String(lanes));
  let before = -1;
  for (const { path: number, step } of steps) {
    const path = report.paths[number]!, data = path.steps[step]!, { homes, callees } = facts[number]!;
    const source = sources[data.f ?? path.frames[homes.get(step) ?? -1]?.file ?? -1];
    const place = source ? `${source.name.split("/").pop() ?? ""}${data.l === undefined ? "" : `:${data.l}`}` : "";
    const row = h("button", { class: data.x ? "order-row access" : "order-row", onclick: () => select(number, step) },
      h("span", { class: "lane" }, badge(step, path)), h("span", { class: "what" }, summaryOf(data, callees.get(step), data.l === undefined ? "" : source?.line(data.l).text ?? "")), h("span", { class: "loc mono" }, place));
    row.style.setProperty("--lane", String(Math.min(number, lanes - 1)));
    if (number !== before) list.append(h("li", { class: "order-turn" }, `Path ${number + 1}`, path.thread ? `, ${path.thread}` : ""));
    before = number;
    list.append(h("li", {}, row));
  }
  return h("section", { class: "order-column", "aria-label": "Order of all paths" }, !known && h("p", { class: "dim empty" }, "The report does not say in which order the paths run."), list);
}
