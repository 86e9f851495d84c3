/** Figures as text. Pure. */
import { type Figure, median, ratioOf, verdictOf } from '../figure.ts';
import type { Run } from '../machine.ts';

/** How much other programs used the machine: delays caused by them are not the daemon's. */
export function machineLoadText({
  loadBefore,
  loadAfter,
  stolenPercent,
}: Pick<Run, 'loadBefore' | 'loadAfter' | 'stolenPercent'>): string {
  const load = `load average ${loadBefore} before the run, ${loadAfter} at its end`;
  if (stolenPercent === null) return load;
  return `${load}; the host gave ${stolenPercent} % of the processor time wanted to other machines`;
}

/** A number with its significant digits. */
export function formatSignificant(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

export function medianText({ samples, unit }: Figure): string {
  return `${formatSignificant(median(samples))} ${unit}`;
}

/** Least and largest sample; empty for a single one. */
export function spreadText({ samples }: Figure): string {
  if (samples.length < 2) return '';
  return `${formatSignificant(Math.min(...samples))} to ${formatSignificant(Math.max(...samples))}`;
}

/** The ratio to the comparison. */
export function ratioText(figure: Figure): string {
  const ratio = ratioOf(figure);
  return ratio === null || figure.against === undefined
    ? ''
    : `${formatSignificant(ratio)} x ${figure.against.name}`;
}

/** The budget, and whether the figure meets it. */
export function budgetText(figure: Figure): string {
  const verdict = verdictOf(figure);
  if (figure.budget === undefined || verdict === null) return '';
  const { floor, goal } = figure.budget;
  const limits =
    floor === goal ? formatSignificant(goal) : `${formatSignificant(floor)}, goal ${formatSignificant(goal)}`;
  return `${VERDICTS[verdict]} (${limits})`;
}

const VERDICTS = { goal: 'goal met', floor: 'floor met', missed: 'MISSED' };
