/** Whether the files a connection has open still stand at their paths. */
import { statSync } from 'node:fs';
import { StorageError } from '../errors.ts';

/** Device and inode number of a file, null when there is none at the path. */
type Inode = { dev: bigint; ino: bigint } | null;

/**
 * SQLite keeps writing into a file that was removed or replaced, and all of that is lost when the process ends. So the
 * identities of the database and of its WAL are recorded when they are opened and compared before each write.
 */
export class FileIdentity {
  private readonly files: readonly { path: string; inode: Inode }[];

  /** Construct it after the connection's first read, when both files exist. */
  constructor(path: string) {
    this.files = [path, `${path}-wal`].map((file) => ({ path: file, inode: readInode(file) }));
  }

  /** Throws StorageError when a file is gone or another one stands in its place. */
  check(): void {
    for (const { path, inode } of this.files) {
      if (inode === null) continue;
      const now = readInode(path);
      if (now !== null && now.dev === inode.dev && now.ino === inode.ino) continue;
      throw new StorageError(
        now === null
          ? `${path} was removed or moved away: put it back, or restart atlas-node to begin anew with what is there`
          : `${path} was replaced by another file: put the first one back, or restart atlas-node to go on with this one`,
      );
    }
  }
}

function readInode(path: string): Inode {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : { dev: stat.dev, ino: stat.ino };
}
