// Every view at every width of the design, light and dark: nothing runs out of its panel, no text is cut without a sign, and axe has
// nothing to say. The reports are ordinary ones, and one whose every part is longer than anything has room for.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { violations } from "./axe.ts";
import { misfits } from "./fit.ts";
import { LADLE, Lab, RACE, picture } from "./harness.ts";

const lab = new Lab();
let race = "", many = "", long = "";

/** Names, words, values and places that are too long for every panel. */
const WORDS = "a function with a very long and detailed description of what it is that goes wrong here, and why it does", FILE = "src/very/deeply/nested/folder/of/the/project/meter.c";
const longOne = (number: number) => ({
  title: `Dereference of possibly-NULL 'the_quite_long_variable_name_${number}' in ${WORDS}`, rule: "-Wanalyzer-possible-null-dereference-of-a-quite-long-rule-name", severity: "warning", cwe: [690, 476, 120],
  tool: { name: "GNU C17 (Debian 14.2.0-19 x86_64-linux-gnu) with all its plugins", version: "14.2.0" }, location: { file: FILE, line: 28 }, text: [{ text: `${"an_unbreakable_word_".repeat(12)} and ${WORDS}` }],
  paths: Array.from({ length: 2 + number }, (_, path) => ({
    label: `Path ${path + 1} of the quite long label that it has been given`,
    frames: [{ function: "a_function_with_a_very_long_name_that_goes_on_and_on", file: FILE }, { function: "another_function_with_a_very_long_name_that_goes_on", file: FILE, call: 1, thread: "T100000" }],
    steps: [
      { frame: 0, location: { file: FILE, line: 27 }, role: "branch", taken: true, message: WORDS }, { frame: 0, location: { file: FILE, line: 28 }, role: "call", message: WORDS },
      { frame: 1, location: { file: FILE, line: 45 }, values: [{ name: "a_long_name_of_a_value", value: "123456789012345678901234567890" }, { name: "text", value: `"${"x".repeat(90)}"` }] },
      { frame: 1, location: { file: FILE, line: 50 }, role: "access", access: "write", failing: true, message: WORDS, state: [{ name: "locks held", value: "the_first_lock, the_second_lock, the_third_lock" }] },
    ],
  })),
});

before(() => {
  long = lab.view([lab.write("long.json", { format: "parallax-report/1", reports: [longOne(0), longOne(1), longOne(2)] })], "--src", LADLE);
  race = lab.view([RACE, RACE], "--src", LADLE);
  const lint = (number: number) => ({ title: `Result of 'f${number}' is not used`, rule: number % 3 ? "unused" : "unchecked", severity: number % 2 ? "warning" : "error", tool: { name: "probe" }, location: { file: ["meter.c", "fetch.c", "progress.c"][number % 3], line: 10 + number } });
  many = lab.view([lab.write("many.json", { format: "parallax-report/1", reports: Array.from({ length: 60 }, (_, number) => lint(number)) })], "--src", LADLE);
});
after(() => lab.close());

const DESKS = [[1024, 768], [1280, 900], [1440, 900], [1920, 1080]] as const, PHONES = [[390, 844]] as const;
for (const colorScheme of ["light", "dark"] as const) for (const sizes of [DESKS, PHONES]) {
  test(`${sizes.map(([width]) => width).join(", ")} wide, ${colorScheme}`, async () => {
    const views: readonly (readonly [string, string, string[]])[] = [["path", `${race}#R-01`, []], ["compare", `${race}#R-01/1:R-02/2`, []], ["list", `${race}#list`, []], ["triage", `${many}#list`, ["F"]], ["help", `${race}#R-01`, ["?"]],
      ["long-path", `${long}#R-01`, []], ["long-paths", `${long}#R-03`, []], ["long-compare", `${long}#R-01/1:R-02/2`, []], ["long-list", `${long}#list`, []]];
    const found: string[] = [];
    for (const [name, address, keys] of views) {
      const [[first, high]] = sizes;
      const { page, wrong } = await lab.open(address, { viewport: { width: first, height: high }, colorScheme, bypassCSP: true, ...(sizes === PHONES && { hasTouch: true }) });
      for (const key of keys) await page.keyboard.press(key);
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        await picture(page, `${name}-${width}-${colorScheme}`);
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push(`${name} ${width}: wider than the window`);
        found.push(...(await misfits(page)).map(one => `${name} ${width}: ${one}`));
        // What is shown in between is shown at one of the ends.
        const isEnd = width === first || width === sizes[sizes.length - 1]![0];
        found.push(...(await violations(page, isEnd)).map(one => `${name} ${width}: ${one}`));
      }
      found.push(...wrong);
      await page.context().close();
    }
    assert.deepEqual(found, [], "everything fits, or says that it does not");
  });
}

test("what does not fit is found", async () => {
  const { page } = await lab.open(`${race}#R-01`, { viewport: { width: 1280, height: 900 }, bypassCSP: true });
  assert.deepEqual(await misfits(page), []);
  const planted = async (css: string): Promise<string[]> => {
    const style = await page.addStyleTag({ content: css });
    const found = await misfits(page);
    await style.evaluate(one => (one as Element).remove());
    return found;
  };
  assert.match((await planted(".v-row { flex-wrap: nowrap; } .v-row label { flex: none; width: 160px; }")).join("\n"), /scrolls sideways: section\.card\.checklist|beyond the window: "Unsure"/, "a row of buttons wider than its panel");
  assert.match((await planted(".col-head .sub { text-overflow: clip; }")).join("\n"), /cut: "ticker_main/, "text without an ellipsis");
  assert.match((await planted(".col-head .sub { max-width: 8px; }")).join("\n"), /squeezed to nothing: "ticker_main/, "text with nothing but an ellipsis");
  assert.match((await planted(".line.below > .notes { max-width: 120px; } .line.below { display: flex !important; height: 20px !important; }")).join("\n"), /covers: "/, "what is known at a line over its code");
  assert.match((await planted(".col-head .sub { margin-left: -40px; }")).join("\n"), /overlap: "Path 1"/, "text on text");
  assert.deepEqual(await planted("body { display: none; }"), ["there is nothing on the page to measure"]);
  await page.context().close();
});
