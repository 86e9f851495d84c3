/** Every number on every tab of three wallets is that of the API: a trader, a holder, and an owner of NFTs. */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { compact, grouped, percent, shortAmount, unitsToText } from '../../src/pages/ui/format.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { pageTests, textOf } from './browser.ts';
import { startWorld, type World } from './explorer-world.ts';

const cleanup = suiteCleanup();
let world: World;
before(async () => {
  world = await startWorld(cleanup);
});

type Row = Record<string, string>;
/** An answer of the API, whose fields are named below. */
// biome-ignore lint/suspicious/noExplicitAny: the schema of each answer is tested with its endpoint
type Answer = any;

/**
 * A cell as what it says: an amount whole, with its sign, an NFT as its number, a time as its timestamp, else its text.
 */
const READ = `(element) => {
  const copy = element.cloneNode(true);
  for (const drop of copy.querySelectorAll('.copy, .hidden-text, .card-only, svg')) drop.remove();
  for (const time of copy.querySelectorAll('time')) time.textContent = time.dateTime;
  for (const amount of copy.querySelectorAll('.amount')) {
    const text = amount.textContent.trim();
    const title = amount.title;
    if (title.startsWith('Token number ')) {
      amount.textContent = text.replace(/#.*$/, '#' + title.slice('Token number '.length));
      continue;
    }
    const sign = /^[+−]/.test(text) ? text[0] : '';
    const whole = (title === '' ? text.slice(sign.length) : title).split(' ')[0];
    amount.textContent = sign + whole.replaceAll(',', '') + ' ';
  }
  return copy.textContent.replace(/\\s+/g, ' ').trim();
}`;

/** The rows of a section's table by the titles of its columns. */
function rowsOf(page: Page, section: string): Promise<Row[]> {
  return page.evaluate(`(() => {
    const read = ${READ};
    const table = document.querySelector('#${section} table');
    if (table === null) return [];
    const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    return [...table.tBodies[0].rows].map((row) =>
      Object.fromEntries([...row.cells].map((cell, i) => [titles[i], read(cell)])));
  })()`);
}

/** Named figures: their values, without the notes below them. */
function factsOf(page: Page, within: string): Promise<Row> {
  return page.evaluate(`Object.fromEntries([...document.querySelectorAll('${within} .facts > div')].map((fact) => {
    const value = fact.querySelector('dd').cloneNode(true);
    for (const note of value.querySelectorAll('small')) note.remove();
    return [fact.querySelector('dt').textContent, (${READ})(value)];
  }))`);
}

/** Only the columns with numbers. */
function only(rows: readonly Row[], columns: readonly string[]): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? 'missing'])));
}

const units = (amount: string | null, decimals: number | null) =>
  amount === null ? '–' : unitsToText(BigInt(amount), decimals ?? 0);

function signed(amount: string | null, decimals: number): string {
  if (amount === null) return '–';
  const text = unitsToText(BigInt(amount), decimals);
  return text === '0' ? '0' : text.startsWith('-') ? `−${text.slice(1)}` : `+${text}`;
}

const hash = (tx: string) => `${tx.slice(0, 10)}…`;

const WITHOUT_COUNT = new Set(['erc721']);

function amountOf({ amount, decimals, tokenId, transferType, direction, from, to }: Answer): string {
  if (tokenId !== null)
    return `${WITHOUT_COUNT.has(transferType) ? '' : `${shortAmount(amount)} × `}#${tokenId}`;
  const text = units(amount, decimals);
  if (from === to || text === '0') return text;
  return `${direction === 'in' ? '+' : '−'}${text}`;
}

/** Of legs with their tokens, the amounts. */
const amounts = (text = '') =>
  text
    .replace(/[A-Z]\w*/g, '')
    .replace(/\s+/g, ' ')
    .trim();

const legs = (list: Answer[]) => list.map(({ amount, decimals }) => units(amount, decimals)).join(' ');

/** Lists that had rows, so that no comparison of two empty ones stands for all. */
const compared = new Set<string>();

