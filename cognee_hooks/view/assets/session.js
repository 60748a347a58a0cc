// One session: what was put into which prompt, what was done, what was cut out.

import { h } from "./dom.js";
import { count, counted, dateOf, duration, shortened, size } from "./format.js";
import {
  alarm,
  bar,
  command,
  empty,
  facts,
  figures,
  foreign,
  keyed,
  moment,
  number,
  table,
  tag,
} from "./parts.js";
import { start as startTimeline, timeline } from "./timeline.js";

/** What the view remembers while the page is open. */
export const start = startTimeline;

export const title = ({ detail }) =>
  detail ? `Session ${shortened(nameOf(detail.session))}` : "Session";

/** Describe the view. */
export function view({ detail, state, now, again }) {
  if (!detail) {
    return [
      h("p", { class: "back" }, h("a", { href: "#/" }, "All sessions")),
      h("h1", { tabindex: "-1" }, "Session"),
      empty(
        "This session is not known.",
        "Its ledger is removed a month after its last event. ",
        h("a", { href: "#/" }, "See all sessions"),
        ".",
      ),
    ];
  }
  const { session } = detail;
  return [
    h("p", { class: "back" }, h("a", { href: "#/" }, "All sessions")),
    h(
      "h1",
      { tabindex: "-1", class: "id" },
      foreign(nameOf(session)),
      session.live ? [" ", tag("live", "live")] : null,
    ),
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
    {
      name: "Waiting",
      value: count(session.waiting),
      tone: alarm(session.waiting, "warn"),
      href: "#/buffer",
    },
    { name: "Lost", value: count(session.lost), tone: alarm(session.lost, "bad") },
    { name: "Recalls", value: count(session.recalls) },
    { name: "Injections", value: count(session.injected) },
    {
      name: "Injected tokens",
      value: count(session.tokens),
      note: `about, of ${size(session.injected_bytes)}`,
    },
  ];
}

// -- prompts ----------------------------------------------------------------------------------

function prompts({ session, prompts: list }, now) {
  const latest = keyed(
    list.toSorted((one, other) => (other.time ?? 0) - (one.time ?? 0)),
    (each) => each.time,
  );
  const most = Math.max(
    0,
    ...list.flatMap((each) => each.sections.map((section) => section.bytes ?? 0)),
  );
  const kept = list.some(
    (each) => each.prompt !== null || each.sections.some((section) => section.text !== null),
  );
  return h(
    "section",
    { "aria-labelledby": "prompts" },
    h(
      "div",
      { class: "heading" },
      h("h2", { id: "prompts" }, "Prompts"),
      h(
        "p",
        null,
        list.length > 0 && "What went into the model’s context with each, the latest first.",
      ),
    ),
    list.length > 0 && !kept && h("p", { class: "aside" }, notKept(session.live)),
    list.length === 0
      ? none(session)
      : latest.map(([key, each]) => prompt(key, each, most, session.live, now)),
  );
}

function none(session) {
  if (session.live)
    return empty("No prompt yet.", "What is put into the context of the next prompt appears here.");
  return empty("No prompts are kept.", notKept(false));
}

function notKept(live) {
  const why =
    "Texts of prompts and of what was injected are never written to disk: they live in the daemon’s memory, for the latest prompts of a session, while it is live.";
  return live
    ? `${why} These prompts are older than that, or the daemon was started anew since.`
    : `${why} This one has ended, so sizes and times are what is left.`;
}

function prompt(key, each, most, live, now) {
  return h(
    "article",
    { key, class: "prompt panel" },
    h(
      "h3",
      null,
      each.prompt === null
        ? h("span", { class: "quiet" }, "Prompt whose text is not kept")
        : foreign(each.prompt, { class: "words" }),
    ),
    facts([
      moment(each.time, now),
      ...(each.sections.length > 0
        ? [
            counted(each.sections.length, "section"),
            size(each.bytes),
            `about ${counted(each.tokens, "token")}`,
          ]
        : ["nothing was injected"]),
      each.seconds !== null && `took ${duration(each.seconds)}`,
    ]),
    each.sections.length > 0 &&
      h(
        "ul",
        { class: "sections" },
        each.sections.map((section) => injected(section, most, live)),
      ),
  );
}

function injected(section, most, live) {
  const lane = section.lane || section.plugin || "context";
  const line = [
    h(
      "span",
      { class: "lane" },
      foreign(lane),
      section.plugin &&
        section.plugin !== lane &&
        h("span", { class: "quiet" }, " by ", foreign(section.plugin)),
    ),
    bar(section.bytes, most),
    h("span", { class: "measure" }, size(section.bytes)),
    h("span", { class: "measure" }, `about ${counted(section.tokens, "token")}`),
    h("span", { class: "measure" }, duration(section.seconds)),
  ];
  if (section.text === null) {
    return h(
      "li",
      { class: "line" },
      line,
      live ? h("span", { class: "unseen" }, "Its text is not kept.") : null,
    );
  }
  return h(
    "li",
    null,
    h(
      "details",
      null,
      h("summary", { class: "line" }, line),
      h(
        "pre",
        { "data-scrolls": `Injected by ${section.plugin || "a plugin"}` },
        foreign(section.text),
      ),
    ),
  );
}

// -- redactions -------------------------------------------------------------------------------

function redactions(list) {
  const most = Math.max(0, ...list.map((each) => each.count));
  return h(
    "section",
    { "aria-labelledby": "redactions" },
    h(
      "div",
      { class: "heading" },
      h("h2", { id: "redactions" }, "Redactions"),
      h("p", null, "What was cut out before anything was stored or sent."),
    ),
    list.length === 0
      ? empty(
          "Nothing was cut out.",
          "Try what would be: ",
          command("cognee-hooks redact --explain"),
          " takes any text.",
        )
      : table(
          "Redactions by kind",
          [{ name: "Kind" }, { name: "Times", numeric: true }, { name: "Share" }],
          list.map((each) =>
            h(
              "tr",
              { key: each.kind },
              h("th", { scope: "row" }, foreign(each.kind)),
              number(count(each.count)),
              h("td", { class: "wide" }, bar(each.count, most)),
            ),
          ),
          { class: "narrow" },
        ),
  );
}
