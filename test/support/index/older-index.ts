/** Makes of an index one of an earlier release, after the migrations that only made room (store/derived.ts). */
import { rowChecksum } from '../../../src/store/checksum.ts';
import { openDatabase } from '../../../src/store/open-database.ts';

export function forgetDerived(path: string): void {
  const db = openDatabase(path);
  db.exec(/* sql */ `
    UPDATE tokens SET recent = x'';
    DELETE FROM token_activity;
    DELETE FROM token_mints;
    DELETE FROM trade_sums;
    DELETE FROM traded_tokens;
    DELETE FROM trade_peaks`);
  const forget = db.prepare('UPDATE derived SET last_transfer = 0, checksum = ? WHERE name = ?');
  for (const name of ['token_history', 'token_mints', 'trade_sums']) forget.run(rowChecksum(name, 0), name);
  db.close();
}