function sameRows(actual: readonly unknown[], expected: readonly unknown[], list: string, of: string): void {
  assert.deepEqual(actual, expected, `${list} of ${of}`);
  if (expected.length > 0) compared.add(list);
}

/** What each tab shows, from the API. */
async function checkTabs(page: Page, address: string): Promise<void> {
  const { url, get } = world;
  const ask = (name: string, params: object = {}): Promise<Answer> => get(name, { address, ...params });
  const open = async (tab: string, shown: string) => {
    await page.goto(`${url}/address/${address}?tab=${tab}&suspicious=1`);
    await page.locator(shown).first().waitFor();
  };
  const same = (actual: unknown, expected: unknown, what: string) => {
    if (Array.isArray(actual) && Array.isArray(expected)) sameRows(actual, expected, what, address);
    else assert.deepEqual(actual, expected, `${what} of ${address}`);
  };

  const summary = await ask('wallet_summary');
  const { transfers } = await ask('address_transfers', { include_internal: true, limit: 50 });
  await open('transfers', '#transfers tbody tr');
  const { Received, Sent, Transactions, 'Last activity': last } = await factsOf(page, '.title');
  same(
    [Received, Sent, Transactions, last],
    [summary.nativeReceived, summary.nativeSent, grouped(summary.txCount), summary.lastActivity],
    'facts',
  );
  assert.ok((await textOf(page.locator('.title .facts'))).includes(`${grouped(summary.uniqueTokens)} token`));
  same(
    only(await rowsOf(page, 'transfers'), ['Transaction', 'Block', 'Time', 'Amount']),
    transfers.map((one: Answer) => ({
      Transaction: hash(one.txHash),
      Block: grouped(one.blockNumber),
      Time: one.timestamp,
      Amount: amountOf(one),
    })),
    'transfers',
  );

  const { tokens } = await ask('wallet_tokens', { limit: 50 });
  await open('tokens', tokens.length === 0 ? '#tokens .notice' : '#tokens tbody tr');
  same(
    only(await rowsOf(page, 'tokens'), ['Balance', 'Transfers', 'Last moved']).map((row) => ({
      ...row,
      Balance: row.Balance?.split(' ')[0], // how exact it is may be found out meanwhile
    })),
    tokens.map(({ balance, decimals, transferCount, lastSeenAt }: Answer) => ({
      Balance: units(balance, decimals),
      Transfers: grouped(transferCount),
      'Last moved': lastSeenAt,
    })),
    'tokens',
  );

  await checkTrades(page, address, ask, open);

  const { series } = await ask('balance_history', { token: 'native', points: 300 });
  await open('flows', '#flows :is(.chart, .notice)');
  if (series.length > 0) {
    const slider = page.getByRole('slider', { name: 'Balance over time' });
    same(Number(await slider.getAttribute('aria-valuemax')), series.length - 1, 'points of the balance');
    await slider.press('Home');
    for (const point of series.slice(0, 12)) {
      const text = shortAmount(unitsToText(BigInt(point.balance), 18));
      const shown = (await slider.getAttribute('aria-valuetext')) ?? '';
      assert.ok(
        shown.startsWith(`${text}, `) && shown.endsWith(`block ${grouped(point.blockNumber)}`),
        shown,
      );
      await slider.press('ArrowRight');
    }
  }

  const { chain } = await ask('funding_chain', { depth: 10 });
  await open('funding', '#funding .funding-chain');
  const payments = page.locator('#funding .payment');
  await page.locator('#recipients :is(.notice, tbody tr)').first().waitFor();
  await page.locator('#coordinated :is(.notice, tbody tr)').first().waitFor();
  const shownPayments = await page.evaluate(
    `[...document.querySelectorAll('#funding .payment')].map((payment) => (${READ})(payment))`,
  );
  same(await payments.count(), chain.length, 'hops');
  same(
    shownPayments,
    chain.map(
      (hop: Answer) =>
        [hop.amount, ...(hop.source === 'internal' ? ['by a contract'] : [])].join(' ') +
        `${hop.source === 'internal' ? '' : ' '}${hop.timestamp}${hash(hop.txHash)}`,
    ),
    'payments',
  );
  const { recipients } = await ask('funding_recipients', { blocks: 1_000_000, limit: 50 });
  same(
    only(await rowsOf(page, 'recipients'), ['Sent in all', 'Transfers', 'First', 'Last', 'Last transaction']),
    recipients.map((one: Answer) => ({
      'Sent in all': one.amount,
      Transfers: grouped(one.transferCount),
      First: `${grouped(one.firstBlock)}${one.firstFunding ? ' its first coins' : ''}`,
      Last: one.timestamp,
      'Last transaction': hash(one.txHash),
    })),
    'recipients',
  );
  const { coordinated } = await ask('coordinated_wallets', { limit: 50 });
  same(
    only(await rowsOf(page, 'coordinated'), ['Amount', 'Time', 'Transaction']),
    coordinated.map(({ amount, timestamp, txHash }: Answer) => ({
      Amount: amount,
      Time: timestamp,
      Transaction: hash(txHash),
    })),
    'wallets of one funder',
  );

  const { counterparties } = await ask('wallet_counterparties', { limit: 100 });
  await open('counterparties', '#counterparties tbody tr');
  same(
    only(await rowsOf(page, 'counterparties'), [
      ...['Transfers', 'In', 'Out', 'Coin in', 'Coin out', 'Last block', 'Last seen'],
    ]),
    counterparties.map((one: Answer) => ({
      Transfers: grouped(one.transferCount),
      In: grouped(one.inCount),
      Out: grouped(one.outCount),
      'Coin in': one.nativeIn,
      'Coin out': one.nativeOut,
      'Last block': grouped(one.lastBlock),
      'Last seen': one.lastSeenAt,
    })),
    'counterparties',
  );

  await open('network', '.network .sum');
  const sums = await page.locator('.network .sum').allTextContents();
  const expected = new Set(
    counterparties.flatMap((one: Answer) => [
      ...[one.nativeIn, one.nativeOut].map((coins) => `${compact(Number(coins))} MON`),
      ...[one.inCount, one.outCount].map((count) => `${compact(count)} ×`),
    ]),
  );
  same(
    sums.filter((text) => !expected.has(text)),
    [],
    'amounts of the network',
  );
}

