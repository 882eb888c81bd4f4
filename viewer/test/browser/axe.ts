// What axe finds on a page as it stands.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ROOT } from "./harness.ts";

const AXE = readFileSync(createRequire(join(ROOT, "viewer/package.json")).resolve("axe-core/axe.min.js"), "utf8");

interface Violation { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[] }
interface Options { readonly resultTypes: string[]; readonly rules: Record<string, { enabled: boolean }> }
interface Axe { run(options: Options): Promise<{ violations: Violation[] }> }

/** The page must have been opened with `bypassCSP`. Colours take four fifths of the time, and are the same at every width of a window. */
export async function violations(page: Page, colours = true): Promise<string[]> {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(AXE);
  return page.evaluate(async colours => {
    const rules = { "label-content-name-mismatch": { enabled: true }, "color-contrast": { enabled: colours } };
    const found = await (window as unknown as { axe: Axe }).axe.run({ resultTypes: ["violations"], rules });
    return found.violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(" | ")}`);
  }, colours);
}
