/** Compares a wallet's row and its packed activity with the sums of its transfers. */
import { ActivityCursor, ActivityFlag, ENTRIES_PER_RUN } from '../store/activity.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import { blockOfTransfer } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { isNativeKind, TRANSFER_KIND_NAMES } from '../types.ts';
import { describeWallet } from './read-transaction.ts';
import { type ActivityEntry, decodeAmount, type WalletRecount } from './recount.ts';
import type { Check, Difference } from './report.ts';

/** Most fundings of a funder that are looked at one by one: an exchange has millions. */
const MAX_FUNDINGS = 10_000;

type Row = Record<string, number | null> & { funded: number };
type Bytes = { address: Buffer; native_received: Buffer; native_sent: Buffer; recent: Buffer };

export class WalletComparer {
  private readonly db: Db;
  private readonly row: Statement<[number], Row>;
  private readonly bytes: Statement<[number], Bytes>;
  private readonly runAt: Statement<[number, number], Buffer>;
  private readonly runCount: Statement<[number], number>;
  private readonly fundedBy: Statement<[number], number>;
  private readonly listed: Statement<[number, number | null], unknown>;
  private readonly notFirst: Statement<[number], number>;
  private readonly byAddress: Statement<AddressKeys, number>;

  constructor(db: Db) {
    this.db = db;
    this.row = db.prepare(/* sql */ `
      SELECT transfers, transactions, tokens, token_transfers, internal_received, first_transfer, last_transfer,
        first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded
      FROM wallets WHERE id = ?`);
    this.bytes = db.prepare('SELECT address, native_received, native_sent, recent FROM wallets WHERE id = ?');
    this.runAt = db
      .prepare<[number, number], Buffer>(
        'SELECT entries FROM activity WHERE wallet = ? AND first_transfer = ?',
      )
      .pluck();
    this.runCount = db.prepare<[number], number>('SELECT count(*) FROM activity WHERE wallet = ?').pluck();
    this.fundedBy = db.prepare<[number], number>('SELECT count(*) FROM fundings WHERE funder = ?').pluck();
    this.listed = db.prepare('SELECT 1 FROM fundings WHERE funder = ? AND funding = ?');
    this.notFirst = db
      .prepare<[number], number>(/* sql */ `
        SELECT f.funding FROM (SELECT funder, funding FROM fundings WHERE funder = ? LIMIT ${MAX_FUNDINGS}) f
          LEFT JOIN transfers t ON t.id = f.funding LEFT JOIN wallets w ON w.id = t.receiver
        WHERE (w.funder, w.funding) IS NOT (f.funder, f.funding) LIMIT 1`)
      .pluck();
    this.byAddress = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  }

  /** Reports every difference between a wallet's rows and the recount of all its transfers. */
  compare(recount: WalletRecount, check: Check): void {
    const row = this.row.get(recount.id);
    const bytes = this.bytes.get(recount.id);
    const name = `of ${describeWallet(this.db, recount.id)}`;
    if (row === undefined || bytes === undefined) return; // named as missing
    const { funded, ...columns } = row;
    for (const [column, expected] of Object.entries(recount.expectedColumns()))
      check.expect(`${column} ${name}`, columns[column] ?? null, expected);
    check.expect(`native_received ${name}`, decodeAmount(bytes.native_received), recount.nativeReceived);
    check.expect(`native_sent ${name}`, decodeAmount(bytes.native_sent), recount.nativeSent);
    check.expect(`funded ${name}`, funded, this.fundedBy.get(recount.id));
    const { funder = null, funding = null } = columns;
    if (funder !== null && this.listed.get(funder, funding) === undefined)
      check.addDifference(`the funding ${name} is not among those of its funder`);
    const notFirst = this.notFirst.get(recount.id);
    if (notFirst !== undefined)
      check.addDifference(`transfer ${notFirst} is among the fundings ${name}, but is none`);
    check.expect(`wallet by address ${name}`, getByAddress(this.byAddress, bytes.address), recount.id);
    check.expect(`the number of full runs of activity ${name}`, this.runCount.get(recount.id), recount.runs);
    const difference =
      recount.runDifference ??
      this.entriesDifference(recount, decodeRun(bytes.recent, recount.firstTransfer ?? 0));
    if (difference !== null)
      check.addDifference(`the activity ${name}: ${difference.text}`, difference.block);
  }

  /** How the stored run differs from a full one of the recount. Such a run never changes, so it is compared at once. */
  runDifference(recount: WalletRecount): Difference | null {
    const stored = this.runAt.get(recount.id, recount.run[0]!.transfer);
    const base = recount.firstTransfer ?? 0;
    return this.entriesDifference(recount, stored === undefined ? [] : decodeRun(stored, base));
  }

  private entriesDifference(
    { run, runs }: WalletRecount,
    stored: readonly ActivityEntry[],
  ): Difference | null {
    const longer = stored.length > run.length ? stored : run;
    const at = longer.findIndex((_, i) => formatEntry(stored[i]) !== formatEntry(run[i]));
    if (at < 0) return null;
    return {
      text: `entry ${runs * ENTRIES_PER_RUN + at + 1} is ${formatEntry(stored[at])}, must be ${formatEntry(run[at])}`,
      block: blockOfTransfer(this.db, longer[at]!.transfer),
    };
  }
}

function decodeRun(bytes: Uint8Array, base: number): ActivityEntry[] {
  const cursor = new ActivityCursor().open(bytes, base);
  const entries: ActivityEntry[] = [];
  while (cursor.next()) {
    const kind = cursor.flags & ActivityFlag.kindMask;
    const wei = Buffer.from(bytes.subarray(cursor.amountStart, cursor.amountEnd));
    entries.push({
      transfer: cursor.transfer,
      kind,
      out: (cursor.flags & ActivityFlag.out) !== 0,
      in: (cursor.flags & ActivityFlag.in) !== 0,
      zero: (cursor.flags & ActivityFlag.zero) !== 0 && !isNativeKind(kind),
      other: cursor.counterparty,
      wei: isNativeKind(kind) ? decodeAmount(wei) : null,
    });
  }
  return entries;
}

function formatEntry(entry: ActivityEntry | undefined): string {
  if (entry === undefined) return 'missing';
  const direction = `${entry.out ? 'out' : ''}${entry.in ? 'in' : ''}`;
  const amount = entry.wei === null ? (entry.zero ? 'of zero' : '') : `of ${entry.wei} wei`;
  return `${entry.transfer} ${TRANSFER_KIND_NAMES[entry.kind]} ${direction} ${amount} with wallet ${entry.other}`;
}