async function checkTrades(
  page: Page,
  address: string,
  ask: (name: string, params?: object) => Promise<Answer>,
  open: (tab: string, shown: string) => Promise<void>,
): Promise<void> {
  const { tokens, totals, quote } = await ask('wallet_profit', { limit: 200 });
  const { trades } = await ask('wallet_trades', { limit: 50 });
  await open('trades', '#profit :is(.notice, tbody tr)');
  await page.locator('#trades :is(.notice, tbody tr)').first().waitFor();
  if (tokens.length > 0) {
    const { winRate } = totals;
    assert.deepEqual(
      await factsOf(page, '#profit'),
      {
        'Realised profit': signed(totals.realizedProfit, quote.decimals),
        Spent: units(totals.spent, quote.decimals),
        Received: units(totals.received, quote.decimals),
        ...(winRate === null ? {} : { Won: percent(winRate) }),
      },
      `totals of ${address}`,
    );
  }
  const columns = ['Profit', 'Bought', 'Spent', 'Sold', 'Received', 'Without cost', 'Position'];
  sameRows(
    only(await rowsOf(page, 'profit'), columns),
    tokens.map((one: Answer) => ({
      Profit: signed(one.realizedProfit, quote.decimals),
      Bought: units(one.bought, one.decimals),
      Spent: units(one.spent, quote.decimals),
      Sold: units(one.sold, one.decimals),
      Received: units(one.received, quote.decimals),
      'Without cost': units(one.soldWithoutCost, one.decimals),
      Position: units(one.position, one.decimals),
    })),
    'profits',
    address,
  );
  sameRows(
    (await rowsOf(page, 'trades')).map(({ Transaction, Time, Trade, Price, Given, Received }) => [
      ...[Transaction, Time, Trade, Price, amounts(Given), amounts(Received)],
    ]),
    trades.map((one: Answer) => [
      ...[hash(one.txHash), one.timestamp, one.kind, one.price ?? '–', legs(one.given), legs(one.received)],
    ]),
    'trades',
    address,
  );
}

