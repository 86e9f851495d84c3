/** The systemd journal, which adds the time to each line and reads the level from the start of the line. */
import { fstatSync } from 'node:fs';

/** Syslog priorities, as in sd-daemon(3). */
const PRIORITIES: Record<string, string> = { debug: '<7>', info: '<6>', warn: '<4>', error: '<3>' };

/** The prefix of a line of this level. */
export function journalPriority(level: string): string {
  return PRIORITIES[level] ?? '';
}

/**
 * Whether a descriptor leads to the journal. `JOURNAL_STREAM` holds the stream's device and inode, see systemd.exec(5).
 */
export function isJournal(
  descriptor: number,
  { JOURNAL_STREAM }: Record<string, string | undefined> = process.env,
): boolean {
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(descriptor);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}
