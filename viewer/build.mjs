// Bundles the viewer into viewer/dist, which the Rust crate embeds, and the timeline into python/parallax/page, which the
// Python module does. With --check: says whether what is there is fresh instead.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const result = await build({
  absWorkingDir: here,
  entryPoints: { viewer: "src/main.ts", timeline: "src/timeline/main.ts" },
  bundle: true,
  minify: true,
  charset: "ascii",
  legalComments: "none",
  format: "iife",
  target: ["chrome123", "firefox125", "safari17.5"],
  outdir: "dist",
  write: false,
});
let stale = false;
for (const file of result.outputFiles) {
  const name = file.path.slice(file.path.lastIndexOf("/") + 1);
  const place = name.startsWith("timeline.") ? join(here, "../python/parallax/page", name) : join(here, "dist", name);
  if (process.argv.includes("--check")) {
    let committed = "";
    try { committed = readFileSync(place, "utf8"); } catch { /* missing counts as stale */ }
    if (committed !== file.text) { stale = true; console.error(`${name} is stale: run \`npm run build\` in viewer/`); }
  } else {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, file.text);
    console.log(`${name}: ${(file.text.length / 1024).toFixed(1)} kB`);
  }
}
process.exit(stale ? 1 : 0);
