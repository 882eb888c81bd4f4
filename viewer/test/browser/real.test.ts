// Reports that real tools write about real programs, as the viewer shows them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import { Lab, ROOT, column, picture } from "./harness.ts";

const lab = new Lab();
after(() => lab.close());

const has = (tool: string) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
lab.write("book/book.c", readFileSync(join(ROOT, "corpus/view/book.c"), "utf8"));
const folder = join(lab.folder, "book");
const run = (command: string) => spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });

/** Opens what a tool wrote and checks that a path in the program reads as code. */
async function shows(tool: string, file: string, wanted: { functions: readonly string[]; failing: RegExp }): Promise<void> {
  assert.ok(existsSync(join(folder, file)), `${tool} wrote ${file}`);
  const { page, wrong } = await lab.open(lab.view([join(folder, file)], "--src", folder));
  await picture(page, `real-${tool}`);
  const reports = await page.innerText("#progress").then(text => Number(/of (\d+)/.exec(text)![1]));
  assert.ok(reports > 0);
  let seen = false;
  for (let at = 0; at < reports && !seen; at++) {
    const functions = await page.locator(`${column(1)} .frame`).evaluateAll(frames => frames.map(one => (one as HTMLElement).dataset["function"]));
    const failing = (await page.locator(`${column(1)} .step.access code`).allInnerTexts()).join("\n");
    seen = wanted.functions.every(name => functions.includes(name)) && wanted.failing.test(failing);
    if (!seen) await page.keyboard.press("]");
  }
  assert.ok(seen, `${tool}: a report goes through ${wanted.functions.join(", ")} and fails at ${wanted.failing}`);
  assert.deepEqual(wrong, []);
  await page.context().close();
}

test("clang's analyzer, as SARIF", { skip: !has("clang-19") && "no clang-19" }, async () => {
  run("clang-19 --analyze --analyzer-output sarif -o clang.sarif book.c");
  await shows("clang-sarif", "clang.sarif", { functions: ["main", "forget"], failing: /\*count/ });
});

test("clang's analyzer, as plist", { skip: !has("clang-19") && "no clang-19" }, async () => {
  run("clang-19 --analyze --analyzer-output plist -o clang.plist book.c");
  await shows("clang-plist", "clang.plist", { functions: ["main", "forget"], failing: /\*count/ });
});

test("gcc's analyzer, as JSON", { skip: !has("gcc") && "no gcc" }, async () => {
  writeFileSync(join(folder, "gcc.json"), run("gcc -fanalyzer -fdiagnostics-format=json -c book.c -o book.o").stderr);
  await shows("gcc", "gcc.json", { functions: ["main", "forget"], failing: /printf\("%d\\n", \*count\)/ });
});

test("cppcheck, as XML", { skip: !has("cppcheck") && "no cppcheck" }, async () => {
  run("cppcheck --enable=warning --inconclusive --xml book.c 2> cppcheck.xml");
  await shows("cppcheck", "cppcheck.xml", { functions: ["length_of"], failing: /found/ });
});

test("valgrind, as XML", { skip: !has("valgrind") && "no valgrind" }, async () => {
  run("gcc -g -O0 book.c -o book && valgrind --xml=yes --xml-file=valgrind.xml ./book");
  await shows("valgrind", "valgrind.xml", { functions: ["main"], failing: /\*count/ });
});

test("a backtrace of gdb", { skip: !has("gdb") && "no gdb" }, async () => {
  run("gcc -g -O0 book.c -o book");
  writeFileSync(join(folder, "gdb.txt"), run("gdb -batch -nx -ex run -ex bt --args ./book nobody").stdout);
  await shows("gdb", "gdb.txt", { functions: ["main", "length_of"], failing: /strlen\(found->name\)/ });
});

const LADLE = join(ROOT, "corpus/report/ladle");
for (const [name, folder, paths, functions] of [
  ["ladle/race.locksmith", LADLE, 2, ["ticker_main", "meter_rate"]],
  ["ladle/race.xml", LADLE, 2, ["ticker_main", "meter_rate"]],
  ["lift.blast", join(ROOT, "corpus/report"), 1, ["main"]],
] as const) {
  test(`a report in ${name}, after the chapter's figures`, async () => {
    const { page, wrong } = await lab.open(lab.view([join(ROOT, "corpus/report", name)], "--src", folder));
    await picture(page, `real-${name.replace(/\W/g, "-")}`);
    assert.equal(await page.locator(".path-column").count(), paths);
    const seen = await page.locator(`${column(1)} .frame`).evaluateAll(frames => frames.map(one => (one as HTMLElement).dataset["function"]));
    for (const wanted of functions) assert.ok(seen.includes(wanted), `${wanted} in ${seen.join(", ")}`);
    assert.equal(await page.locator(".line.step:not(.unknown)").count() > 3, true, "steps stand on lines of code");
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}
