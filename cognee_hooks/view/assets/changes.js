// Says in a few words what changed between two looks.

import { count, counted, shortened } from "./format.js";

const MOST = 3;
const COUNTED = [
  ["captured", "captured"],
  ["redacted", "cut out"],
  ["sent", "sent"],
  ["recalls", "recalled"],
  ["injected", "injected"],
  ["lost", "lost"],
];

/**
 * Describe what changed; "" where nothing of interest did.
 *
 * @param {object} before The summary that was told of last.
 * @param {object} after The summary now.
 */
export function changes(before, after) {
  const live = (summary) =>
    new Set(summary.sessions.filter((each) => each.live).map((each) => each.session_id));
  const [was, is] = [live(before), live(after)];
  const told = [
    ...[...is].filter((id) => !was.has(id)).map((id) => `session ${shortened(id)} is live`),
    ...[...was].filter((id) => !is.has(id)).map((id) => `session ${shortened(id)} ended`),
    ...COUNTED.flatMap(([name, word]) => more(before.totals[name], after.totals[name], word)),
    ...waiting(before.totals.waiting, after.totals.waiting),
    ...quarantined(before.plugins, after.plugins),
  ];
  const rest = told.length - MOST;
  return [...told.slice(0, MOST), ...(rest > 0 ? [counted(rest, "more change")] : [])].join(", ");
}

const more = (before, after, word) =>
  after > before ? [`${count(after - before)} more ${word}`] : [];

function waiting(before, after) {
  if (before === after) return [];
  return [after ? `${count(after)} waiting` : "nothing waits any more"];
}

function quarantined(before, after) {
  const hooks = (plugins) =>
    new Set(plugins.flatMap((each) => each.quarantined.map(() => each.name)));
  const was = hooks(before);
  return [...hooks(after)]
    .filter((name) => !was.has(name))
    .map((name) => `plugin ${name} is quarantined`);
}
