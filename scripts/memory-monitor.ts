/** Checks whether the memory of a process stays flat under load. */
import { median } from './bench/figure.ts';
import { residentMegabytes } from './bench/process/resource-usage.ts';

/** Memory counts as flat if the last third needs at most this many times the memory of the third before. */
const MAX_GROWTH = 1.1;

export class MemoryMonitor {
  private readonly pid: number;
  /** MB. */
  private readonly samples: number[] = [];

  constructor(pid: number) {
    this.pid = pid;
  }

  /** Records the current memory. */
  sample(): void {
    this.samples.push(Math.round(residentMegabytes(this.pid)));
  }

  /** The newest sample, such as `212 MB`. */
  get latest(): string {
    return `${this.samples.at(-1) ?? '?'} MB`;
  }

  /** The measurements on one line. */
  get summary(): string {
    const [middle, last] = this.laterThirds();
    return `memory ${this.samples[0]} MB at first, ${middle} in the middle third, ${last} in the last`;
  }

  /** What is wrong; null if the memory is flat. */
  fault(): string | null {
    const [middle, last] = this.laterThirds();
    return last <= middle * MAX_GROWTH ? null : `memory grew from ${middle} to ${last} MB`;
  }

  /** Medians of the second and of the last third of the samples. */
  private laterThirds(): [middle: number, last: number] {
    const third = Math.floor(this.samples.length / 3);
    return [median(this.samples.slice(third, 2 * third)), median(this.samples.slice(2 * third))];
  }
}
