// What waits for the server, and what was put aside.

import { h } from "./dom.js";
import { count, counted, shortened } from "./format.js";
import { command, empty, foreign, moment, number, table } from "./parts.js";

/** What the view remembers while the page is open. */
export const start = () => ({});

export const title = () => "Buffer";

/** Describe the view. */
export function view({ summary, now }) {
  const { waiting, quarantined } = summary.buffer;
  return [
    h("h1", { tabindex: "-1" }, "Buffer"),
    h(
      "p",
      { class: "lead" },
      "What could not be sent lies here, encrypted, until the server has it.",
    ),
    h(
      "section",
      { "aria-labelledby": "waiting" },
      h(
        "div",
        { class: "heading" },
        h("h2", { id: "waiting" }, "Waiting"),
        h("p", null, total(waiting)),
      ),
      waiting.length === 0
        ? empty(
            "Nothing waits.",
            "Everything that was captured is at the server. When the server is away, entries wait here and are sent later, in their order.",
          )
        : [
            listed("Entries that wait for the server", waiting, summary, now, true),
            means(
              "They are sent by themselves, in their order and once, as soon as the server answers while a session of the agent is live.",
              [
                "Send at once what ended sessions left: ",
                command("cognee-hooks send --agent NAME"),
              ],
              ["Is the server there, and does it take the key? ", command("cognee-hooks doctor")],
              ["Start the local server: ", command("cognee-hooks up")],
            ),
          ],
    ),
    h(
      "section",
      { "aria-labelledby": "aside" },
      h(
        "div",
        { class: "heading" },
        h("h2", { id: "aside" }, "Put aside"),
        h("p", null, total(quarantined)),
      ),
      quarantined.length === 0
        ? empty(
            "Nothing was put aside.",
            "Entries come here when the server refuses them for good, or when they could not be sent for a month.",
          )
        : [
            listed("Entries that were put aside", quarantined, summary, now, false),
            means(
              "The server refused them for good, or they could not be sent for a month. They are not lost: they stay here, encrypted, and are not tried again.",
              ["See why: ", command("cognee-hooks daemon logs")],
              [
                "Pack what support needs, without secrets: ",
                command("cognee-hooks doctor --bundle"),
              ],
            ),
          ],
    ),
  ];
}

function total(rows) {
  const entries = rows.reduce((sum, each) => sum + (each.entries ?? 0), 0);
  return rows.length > 0 && counted(entries, "entry", "entries");
}

function listed(caption, rows, summary, now, retried) {
  const troubled = rows.some((each) => each.problem);
  const columns = [
    { name: "Session" },
    { name: "Agent" },
    { name: "Entries", numeric: true },
    { name: "Oldest" },
    ...(retried ? [{ name: "Tried again" }] : []),
    ...(troubled ? [{ name: "Problem" }] : []),
  ];
  const described = rows.map((each, index) =>
    h(
      "tr",
      { key: `${each.agent} ${each.session_id} ${index}` },
      h("th", { scope: "row" }, linked(each.session_id, summary.sessions)),
      h("td", null, foreign(each.agent || "–")),
      number(count(each.entries)),
      h("td", { class: "when" }, moment(each.oldest, now)),
      retried
        ? h(
            "td",
            { class: "when" },
            each.retry_at > now ? moment(each.retry_at, now) : "with the next event",
          )
        : null,
      troubled
        ? h("td", { class: "text" }, each.problem ? foreign(each.problem, { class: "warn" }) : "–")
        : null,
    ),
  );
  return table(caption, columns, described, { class: "cards" });
}

function linked(id, sessions) {
  if (!id) return h("span", { class: "quiet" }, "not known");
  const session = sessions.find((each) => each.session_id === id);
  const text = foreign(shortened(id));
  return session
    ? h(
        "a",
        { class: "id", href: `#/sessions/${encodeURIComponent(session.key)}`, title: id },
        text,
      )
    : h("span", { class: "id", title: id }, text);
}

const means = (text, ...commands) =>
  h(
    "div",
    { class: "means" },
    h("p", null, text),
    h(
      "ul",
      null,
      commands.map((each) => h("li", null, each)),
    ),
  );
