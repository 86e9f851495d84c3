/** The arguments of a call, an event or an error, by name. */
import type { Answers } from '../../client/answers.ts';
import { Address } from '../../ui/address.tsx';
import { Units } from '../../ui/amount.tsx';
import { Copy } from '../../ui/copy.tsx';
import { grouped, safeName } from '../../ui/format.ts';
import type { KnownName } from '../../ui/known-names.ts';

export type Decoded = NonNullable<Answers['transaction']['method']>;
export type Arg = NonNullable<Decoded['args']>[number];

/** Most items of an array, and most characters of a value, that are shown. */
const MAX_ITEMS = 50;
const MAX_CHARACTERS = 2_000;

/** Arguments of these names are amounts of the token whose contract has them. */
const AMOUNT_NAMES = new Set(['value', 'amount', 'wad', 'addedValue', 'subtractedValue']);

/** `token`: of the contract that is called or that emitted the event. */
export function ArgList({ args, token }: { args: readonly Arg[]; token?: KnownName | undefined }) {
  if (args.length === 0) return <p class="soft small">No arguments.</p>;
  return (
    <dl class="args">
      {args.map((arg, i) => (
        <div key={i}>
          <dt>
            {safeName(arg.name, 40) || <span class="soft">argument {i + 1}</span>}{' '}
            <span class="soft small">{shortType(arg.type)}</span>
          </dt>
          <dd>
            <Value arg={arg} token={token} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ arg: { name, type, value }, token }: { arg: Arg; token?: KnownName | undefined }) {
  if (typeof value === 'boolean') return <>{value ? 'true' : 'false'}</>;
  if (typeof value !== 'string') return <Items type={type} items={value} />;
  if (type === 'address') return <Address address={value} />;
  if (type === 'uint256' && AMOUNT_NAMES.has(name) && token?.type === 'erc20' && token.decimals !== null)
    return (
      <>
        <Units units={value} decimals={token.decimals} symbol={token.symbol} />{' '}
        <span class="soft small break">{value}</span>
      </>
    );
  if (type === 'string') return <bdi class="break">{cut(value)}</bdi>;
  return (
    <span class="with-copy">
      <code class="break">{cut(value)}</code>
      {value.length > 12 && !value.endsWith('…') && <Copy text={value} what="value" />}
    </span>
  );
}

/** The items of an array, or the members of a tuple. */
function Items({ type, items }: { type: string; items: readonly unknown[] }) {
  const [first] = items;
  if (isArg(first) && !type.endsWith(']')) return <ArgList args={items.filter(isArg)} />;
  if (items.length === 0) return <span class="soft">none</span>;
  const itemType = type.replace(/\[\d*\]$/, '');
  return (
    <ol class="items">
      {items.slice(0, MAX_ITEMS).map((item, i) => (
        <li key={i}>
          <Value arg={{ name: '', type: itemType, value: asValue(item) }} />
        </li>
      ))}
      {items.length > MAX_ITEMS && <li class="soft">and {grouped(items.length - MAX_ITEMS)} more</li>}
    </ol>
  );
}

function asValue(item: unknown): Arg['value'] {
  return typeof item === 'boolean' || Array.isArray(item) ? item : String(item);
}

function isArg(item: unknown): item is Arg {
  return typeof item === 'object' && item !== null && 'name' in item && 'type' in item && 'value' in item;
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** Tuples are shown by their members. */
function shortType(type: string): string {
  return type.startsWith('(') ? `tuple${/(\[\d*\])*$/.exec(type)?.[0] ?? ''}` : type;
}
