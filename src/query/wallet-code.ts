/** Which wallets are contracts, as far as it is known. */
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';

/** Whether each wallet of a list of ids is a contract, in its order; null while unknown. */
export function prepareIsContract(db: Db): (wallets: readonly number[]) => (boolean | null)[] {
  const statement = db
    .prepare<[string], number | null>(/* sql */ `
      SELECT c.contract FROM json_each(?) list LEFT JOIN wallet_code c ON c.wallet = list.value`)
    .pluck();
  return (wallets) => statement.all(idList(wallets)).map((found) => (found === null ? null : found !== 0));
}
