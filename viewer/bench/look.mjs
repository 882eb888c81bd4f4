// A picture of a page for every tool and program of `make peers WHAT=report-matrix`: `node bench/look.mjs MATRIX [OUT]`.
//
// Of each tool's reports on a program one file is taken, and of that the report with the longest path. The pictures are for
// eyes; what can be checked is: nothing goes wrong on the page, nothing runs out of the window or is cut without a sign, at a desk and
// on a phone, every step has a row.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { chromium } from "playwright-core";

const [matrix, out = join(matrix ?? ".", "pictures")] = process.argv.slice(2);
/** Tools by the endings of their reports; the first file that has a finding is taken. */
const TOOLS = [["gcc 12", ".gcc12.json"], ["gcc 14", ".gcc14.sarif"], ["gcc 15", ".gcc15.sarif"], ["clang plist", ".plist"], ["clang SARIF", ".clang.sarif"], ["cppcheck", ".cppcheck.xml"], ["memcheck", ".memcheck.xml"], ["helgrind", ".helgrind.xml"], ["drd", ".drd.xml"],
  ["address", ".address.txt"], ["thread", ".thread.txt"], ["undefined", ".undefined.txt"], ["leak", ".leak.txt"], ["CBMC", ".cbmc.json"], ["Semgrep", ".semgrep.sarif"], ["Flawfinder", ".flawfinder.sarif"]];
const { text } = buildSync({ entryPoints: [join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../test/browser/fit.ts")], format: "esm", write: false }).outputFiles[0];
const { misfits } = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
mkdirSync(out, { recursive: true });
const dataOf = file => JSON.parse(/<script type="application\/json" id="page">(.*?)<\/script>/s.exec(readFileSync(file, "utf8"))[1]);
let wrong = 0;
for (const program of readdirSync(join(matrix, "reports")).sort()) for (const [tool, ending] of TOOLS) {
  const folder = join(matrix, "reports", program);
  const length = report => Math.max(0, ...report.paths.map(path => path.steps.length));
  let best;
  for (const name of readdirSync(folder).filter(name => name.endsWith(`${ending}.html`)).sort()) {
    const { reports } = dataOf(join(folder, name));
    for (const report of reports) if (!best || length(report) > length(best.report)) best = { name, report };
  }
  if (!best) { console.log(`${tool}\t${program}\tnothing found`); continue; }
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const said = [];
  page.on("pageerror", error => said.push(error.message));
  await page.goto(`file://${resolve(folder, best.name)}#${best.report.id}`);
  await page.waitForTimeout(200);
  const seen = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - innerWidth, hidden: document.querySelectorAll(".path-column:not([hidden]) .loop").length,
    steps: document.querySelectorAll(".path-column:not([hidden]) .step[data-index]").length, sourceless: [...document.querySelectorAll(".frame-head .shown")].filter(one => /^no source/.test(one.textContent)).length,
  }));
  if (seen.over > 0) said.push(`wider than the window by ${seen.over}`);
  if (seen.steps === 0 && length(best.report) > 0) said.push("no step is drawn");
  const picture = join(out, `${tool.replaceAll(" ", "-")}-${program}`);
  await page.screenshot({ path: `${picture}.png` });
  said.push(...await misfits(page));
  const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, hasTouch: true });
  phone.on("pageerror", error => said.push(error.message));
  await phone.goto(page.url());
  await phone.waitForTimeout(200);
  await phone.screenshot({ path: `${picture}-phone.png` });
  said.push(...(await misfits(phone)).map(one => `phone: ${one}`));
  await phone.close();
  wrong += said.length;
  console.log([tool, program, best.name.replace(/\.html$/, ""), best.report.id, `${length(best.report)} steps`, `${seen.hidden} loops`, `${seen.sourceless} boxes without source`, ...said].join("\t"));
  await page.close();
}
await browser.close();
process.exit(wrong ? 1 : 0);
