// All sessions, and what came of them.

import { h } from "./dom.js";
import { count, counted, percent, shortened, size } from "./format.js";
import {
  alarm,
  command,
  empty,
  figures,
  foreign,
  measured,
  moment,
  number,
  table,
  tag,
} from "./parts.js";

const COLUMNS = [
  { id: "session_id", name: "Session", first: "ascending" },
  { id: "agent", name: "Agent", first: "ascending" },
  { id: "dataset", name: "Dataset", first: "ascending" },
  { id: "last", name: "Last activity", first: "descending" },
  { id: "captured", name: "Captured", first: "descending", numeric: true },
  { id: "redacted", name: "Redacted", first: "descending", numeric: true },
  { id: "sent", name: "Sent", first: "descending", numeric: true },
  { id: "waiting", name: "Waiting", first: "descending", numeric: true },
  { id: "lost", name: "Lost", first: "descending", numeric: true },
  { id: "recalls", name: "Recalls", first: "descending", numeric: true },
  { id: "tokens", name: "Injected tokens", first: "descending", numeric: true },
];

/** What is left of many problems leaves room for the rest of the page. */
const FIRST_PROBLEMS = 3;

/** What the view remembers while the page is open. */
export const start = () => ({ filter: "", sort: "", direction: "" });

export const title = () => "Overview";

/** Describe the view. */
export function view({ summary, state, now, again }) {
  const { sessions, totals } = summary;
  return [
    h("h1", { tabindex: "-1" }, "Overview"),
    problems(summary.problems),
    h("h2", { class: "unseen" }, "Totals"),
    h("div", { class: "panel" }, figures(totalsOf(totals))),
    h(
      "section",
      { "aria-labelledby": "sessions" },
      h(
        "div",
        { class: "heading" },
        h("h2", { id: "sessions" }, "Sessions"),
        sessions.length > 0 && filter(state, again),
      ),
      sessions.length > 0 ? listed(sessions, state, now, again) : none(),
    ),
    h("p", { class: "aside" }, daemonText(summary.daemon)),
  ];
}

function totalsOf(totals) {
  return [
    { name: "Sessions", value: count(totals.sessions) },
    { name: "Captured", value: count(totals.captured) },
    { name: "Redacted", value: count(totals.redacted), note: "secrets cut out" },
    { name: "Sent", value: count(totals.sent) },
    {
      name: "Waiting",
      value: count(totals.waiting),
      tone: alarm(totals.waiting, "warn"),
      href: "#/buffer",
    },
    { name: "Lost", value: count(totals.lost), tone: alarm(totals.lost, "bad") },
    {
      name: "Recalls",
      value: count(totals.recalls),
      note: totals.hit_rate === null ? null : `${percent(totals.hit_rate)} hit rate`,
    },
    {
      name: "Injected tokens",
      value: count(totals.tokens),
      note: `about, of ${size(totals.injected_bytes)}`,
    },
  ];
}

function problems(texts) {
  if (!texts?.length) return null;
  const [first, more] = [texts.slice(0, FIRST_PROBLEMS), texts.slice(FIRST_PROBLEMS)];
  const list = (some) =>
    h(
      "ul",
      null,
      some.map((text) => h("li", null, foreign(text))),
    );
  return h(
    "section",
    { class: "notice warn", "aria-labelledby": "problems" },
    h("h2", { id: "problems" }, counted(texts.length, "problem")),
    list(first),
    more.length > 0 &&
      h("details", null, h("summary", null, `${count(more.length)} more`), list(more)),
    h("p", null, "Everything else is shown. ", command("cognee-hooks doctor"), " says more."),
  );
}

function filter(state, again) {
  return h(
    "label",
    { class: "filter" },
    h("span", { class: "unseen" }, "Filter sessions"),
    h("input", {
      type: "search",
      value: state.filter,
      placeholder: "Filter by id, agent or dataset",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: (event) => again({ filter: event.target.value }) },
    }),
  );
}

function listed(sessions, state, now, again) {
  const found = ordered(
    sessions.filter((each) => matches(each, state.filter)),
    state,
  );
  if (found.length === 0)
    return empty("No session matches the filter.", "It looks at ids, agents and datasets.");
  const most = Math.max(...sessions.map((each) => each.tokens ?? 0));
  const columns = COLUMNS.map((column) => ({
    name: column.name,
    numeric: column.numeric,
    sort: {
      state: state.sort === column.id ? state.direction : "none",
      toggle: () => again(turned(state, column)),
    },
  }));
  return table(
    "Sessions, live ones first",
    columns,
    found.map((each) => row(each, now, most)),
    { class: "cards sortable" },
  );
}

function row(session, now, most) {
  const id = session.session_id || "without an id";
  return h(
    "tr",
    { key: session.key },
    h(
      "th",
      { scope: "row" },
      h(
        "a",
        { class: "id", href: `#/sessions/${encodeURIComponent(session.key)}`, title: id },
        foreign(shortened(id)),
      ),
      session.live ? [" ", tag("live", "live")] : null,
    ),
    h("td", null, foreign(session.agent || "–")),
    h("td", { class: "text" }, foreign(session.dataset || "–")),
    h("td", { class: "when" }, moment(session.last, now)),
    cell(session.captured),
    cell(session.redacted),
    cell(session.sent),
    cell(session.waiting, "warn"),
    cell(session.lost, "bad"),
    cell(session.recalls),
    h("td", { class: "number" }, measured(count(session.tokens), session.tokens, most)),
  );
}

const cell = (value, tone = "") => number(count(value), value > 0 ? tone : "quiet");

function matches(session, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [session.session_id, session.agent, session.dataset, session.live ? "live" : ""]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Live ones first, and the latest first, unless the person wants another order. */
function ordered(sessions, { sort, direction }) {
  const sign = direction === "ascending" ? 1 : -1;
  return sessions.toSorted((one, other) => {
    if (sort) return sign * compared(one[sort], other[sort]);
    return Number(other.live) - Number(one.live) || compared(other.last, one.last);
  });
}

function compared(one, other) {
  if (typeof one === "string" || typeof other === "string")
    return (one ?? "").localeCompare(other ?? "");
  return (one ?? -1) - (other ?? -1);
}

/** A column's button goes through its orders and back to the one that we chose. */
function turned({ sort, direction }, column) {
  if (sort !== column.id) return { sort: column.id, direction: column.first };
  if (direction === column.first)
    return { direction: column.first === "ascending" ? "descending" : "ascending" };
  return { sort: "", direction: "" };
}

function none() {
  return empty(
    "There is no session yet.",
    "Set an agent up with ",
    command("cognee-hooks install claude-code"),
    " (or another agent), and start it: the session appears here by itself. ",
    command("cognee-hooks demo"),
    " plays one without an agent.",
  );
}

function daemonText(daemon) {
  if (daemon.running === null) return "The daemon does not answer.";
  if (!daemon.running)
    return "The daemon is not running. It starts by itself with an agent’s next event.";
  return `The daemon is running${daemon.pid ? ` (process ${daemon.pid})` : ""}.`;
}
