// What was done in a session, by the clock.

import { h } from "./dom.js";
import { count, dateOf, dayOf, duration, size } from "./format.js";
import { choice, clockTime, empty, foreign, keyed, number, table } from "./parts.js";

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

/** What the timeline remembers while the page is open. */
export const start = () => ({ act: "", all: false });

/** Describe it. */
export function timeline(acts, state, again) {
  const found = state.act ? acts.filter((each) => each.act === state.act) : acts;
  const shown = state.all ? found : found.slice(0, FIRST);
  return h(
    "section",
    { "aria-labelledby": "timeline" },
    h(
      "div",
      { class: "heading" },
      h("h2", { id: "timeline" }, "Timeline"),
      h("p", null, acts.length > 0 && "Sizes and times, never texts; the latest first."),
    ),
    acts.length === 0
      ? empty("Nothing was recorded yet.", "Every event of the agent adds to this list.")
      : [
          choice("Show acts", choices(acts), state.act, (act) => again({ act, all: false })),
          found.length === 0
            ? empty("Nothing of that kind.", "Choose another one above.")
            : acted(shown),
          found.length > shown.length &&
            h(
              "p",
              null,
              h(
                "button",
                { type: "button", on: { click: () => again({ all: true }) } },
                `Show all ${count(found.length)}`,
              ),
            ),
        ],
  );
}

function choices(acts) {
  const counts = new Map();
  for (const { act } of acts) counts.set(act, (counts.get(act) ?? 0) + 1);
  const known = [...counts].toSorted(([, one], [, other]) => other - one);
  return [
    { value: "", name: "All", count: count(acts.length) },
    ...known.map(([act, number_]) => ({
      value: act,
      name: ACTS[act] ?? act,
      count: count(number_),
    })),
  ];
}

function acted(acts) {
  let day = "";
  const rows = keyed(acts, (each) => `${each.time} ${each.act} ${each.what}`).flatMap(
    ([key, each]) => {
      const date = dateOf(each.time);
      const name = date ? dayOf(date) : "Without a date";
      const described = act(key, each);
      if (name === day) return [described];
      day = name;
      return [
        h("tr", { key: name, class: "day" }, h("th", { scope: "colgroup", colspan: "6" }, name)),
        described,
      ];
    },
  );
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
const WHATS = {
  qa: "question and answer",
  trace: "tool call",
  hit: "found something",
  nothing: "found nothing",
};

function act(key, each) {
  return h(
    "tr",
    { key },
    h("td", { class: "when" }, clockTime(each.time)),
    h(
      "td",
      null,
      h("span", { class: TONES[each.act] ?? null }, foreign(ACTS[each.act] ?? each.act)),
    ),
    h("td", { class: "text" }, foreign(WHATS[each.what] ?? each.what ?? "")),
    number(count(each.count), each.count === 1 ? "quiet" : ""),
    number(each.bytes === null ? "" : size(each.bytes)),
    number(each.seconds === null ? "" : duration(each.seconds)),
  );
}
