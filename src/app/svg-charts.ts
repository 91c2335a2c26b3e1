// Two charts as inline SVG, for the report's page: columns over an axis, and one bar of a table row. No script and no library: the page is
// one file that opens anywhere, prints, and follows the reader's light or dark scheme by its style sheet. Texts are escaped here.

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 52;
const BOTTOM = 22;
const TOP = 10;

/** Text for HTML, within elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** One column. `label` is told when the pointer rests on it. */
export interface Column {
  readonly value: number;
  readonly label: string;
}

/**
 * Columns over a time or a scale.
 * @param ticks texts under the axis with their place, 0 (left) … 1 (right)
 * @param name what the chart shows, for screen readers
 */
export function columnChart(
  columns: readonly Column[],
  ticks: readonly { readonly at: number; readonly text: string }[],
  name: string,
): string {
  const top = niceTop(Math.max(...columns.map(({ value }) => value), 1));
  const plotWidth = WIDTH - LEFT;
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const step = plotWidth / Math.max(columns.length, 1);
  const gap = Math.min(step * 0.2, 4);
  const bars = columns.map(({ value, label }, index) => {
    const height = (value / top) * plotHeight;
    const x = fixed(LEFT + index * step + gap / 2);
    const y = fixed(TOP + plotHeight - height);
    const size = `width="${fixed(step - gap)}" height="${fixed(height)}"`;
    return `<rect class="column" x="${x}" y="${y}" ${size}><title>${escapeHtml(label)}</title></rect>`;
  });
  const grid = [0, 0.5, 1].map((share) => {
    const y = fixed(TOP + plotHeight * (1 - share));
    const text = `<text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${grouped(top * share)}</text>`;
    return `<line x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/>${text}`;
  });
  const texts = ticks.map(({ at, text }) => {
    const anchor = at <= 0 ? 'start' : at >= 1 ? 'end' : 'middle';
    const x = fixed(LEFT + at * plotWidth);
    return `<text x="${x}" y="${HEIGHT - 4}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
  });
  return (
    `<svg class="columns" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(name)}">` +
    `${grid.join('')}${bars.join('')}${texts.join('')}</svg>`
  );
}

/** A bar that fills `share` (0 … 1) of its cell. @param kind a class for its colour */
export function shareBar(share: number, kind: string): string {
  const width = fixed(Math.min(Math.max(share, 0), 1) * 100);
  return (
    '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">' +
    `<rect class="${escapeHtml(kind)}" width="${Math.max(width, 0.6)}" height="10" rx="0"/></svg>`
  );
}

/** 12345.6 → `12,346`. */
export function grouped(value: number): string {
  return (Number.isInteger(value) ? value : Math.round(value * 10) / 10).toLocaleString('en');
}

/** The least of 1, 2, 5 × 10^n that is not below the value. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return factor * power;
}

function fixed(value: number): number {
  return Math.round(value * 100) / 100;
}
