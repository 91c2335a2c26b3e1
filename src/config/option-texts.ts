// The texts made from the table of options: docs/CONFIGURATION.md and the keys of cluster.config.ts. `npm run docs` writes both, and a test
// holds them in step with the table.

import { type AnyOption, OPTION_GROUPS } from './option.ts';
import { OPTION_LIST, type OptionName } from './options.ts';

/** The default as it is written for people. */
function defaultOf(row: AnyOption): string {
  if (row.defaultText !== '') return row.defaultText;
  return valueText(row.default);
}

/** A value as TypeScript has it, with `_` in long numbers. */
function valueText(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  return String(value);
}

function numberText(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, '_') : String(value);
}

/** What a config file is made of, up to its options. */
function fileText(options: string): string {
  const define = "import { defineConfig } from 'hostler/config';";
  return `${define}\n\nexport default defineConfig(${options}`;
}

/** docs/CONFIGURATION.md, whole. */
export function configurationPage(): string {
  const sections = OPTION_GROUPS.map((group) => {
    const rows = OPTION_LIST.filter(([, row]) => row.group === group);
    return `## ${group}\n\n${rows.map(([name, row]) => section(name, row)).join('\n')}`;
  });
  return `${PAGE_START}\n${sections.join('\n')}`;
}

const PAGE_START = `# Configuration

<!-- Written by \`npm run docs\` from src/config/options.ts. Edit the table, not this page. -->

Options are set in \`cluster.config.ts\` (in the working directory, or the file of \`--config\`)
and by flags; a flag outranks the file. Both are checked together before anything starts, and every
problem is told in one line. Paths are relative to the working directory.

\`\`\`ts
${fileText("{ minGapMs: 2_000, contact: 'https://example.com/bot' });")}
\`\`\`
`;

function section(name: OptionName, row: AnyOption): string {
  const flag = row.flag === undefined ? 'config file only' : `\`${row.flag}\``;
  const where = row.isFlagOnly === true ? `${flag}, not in the config file` : flag;
  const unit = row.unit === undefined ? '' : `, in ${row.unit}`;
  return [
    `### \`${name}\` · ${where}`,
    '',
    row.doc,
    '',
    `- Must be ${row.kind.expected}${unit}.`,
    `- Default: ${row.defaultText === '' ? `\`${defaultOf(row)}\`` : row.defaultText}`,
    '',
  ].join('\n');
}

/** cluster.config.ts, whole: every key in a comment, with its doc and default. */
export function configTemplate(): string {
  const groups = OPTION_GROUPS.map((group) => {
    const rows = OPTION_LIST.filter(([, row]) => row.group === group && row.isFlagOnly !== true);
    const keys = rows.map(([name, row]) => keyText(name, row));
    return `  // ---- ${group} ----\n\n${keys.join('\n')}`;
  });
  return `${TEMPLATE_START}\n${groups.join('\n')}});\n`;
}

const TEMPLATE_START = `\
// The options of a crawl: take the slashes from a line to set it. A flag outranks this file. Keys,
// docs and defaults come from the table in src/config/options.ts; for a fresh copy of this file run
// node dist/scripts/write-docs.js --template.

${fileText('{')}`;

function keyText(name: OptionName, row: AnyOption): string {
  const flag = row.flag === undefined ? '' : ` (${row.flag})`;
  const fallback = row.presence === 'default' ? '' : ` Default: ${row.defaultText}.`;
  const value = row.presence === 'default' ? valueText(row.default) : exampleOf(row);
  const note =
    row.presence === 'default' && row.defaultText !== '' ? ` Default: ${row.defaultText}.` : '';
  // What is counted says its doc; how time and memory are measured does not go without saying.
  const isMeasure = row.unit === 'milliseconds' || row.unit === 'seconds' || row.unit === 'bytes';
  const unit = isMeasure ? ` In ${row.unit}.` : '';
  return [
    ...wrapped(`${row.doc}${unit}${fallback}${note}${flag}`),
    `  // ${name}: ${value},`,
    '',
  ].join('\n');
}

/** A value to start from, where the default is none. */
function exampleOf(row: AnyOption): string {
  return row.example ?? 'undefined';
}

/** Comment lines of at most 100 columns. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '  //';
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > 100) {
      lines.push(line);
      line = '  //';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
