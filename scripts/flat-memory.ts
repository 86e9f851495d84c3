/** Whether a process that is watched under load keeps its memory. */
import { median } from '../src/bench/figure.ts';
import { residentMegabytes } from '../src/bench/process/usage.ts';

/** Memory counts as flat when the last third needs at most so much more than the one before. */
const FLAT = 1.1;

export class FlatMemory {
  private readonly pid: number;
  /** MB. */
  private readonly samples: number[] = [];

  constructor(pid: number) {
    this.pid = pid;
  }

  /** Takes note of the memory of now. */
  sample(): void {
    this.samples.push(Math.round(residentMegabytes(this.pid)));
  }

  /** The newest sample, such as `212 MB`. */
  get latest(): string {
    return `${this.samples.at(-1) ?? '?'} MB`;
  }

  /** What was seen, in a line. */
  get summary(): string {
    const [middle, last] = this.laterThirds();
    return `memory ${this.samples[0]} MB at first, ${middle} in the middle third, ${last} in the last`;
  }

  /** What is wrong; null when the memory is flat. */
  fault(): string | null {
    const [middle, last] = this.laterThirds();
    return last <= middle * FLAT ? null : `memory grew from ${middle} to ${last} MB`;
  }

  /** Medians of the second and of the last third of the samples. */
  private laterThirds(): [middle: number, last: number] {
    const third = Math.floor(this.samples.length / 3);
    return [median(this.samples.slice(third, 2 * third)), median(this.samples.slice(2 * third))];
  }
}