/** The columns whose titles name the token, such as "Bought, DEMO", by their first word. */
const untitled = (rows: readonly Row[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([title, cell]) => [title.split(',')[0], cell])),
  );

/** The traders, first holders and holders of a token, from the API. */
async function checkToken(page: Page, token: string): Promise<void> {
  const { url, get } = world;
  const ask = (name: string, params: object = {}): Promise<Answer> => get(name, { token, ...params });
  const open = async (tab: string) => {
    await page.goto(`${url}/token/${token}?tab=${tab}`);
    await page.locator(`#${tab} :is(.notice, tbody tr)`).first().waitFor();
    return untitled(await rowsOf(page, tab));
  };
  // A trader is left out once it is known to be a contract.
  const { traders, quote, decimals } = await waitFor(
    async () => {
      const answer = await ask('token_traders', { limit: 50 });
      return answer.traders.some(({ contract }: Answer) => contract === null) ? null : answer;
    },
    { what: 'the daemon to know which traders are contracts' },
  );
  sameRows(
    only(await open('traders'), [
      ...['Profit', 'Buys', 'Bought', 'Spent', 'Sales', 'Sold', 'Received', 'Holds', 'Receiver no.'],
    ]),
    traders.map((one: Answer) => ({
      Profit: signed(one.averageCostProfit, quote.decimals),
      Buys: grouped(one.buys),
      Bought: units(one.bought, decimals),
      Spent: units(one.spent, quote.decimals),
      Sales: grouped(one.sells),
      Sold: units(one.sold, decimals),
      Received: units(one.received, quote.decimals),
      Holds: units(one.balance, decimals),
      'Receiver no.': one.firstBuyerRank === null ? '–' : grouped(one.firstBuyerRank),
    })),
    'traders',
    token,
  );
  const launch = await ask('token_launch', { limit: 100 });
  const shown = await open('launch');
  sameRows(
    only(shown, [
      ...['Rank', 'Block', 'After first', 'Transaction', 'Got', 'Paid', 'Still holds', 'Sold', 'Profit'],
    ]).map((row) => ({ ...row, Paid: amounts(row.Paid) })),
    launch.buyers.map((one: Answer) => ({
      Rank: `${one.rank}`,
      Block: grouped(one.blockNumber),
      'After first': grouped(one.blocksAfterFirst),
      Transaction: hash(one.txHash),
      Got: units(one.amount, launch.decimals),
      Paid: one.paid === null ? '–' : units(one.paid.amount, one.paid.decimals),
      'Still holds': one.heldShare === null ? '–' : percent(one.heldShare),
      Sold: units(one.sold, launch.decimals),
      Profit: one.averageCostProfit === '0' ? '–' : signed(one.averageCostProfit, launch.quote.decimals),
    })),
    'first holders',
    token,
  );
  const { holders } = await ask('token_holders', { limit: 100, include_contracts: true });
  sameRows(
    only(await open('holders'), ['Balance', 'Share']),
    holders.map((one: Answer) => ({
      Balance: units(one.balance, launch.decimals),
      Share: one.share === null ? '–' : percent(one.share),
    })),
    'holders',
    token,
  );
}

pageTests({
  'every number on every tab of a trader, a holder and an owner of NFTs is that of the API': async (
    t,
    open,
  ) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/`, { key });
    for (const address of [samples.trader, samples.whale, samples.collector]) await checkTabs(page, address);
    for (const list of [
      ...['transfers', 'tokens', 'profits', 'trades', 'payments', 'recipients', 'wallets of one funder'],
      'counterparties',
    ])
      assert.ok(compared.has(list), `one of the wallets has ${list}`);
  },

  'every number of traders, first holders and holders of a token is that of the API': async (t, open) => {
    const { url, key, samples } = world;
    const page = await open(t, `${url}/`, { key });
    for (const token of [samples.token, samples.bundledToken, samples.snipedToken])
      await checkToken(page, token);
    for (const list of ['traders', 'first holders', 'holders'])
      assert.ok(compared.has(list), `one of the tokens has ${list}`);
  },
});
