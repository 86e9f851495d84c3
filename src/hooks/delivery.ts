/** The content of deliveries: events with stable ids, and texts for chats. */
import { hash } from 'node:crypto';
import { weiToCoin } from '../lib/units.ts';
import type { HookFormat } from './hook-spec.ts';

/** A signal with its delivery id. */
export type Delivery = Record<string, unknown> & { deliveryId: string };

/** Most events per delivery, and per chat message. */
const MAX_EVENTS = 100;
const MAX_CHAT_EVENTS = 10;

export function maxEvents(format: HookFormat): number {
  return format === 'json' ? MAX_EVENTS : MAX_CHAT_EVENTS;
}

/** The delivery of a signal. Its id depends only on facts of the chain. */
export function deliveryOf(hook: number, record: Record<string, unknown>): Delivery {
  return { deliveryId: deliveryId(hook, record), ...record };
}

/** The withdrawal of a delivered event. `withdraws` is the id of that event. */
export function withdrawalOf(hook: number, delivered: Record<string, unknown>): Delivery {
  const { deliveryId: withdraws, ...record } = delivered;
  const removed = { ...record, removed: true };
  return { deliveryId: deliveryId(hook, removed), withdraws, ...removed };
}

function deliveryId(hook: number, record: Record<string, unknown>): string {
  const { blockHash, txHash, eventIndex, event, direction, removed = false } = record;
  return `evt_${digest([hook, blockHash, txHash, eventIndex, event, direction, removed])}`;
}

/**
 * The id of a message: the id of its only event, or a digest of the ids of all its events. An event of a block that a
 * repair has rewritten is another message than before: receivers ignore messages that they know.
 */
export function messageId(deliveries: readonly Delivery[]): string {
  const ids = deliveries.map(({ deliveryId, rewrites }) =>
    rewrites === undefined ? deliveryId : `${deliveryId}_${rewrites}`,
  );
  return ids.length === 1 ? ids[0]! : `msg_${digest(ids)}`;
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}

/** The body of a message in its receiver's format. */
export function bodyOf(
  { id, format, chat }: { id: number; format: HookFormat; chat: string | null },
  deliveries: readonly Delivery[],
): string {
  if (format === 'json') return JSON.stringify({ hook: id, deliveries });
  const text = deliveries.map(lineOf).join('\n');
  if (format === 'slack') return JSON.stringify({ text });
  if (format === 'discord') return JSON.stringify({ content: text, allowed_mentions: { parse: [] } });
  return JSON.stringify({ chat_id: chat, text, disable_web_page_preview: true });
}

const VERBS: Record<string, string> = {
  wallet_funded: 'received',
  wallet_native_out: 'sent',
  wallet_token_buy: 'got',
  wallet_token_sell: 'gave',
  whale_transfer: 'moved',
  wallet_created: 'appeared with',
  token_created: 'got the first',
};

const TRADE_VERBS: Record<string, string> = { buy: 'bought', sell: 'sold', swap: 'swapped', mixed: 'traded' };

/** One line of text, at most 200 characters, so that ten fit into a message of any chat. */
function lineOf(delivery: Delivery): string {
  const { txHash, removed } = delivery;
  const said = delivery.event === 'wallet_trade' ? tradeText(delivery) : transferText(delivery);
  const text = `${removed === true ? 'WITHDRAWN: ' : ''}${walletText(delivery)} ${said}`;
  return `${text.slice(0, 120)} (${String(txHash).slice(0, 66)})`;
}

function transferText(delivery: Delivery): string {
  const { event, paid, received } = delivery;
  const exchanged = paymentsText(event === 'wallet_token_sell' ? (received ?? paid) : paid);
  return (
    `${VERBS[String(event)] ?? event} ${amountText(delivery)}${exchanged === '' ? '' : ` for ${exchanged}`}` +
    counterpartyText(delivery)
  );
}

function tradeText({ kind, given, received }: Delivery): string {
  const [first, second] = kind === 'buy' ? [received, given] : [given, received];
  return `${TRADE_VERBS[String(kind)] ?? 'traded'} ${paymentsText(first)} for ${paymentsText(second)}`;
}

/** The address, shortened if it follows a label. */
function walletText({ wallet, walletLabel }: Delivery): string {
  const address = String(wallet);
  const name = labelText(walletLabel);
  return name === '' ? address : `${name} (${address.slice(0, 6)}..${address.slice(-4)})`;
}

/** The other side of the transfer, if it has a label. */
function counterpartyText({ direction, fromLabel, toLabel }: Delivery): string {
  const name = labelText(direction === 'in' ? fromLabel : toLabel);
  return name === '' ? '' : ` ${direction === 'in' ? 'from' : 'to'} ${name}`;
}

/** The name of the label, empty without a label. Omits characters that chats read as markup. */
function labelText(label: unknown): string {
  if (typeof label !== 'object' || label === null || !('name' in label)) return '';
  return String(label.name)
    .replace(/[^\p{L}\p{N} $.-]/gu, '')
    .trim()
    .slice(0, 24);
}

function paymentsText(payments: unknown): string {
  if (!Array.isArray(payments) || payments.length === 0) return '';
  const [first, ...others] = payments;
  return amountText(first) + (others.length > 0 ? ` and ${others.length} more` : '');
}

/** Symbols come from contracts and may contain anything, so show only plain characters. */
function amountText(record: Record<string, unknown>): string {
  const units = BigInt(String(record.amount ?? record.valueWei ?? 0));
  const decimals = Number(record.decimals ?? 0);
  const scaled = decimals <= 18 ? weiToCoin(units * 10n ** BigInt(18 - decimals)) : units.toString();
  const symbol = String(record.symbol ?? '')
    .replace(/[^\w$.-]/g, '')
    .slice(0, 16);
  return `${scaled.slice(0, 30)} ${symbol || String(record.tokenAddress ?? '').slice(0, 10)}`.trim();
}
