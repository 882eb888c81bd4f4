// Every view at every width of the design, light and dark: nothing runs out of the window, and axe has nothing to say.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test, { after, before } from "node:test";
import { LADLE, Lab, RACE, picture } from "./harness.ts";

const lab = new Lab();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let race = "", many = "";
before(() => {
  race = lab.view([RACE, RACE], "--src", LADLE);
  const lint = (number: number) => ({ title: `Result of 'f${number}' is not used`, rule: number % 3 ? "unused" : "unchecked", severity: number % 2 ? "warning" : "error", tool: { name: "probe" }, location: { file: ["meter.c", "fetch.c", "progress.c"][number % 3], line: 10 + number } });
  many = lab.view([lab.write("many.json", { format: "parallax-report/1", reports: Array.from({ length: 60 }, (_, number) => lint(number)) })], "--src", LADLE);
});
after(() => lab.close());

const DESKS = [[1280, 900], [1440, 900], [1920, 1080]] as const, PHONES = [[390, 844]] as const;
for (const colorScheme of ["light", "dark"] as const) for (const sizes of [DESKS, PHONES]) {
  test(`${sizes.map(([width]) => width).join(", ")} wide, ${colorScheme}`, async () => {
    const views: readonly (readonly [string, string, string[]])[] = [["path", `${race}#R-01`, []], ["compare", `${race}#R-01/1:R-02/2`, []], ["list", `${race}#list`, []], ["triage", `${many}#list`, ["F"]]];
    for (const [name, address, keys] of views) {
      const [[first, high]] = sizes;
      const { page, wrong } = await lab.open(address, { viewport: { width: first, height: high }, colorScheme, bypassCSP: true, ...(sizes === PHONES && { hasTouch: true }) });
      for (const key of keys) await page.keyboard.press(key);
      await page.evaluate(axe);
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        await picture(page, `${name}-${width}-${colorScheme}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}: nothing is wider than the window`);
        const beyond = await page.locator(".path-column:not([hidden]) .line:not([hidden]) .note, .v-row span, .card > header > *").evaluateAll(all => all.filter(one => {
          const around = one.closest(".scroller, .side")?.getBoundingClientRect(), own = one.getBoundingClientRect();
          return around && own.width > 0 && own.right > around.right + 1;
        }).map(one => one.textContent));
        assert.deepEqual(beyond, [], `${name} ${width}: what is known at a line, and the buttons of the panel, are in sight`);
        const found = await page.evaluate(async () => {
          const { violations } = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe.run();
          return violations.map(one => `${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(" | ")}`);
        });
        assert.deepEqual(found, [], `${name} ${width}`);
      }
      assert.deepEqual(wrong, []);
      await page.context().close();
    }
  });
}
