// The address of the page and the browser's history: every step has an address, and Back leads to the view before.

import { decoded, parseAddress, writeAddress, type Address } from "../lib/address.ts";

export class Visits {
  private last = "";
  private following = false;

  /** `go` goes where an address says; Back and Forward ask for it. */
  constructor(private readonly go: (address: Address | undefined) => void) {
    addEventListener("popstate", () => this.follow(parseAddress(decoded(location.hash.slice(1).split("&")[0] ?? ""))));
  }

  /** Goes where an address says, which makes no new entry. */
  follow(address: Address | undefined): void {
    this.following = true;
    this.go(address);
    this.following = false;
  }

  /** Puts an address into the history: another view is another entry, another step of the same is not. */
  visit(address: Address, replace = false): void {
    const written = writeAddress(address), view = (of: string) => of.split(":").map(part => part.split("/")[0]).join(":");
    const another = this.last !== "" && view(written) !== view(this.last);
    this.last = written;
    if (written === location.hash) return;
    if (another && !replace && !this.following) history.pushState(null, "", written); else history.replaceState(null, "", written);
  }
}

/** Copies the address of the page; says so, or the address itself where copying is not allowed. */
export function copyAddress(say: (text: string) => void): void {
  const address = location.href, done = () => say(`Copied: ${location.hash}`), failed = () => say(address);
  try { navigator.clipboard.writeText(address).then(done, failed); } catch { failed(); }
}
