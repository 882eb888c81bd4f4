// Reads the data that stands in the page and starts.

import "./style.css";
import type { Page } from "./lib/page.ts";
import { decoded } from "./lib/address.ts";
import { App } from "./views/app.ts";

const page = JSON.parse(document.getElementById("page")?.textContent ?? "null") as Page;
// A plus in the address means itself, as in a regular expression, and not a blank.
const [word = "", ...rest] = location.hash.slice(1).replaceAll("+", "%2B").split("&");
const bare = word.includes("=") ? "" : decoded(word);
new App(page).start(document.body, new URLSearchParams((bare ? rest : [word, ...rest]).join("&")), bare);
