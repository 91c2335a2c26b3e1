// Changing the crawl from the page, where `--http-operate` allows it. Each act is shown in words and has
// to be confirmed; it is sent with the token of this run, which the operator reads from the data
// directory. The token is kept by this tab alone (sessionStorage) and sent in a header, never in a URL.

import { byId } from './elements.js';

const TOKEN = 'hostler-token';
let isOperable = false;

/** An act of an operator. @typedef {{ title: string, effect: string, verb: string, args: string[], takesUrls?: boolean }} Act */

/** Asks whether acts are allowed here, and shows their buttons if so. */
export async function startOperating() {
  const response = await fetch('/api/operate').catch(() => undefined);
  isOperable = response?.ok === true && (await response.json()).isOperable === true;
  byId('operate').hidden = !isOperable;
  onClick('pause-all', {
    title: 'Pause the whole crawl?',
    effect: 'No new request is started; those in flight end. It goes on with “Resume all”.',
    verb: 'pause',
    args: ['all'],
  });
  onClick('resume-all', {
    title: 'Resume the crawl?',
    effect: 'Requests are started again, each host in its gap.',
    verb: 'resume',
    args: ['all'],
  });
  onClick('inject', {
    title: 'Inject URLs',
    effect: 'They are added to the crawl; scope, robots.txt and what was seen before apply to them.',
    verb: 'inject',
    args: [],
    takesUrls: true,
  });
  byId('confirm-no').addEventListener('click', () => confirmDialog().close());
}

/** Buttons for one host; none where acts are not allowed. @param {string} host */
export function hostActions(host) {
  if (!isOperable) return [];
  const acts = [
    {
      label: 'Pause host',
      title: `Pause ${host}?`,
      effect: 'It is asked nothing more until it is resumed, a day at most.',
      verb: 'pause',
      args: ['host', host],
    },
    {
      label: 'Resume host',
      title: `Resume ${host}?`,
      effect: 'It may be asked again, in its gap.',
      verb: 'resume',
      args: ['host', host],
    },
  ];
  return acts.map(({ label, ...act }) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', () => confirm(act));
    return button;
  });
}

/** @param {string} id @param {Act} act */
function onClick(id, act) {
  byId(id).addEventListener('click', () => confirm(act));
}

function confirmDialog() {
  return /** @type {HTMLDialogElement} */ (byId('confirm'));
}

/** Shows an act and does it when it is confirmed. @param {Act} act */
function confirm(act) {
  const token = /** @type {HTMLInputElement} */ (byId('confirm-token'));
  const urls = /** @type {HTMLTextAreaElement} */ (byId('confirm-urls'));
  byId('confirm-title').textContent = act.title;
  byId('confirm-effect').textContent = act.effect;
  byId('confirm-trouble').hidden = true;
  byId('confirm-urls-label').hidden = act.takesUrls !== true;
  token.value = sessionStorage.getItem(TOKEN) ?? '';
  byId('confirm-token-label').hidden = token.value !== '';
  const form = /** @type {HTMLFormElement} */ (byId('confirm-form'));
  form.onsubmit = (event) => {
    event.preventDefault();
    const more = act.takesUrls === true ? urls.value.split(/\s+/).filter((url) => url !== '') : [];
    void send({ verb: act.verb, args: [...act.args, ...more] }, token.value.trim());
  };
  confirmDialog().showModal();
}

/**
 * Sends an act; the dialog stays open with the reason when it was not done.
 * @param {{ verb: string, args: string[] }} act
 * @param {string} token
 */
async function send(act, token) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify(act);
  try {
    const response = await fetch('/api/operate', { method: 'POST', headers, body });
    const answer = await response.json();
    if (response.ok) {
      sessionStorage.setItem(TOKEN, token);
      /** @type {HTMLTextAreaElement} */ (byId('confirm-urls')).value = '';
      byId('done').textContent = `Done: ${answer.text}`;
      confirmDialog().close();
      return;
    }
    if (response.status === 401) {
      sessionStorage.removeItem(TOKEN);
      byId('confirm-token-label').hidden = false;
    }
    trouble(answer.error);
  } catch (thrown) {
    trouble(`The crawl did not answer: ${thrown}`);
  }
}

/** @param {string} words */
function trouble(words) {
  byId('confirm-trouble').textContent = words;
  byId('confirm-trouble').hidden = false;
}
