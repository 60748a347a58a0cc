// What several views are made of.

import { h } from "./dom.js";
import { absolute, ago, dateOf, timeOfDay } from "./format.js";

/** A moment, told relative to now; epoch seconds. */
export function moment(time, now) {
  const date = dateOf(time);
  if (!date) return "–";
  return h("time", { datetime: date.toISOString(), title: absolute(date) }, ago(time, now));
}

/** A moment of a list that is read by the clock. */
export function clockTime(time) {
  const date = dateOf(time);
  if (!date) return "–";
  return h("time", { datetime: date.toISOString(), title: absolute(date) }, timeOfDay(date));
}

/** Text that somebody else wrote: its direction must not spread to what stands around it. */
export const foreign = (text, properties = null) => h("bdi", properties, text);

/** Short facts in a line. */
export const facts = (told) =>
  h(
    "p",
    { class: "facts" },
    told
      .filter(Boolean)
      .map((fact, index) => [
        index > 0 && h("span", { class: "between" }, " · "),
        h("span", null, fact),
      ]),
  );

/**
 * Figures with their names.
 *
 * @param {Array<{name: string, value: *, note?: *, tone?: string, href?: string}>} rows `tone` is
 *     `quiet`, `warn` or `bad`; `href` leads on from what is not quiet.
 */
export function figures(rows) {
  return h(
    "dl",
    { class: "figures" },
    rows.map(({ name, value, note, tone, href }) =>
      h(
        "div",
        { key: name, class: tone ?? null },
        h("dt", null, name),
        h("dd", { class: "value" }, href && tone !== "quiet" ? h("a", { href }, value) : value),
        note ? h("dd", { class: "note" }, note) : null,
      ),
    ),
  );
}

/** The tone of a figure that should be nothing. */
export const alarm = (value, tone) => (value > 0 ? tone : "quiet");

/** A bar beside a number that says the same. */
export function bar(value, most, tone = "") {
  const part = most > 0 && value > 0 ? Math.max(2, Math.min(100, (100 * value) / most)) : 0;
  return h(
    "svg",
    {
      class: `bar ${tone}`.trim(),
      "aria-hidden": "true",
      focusable: "false",
      viewBox: "0 0 100 6",
      preserveAspectRatio: "none",
    },
    h("rect", { class: "track", width: "100", height: "6", rx: "1" }),
    h("rect", { class: "part", width: part.toFixed(1), height: "6", rx: "1" }),
  );
}

/** What stands where there is nothing yet: a heading, and what to do next. */
export const empty = (title, ...rest) =>
  h("div", { class: "empty" }, h("p", { class: "what" }, title), h("p", null, rest));

/** A command to type; a click selects all of it. */
export const command = (text) => h("code", { class: "command" }, text);

/** A word in a frame. */
export const tag = (text, tone = "") => h("span", { class: `tag ${tone}`.trim() }, text);

/** Let the keyboard reach what is larger than its place, and only that. */
export function markScrollers() {
  for (const scroller of document.querySelectorAll("[data-scrolls]")) {
    const large =
      scroller.scrollWidth > scroller.clientWidth || scroller.scrollHeight > scroller.clientHeight;
    const wanted = { role: "region", "aria-label": scroller.dataset.scrolls, tabindex: "0" };
    for (const [name, value] of Object.entries(wanted)) {
      if (large) scroller.setAttribute(name, value);
      else scroller.removeAttribute(name);
    }
  }
}

/**
 * A table that scrolls by itself where the window is too narrow for it; one of the class `cards`
 * is shown row by row there.
 *
 * @param {string} caption What it holds.
 * @param {Array<{name: string, numeric?: boolean, sort?: object}>} columns `sort` has `state` for
 *     `aria-sort`, and `toggle`.
 * @param {Array} rows Descriptions of rows.
 * @param {{captionShown?: boolean, class?: string}} options Whether the caption is to be seen.
 */
export function table(caption, columns, rows, options = {}) {
  return h(
    "div",
    { class: "scroller", "data-scrolls": caption },
    h(
      "table",
      { class: options.class ?? null },
      h("caption", { class: options.captionShown ? null : "unseen" }, caption),
      h("thead", null, h("tr", null, columns.map(column))),
      h(
        "tbody",
        null,
        rows.map((row) => named(row, columns)),
      ),
    ),
  );
}

/** Cells know their column's name, for where no header stands above them. */
function named(row, columns) {
  if (!row || row.children.length !== columns.length) return row;
  const children = row.children.map((cell, index) => ({
    ...cell,
    attributes: { ...cell.attributes, "data-name": columns[index].name },
  }));
  return { ...row, children };
}

function column({ name, numeric, sort }) {
  const content = sort
    ? h(
        "button",
        { type: "button", class: "sort", on: { click: sort.toggle } },
        name,
        h("span", { class: "arrow", "aria-hidden": "true" }, ARROWS[sort.state]),
      )
    : name;
  return h(
    "th",
    { key: name, scope: "col", class: numeric ? "number" : null, "aria-sort": sort?.state ?? null },
    content,
  );
}

const ARROWS = { ascending: "↑", descending: "↓", none: "" };

/** A number with its bar. */
export const measured = (text, value, most) =>
  h("span", { class: "measured" }, bar(value, most), h("span", { class: "value" }, text));

/** A cell with a number. */
export const number = (value, tone = "") => h("td", { class: `number ${tone}`.trim() }, value);

/** Buttons of which one is pressed. */
export function choice(label, options, chosen, choose) {
  return h(
    "div",
    { class: "choice", role: "group", "aria-label": label },
    options.map(({ value, name, count }) =>
      h(
        "button",
        {
          key: value,
          type: "button",
          "aria-pressed": String(value === chosen),
          on: { click: () => choose(value) },
        },
        name,
        count === undefined ? null : h("span", { class: "count" }, ` ${count}`),
      ),
    ),
  );
}

/** Pairs of a name that tells an item apart and stays its own, and the item. */
export function keyed(items, nameOfItem) {
  // Counted from the oldest, as new ones come in front.
  const counts = new Map();
  return items
    .toReversed()
    .map((item) => {
      const name = nameOfItem(item);
      const number_ = counts.get(name) ?? 0;
      counts.set(name, number_ + 1);
      return [`${name} ${number_}`, item];
    })
    .toReversed();
}
