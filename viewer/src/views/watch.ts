// With `--serve --watch`: asks the server now and then whether reports or sources have changed, and loads the page again.

export function watch(token: string, version: number): void {
  setInterval(() => {
    void fetch("/version", { headers: { "X-Parallax-Token": token } }).then(answer => answer.text()).then(text => {
      // A text that is being written is not torn away.
      const typing = document.activeElement?.matches("input[type=text], textarea") ?? false;
      if (/^\d+\s*$/.test(text) && Number(text) !== version && !typing) location.reload();
    }).catch(() => undefined);
  }, 1_000);
}
