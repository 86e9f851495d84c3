/** Makes of an index one of an earlier release, after the migration that only made room (store/derived.ts). */
import { rowChecksum } from '../../../src/store/checksum.ts';
import { openDatabase } from '../../../src/store/open-database.ts';

export function forgetDerived(path: string): void {
  const db = openDatabase(path);
  db.exec("UPDATE tokens SET recent = x''; DELETE FROM token_activity");
  db.prepare("UPDATE derived SET last_transfer = 0, checksum = ? WHERE name = 'token_history'").run(
    rowChecksum('token_history', 0),
  );
  db.close();
}
