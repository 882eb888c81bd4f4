// Where answers are kept: with a server in its file, otherwise in this browser until they are saved as a file.

import type { Page, TriageRecord } from "../lib/page.ts";
import { emptyRecord, merge, readTriage, writeTriage } from "../lib/triage.ts";
import { h } from "./dom.ts";

export class Storage {
  records: Record<string, TriageRecord>;
  private readonly key: string;

  constructor(private readonly page: Page, private readonly failed: (why: string) => void) {
    this.key = `parallax-triage:${page.name}`;
    // A server has the truth; without one, what this browser remembers may be newer than the page.
    this.records = page.server ? { ...page.triage.records } : merge(page.triage.records, this.remembered());
  }

  private remembered(): Record<string, TriageRecord> {
    try {
      const triage = readTriage(localStorage.getItem(this.key) ?? "");
      return typeof triage === "string" ? {} : { ...triage.records };
    } catch { return {}; }
  }

  save(fingerprint: string, record: TriageRecord): void {
    this.records = { ...this.records, [fingerprint]: record };
    if (this.page.server) void this.send(fingerprint, record, this.page.server.token);
    else this.remember();
  }

  /** Sets or takes back many at once. */
  saveMany(changes: readonly (readonly [string, TriageRecord | undefined])[]): void {
    const records = { ...this.records };
    for (const [fingerprint, record] of changes) { if (record) records[fingerprint] = record; else delete records[fingerprint]; }
    this.records = records;
    const { server } = this.page;
    if (!server) { this.remember(); return; }
    // The server knows no absence: an empty record says the same.
    void (async () => { for (const [fingerprint, record] of changes) await this.send(fingerprint, record ?? emptyRecord(""), server.token); })();
  }

  private remember(): void {
    try { localStorage.setItem(this.key, writeTriage(this.records)); } catch { this.failed("This browser keeps nothing for this page: save your answers as a file."); }
  }

  private async send(fingerprint: string, record: TriageRecord, token: string): Promise<void> {
    try {
      const answer = await fetch("/triage", { method: "POST", headers: { "Content-Type": "application/json", "X-Parallax-Token": token }, body: JSON.stringify({ fingerprint, record }) });
      if (!answer.ok) this.failed(`Not saved: ${(await answer.text()).trim()}`);
    } catch { this.failed("Not saved: the server does not answer."); }
  }

  /** Takes over a triage file; says what is wrong with it, if anything is. */
  load(text: string): string | undefined {
    const triage = readTriage(text);
    if (typeof triage === "string") return triage;
    this.records = merge(this.records, triage.records);
    if (this.page.server) {
      const known = new Set(this.page.reports.map(report => report.fingerprint));
      for (const [fingerprint, record] of Object.entries(triage.records)) if (known.has(fingerprint)) void this.send(fingerprint, record, this.page.server.token);
    } else this.remember();
    return undefined;
  }

  /** Gives all answers as a file. */
  download(): void {
    const link = h("a", { href: URL.createObjectURL(new Blob([writeTriage(this.records)], { type: "application/json" })), download: "triage.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  }

  get author(): string { try { return localStorage.getItem("parallax-author") ?? this.page.author; } catch { return this.page.author; } }
  set author(name: string) { try { localStorage.setItem("parallax-author", name); } catch { /* The name is asked for again next time. */ } }
}
