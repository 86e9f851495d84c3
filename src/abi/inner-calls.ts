/** The calls that a call passes on, for the widespread forms of several calls in one, and of one for an account. */
import { parseDeclaration } from './declaration.ts';
import { type AbiValue, decodeArgs } from './decode.ts';
import type { Decoded } from './signatures.ts';

export interface InnerCall {
  /** Null for the contract that is called itself. */
  to: string | null;
  /** Wei, as decimal text; null where the form does not say. */
  value: string | null;
  /** Hex; ends with an ellipsis where the decoder cut it. */
  data: string;
}

type Unwrap = (args: readonly AbiValue[]) => InnerCall[];

/** By what is hashed. */
const FORMS: Readonly<Record<string, Unwrap>> = {
  'multicall(bytes[])': ([calls]) => ofItself(calls),
  'multicall(uint256,bytes[])': ([, calls]) => ofItself(calls),
  'multicall(bytes32,bytes[])': ([, calls]) => ofItself(calls),
  'aggregate((address,bytes)[])': ([calls]) => listed(calls, ([to, data]) => callOf(to, '0', data)),
  'aggregate3((address,bool,bytes)[])': ([calls]) => listed(calls, ([to, , data]) => callOf(to, '0', data)),
  'aggregate3Value((address,bool,uint256,bytes)[])': ([calls]) =>
    listed(calls, ([to, , value, data]) => callOf(to, value, data)),
  'tryAggregate(bool,(address,bytes)[])': ([, calls]) => listed(calls, ([to, data]) => callOf(to, '0', data)),
  'executeBatch((address,uint256,bytes)[])': ([calls]) => batch(calls),
  'executeBatch(address[],bytes[])': ([targets, datas]) => columns(targets, undefined, datas),
  'executeBatch(address[],uint256[],bytes[])': ([targets, values, datas]) => columns(targets, values, datas),
  'execute(address,uint256,bytes)': single,
  'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)': single,
  'execTransactionFromModule(address,uint256,bytes,uint8)': single,
  'execute(bytes32,bytes)': ([mode, calls]) => byMode(textOf(mode), textOf(calls)),
  'multiSend(bytes)': ([transactions]) => packedList(textOf(transactions)),
  ...handleOps('(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[]'),
  ...handleOps('(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[]'),
};

/** None for a call of another form. */
export function innerCallsOf({ signature, args }: Decoded): InnerCall[] {
  const form = Object.hasOwn(FORMS, signature) ? FORMS[signature] : undefined;
  return form === undefined || args === null ? [] : form(args.map(({ value }) => value));
}

function handleOps(operations: string): Record<string, Unwrap> {
  return {
    [`handleOps(${operations},address)`]: ([list]) =>
      listed(list, ([sender, , , data]) => callOf(sender, '0', data)),
  };
}

function single([to, value, data]: readonly AbiValue[]): InnerCall[] {
  return [callOf(to, value, data)];
}

function batch(calls: AbiValue | undefined): InnerCall[] {
  return listed(calls, ([to, value, data]) => callOf(to, value, data));
}

function ofItself(calls: AbiValue | undefined): InnerCall[] {
  return partsOf(calls).map((data) => ({ to: null, value: null, data: textOf(data) }));
}

function listed(calls: AbiValue | undefined, read: (members: AbiValue[]) => InnerCall): InnerCall[] {
  return partsOf(calls).map((call) => read(partsOf(call)));
}

/** The values are missing where the form has none. */
function columns(
  targets: AbiValue | undefined,
  values: AbiValue | undefined,
  datas: AbiValue | undefined,
): InnerCall[] {
  const [amounts, inputs] = [partsOf(values), partsOf(datas)];
  return partsOf(targets).map((to, i) => callOf(to, amounts[i] ?? '0', inputs[i] ?? '0x'));
}

const BATCH = parseDeclaration('batch((address target, uint256 value, bytes data)[] calls)');

/** ERC-7579: the first byte of the mode tells one call, packed, from several. Other modes are the account's own. */
function byMode(mode: string, calls: string): InnerCall[] {
  if (mode.startsWith('0x00')) {
    const [to, value] = [calls.slice(2, 42), calls.slice(42, 106)];
    if (value.length < 64) return [];
    return [{ to: `0x${to}`, value: BigInt(`0x${value}`).toString(), data: `0x${calls.slice(106)}` }];
  }
  if (!mode.startsWith('0x01') || calls.endsWith('…')) return [];
  return batch(decodeArgs(BATCH.params, calls.slice(2))?.[0]?.value);
}

/** Digits of a packed transaction before its data: kind, receiver, value, length. */
const [KIND, TO, VALUE, LENGTH] = [2, 40, 64, 64];

/** Transactions one behind the other, as far as the decoder gave them. */
function packedList(packed: string): InnerCall[] {
  const calls: InnerCall[] = [];
  for (let at = 2; at + KIND + TO + VALUE + LENGTH <= packed.length; ) {
    const [valueAt, lengthAt, dataAt] = [
      at + KIND + TO,
      at + KIND + TO + VALUE,
      at + KIND + TO + VALUE + LENGTH,
    ];
    const length = Number(`0x${packed.slice(lengthAt, dataAt)}`);
    const end = dataAt + 2 * length;
    const isCut = end > packed.length;
    calls.push({
      to: `0x${packed.slice(at + KIND, valueAt)}`,
      value: BigInt(`0x${packed.slice(valueAt, lengthAt)}`).toString(),
      data: `0x${packed.slice(dataAt, end).replace('…', '')}${isCut ? '…' : ''}`,
    });
    if (isCut) break;
    at = end;
  }
  return calls;
}

function callOf(
  to: AbiValue | undefined,
  value: AbiValue | undefined,
  data: AbiValue | undefined,
): InnerCall {
  return { to: textOf(to), value: textOf(value), data: textOf(data) };
}

/** Decoded values of these types are texts: the declarations above say so. */
function textOf(value: AbiValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Of an array its items, of a tuple the values of its members. */
function partsOf(value: AbiValue | undefined): AbiValue[] {
  if (!Array.isArray(value)) return [];
  return value.map((part) => (typeof part === 'object' && !Array.isArray(part) ? part.value : part));
}
