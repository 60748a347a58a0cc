// The page: which view is shown, what it is shown with, and what is around it.

import { changes } from "./changes.js";
import { h, update } from "./dom.js";
import { count, counted } from "./format.js";
import { Connection, get } from "./live.js";
import * as buffer from "./buffer.js";
import * as overview from "./overview.js";
import { command, markScrollers } from "./parts.js";
import * as plugins from "./plugins.js";
import * as session from "./session.js";

const THEME = "cognee-hooks-theme";
const CLOCK_EVERY = 10_000;
const TELL_EVERY = 4000;

const byId = (id) => document.getElementById(id);
const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

class Page {
  #route = { name: "overview", key: "" };
  #states = new Map();
  #summary = null;
  #detail = null;
  #ahead = 0;
  #connection = new Connection(
    () => this.#look(),
    (state, wait) => this.#connected(state, wait),
  );
  #link = { state: "begun", wait: 0 };
  #told = null;
  #toldAt = 0;
  #telling = 0;
  #scrolled = new Map();
  #followed = false;
  #arriving = false;
  #top = 0;

  start() {
    history.scrollRestoration = "manual";
    this.#route = routeOf(location.hash);
    byId("theme").addEventListener("click", () => this.#turnTheme());
    darkSystem.addEventListener("change", () => this.#showTheme());
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("main").focus();
    });
    document.addEventListener("click", (event) => {
      this.#followed = event.target.closest?.("a[href^='#/']") != null;
    });
    window.addEventListener(
      "scroll",
      () => this.#scrolled.set(nameOf(this.#route), window.scrollY),
      { passive: true },
    );
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#connection.rest();
      else if (this.#link.state !== "ended") this.#connection.refresh();
    });
    window.addEventListener("hashchange", () => this.#go());
    window.addEventListener("resize", markScrollers);
    // What is opened may be larger than its place; the event does not bubble.
    document.addEventListener("toggle", markScrollers, true);
    setInterval(() => this.#show(), CLOCK_EVERY);
    this.#showTheme();
    this.#show();
    this.#connection.refresh();
  }

  // -- where we are --------------------------------------------------------------------------

  #go() {
    const route = routeOf(location.hash);
    // Back and forward return to where the person was; a link begins at the top.
    this.#arriving = true;
    this.#top = this.#followed ? 0 : (this.#scrolled.get(nameOf(route)) ?? 0);
    this.#followed = false;
    this.#route = route;
    this.#detail = null;
    if (this.#route.name !== "session") this.#show();
    this.#connection.refresh();
  }

  #arrive() {
    this.#arriving = false;
    window.scrollTo({ top: this.#top, behavior: "instant" });
    document.querySelector("main h1")?.focus({ preventScroll: true });
  }

  // -- what there is -------------------------------------------------------------------------

  async #look() {
    const route = this.#route;
    const [summary, detail] = await Promise.all([
      get("api/summary"),
      route.name === "session" ? get(`api/sessions/${encodeURIComponent(route.key)}`) : null,
    ]);
    this.#ahead = summary.now - Date.now() / 1000;
    this.#summary = summary;
    if (route !== this.#route) return;
    this.#detail = { found: detail };
    this.#show();
    this.#tell();
  }

  #connected(state, wait) {
    const before = this.#link.state;
    this.#link = { state, wait };
    this.#show();
    if (state === "live" && before === "lost") this.#say("Connected again.");
    if (state === "lost" && before !== "lost") this.#say("Connection lost.");
    if (state === "ended") this.#say("This page is no longer connected.");
  }

  /** Tell of changes, now and then: a busy session changes something every second. */
  #tell() {
    this.#told ??= this.#summary;
    const wait = this.#toldAt + TELL_EVERY - performance.now();
    clearTimeout(this.#telling);
    if (wait > 0) {
      this.#telling = setTimeout(() => this.#tell(), wait + 1);
      return;
    }
    const text = changes(this.#told, this.#summary);
    this.#told = this.#summary;
    if (text) this.#say(`${text[0].toUpperCase()}${text.slice(1)}.`);
  }

  #say(text) {
    this.#toldAt = performance.now();
    update(byId("changes"), text);
  }

  // -- what is seen --------------------------------------------------------------------------

  #show() {
    const { module } = VIEWS[this.#route.name];
    const address = nameOf(this.#route);
    if (!this.#states.has(address)) this.#states.set(address, module.start());
    const state = this.#states.get(address);
    const shown = {
      summary: this.#summary,
      detail: this.#detail?.found,
      state,
      now: Date.now() / 1000 + this.#ahead,
      again: (change) => {
        Object.assign(state, change);
        this.#show();
      },
    };
    const ready =
      this.#summary !== null && (this.#route.name !== "session" || this.#detail !== null);
    document.title = `${ready ? module.title(shown) : VIEWS[this.#route.name].name} · cognee-hooks`;
    update(byId("views"), this.#links());
    update(
      byId("connection"),
      h("span", { class: `dot ${this.#link.state}`, "aria-hidden": "true" }),
      LINKS[this.#link.state],
    );
    update(
      byId("main"),
      notice(this.#link),
      ready
        ? h("div", { key: address, class: "view" }, module.view(shown))
        : h(
            "div",
            { key: "wait", class: "view" },
            h("h1", { tabindex: "-1" }, VIEWS[this.#route.name].name),
            h(
              "p",
              { class: "quiet" },
              this.#link.state === "begun" ? "Reading…" : "Nothing was read yet.",
            ),
          ),
    );
    update(byId("about"), this.#summary && `cognee-hooks ${this.#summary.version}`);
    markScrollers();
    if (ready && this.#arriving) this.#arrive();
  }

  #links() {
    const { buffer: buffered, plugins: all } = this.#summary ?? {
      buffer: { waiting: [], quarantined: [] },
      plugins: [],
    };
    const entries = [...buffered.waiting, ...buffered.quarantined].reduce(
      (sum, each) => sum + (each.entries ?? 0),
      0,
    );
    const failing = all.filter((each) => each.quarantined.length > 0).length;
    const badges = {
      buffer: entries > 0 && [
        h("span", { class: "badge", "aria-hidden": "true" }, count(entries)),
        h("span", { class: "unseen" }, ` (${counted(entries, "entry", "entries")})`),
      ],
      plugins: failing > 0 && [
        h("span", { class: "badge", "aria-hidden": "true" }, failing),
        h("span", { class: "unseen" }, ` (${failing} quarantined)`),
      ],
    };
    return h(
      "ul",
      null,
      Object.entries(VIEWS)
        .filter(([, { href }]) => href)
        .map(([name, { name: text, href }]) =>
          h(
            "li",
            { key: name },
            h(
              "a",
              {
                href,
                "aria-current":
                  this.#route.name === name
                    ? "page"
                    : name === "overview" && this.#route.name === "session"
                      ? "true"
                      : null,
              },
              text,
              badges[name],
            ),
          ),
        ),
    );
  }

  // -- light and dark ------------------------------------------------------------------------

  #turnTheme() {
    const system = darkSystem.matches ? "dark" : "light";
    const wanted = this.#theme() === "dark" ? "light" : "dark";
    if (wanted === system) delete root.dataset.theme;
    else root.dataset.theme = wanted;
    try {
      if (wanted === system) localStorage.removeItem(THEME);
      else localStorage.setItem(THEME, wanted);
    } catch {
      // Storage is forbidden: the choice holds until the page is left.
    }
    this.#showTheme();
  }

  #theme() {
    return root.dataset.theme ?? (darkSystem.matches ? "dark" : "light");
  }

  #showTheme() {
    const text = this.#theme() === "dark" ? "Light theme" : "Dark theme";
    update(byId("theme"), text);
  }
}

const VIEWS = {
  overview: { name: "Overview", href: "#/", module: overview },
  buffer: { name: "Buffer", href: "#/buffer", module: buffer },
  plugins: { name: "Plugins", href: "#/plugins", module: plugins },
  session: { name: "Session", href: null, module: session },
};

const LINKS = { begun: "Connecting", live: "Live", lost: "Not connected", ended: "Ended" };

function routeOf(hash) {
  const [, name = "", key = ""] = hash.split("/");
  if (name === "sessions" && key) return { name: "session", key: decoded(key) };
  return { name: name in VIEWS && name !== "session" ? name : "overview", key: "" };
}

const nameOf = ({ name, key }) => `${name}/${key}`;

/** An address may have been typed by hand. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notice({ state, wait }) {
  if (state === "ended") {
    return h(
      "div",
      { key: "notice", class: "notice bad" },
      h(
        "p",
        null,
        "This page is no longer connected: ",
        command("cognee-hooks view"),
        " was started anew, or has forgotten this browser. Start ",
        command("cognee-hooks view"),
        " again and use the address that it prints. What is shown below is what was known last.",
      ),
    );
  }
  if (state === "lost") {
    return h(
      "div",
      { key: "notice", class: "notice warn" },
      h(
        "p",
        null,
        `The connection is lost; the next try is in ${counted(Math.round(wait / 1000), "second")}. If `,
        command("cognee-hooks view"),
        " has ended, start it again.",
      ),
    );
  }
  return null;
}

new Page().start();
