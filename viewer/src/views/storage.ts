// Where answers are kept: each for itself in this browser, where every tab of the project sees it at once, and with a
// server in its file. What the server has not confirmed stays in the browser and is sent again.

import { changes, settle, standing, union, viewOf, type Giver } from "../lib/answers.ts";
import type { Answer, Page, StoredRecord, TriageRecord } from "../lib/page.ts";
import { emptyRecord, isRecord, readTriage, writeTriage } from "../lib/triage.ts";
import { h } from "./dom.ts";

/** How long a text may rest before it is sent, and when to try a server again that did not answer. */
const SOON = 300, AGAIN = 3_000;
/** At most so much is sent at a time. */
const LOAD = 400_000;

type Records = Record<string, StoredRecord>;

export interface StorageEvents {
  /** Something could not be kept, or can be again. */
  say(text: string): void;
  /** Another tab, or the server, told something new about these reports. */
  changed(keys: ReadonlySet<string>): void;
  /** So many answers wait for the server. */
  waiting(count: number): void;
}

export class Storage {
  private readonly stored: Records;
  private readonly views = new Map<string, TriageRecord>();
  private readonly prefix: string;
  /** What stands before a report's key in the name under which the browser keeps what the report is known by. */
  private readonly known: string;
  private readonly giver: Giver;
  /** What the server has not confirmed: entries of the browser's store by their names. */
  private readonly pending = new Map<string, string>();
  private sending = false;
  /** So many times the answers are sent each for itself. */
  private oneByOne = 0;
  private timer = 0;
  private away = false;

  constructor(private readonly page: Page, private readonly events: StorageEvents) {
    const random = crypto.getRandomValues(new Uint8Array(9));
    let given = 0;
    this.giver = { page: btoa(String.fromCharCode(...random)).replaceAll("+", "-").replaceAll("/", "_"), next: () => ++given };
    this.prefix = `parallax-answers:${page.project}:`;
    this.known = `parallax-reports:${page.project}:`;
    this.stored = { ...page.triage.records };
    this.recall();
    addEventListener("storage", event => {
      if (event.key === null || event.newValue === null || !event.key.startsWith(this.prefix)) return;
      const key = this.take(event.key, event.newValue);
      if (key !== undefined) this.events.changed(new Set([key]));
    });
    addEventListener("pagehide", () => { void this.send(true); });
    if (this.pending.size > 0) this.sendSoon(0);
  }

  /** What is known of each report, by its key. */
  get records(): Readonly<Record<string, TriageRecord>> {
    return new Proxy({}, { get: (_, key) => (typeof key === "string" ? this.record(key) : undefined), has: (_, key) => typeof key === "string" && this.record(key) !== undefined });
  }

  /** What is known of one report; nothing if nobody has said anything. */
  record(key: string): TriageRecord | undefined {
    const stored = this.stored[key];
    if (!stored?.answers?.length) return undefined;
    const known = this.views.get(key) ?? viewOf(stored);
    this.views.set(key, known);
    return known;
  }

  /** The number that a report had on the page before. */
  named(key: string): string { return this.stored[key]?.report || "one of before"; }

  /** The records that may be about a report and are about no other. */
  perhaps(keys: readonly string[]): string[] {
    const taken = new Set(Object.values(this.stored).flatMap(record => record.was ?? []));
    return keys.filter(key => !taken.has(key) && this.record(key) !== undefined);
  }

  /* Giving answers ------------------------------------------------------------------ */

  /** Keeps what a record says beyond what it was made from; gives the record as it is then. */
  save(key: string, record: TriageRecord): TriageRecord {
    this.add(key, changes(this.stored[key], record, this.giver));
    return this.record(key) ?? record;
  }

  /** Sets many at once to what they say, or to nothing. */
  saveMany(wanted: readonly (readonly [string, TriageRecord | undefined])[]): void {
    for (const [key, record] of wanted) {
      const now = this.record(key), base = now?.base;
      const { author, time } = record ?? { author: this.author, time: "" };
      const said = { ...(record ?? emptyRecord("")), author, time: record && now !== record ? new Date().toISOString() : time || new Date().toISOString() };
      this.add(key, changes(this.stored[key], base ? { ...said, base } : { ...said, base: { values: {}, heads: {} } }, this.giver));
    }
  }

  /** Says that a record of before is about this report. */
  confirm(key: string, before: string): void {
    const record = this.stored[before];
    if (!record) return;
    this.put(key, { was: [before] });
    this.add(key, record.answers ?? []);
  }

