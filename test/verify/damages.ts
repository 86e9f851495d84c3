/** Kinds of damage to an index, and what verify says of each. */
import { encodeSigned } from '../../src/lib/signed.ts';
import type { Db } from '../../src/store/open-database.ts';
import { partiesChecksum } from '../../src/store/packed-parties.ts';
import { packBuyers, prepareBuyersOf } from '../../src/store/tokens/first-buyers.ts';

/** Damage, and the expected report. */
export const DAMAGES: readonly [what: string, damage: string | ((db: Db) => void), named: RegExp][] = [
  ['a block is missing', 'DELETE FROM blocks WHERE number = 12', /blocks: blocks 12 to 12 are missing/],
  [
    'the first block is a later one',
    'UPDATE chain SET start_block = 5',
    /^blocks: block 1 is before the first one, 5$/,
  ],
  ...['100, 120', '0, 3', '9, 8'].map((range): [string, string, RegExp] => [
    `blocks ${range} are named as gaps`,
    `INSERT INTO block_gaps VALUES (0, ${range}, 'why', 0)`,
    /^blocks: block_gaps has \d+ to \d+, which are not in the index$/,
  ]),
  [
    'a hash is another',
    'UPDATE blocks SET hash = zeroblob(32) WHERE number = 7',
    /blocks: block 7 is 0x0{64} in the index and 0x/,
  ],
  [
    'a time is another',
    'UPDATE blocks SET timestamp = 1 WHERE number = 9',
    /transfers: block 9 has the time 1 in the index/,
  ],
  [
    'the ids of a block go back',
    'UPDATE blocks SET last_transfer = 1 WHERE number = 20',
    /blocks: block 20 ends with lower ids/,
  ],
  [
    'a block ends with an earlier wallet',
    'UPDATE blocks SET last_wallet = last_wallet - 1 WHERE number = 12',
    /transfers: block 12 ends with wallet \d+ in the index, but the next one appears up to it too/,
  ],
  [
    'a block ends with a later wallet',
    'UPDATE blocks SET last_wallet = last_wallet + 1 WHERE number = 13',
    /transfers: block 13 ends with wallet \d+ in the index, but that one appears later/,
  ],
  [
    'a block counts a transaction too many',
    'UPDATE blocks SET transactions = transactions + 1 WHERE number = 14',
    /transfers: block 14 counts \d+ transactions, but \d+ have transfers/,
  ],
  [
    'the count of transactions goes back',
    'UPDATE blocks SET transactions = 0 WHERE number = 20',
    /blocks: block 20 counts fewer transactions than the block before/,
  ],
  [
    'a sender is another',
    (db) => {
      const parties = db
        .prepare<[], Buffer>('SELECT parties FROM block_parties WHERE number = 15')
        .pluck()
        .get()!;
      parties[0]! ^= 1; // the receiver of the first transfer instead of its sender, or the other way round
      db.prepare('UPDATE block_parties SET parties = ?, checksum = ? WHERE number = 15').run(
        parties,
        partiesChecksum(15, parties),
      );
    },
    /^transfers: sender and receiver of transaction 0x\w+ in block 15 are 0x\w+ and 0x\w+ in the index, and 0x/,
  ],
  [
    'the senders of a later block are there',
    "INSERT INTO block_parties VALUES (99, x'00', 0)",
    /^blocks: block_parties has block 99, which is not in the index/,
  ],
  [
    'a transfer is missing',
    'DELETE FROM transfers WHERE id = 100',
    /transfers: transfer \d+ of block \d+ is missing \(id 100\)|wallets: of the transfers .* 1 are missing/,
  ],
  [
    'an amount is another',
    "UPDATE transfers SET value = x'09' WHERE id = (SELECT min(id) FROM transfers WHERE kind = 0)",
    /transfers: transfer 1 of block \d+ is native_direct 9 from/,
  ],
  [
    'an amount has leading zeros',
    "UPDATE transfers SET value = CAST(x'00' || value AS BLOB) WHERE id = (SELECT min(id) FROM transfers " +
      'WHERE kind = 1)',
    /transfers: transfer \d+ of block \d+ is erc20 \d+ with leading zeros of/,
  ],
  [
    'an ERC-721 token id is another',
    "UPDATE transfers SET value = x'0505' WHERE id = (SELECT min(id) FROM transfers WHERE kind = 3)",
    /transfers: transfer \d+ of block \d+ is erc721 one id 1285 .* and erc721 one id/,
  ],
  [
    'the length of an ERC-1155 token id is too large',
    "UPDATE transfers SET value = CAST(x'ff' || substr(value, 2) AS BLOB) WHERE id = (SELECT min(id) FROM " +
      'transfers WHERE kind = 4)',
    /transfers: transfer \d+ of block \d+ is erc1155 \d+ id \d+ .* and erc1155 \d+ id/,
  ],
  [
    'a native transfer is of a token that is not there',
    'UPDATE transfers SET token_kind = 999999 * 8 WHERE id = (SELECT min(id) FROM transfers WHERE kind = 0)',
    /transfers: transfer \d+ of block \d+ is native_direct \d+ of a token without a row from/,
  ],
  [
    'a sender is another',
    'UPDATE transfers SET sender = receiver WHERE id = 50',
    /transfers: transfer \d+ of block/,
  ],
  [
    'a transaction is another',
    'UPDATE transfers SET tx = zeroblob(32) WHERE id = 60',
    /transfers: .*in 0x0{64}/,
  ],
  ...['transfers', 'transactions', 'tokens', 'token_transfers', 'internal_received', 'funded'].map(
    (column): [string, string, RegExp] => [
      `${column} of a wallet is off by one`,
      `UPDATE wallets SET ${column} = ${column} + 1 WHERE id = 5`,
      new RegExp(`wallets: ${column} of 0x[0-9a-f]{40} is \\d+ in the index, must be \\d+`),
    ],
  ),
  ...Object.entries({
    first_transfer: 'first_transfer = 3',
    last_transfer: 'last_after = 3 - first_transfer',
    first_direct: 'first_direct_after = 3 - first_transfer',
    first_internal: 'first_internal_after = 3 - first_transfer',
    latest_direct: 'latest_direct_after = 3 - first_direct',
    latest_internal: 'latest_internal_after = 3 - first_internal',
    funder: 'funder = 3',
    funding: 'first_direct_after = 3 - first_transfer',
  }).map(([column, change]): [string, string, RegExp] => [
    `${column} of a wallet is another`,
    `UPDATE wallets SET ${change} WHERE id = (SELECT id FROM wallets WHERE ${column} > 3 LIMIT 1)`,
    new RegExp(`wallets: ${column} of 0x[0-9a-f]{40} is 3 in the index, must be \\d+`),
  ]),
  ...Object.entries({
    activity: ["(wallet, first_transfer, entries) VALUES (999999, 1, x'')", 'wallet'],
    fundings: ['(funder, funding) VALUES (999999, 1)', 'funder'],
    holdings: ["(token, wallet, transfers, balance) VALUES (999999, 1, 1, x'')", 'token'],
    first_buyers: ["(token, buyers) VALUES (999999, x'0101')", 'token'],
    token_quality: ["(token, quality, block, offsets, checksum) VALUES (999999, 0, 1, '', 0)", 'token'],
  }).map(([table, [row, owner]]): [string, string, RegExp] => [
    `${table} has a row of a ${owner} that is not there`,
    `INSERT INTO ${table} ${row}`,
    new RegExp(`blocks: ${table} has a row of ${owner} 999999, but \\d+ is the last one: rebuild the index`),
  ]),
  [
    'a first funding is not listed',
    'DELETE FROM fundings WHERE funding = (SELECT max(funding) FROM fundings)',
    /wallets: the funding of 0x[0-9a-f]{40} is not among those of its funder/,
  ],
  [
    'a transfer that funds nobody first is listed as if it did',
    'UPDATE wallets SET funded = funded + 1 WHERE id = 3; INSERT INTO fundings SELECT 3, min(id) FROM ' +
      'transfers WHERE kind = 1',
    /wallets: transfer \d+ is among the fundings of 0x[0-9a-f]{40}, but is none$/,
  ],
  [
    'a wallet is not found by its address',
    'DELETE FROM addresses WHERE wallet = 5',
    /wallets: wallet by address of 0x[0-9a-f]{40} is undefined in the index, must be 5/,
  ],
  ['an address is missing', 'DELETE FROM addresses WHERE wallet = 5', /wallets: the number of addresses is/],
  ['the row of a wallet is missing', 'DELETE FROM wallets WHERE id = 20', /^wallets: wallet 20 has no row$/],
  ['the row of a token is missing', 'DELETE FROM tokens WHERE id = 2', /^tokens: token 2 has no row$/],
  [
    'two wallets have the same address',
    `UPDATE wallets SET address = (SELECT address FROM wallets WHERE id = 4) WHERE id = 5;
      UPDATE addresses SET key = (SELECT address FROM wallets WHERE id = 4) WHERE wallet = 5`,
    /wallets: wallet 5 of 0x[0-9a-f]{40} has the address of wallet 4/,
  ],
  [
    'the key of an address is no bytes',
    'UPDATE addresses SET key = 1234567890123 WHERE wallet = 5',
    /wallets: wallet 5 of 0x3132333435363738393031323[23] is stored as a prefix collision with an earlier wallet/,
  ],
  [
    'an address is kept as one that begins like another',
    'UPDATE addresses SET key = (SELECT address FROM wallets WHERE id = 5) WHERE wallet = 5',
    /wallets: wallet 5 of 0x[0-9a-f]{40} is stored as a prefix collision with an earlier wallet/,
  ],
  ...['native_received', 'native_sent'].map((column): [string, string, RegExp] => [
    `${column} of a wallet is another`,
    `UPDATE wallets SET ${column} = x'07' WHERE id = 5`,
    new RegExp(`wallets: ${column} of 0x[0-9a-f]{40} is 7 in the index`),
  ]),
  [
    'the newest activity is cut',
    "UPDATE wallets SET recent = x'' WHERE id = 5",
    /wallets: the activity of 0x\w+: entry 1 is missing, must be/,
  ],
  ['a history page is missing', 'DELETE FROM activity', /wallets: the activity of 0x\w+: entry 1 is/],
  ['a byte of a history page is changed', flipActivity, /wallets: the activity of 0x\w+: entry \d+ is/],
  ...['transfers', 'holders', 'wallets', 'buyers', 'first_transfer'].map(
    (column): [string, string, RegExp] => [
      `${column} of a token is off by one`,
      `UPDATE tokens SET ${column} = ${column} + 1 WHERE id = 1`,
      new RegExp(`tokens: ${column} of token 0x[0-9a-f]{40} is \\d+ in the index, must be \\d+`),
    ],
  ),
  [
    'a balance is another',
    changeBalance,
    /tokens: the holding of 0x\w+ of token 0x\w+ \(balance\) is 12345 in the index/,
  ],
  [
    'the length of a balance is another',
    "UPDATE holdings SET balance = CAST(x'ff' || substr(balance, 2) AS BLOB) WHERE token = 1 AND balance > x'80'",
    /tokens: the holding of 0x\w+ of token 0x\w+ \(balance\) is the bytes 0xff\w+ in the index, must be \d+/,
  ],
  [
    'a balance is no bytes',
    'UPDATE holdings SET balance = 7 WHERE token = 1 AND wallet = (SELECT max(wallet) FROM holdings WHERE token = 1)',
    /tokens: the holding of 0x\w+ of token 0x\w+ \(balance\) is the bytes 0x37 in the index, must be \d+/,
  ],
  [
    'a holding is missing',
    'DELETE FROM holdings WHERE token = 1 AND wallet = (SELECT max(wallet) FROM holdings WHERE token = 1)',
    /tokens: 1 holdings of token 0x\w+ are missing/,
  ],
  [
    'a small token has a peak',
    "INSERT INTO holding_peaks VALUES (1, 9, x'8101')",
    /tokens: the largest holding in span 9 of token 0x\w+ is 1 in the index, must be undefined/,
  ],
  [
    'a first buyer is another',
    changeLastBuyer,
    /tokens: first buyer \d+ of token 0x\w+ is wallet 1, must be/,
  ],
  [
    'the first buyers of a token are missing',
    'DELETE FROM first_buyers WHERE token = 1',
    /tokens: first buyer 1 of token 0x\w+ is wallet undefined, must be \d+/,
  ],
  [
    'the first buyers are cut within a number',
    "UPDATE first_buyers SET buyers = CAST(substr(buyers, 1, 2) || x'ff' AS BLOB) WHERE token = 1",
    /tokens: first buyer \d of token 0x\w+ is wallet undefined, must be \d+/,
  ],
  [
    'the first buyers are no numbers',
    "UPDATE first_buyers SET buyers = unhex(replace(hex(zeroblob(1000)), '00', 'ff')) WHERE token = 1",
    /tokens: first buyer 1 of token 0x\w+ is wallet undefined, must be \d+/,
  ],
  [
    'the first buyers are no bytes',
    'UPDATE first_buyers SET buyers = 7 WHERE token = 1',
    /tokens: first buyer 1 of token 0x\w+ is wallet undefined, must be \d+/,
  ],
  [
    'the newest transfers of a token are cut',
    "UPDATE tokens SET recent = x'' WHERE id = 1",
    /tokens: the history of token 0x\w+: page \d+ has transfer none where \d+ must be/,
  ],
  [
    'a byte of the newest transfers of a token is changed',
    "UPDATE tokens SET recent = CAST(substr(recent, 1, 5) || x'7f' || substr(recent, 7) AS BLOB) WHERE id = 1",
    /tokens: the history of token 0x\w+: page \d+ has transfer \d+ where \d+ must be/,
  ],
  [
    'the newest transfers of a token are no bytes',
    'UPDATE tokens SET recent = 7 WHERE id = 1',
    /tokens: the history of token 0x\w+: page \d+ has transfer \d+ where \d+ must be/,
  ],
  [
    'the end of what is derived is another',
    'UPDATE derived SET last_transfer = last_transfer + 1',
    /checksums: row token_history of derived does not match its checksum/,
  ],
  [
    'the end of what is derived is missing',
    'DELETE FROM derived',
    /tokens: the table derived does not say up to where token_history is complete/,
  ],
  [
    'the peak of a span is another',
    "UPDATE native_peaks SET peak = x'8101' WHERE level = 1 AND span = 0",
    /wallets: the largest native transfer of 0 to 255 is 1 in the index/,
  ],
  [
    'a span beyond the last has a peak',
    "INSERT INTO native_peaks VALUES (1, 9999, x'8101')",
    /wallets: native_peaks has span 9999 of level 1, but \d+ is the last one$/,
  ],
];

function flipActivity(db: Db): void {
  const row = db
    .prepare<[], { wallet: number; entries: Buffer }>('SELECT wallet, entries FROM activity LIMIT 1')
    .get();
  if (row === undefined) throw new Error('the chain fills no history page');
  row.entries[row.entries.length - 1]! ^= 1;
  db.prepare('UPDATE activity SET entries = ? WHERE wallet = ?').run(row.entries, row.wallet);
}

function changeLastBuyer(db: Db): void {
  const buyers = prepareBuyersOf(db)(1);
  const packed = packBuyers(buyers.with(-1, { ...buyers.at(-1)!, wallet: 1 }));
  db.prepare('UPDATE first_buyers SET buyers = ? WHERE token = 1').run(packed);
}

function changeBalance(db: Db): void {
  db.prepare(
    'UPDATE holdings SET balance = ? WHERE token = 1 AND wallet = (SELECT max(wallet) FROM holdings WHERE token = 1)',
  ).run(encodeSigned(12345n));
}
