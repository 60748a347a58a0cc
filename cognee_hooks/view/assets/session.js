// One session: what was put into which prompt, what was done, what was cut out.

import { h } from "./dom.js";
import { count, counted, dateOf, dayOf, duration, shortened, size } from "./format.js";
import { alarm, bar, choice, clockTime, command, empty, facts, figures, foreign, moment, number, table, tag } from "./parts.js";

const FIRST = 100;
const ACTS = {
  captured: "Captured",
  redacted: "Redacted",
  buffered: "Buffered",
  delivered: "Delivered",
  replayed: "Delivered late",
  deduplicated: "Already there",
  dropped: "Dropped",
  quarantined: "Put aside",
  recalled: "Recalled",
  injected: "Injected",
  compacted: "Compacted",
  synced: "Synced",
  remembered: "Remembered",
  indexed: "Indexed",
  asked: "Asked",
  forgotten: "Forgotten",
  ran: "Ran",
};

/** What the view remembers while the page is open. */
export const start = () => ({ act: "", all: false });

export const title = ({ detail }) => (detail ? `Session ${shortened(nameOf(detail.session))}` : "Session");

/** Describe the view. */
export function view({ detail, state, now, again }) {
  if (!detail) {
    return [
      h("p", { class: "back" }, h("a", { href: "#/" }, "All sessions")),
      h("h1", { tabindex: "-1" }, "Session"),
      empty("This session is not known.", "Its ledger is removed a month after its last event. ", h("a", { href: "#/" }, "See all sessions"), "."),
    ];
  }
  const { session } = detail;
  return [
    h("p", { class: "back" }, h("a", { href: "#/" }, "All sessions")),
    h("h1", { tabindex: "-1", class: "id" }, foreign(nameOf(session)), session.live ? [" ", tag("live", "live")] : null),
    facts(about(session, now)),
    h("h2", { class: "unseen" }, "Totals"),
    h("div", { class: "panel" }, figures(totalsOf(session))),
    prompts(detail, now),
    redactions(detail.redactions),
    timeline(detail.acts, state, again),
  ];
}

const nameOf = (session) => session.session_id || "without an id";

function about(session, now) {
  return [
    session.agent && ["with ", h("strong", null, foreign(session.agent))],
    session.dataset && ["in dataset ", h("strong", null, foreign(session.dataset))],
    dateOf(session.began) && ["began ", moment(session.began, now)],
    dateOf(session.last) && ["last event ", moment(session.last, now)],
  ];
}

function totalsOf(session) {
  return [
    { name: "Captured", value: count(session.captured) },
    { name: "Redacted", value: count(session.redacted) },
    { name: "Sent", value: count(session.sent) },
    { name: "Waiting", value: count(session.waiting), tone: alarm(session.waiting, "warn"), href: "#/buffer" },
    { name: "Lost", value: count(session.lost), tone: alarm(session.lost, "bad") },
    { name: "Recalls", value: count(session.recalls) },
    { name: "Injections", value: count(session.injected) },
    { name: "Injected tokens", value: count(session.tokens), note: `about, of ${size(session.injected_bytes)}` },
  ];
}

// -- prompts ----------------------------------------------------------------------------------

function prompts({ session, prompts: list }, now) {
  const latest = keyed(list.toSorted((one, other) => (other.time ?? 0) - (one.time ?? 0)), (each) => each.time);
  const most = Math.max(0, ...list.flatMap((each) => each.sections.map((section) => section.bytes ?? 0)));
  const kept = list.some((each) => each.prompt !== null || each.sections.some((section) => section.text !== null));
  return h(
    "section",
    { "aria-labelledby": "prompts" },
    h("div", { class: "heading" }, h("h2", { id: "prompts" }, "Prompts"), h("p", null, list.length > 0 && "What went into the model’s context with each, the latest first.")),
    list.length > 0 && !kept && h("p", { class: "aside" }, notKept(session.live)),
    list.length === 0
      ? none(session)
      : latest.map(([key, each]) => prompt(key, each, most, session.live, now)),
  );
}

function none(session) {
  if (session.live) return empty("No prompt yet.", "What is put into the context of the next prompt appears here.");
  return empty("No prompts are kept.", notKept(false));
}

function notKept(live) {
  const why = "Texts of prompts and of what was injected are never written to disk: they live in the daemon’s memory, for the latest prompts of a session, while it is live.";
  return live ? `${why} These prompts are older than that, or the daemon was started anew since.` : `${why} This one has ended, so sizes and times are what is left.`;
}

function prompt(key, each, most, live, now) {
  return h(
    "article",
    { key, class: "prompt panel" },
    h("h3", null, each.prompt === null ? h("span", { class: "quiet" }, "Prompt whose text is not kept") : foreign(each.prompt, { class: "words" })),
    facts([
      moment(each.time, now),
      ...(each.sections.length > 0
        ? [counted(each.sections.length, "section"), size(each.bytes), `about ${counted(each.tokens, "token")}`]
        : ["nothing was injected"]),
      each.seconds !== null && `took ${duration(each.seconds)}`,
    ]),
    each.sections.length > 0 && h("ul", { class: "sections" }, each.sections.map((section) => injected(section, most, live))),
  );
}