  /** Settles a question to which several answers stand. */
  settle(key: string, field: string, value: string): void {
    const stored = this.stored[key];
    if (stored) this.add(key, settle(stored, field, value, this.author, new Date().toISOString(), this.giver));
  }

  private add(key: string, answers: readonly Answer[]): void {
    for (const answer of answers) this.put(key, { answers: [answer] });
  }

  /** Puts a part of a record in, here and in the browser. */
  private put(key: string, part: Partial<StoredRecord>): void {
    const { report, title, identity } = this.stored[key] = union(this.stored[key], part);
    this.views.delete(key);
    const name = this.entry(key, part.answers?.[0]?.id ?? `was ${part.was?.[0] ?? ""}`), text = JSON.stringify(part);
    try {
      localStorage.setItem(name, text);
      // The page that is made next may know the report under another key: what it is known by is kept as well.
      if (identity !== undefined) localStorage.setItem(this.known + key, JSON.stringify({ report, title, identity }));
    } catch {
      if (!this.page.server) this.events.say("This browser keeps nothing for this page: save your answers as a file.");
    }
    if (!this.page.server) return;
    this.pending.set(name, text);
    this.events.waiting(this.pending.size);
    this.sendSoon(SOON);
  }

  /** The name of an answer in the browser's store. */
  private entry(key: string, id: string): string { return `${this.prefix}${key}:${encodeURIComponent(id)}`; }

  private stands(key: string, answer: Answer): boolean { return standing(this.stored[key]?.answers ?? [], answer.field).some(one => one.id === answer.id); }

  /* The browser's store --------------------------------------------------------------- */

  private recall(): void {
    try {
      for (let at = 0; at < localStorage.length; at++) {
        const name = localStorage.key(at) ?? "";
        if (!name.startsWith(this.prefix)) continue;
        const text = localStorage.getItem(name) ?? "", key = this.take(name, text);
        if (this.page.server && key !== undefined) this.pending.set(name, text);
      }
    } catch { /* This browser keeps nothing; it says so when something is to be kept. */ }
  }

  /** Takes in an entry of the browser's store; the report it is about. */
  private take(name: string, text: string): string | undefined {
    const key = name.slice(this.prefix.length).replace(/:[^:]*$/, "");
    let part: unknown;
    try { part = JSON.parse(text); } catch { return undefined; }
    if (!isRecord(part)) return undefined;
    this.stored[key] = union(this.stored[key] ?? this.recalled(key), part);
    this.views.delete(key);
    return key;
  }

  /** What a report is known by that this page does not have. */
  private recalled(key: string): StoredRecord | undefined {
    let about: unknown;
    try { about = JSON.parse(localStorage.getItem(this.known + key) ?? ""); } catch { return undefined; }
    return isRecord(about) ? union(undefined, about) : undefined;
  }

  /** How many answers this browser has of reports that are not on the page. */
  get elsewhere(): number {
    const here = new Set(this.page.reports.map(report => report.fingerprint)), asked = new Set(this.page.reports.flatMap(report => report.perhaps ?? []));
    const inFile = this.page.triage.records;
    return Object.keys(this.stored).filter(key => !here.has(key) && !asked.has(key) && !inFile[key] && this.record(key)).length;
  }

  /** Answers that an earlier version of this page kept in the browser, under a name that other projects may share. */
  get earlier(): string | undefined {
    try { return localStorage.getItem(`parallax-triage:${this.page.name}`) ?? undefined; } catch { return undefined; }
  }

  /* The server ------------------------------------------------------------------------ */

