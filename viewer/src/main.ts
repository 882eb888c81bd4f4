// Reads the data that stands in the page and starts.

import "./style.css";
import type { Page } from "./lib/page.ts";
import { App } from "./views/app.ts";

const page = JSON.parse(document.getElementById("page")?.textContent ?? "null") as Page;
const app = new App(page);
app.mount(document.body);
const [word = "", ...rest] = location.hash.slice(1).split("&");
const bare = word.includes("=") ? "" : decodeURIComponent(word);
app.start(new URLSearchParams((bare ? rest : [word, ...rest]).join("&")), bare);
