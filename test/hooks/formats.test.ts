/** The content of deliveries, and valid hook specifications. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, deliveryOf, messageId, withdrawalOf } from '../../src/hooks/delivery.ts';
import { parseHookSpec } from '../../src/hooks/hook-spec.ts';

const EVENT = {
  event: 'wallet_token_buy',
  direction: 'in',
  wallet: `0x${'aa'.repeat(20)}`,
  tokenAddress: `0x${'cc'.repeat(20)}`,
  amount: '12500000',
  valueWei: null,
  symbol: 'ME<ME>\u202e`*',
  decimals: 6,
  paid: [{ tokenAddress: null, amount: '1500000000000000000', symbol: 'MON', decimals: 18 }],
  txHash: `0x${'ef'.repeat(32)}`,
  blockHash: `0x${'bb'.repeat(32)}`,
  eventIndex: 3,
  received_at_ms: 1,
};

test('the id of a delivery follows from hook, block, transfer and event, and from nothing else', () => {
  const { deliveryId } = deliveryOf(1, EVENT);
  assert.match(deliveryId, /^evt_[0-9a-f]{32}$/);
  assert.equal(
    deliveryOf(1, { ...EVENT, received_at_ms: 2, symbol: null, paid: null }).deliveryId,
    deliveryId,
  );
  const others = [
    deliveryOf(2, EVENT),
    deliveryOf(1, { ...EVENT, blockHash: '0x' }),
    deliveryOf(1, { ...EVENT, eventIndex: 4 }),
    deliveryOf(1, { ...EVENT, event: 'wallet_created' }),
    deliveryOf(1, { ...EVENT, direction: 'out' }),
    withdrawalOf(1, deliveryOf(1, EVENT)),
  ];
  assert.equal(new Set([deliveryId, ...others.map((other) => other.deliveryId)]).size, 7);
  const withdrawal = withdrawalOf(1, deliveryOf(1, EVENT));
  assert.deepEqual([withdrawal.withdraws, withdrawal.removed], [deliveryId, true]);
  assert.equal(messageId([withdrawal]), withdrawal.deliveryId, 'one event gives the message its id');
});

test('chats get one plain line for each event', () => {
  const deliveries = [deliveryOf(1, EVENT), withdrawalOf(1, deliveryOf(1, EVENT))];
  const body = (format: 'slack' | 'discord' | 'telegram') =>
    JSON.parse(bodyOf({ id: 1, format, chat: '-100' }, deliveries));
  const line = `${EVENT.wallet} got 12.5 MEME for 1.5 MON (${EVENT.txHash})`;
  const text = `${line}\nWITHDRAWN: ${line}`;
  assert.deepEqual(body('slack'), { text });
  assert.deepEqual(body('discord'), { content: text, allowed_mentions: { parse: [] } });
  assert.deepEqual(body('telegram'), { chat_id: '-100', text, disable_web_page_preview: true });
});

test('a line for a chat names labelled wallets and the labelled other side', () => {
  const label = (name: string) => ({ name, category: 'exchange', source: 'mine' });
  const lineOf = (labels: object) => {
    const { text } = JSON.parse(
      bodyOf({ id: 1, format: 'slack', chat: null }, [deliveryOf(1, { ...EVENT, ...labels })]),
    );
    return text.replace(` (${EVENT.txHash})`, '');
  };
  const buy = 'got 12.5 MEME for 1.5 MON';
  assert.equal(lineOf({ walletLabel: label('Fund *One*\u202e') }), `Fund One (0xaaaa..aaaa) ${buy}`);
  assert.equal(lineOf({ fromLabel: label('Börse 14') }), `${EVENT.wallet} ${buy} from Börse 14`);
  assert.equal(lineOf({ toLabel: label('itself') }), `${EVENT.wallet} ${buy}`, 'the wallet is the receiver');
  const sold = {
    direction: 'out',
    event: 'wallet_token_sell',
    paid: [{ tokenAddress: EVENT.tokenAddress, amount: EVENT.amount, symbol: 'MEME', decimals: 6 }],
    received: EVENT.paid,
  };
  assert.equal(
    lineOf({ ...sold, toLabel: label('Pool') }),
    `${EVENT.wallet} gave 12.5 MEME for 1.5 MON to Pool`,
  );
});

test('a trade is told to a chat by its kind, with what was given and received', () => {
  const [coin] = EVENT.paid;
  const token = { ...EVENT, decimals: 6 };
  const line = (trade: object) => {
    const delivery = deliveryOf(1, { ...EVENT, event: 'wallet_trade', paid: undefined, ...trade });
    return JSON.parse(bodyOf({ id: 1, format: 'slack', chat: null }, [delivery]))
      .text.split(' ')
      .slice(1, -1)
      .join(' ');
  };
  assert.equal(line({ kind: 'buy', given: [coin], received: [token] }), 'bought 12.5 MEME for 1.5 MON');
  assert.equal(line({ kind: 'sell', given: [token], received: [coin] }), 'sold 12.5 MEME for 1.5 MON');
  assert.equal(line({ kind: 'swap', given: [token], received: [token] }), 'swapped 12.5 MEME for 12.5 MEME');
  assert.equal(
    line({ kind: 'mixed', given: [coin, token], received: [token] }),
    'traded 1.5 MON and 1 more for 12.5 MEME',
  );
});

test('ten lines fit into a message of every chat', () => {
  const long = {
    ...EVENT,
    amount: '9'.repeat(78),
    symbol: 'X'.repeat(64),
    walletLabel: { name: 'N'.repeat(64) },
    fromLabel: { name: 'M'.repeat(64) },
    paid: [{ tokenAddress: '0x', amount: '9'.repeat(78), symbol: 'Y'.repeat(64), decimals: 0 }],
  };
  const deliveries = Array.from({ length: 10 }, () => withdrawalOf(1, deliveryOf(1, long)));
  const { content } = JSON.parse(bodyOf({ id: 1, format: 'discord', chat: null }, deliveries));
  assert.ok(content.length <= 2_000, `${content.length} characters`);
});

test('an invalid hook is refused, naming the invalid member', () => {
  const url = 'https://example.org/hook';
  const parse = (value: unknown) => parseHookSpec(value, { lists: () => undefined, allowPrivate: false });
  const spec = parse({ url, filter: { events: ['wallet_funded'] }, confirmations: 3 });
  assert.deepEqual(
    [spec.name, spec.format, spec.confirmations, spec.finality, spec.fromBlock, spec.key],
    ['hook', 'json', 3, false, null, null],
  );
  const refused: [unknown, RegExp][] = [
    [undefined, /send an object/],
    [{}, /url must be/],
    [{ url: 'http://10.0.0.1/' }, /not on the public internet/],
    [{ url, format: 'xml' }, /format must be/],
    [{ url, format: 'telegram' }, /chat must be the id of the telegram chat/],
    [{ url, name: '' }, /name has 1 to/],
    [{ url, confirmations: -1 }, /confirmations must be/],
    [{ url, finality: 'yes' }, /finality must be/],
    [{ url, fromBlock: 1.5 }, /fromBlock must be/],
    [{ url, filter: { fromBlock: 5 } }, /set fromBlock of the hook/],
    [{ url, filter: { wallets: 'list:none' } }, /there is no list "none"/],
    [{ url, filter: { walets: [] } }, /did you mean "wallets"/],
    [{ url, from_block: 5 }, /unknown filter member "from_block".*fromBlock/],
  ];
  for (const [value, message] of refused) assert.throws(() => parse(value), { message });
});