  private sendSoon(after: number): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => { void this.send(); }, after);
  }

  /** Sends what waits; `leaving` when the page goes away and nothing can be waited for. */
  private async send(leaving = false): Promise<void> {
    const { server } = this.page;
    if (!server || this.pending.size === 0 || (this.sending && !leaving)) return;
    this.sending = true;
    const load: [string, string][] = [], records: Record<string, Partial<StoredRecord>> = {};
    let size = 0;
    for (const [name, text] of this.pending) {
      if (size + text.length > (leaving ? 60_000 : LOAD) && size > 0) break;
      size += text.length;
      load.push([name, text]);
      const key = name.slice(this.prefix.length).replace(/:[^:]*$/, "");
      records[key] = union(records[key] && union(undefined, records[key]), { ...this.stored[key], answers: [], was: [], ...JSON.parse(text) as Partial<StoredRecord> });
      if (this.oneByOne > 0) break;
    }
    let wrong: string | undefined;
    try {
      const answer = await fetch("/triage", { method: "POST", headers: { "Content-Type": "application/json", "X-Parallax-Token": server.token }, body: JSON.stringify({ records }), keepalive: leaving });
      if (answer.ok) this.confirmed(load, (await answer.json()) as { records: Records });
      else {
        const why = (await answer.text()).trim();
        wrong = answer.status === 403 ? "Not saved: the server was started anew; open the address that it printed." : `Not saved: ${why}`;
        // What is refused for what it is would be refused again, and hold up the rest: each is sent alone to find it.
        if (answer.status === 413 || answer.status === 404 || answer.status === 400) {
          if (load.length > 1) { this.oneByOne = load.length + 1; wrong = undefined; }
          else for (const [name, text] of load) if (this.pending.get(name) === text) this.pending.delete(name);
        }
      }
    } catch { wrong = "Not saved: the server does not answer."; }
    this.sending = false;
    if (this.oneByOne > 0) this.oneByOne--;
    this.events.waiting(this.pending.size);
    if (wrong !== undefined) { this.away = true; this.events.say(`${wrong}${this.pending.size > 0 ? ` ${this.pending.size === 1 ? "An answer is" : `${this.pending.size} answers are`} kept in this browser.` : ""}`); }
    else if (this.away && this.pending.size === 0) { this.away = false; this.events.say("All answers are saved again"); }
    if (this.pending.size > 0) this.sendSoon(wrong === undefined ? 0 : AGAIN);
  }

  private confirmed(load: readonly (readonly [string, string])[], { records }: { records: Records }): void {
    for (const [name, text] of load) {
      // What was typed since is still to be sent.
      if (this.pending.get(name) !== text) continue;
      this.pending.delete(name);
      try { if (localStorage.getItem(name) === text) localStorage.removeItem(name); } catch { /* Nothing is kept there. */ }
    }
    for (const key of Object.keys(records)) {
      const waits = [...this.pending.keys()].some(name => name.startsWith(`${this.prefix}${key}:`));
      try { if (!waits) localStorage.removeItem(this.known + key); } catch { /* Nothing is kept there. */ }
    }
    const news = new Set<string>();
    for (const [key, record] of Object.entries(records)) {
      const before = JSON.stringify(this.stored[key]?.answers);
      // The file may have been written over by somebody who did not know of what was confirmed.
      const there = new Map((record.answers ?? []).map(answer => [answer.id, answer.revision ?? 0]));
      const gone = (this.stored[key]?.answers ?? []).filter(answer => (answer.revision ?? 0) > (there.get(answer.id) ?? -1) && this.stands(key, answer));
      this.stored[key] = union(this.stored[key], record);
      this.add(key, gone.filter(answer => !this.pending.has(this.entry(key, answer.id))));
      if (JSON.stringify(this.stored[key].answers) === before) continue;
      this.views.delete(key);
      news.add(key);
    }
    if (news.size > 0) this.events.changed(news);
  }

  /* Files ----------------------------------------------------------------------------- */

  /** Takes over a triage file; says what came of it. */
  load(text: string, name: string): string {
    const triage = readTriage(text);
    if (typeof triage === "string") return triage;
    for (const [key, { answers = [], was = [], ...about }] of Object.entries(triage.records)) {
      if (answers.length === 0 && was.length === 0) continue;
      this.stored[key] = union(this.stored[key], { ...about, answers: [] });
      for (const before of was) this.put(key, { was: [before] });
      const known = new Map((this.stored[key]?.answers ?? []).map(answer => [answer.id, JSON.stringify(answer)]));
      this.add(key, answers.filter(answer => known.get(answer.id) !== JSON.stringify(answer)));
    }
    const { elsewhere } = this, { broken } = triage;
    return [`Answers loaded from ${name}`, elsewhere > 0 && `${elsewhere} are of reports that look different here: parallax view --triage ${name} finds them`, broken.length > 0 && `cannot be read: ${broken.join(", ")}`].filter(Boolean).join("; ");
  }

  /** Gives all answers as a file. */
  download(): void { this.give(writeTriage(this.stored, this.page.triage.unreadable), "triage.json"); }

  /** Gives the answers of an earlier version as a file. */
  downloadEarlier(): void { this.give(this.earlier ?? "", "earlier.triage.json"); }

  private give(text: string, name: string): void {
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  }

  get author(): string { try { return localStorage.getItem("parallax-author") ?? this.page.author; } catch { return this.page.author; } }
  set author(name: string) { try { localStorage.setItem("parallax-author", name); } catch { /* The name is asked for again next time. */ } }
}
