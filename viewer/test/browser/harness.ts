// A real browser and the real command: pages are made by `parallax view` and looked at in Chromium.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

export const ROOT = resolve(process.cwd().endsWith("viewer") && existsSync("package.json") ? ".." : ".");
export const LADLE = join(ROOT, "corpus/report/ladle");
export const RACE = join(ROOT, "corpus/view/race.json");

/** The command under test: $PARALLAX, or whatever was built last. */
export const PARALLAX: string = process.env["PARALLAX"] ?? (() => {
  const built = ["debug", "release"].map(profile => join(ROOT, "target", profile, "parallax")).filter(existsSync);
  built.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (!built[0]) throw new Error("build the command first: cargo build --package parallax");
  return built[0];
})();

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
export const SCREENSHOTS = process.env["SCREENSHOTS"];

export class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), "parallax-view-"));
  private browser: Browser | undefined;
  private servers: ChildProcess[] = [];
  private readonly addresses = new Map<string, ChildProcess>();
  private made = 0;

  /** Runs the command; fails the test unless it ends well. */
  run(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(PARALLAX, args, { encoding: "utf8", cwd: this.folder, env: { ...process.env, USER: "mk" } });
    if (status !== 0) throw new Error(`parallax ${args.join(" ")} ended with ${status}: ${stderr}`);
    return stdout;
  }

  write(name: string, text: string | object): string {
    const file = join(this.folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text));
    return file;
  }

  /** A page from reports and a source folder; its address. */
  view(reports: readonly string[], ...more: string[]): string {
    const out = join(this.folder, `page-${++this.made}.html`);
    this.run("view", ...reports, "-o", out, ...more);
    return `file://${out}`;
  }

  /** Opens an address, and collects everything that goes wrong on the page. */
  async open(address: string, options: BrowserContextOptions = {}): Promise<{ page: Page; wrong: string[] }> {
    this.browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    const context = await this.browser.newContext({ viewport: { width: 1680, height: 1050 }, colorScheme: "light", ...options });
    const page = await context.newPage();
    // Long: a machine that is shared may stand still for a while, and only a page that hangs should fail.
    page.setDefaultTimeout(120_000);
    const wrong: string[] = [];
    page.on("pageerror", error => wrong.push(`error: ${error.message}`));
    page.on("console", message => { if (message.type() === "error" || message.type() === "warning") wrong.push(`console: ${message.text()}`); });
    page.on("dialog", dialog => { wrong.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    page.on("request", request => { if (!/^(file|data|blob):|^http:\/\/(127\.0\.0\.1|localhost):/.test(request.url())) wrong.push(`request: ${request.url()}`); });
    await page.goto(address);
    return { page, wrong };
  }

  /** Starts `parallax view --serve`; its address. */
  async serve(...args: string[]): Promise<string> {
    const server = spawn(PARALLAX, ["view", ...args, "--serve"], { cwd: this.folder, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, USER: "mk" } });
    this.servers.push(server);
    return new Promise((done, fail) => {
      server.stdout!.once("data", (data: Buffer) => { const address = data.toString().trim(); this.addresses.set(address, server); done(address); });
      server.once("exit", status => fail(new Error(`the server ended with ${status}`)));
    });
  }

  /** Kills a server as a machine that dies does. */
  kill(address: string): void {
    const server = this.addresses.get(address);
    server?.kill("SIGKILL");
    this.servers = this.servers.filter(one => one !== server);
  }

  stopServers(): void { for (const server of this.servers.splice(0)) server.kill(); }

  async close(): Promise<void> {
    this.stopServers();
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Keeps a picture when $SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** The numbers of the lines on screen in a frame itself, not in frames inside it. */
export const shownLines = (page: Page, frame: string): Promise<number[]> =>
  page.locator(`${frame} > .body > .line:not([hidden])`).evaluateAll(lines => lines.map(line => Number((line as HTMLElement).dataset["line"])));

export const column = (number: number): string => `.path-column[data-path="${number}"]`;
