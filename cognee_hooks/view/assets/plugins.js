// Where plugins stand, and what they cost.

import { h } from "./dom.js";
import { count, counted, duration, milliseconds } from "./format.js";
import { choice, command, empty, foreign, measured, moment, number, table, tag } from "./parts.js";

/** What the view remembers while the page is open. */
export const start = () => ({ show: "all", open: [] });

export const title = () => "Plugins";

/** Describe the view. */
export function view({ summary, state, now, again }) {
  const all = summary.plugins;
  const kinds = {
    all: { name: "All", rows: all },
    active: { name: "Active", rows: all.filter(isActive) },
    other: { name: "Not active", rows: all.filter((each) => !isActive(each)) },
    trouble: { name: "With trouble", rows: all.filter(inTrouble) },
  };
  const choices = Object.entries(kinds).map(([value, { name, rows }]) => ({
    value,
    name,
    count: count(rows.length),
  }));
  const { rows } = kinds[state.show];
  return [
    h("h1", { tabindex: "-1" }, "Plugins"),
    h(
      "p",
      { class: "lead" },
      "Calls and their mean are those of all sessions that are known; the slowest call, hooks and faults are those of live ones.",
    ),
    choice("Show plugins", choices, state.show, (show) => again({ show })),
    rows.length === 0 ? nothing(state.show) : listed(rows, state, now, again),
    all.some(inTrouble) && advice(),
  ];
}

const inTrouble = (plugin) =>
  plugin.faults > 0 || plugin.quarantined.length > 0 || plugin.state === "failed";

const isActive = (plugin) => plugin.state === "active";

const meanOf = ({ calls, seconds }) => (calls > 0 && seconds !== null ? seconds / calls : null);

function nothing(show) {
  if (show === "trouble")
    return empty(
      "No plugin has had trouble.",
      "One that could not be loaded, or failed in a live session, appears here.",
    );
  return empty(
    "There is no such plugin.",
    command("cognee-hooks new-plugin NAME"),
    " writes one to begin with.",
  );
}

function listed(plugins, state, now, again) {
  const slowest = Math.max(0, ...plugins.map((each) => each.slowest ?? 0));
  const mean = Math.max(0, ...plugins.map((each) => meanOf(each) ?? 0));
  const columns = [
    { name: "Plugin" },
    { name: "State" },
    { name: "Sessions", numeric: true },
    { name: "Calls", numeric: true },
    { name: "Mean", numeric: true },
    { name: "Slowest", numeric: true },
    { name: "Faults", numeric: true },
  ];
  const rows = plugins
    .toSorted(order)
    .flatMap((each) => row(each, { mean, slowest }, state, now, again));
  return table("Plugins, with trouble first, then by time spent", columns, rows, {
    class: "cards plugins",
  });
}

/** With trouble first, then active ones, then by time spent. */
const order = (one, other) =>
  Number(inTrouble(other)) - Number(inTrouble(one)) ||
  Number(isActive(other)) - Number(isActive(one)) ||
  (other.seconds ?? 0) - (one.seconds ?? 0) ||
  (one.name ?? "").localeCompare(other.name ?? "");

function row(plugin, most, state, now, again) {
  const open = state.open.includes(plugin.name);
  const id = `hooks-${encodeURIComponent(plugin.name)}`;
  const toggle = () =>
    again({
      open: open ? state.open.filter((name) => name !== plugin.name) : [...state.open, plugin.name],
    });
  const mean = meanOf(plugin);
  return [
    h(
      "tr",
      { key: plugin.name, class: open ? "open" : null },
      h("th", { scope: "row" }, nameCell(plugin, open, id, toggle)),
      h("td", { class: "text" }, stateCell(plugin)),
      number(count(plugin.sessions), plugin.sessions ? "" : "quiet"),
      number(count(plugin.calls), plugin.calls ? "" : "quiet"),
      timeCell(mean, most.mean),
      timeCell(plugin.slowest, most.slowest),
      h("td", { class: `number ${plugin.faults > 0 ? "bad" : "quiet"}` }, count(plugin.faults)),
    ),
    open
      ? h(
          "tr",
          { key: `${plugin.name} hooks`, class: "hooks" },
          h("td", { colspan: "7", id }, hooks(plugin, now)),
        )
      : [],
  ].flat();
}

function nameCell(plugin, open, id, toggle) {
  const from = plugin.built_in
    ? "built in"
    : [plugin.package, plugin.version].filter(Boolean).join(" ");
  const name = foreign(plugin.name);
  return [
    plugin.hooks.length > 0 || plugin.last_fault
      ? h(
          "button",
          {
            type: "button",
            class: "disclose",
            "aria-expanded": String(open),
            "aria-controls": open ? id : null,
            on: { click: toggle },
          },
          name,
        )
      : h("span", { class: "undisclosed" }, name),
    h("span", { class: "from" }, foreign(from || "–")),
  ];
}

function stateCell(plugin) {
  return [
    tag(
      plugin.state ?? "not installed now",
      isActive(plugin) ? "good" : plugin.state === "failed" ? "bad" : "",
    ),
    plugin.quarantined.length > 0
      ? [
          " ",
          tag(counted(plugin.quarantined.length, "hook quarantined", "hooks quarantined"), "bad"),
        ]
      : null,
    plugin.slow > 0 ? [" ", tag(counted(plugin.slow, "slow call"), "warn")] : null,
    plugin.reason ? h("p", { class: "reason" }, foreign(plugin.reason)) : null,
  ];
}

const timeCell = (value, most) =>
  h(
    "td",
    { class: `number ${value === null ? "quiet" : ""}`.trim() },
    measured(milliseconds(value), value, most),
  );

function hooks(plugin, now) {
  const columns = [
    { name: "Hook" },
    { name: "Calls", numeric: true },
    { name: "Total", numeric: true },
    { name: "Mean", numeric: true },
    { name: "Slowest", numeric: true },
    { name: "Faults", numeric: true },
  ];
  const mean = Math.max(0, ...plugin.hooks.map((each) => meanOf(each) ?? 0));
  const slowest = Math.max(0, ...plugin.hooks.map((each) => each.slowest ?? 0));
  const rows = plugin.hooks.map((each) =>
    h(
      "tr",
      { key: each.hook },
      h(
        "th",
        { scope: "row" },
        h("code", null, foreign(each.hook)),
        plugin.quarantined.includes(each.hook) ? [" ", tag("quarantined", "bad")] : null,
      ),
      number(count(each.calls)),
      number(duration(each.seconds)),
      timeCell(meanOf(each), mean),
      timeCell(each.slowest, slowest),
      number(count(each.faults), each.faults > 0 ? "bad" : "quiet"),
    ),
  );
  return [
    plugin.last_fault
      ? h("p", { class: "fault" }, "Last fault: ", fault(plugin.last_fault, now))
      : null,
    rows.length > 0 ? table(`Hooks of ${plugin.name}`, columns, rows) : null,
  ];
}

const fault = (told, now) => (typeof told === "number" ? moment(told, now) : foreign(told));

function advice() {
  return h(
    "div",
    { class: "means" },
    h(
      "p",
      null,
      "A plugin whose hook fails again and again is quarantined: that hook is not called any more in that session, and everything else goes on. The next session tries it again.",
    ),
    h(
      "ul",
      null,
      h("li", null, "Leave a plugin out: ", command("cognee-hooks plugins disable NAME")),
      h(
        "li",
        null,
        "See what an event passes through: ",
        command("cognee-hooks plugins trace EVENT"),
      ),
      h("li", null, "Pack what its author needs: ", command("cognee-hooks doctor --bundle")),
    ),
  );
}
