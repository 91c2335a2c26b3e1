// Rows of the table of options (options.ts): pages that need a browser (docs/RENDERING.md; between steps 11 and 12 of a URL's life).

import { byteCount } from './byte-count.ts';
import { option, optional } from './option.ts';
import { PATH } from './text-kinds.ts';
import { choice, integer } from './value-kind.ts';

const MIB = 1_048_576;

export const RENDER_OPTIONS = {
  render: option(choice(['off', 'auto', 'always']), 'off', {
    group: 'Rendering',
    flag: '--render',
    doc:
      'Pages that are read through a browser too (Chromium, with the npm package playwright-core): ' +
      'none, those that seem to need it, or all.',
  }),
  renderShare: option(integer({ min: 1, max: 99 }), 30, {
    group: 'Rendering',
    flag: '--render-share',
    doc:
      "Share of a host's requests for what its rendered pages ask for, while it has pages to " +
      'fetch too; a guarantee for both.',
    unit: 'percent',
  }),
  renderPagesMax: option(integer({ min: 1, max: 64 }), 2, {
    group: 'Rendering',
    doc: 'Pages in the browser at once; each takes some 100 MB while it is there.',
    unit: 'pages',
  }),
  renderTimeMs: option(integer({ min: 1_000, max: 3_600_000 }), 60_000, {
    group: 'Rendering',
    doc:
      'Longest time of a page in the browser, waits for the pace of its hosts included; what it ' +
      'shows then is taken.',
    unit: 'milliseconds',
  }),
  renderRequestsMax: option(integer({ min: 1, max: 1_000 }), 48, {
    group: 'Rendering',
    doc: 'Requests of one page that are let through (scripts and data; nothing else ever is).',
    unit: 'requests',
  }),
  renderBytesMax: option(byteCount({ min: 65_536, max: 1_024 * MIB }), 16 * MIB, {
    group: 'Rendering',
    doc: 'Bytes that all answers to one page may have together.',
    unit: 'bytes',
  }),
  renderMemoryBytes: option(byteCount({ min: 128 * MIB, max: 65_536 * MIB }), 512 * MIB, {
    group: 'Rendering',
    doc: 'Memory of one page in the browser; a page that takes more is ended.',
    unit: 'bytes',
  }),
  browserPath: optional(PATH, {
    group: 'Rendering',
    doc: 'The Chromium to run.',
    defaultText: 'chromium, chromium-browser or google-chrome on the PATH',
    example: "'/usr/bin/chromium'",
  }),
} as const;
