// Bundles the tests of one folder and runs them with Node's own runner. `node test/run.mjs unit [name]`
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [kind = "unit", only = ""] = process.argv.slice(2);
const files = readdirSync(join(here, kind)).filter(name => name.endsWith(".test.ts") && name.includes(only));
const out = join(here, "..", "node_modules", ".cache", `parallax-${kind}`);
mkdirSync(out, { recursive: true });
await build({
  entryPoints: files.map(name => join(here, kind, name)),
  bundle: true, platform: "node", format: "esm", target: "node18", outdir: out, outExtension: { ".js": ".mjs" }, sourcemap: "inline",
  packages: "external", logLevel: "warning",
});
const tests = files.map(name => join(out, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...tests], { stdio: "inherit" });
process.exit(status ?? 1);
