// Fingers on a row: hold to select, swipe right for false, left for true. A mouse and the keyboard have other ways.

export interface Gestures {
  hold(): void;
  swipe(verdict: "true" | "false"): void;
}

const HOLD = 500, SLACK = 10, FAR = 96;

export function gestures(row: HTMLElement, events: Gestures): void {
  let from: { readonly x: number; readonly y: number; readonly id: number } | undefined;
  let timer = 0, by = 0, done = false;
  const rest = () => {
    window.clearTimeout(timer);
    from = undefined;
    by = 0;
    row.classList.remove("swipe");
    row.style.transform = "";
    delete row.dataset["swipe"];
  };
  row.addEventListener("pointerdown", event => {
    if (event.pointerType !== "touch" || !event.isPrimary) return;
    from = { x: event.clientX, y: event.clientY, id: event.pointerId };
    done = false;
    timer = window.setTimeout(() => { rest(); done = true; events.hold(); }, HOLD);
  });
  row.addEventListener("pointermove", event => {
    if (!from || event.pointerId !== from.id) return;
    const x = event.clientX - from.x, y = event.clientY - from.y;
    if (Math.hypot(x, y) > SLACK) window.clearTimeout(timer);
    // The first move decides: down is scrolling, sideways is a verdict.
    if (!by && (Math.abs(x) < SLACK || Math.abs(y) > Math.abs(x))) return;
    by = x;
    row.classList.add("swipe");
    row.dataset["swipe"] = x > 0 ? "false" : "true";
    row.style.transform = `translateX(${x}px)`;
  });
  row.addEventListener("pointerup", event => {
    if (!from || event.pointerId !== from.id) return;
    const moved = by;
    rest();
    done ||= moved !== 0;
    if (Math.abs(moved) >= FAR) events.swipe(moved > 0 ? "false" : "true");
  });
  row.addEventListener("pointercancel", rest);
  // The click that a browser makes of a gesture is none.
  row.addEventListener("click", event => { if (done) { event.stopImmediatePropagation(); event.preventDefault(); done = false; } }, true);
}
