// What axe finds on a page as it stands.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ROOT } from "./harness.ts";

const AXE = readFileSync(createRequire(join(ROOT, "viewer/package.json")).resolve("axe-core/axe.min.js"), "utf8");

interface Violation { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[] }
interface Axe { run(): Promise<{ violations: Violation[] }> }

/** The page must have been opened with `bypassCSP`. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const found = await (window as unknown as { axe: Axe }).axe.run();
    return found.violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(" | ")}`);
  });
}
