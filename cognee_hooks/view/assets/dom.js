// Describes elements, and makes a part of the page equal to a description in place.
//
// What stays the same stays the same element: it keeps focus, scroll position, selection, and
// whether it is open. All text becomes text nodes and no attribute is ever parsed as markup or
// script, so that nothing a session, file or plugin says can become part of the page's code.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "rect", "path", "circle"]);

/** What an element was last described as, by element. */
const described = new WeakMap();

/**
 * Describe an element.
 *
 * @param {string} tag Its name.
 * @param {object | null} properties Attributes by name; `null` and `false` leave one out, `true`
 *     sets it empty. `key` tells siblings apart, `on` holds listeners by event, and `value` is what
 *     stands in a field.
 * @param {...*} children Descriptions, texts, numbers, nested lists; `null` and `false` are left
 *     out.
 */
export function h(tag, properties = null, ...children) {
  const { key = null, on = {}, value, ...attributes } = properties ?? {};
  const kept = children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false);
  return { tag, key, on, value, attributes, children: kept };
}

/** Make the children of an element equal to a description. */
export function update(parent, ...children) {
  const focused = document.activeElement;
  reconcile(parent, h("", null, ...children).children);
  // An element that moved has lost its focus.
  if (focused !== document.activeElement && focused?.isConnected) {
    focused.focus({ preventScroll: true });
  }
}

function reconcile(parent, children) {
  const present = new Map();
  for (const node of parent.childNodes) {
    const identity = described.get(node)?.identity;
    if (identity !== undefined) present.set(identity, node);
  }
  const wanted = identified(children);
  const kept = new Set(wanted.map(({ identity }) => present.get(identity)));
  // First those that go: what comes after them need not move.
  for (const node of [...parent.childNodes]) {
    if (!kept.has(node)) node.remove();
  }
  wanted.forEach(({ identity, child }, index) => {
    const node = present.get(identity) ?? made(child, identity);
    if (parent.childNodes[index] !== node) {
      parent.insertBefore(node, parent.childNodes[index] ?? null);
    }
    fill(node, child);
  });
}

/** Name each child so that it is found again next time: by its key, or by its number. */
function identified(children) {
  const counts = new Map();
  return children.map((child) => {
    const kind = typeof child === "object" ? `${child.tag} ${child.key ?? ""}` : "#text";
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    return { identity: `${kind} ${count}`, child };
  });
}

function made(child, identity) {
  let node;
  if (typeof child !== "object") node = document.createTextNode("");
  else if (SVG_TAGS.has(child.tag)) node = document.createElementNS(SVG, child.tag);
  else node = document.createElement(child.tag);
  described.set(node, { identity, attributes: {}, on: {} });
  return node;
}

function fill(node, child) {
  if (typeof child !== "object") {
    const text = String(child);
    if (node.data !== text) node.data = text;
    return;
  }
  const before = described.get(node);
  for (const name of Object.keys(before.attributes)) {
    if (!(name in child.attributes)) node.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(child.attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value === true ? "" : value)) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  if (child.value !== undefined && node.value !== child.value) node.value = child.value;
  for (const type of Object.keys(child.on)) {
    // One listener an event, which looks up what is wanted by then.
    if (!(type in before.on)) {
      node.addEventListener(type, (event) => described.get(node).on[type]?.(event));
    }
  }
  described.set(node, {
    ...before,
    attributes: child.attributes,
    on: { ...emptied(before.on), ...child.on },
  });
  reconcile(node, child.children);
}

function emptied(listeners) {
  return Object.fromEntries(Object.keys(listeners).map((type) => [type, null]));
}
