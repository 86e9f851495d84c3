/** Charts of the cost of a transfer as the index grows, one small chart per figure. Pure. */
import { formatSignificant } from './format.ts';

interface GrowthChart {
  title: string;
  /** Points by the number of transfers in the index; both values above zero. */
  points: readonly { transfers: number; value: number }[];
  /** Upper limits for the figure. */
  budget: { floor: number; goal: number };
}

const MILLION = 1_000_000;
/** Points whose values are written out, besides the last one; also the axis marks. */
const LABELLED = [1, 3, 10, 30, 100].map((millions) => millions * MILLION);

const WIDTH = 760;
const COLUMNS = 2;
const CELL = { width: WIDTH / COLUMNS, height: 190 };
/** Of the plot within a cell. */
const PLOT = { left: 24, right: 24, top: 46, bottom: 30 };
const FOOT = 30;

/** Has its own background, because the embedding page may have a different theme than the reader's system. */
const STYLE = `
  svg { color-scheme: light dark; }
  .paper { fill: #ffffff; }
  text { fill: #1f2328; font: 12px system-ui, sans-serif; }
  .title { font-weight: 600; }
  .quiet { fill: #59636e; font-size: 11px; }
  .axis { stroke: #d1d9e0; }
  .curve { stroke: #0969da; stroke-width: 2; fill: none; }
  .point { fill: #0969da; }
  .floor { stroke: #bc4c00; stroke-dasharray: 6 4; }
  .goal { stroke: #1a7f37; stroke-dasharray: 2 3; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .axis { stroke: #3d444d; }
    .curve { stroke: #4493f8; }
    .point { fill: #4493f8; }
    .floor { stroke: #f0883e; }
    .goal { stroke: #3fb950; }
  }`;

/** The charts as an SVG document, `caption` below them. */
export function growthPicture(charts: readonly GrowthChart[], caption: string): string {
  const height = Math.ceil(charts.length / COLUMNS) * CELL.height + FOOT;
  const cells = charts.map((chart, i) => {
    const [x, y] = [(i % COLUMNS) * CELL.width, Math.floor(i / COLUMNS) * CELL.height];
    return `<g transform="translate(${x} ${y})">\n${chartSvg(chart)}\n</g>`;
  });
  const label = escapeXml(caption);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
<style>${STYLE}
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="6"/>
${cells.join('\n')}
<text class="quiet" x="${PLOT.left}" y="${height - 12}">${escapeXml(caption)}</text>
</svg>
`;
}

function chartSvg({ title, points, budget }: GrowthChart): string {
  const largest = Math.max(budget.floor, ...points.map(({ value }) => value)) * 1.15;
  const [first, last] = [Math.min(...LABELLED), Math.max(...LABELLED)];
  const plot = {
    width: CELL.width - PLOT.left - PLOT.right,
    height: CELL.height - PLOT.top - PLOT.bottom,
  };
  const x = (transfers: number) =>
    round(PLOT.left + (plot.width * Math.log(transfers / first)) / Math.log(last / first));
  const y = (value: number) => round(PLOT.top + plot.height * (1 - value / largest));
  const line = (name: string, at: number) =>
    `<line class="${name}" x1="${PLOT.left}" x2="${PLOT.left + plot.width}" y1="${at}" y2="${at}"/>`;
  const shown = points.filter(({ transfers }) => transfers >= first && transfers <= last);
  const labelled = shown.filter((point) => LABELLED.includes(point.transfers) || point === shown.at(-1));
  /** Below the point, or above it where the axis is near. */
  const labelAt = (value: number) => round(y(value) > y(0) - 24 ? y(value) - 8 : y(value) + 18);
  return [
    `<text class="title" x="${PLOT.left}" y="20">${escapeXml(title)}</text>`,
    `<text class="quiet" x="${PLOT.left}" y="36">floor ${formatSignificant(budget.floor)} (dashed), goal ` +
      `${formatSignificant(budget.goal)} (dotted)</text>`,
    line('axis', y(0)),
    line('floor', y(budget.floor)),
    line('goal', y(budget.goal)),
    `<polyline class="curve" points="${shown.map((each) => `${x(each.transfers)},${y(each.value)}`).join(' ')}"/>`,
    ...LABELLED.map(
      (mark) =>
        `<text class="quiet" x="${x(mark)}" y="${y(0) + 16}" text-anchor="middle">${mark / MILLION} M</text>`,
    ),
    ...labelled.flatMap(({ transfers, value }) => [
      `<circle class="point" cx="${x(transfers)}" cy="${y(value)}" r="3"/>`,
      `<text x="${x(transfers)}" y="${labelAt(value)}" text-anchor="middle">${formatSignificant(value)}</text>`,
    ]),
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
