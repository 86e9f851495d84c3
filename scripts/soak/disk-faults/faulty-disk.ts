/** The failing disk of fault.c: compiled, preloaded and controlled. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The bits of fault.c. */
const BITS = { read: 1, write: 2, sync: 4, full: 8, torn: 16 } as const;
export type FaultKind = keyof typeof BITS;

export class FaultyDisk {
  /** Settings of the process whose disk fails. */
  readonly env: Record<string, string>;
  private readonly control: string;

  /** Compiles the library into a folder. Throws when this machine has no C compiler. */
  constructor(dir: string) {
    const library = join(dir, 'fault.so');
    const source = join(import.meta.dirname, 'fault.c');
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'inherit' });
    this.control = join(dir, 'fault.control');
    this.end();
    this.env = { LD_PRELOAD: library, DISK_FAULT: this.control };
  }

  /** Makes one in `share` calls of this kind fail. */
  begin(kind: FaultKind, share: number): void {
    this.set([BITS[kind], share, 0, 0]);
  }

  end(): void {
    this.set([0, 0, 0, 0]);
  }

  /** In place, because the process has the file mapped. */
  private set(bytes: number[]): void {
    writeFileSync(this.control, Uint8Array.from(bytes), { flag: 'a+' });
    writeFileSync(this.control, Uint8Array.from(bytes), { flag: 'r+' });
  }
}