function injected(section, most, live) {
  const lane = section.lane || section.plugin || "context";
  const line = [
    h("span", { class: "lane" }, foreign(lane), lane !== section.plugin && h("span", { class: "quiet" }, " by ", foreign(section.plugin || "–"))),
    bar(section.bytes, most),
    h("span", { class: "measure" }, size(section.bytes)),
    h("span", { class: "measure" }, `about ${counted(section.tokens, "token")}`),
    h("span", { class: "measure" }, duration(section.seconds)),
  ];
  if (section.text === null) {
    return h("li", { class: "line" }, line, live ? h("span", { class: "unseen" }, "Its text is not kept.") : null);
  }
  return h("li", null, h("details", null, h("summary", { class: "line" }, line), h("pre", { "data-scrolls": `Injected by ${section.plugin || "a plugin"}` }, foreign(section.text))));
}

// -- redactions -------------------------------------------------------------------------------

function redactions(list) {
  const most = Math.max(0, ...list.map((each) => each.count));
  return h(
    "section",
    { "aria-labelledby": "redactions" },
    h("div", { class: "heading" }, h("h2", { id: "redactions" }, "Redactions"), h("p", null, "What was cut out before anything was stored or sent.")),
    list.length === 0
      ? empty("Nothing was cut out.", "Try what would be: ", command("cognee-hooks redact --explain"), " takes any text.")
      : table(
          "Redactions by kind",
          [{ name: "Kind" }, { name: "Times", numeric: true }, { name: "Share" }],
          list.map((each) =>
            h("tr", { key: each.kind }, h("th", { scope: "row" }, foreign(each.kind)), number(count(each.count)), h("td", { class: "wide" }, bar(each.count, most))),
          ),
          { class: "narrow" },
        ),
  );
}

// -- timeline ---------------------------------------------------------------------------------

function timeline(acts, state, again) {
  const found = state.act ? acts.filter((each) => each.act === state.act) : acts;
  const shown = state.all ? found : found.slice(0, FIRST);
  return h(
    "section",
    { "aria-labelledby": "timeline" },
    h("div", { class: "heading" }, h("h2", { id: "timeline" }, "Timeline"), h("p", null, acts.length > 0 && "Sizes and times, never texts; the latest first.")),
    acts.length === 0
      ? empty("Nothing was recorded yet.", "Every event of the agent adds to this list.")
      : [
          choice("Show acts", choices(acts), state.act, (act) => again({ act, all: false })),
          found.length === 0 ? empty("Nothing of that kind.", "Choose another one above.") : acted(shown),
          found.length > shown.length &&
            h("p", null, h("button", { type: "button", on: { click: () => again({ all: true }) } }, `Show all ${count(found.length)}`)),
        ],
  );
}

function choices(acts) {
  const counts = new Map();
  for (const { act } of acts) counts.set(act, (counts.get(act) ?? 0) + 1);
  const known = [...counts].toSorted(([, one], [, other]) => other - one);
  return [
    { value: "", name: "All", count: count(acts.length) },
    ...known.map(([act, number_]) => ({ value: act, name: ACTS[act] ?? act, count: count(number_) })),
  ];
}

function acted(acts) {
  let day = "";
  const rows = keyed(acts, (each) => `${each.time} ${each.act} ${each.what}`).flatMap(([key, each]) => {
    const date = dateOf(each.time);
    const name = date ? dayOf(date) : "Without a date";
    const described = act(key, each);
    if (name === day) return [described];
    day = name;
    return [h("tr", { key: name, class: "day" }, h("th", { scope: "colgroup", colspan: "6" }, name)), described];
  });
  const columns = [
    { name: "Time" },
    { name: "Act" },
    { name: "With what or why" },
    { name: "Count", numeric: true },
    { name: "Size", numeric: true },
    { name: "Took", numeric: true },
  ];
  return table("Timeline of the session", columns, rows, { class: "timeline" });
}

const TONES = { quarantined: "bad", buffered: "warn" };
const WHATS = { qa: "question and answer", trace: "tool call", hit: "found something", nothing: "found nothing" };

function act(key, each) {
  return h(
    "tr",
    { key },
    h("td", { class: "when" }, clockTime(each.time)),
    h("td", null, h("span", { class: TONES[each.act] ?? null }, foreign(ACTS[each.act] ?? each.act))),
    h("td", { class: "text" }, foreign(WHATS[each.what] ?? each.what ?? "")),
    number(count(each.count), each.count === 1 ? "quiet" : ""),
    number(each.bytes === null ? "" : size(each.bytes)),
    number(each.seconds === null ? "" : duration(each.seconds)),
  );
}

/** Pairs of a name that tells an item apart and stays its own, and the item. */
function keyed(items, nameOfItem) {
  // Counted from the oldest, as new ones come in front.
  const counts = new Map();
  return items.toReversed().map((item) => {
    const name = nameOfItem(item);
    const number_ = counts.get(name) ?? 0;
    counts.set(name, number_ + 1);
    return [`${name} ${number_}`, item];
  }).toReversed();
}
