// Makes elements of the page. Text always goes in as text: most of it comes from the web, none of
// it is ever read as HTML. The page is rebuilt from data each second; the focus of the keyboard
// survives that.

/**
 * @param {string} name of the element
 * @param {Record<string, string | undefined>} attributes those that are undefined are left out
 * @param {(Node | string)[]} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/**
 * The element of the page with this id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element ${id}`);
  return found;
}

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {boolean} [isNumber] aligned to the right
 * @property {boolean} [isWrapped] long text that may break
 */

/**
 * A table whose first column heads its rows.
 * @param {Column[]} columns
 * @param {(Node | string)[][]} rows
 */
export function table(columns, rows) {
  const classOf = (/** @type {Column | undefined} */ column) => {
    if (column?.isNumber) return { class: 'number' };
    return column?.isWrapped ? { class: 'wrap' } : {};
  };
  const head = columns.map((column) =>
    element('th', { scope: 'col', ...classOf(column) }, column.name),
  );
  const body = rows.map((cells) => {
    const made = cells.map((cell, index) => {
      const isHead = index === 0;
      const attributes = { ...(isHead ? { scope: 'row' } : {}), ...classOf(columns[index]) };
      return element(isHead ? 'th' : 'td', attributes, cell);
    });
    return element('tr', {}, ...made);
  });
  if (body.length === 0) return element('p', { class: 'quiet' }, 'none');
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...body),
  );
}

/**
 * Replaces what an element holds, but keeps the keyboard's focus on the button of the same name: lists are redrawn each second.
 * @param {Element} holder
 * @param {(Node | string)[]} children
 */
export function refill(holder, ...children) {
  const focused = holder.contains(document.activeElement)
    ? document.activeElement?.getAttribute('data-name')
    : null;
  holder.replaceChildren(...children);
  if (focused === null || focused === undefined) return;
  for (const button of holder.querySelectorAll('button')) {
    if (button.getAttribute('data-name') === focused) button.focus({ preventScroll: true });
  }
}
