/** What a transaction called: the method by name, its arguments, and the input as it is. */

import { useContext } from 'preact/hooks';
import { AddressNames } from '../../ui/address-names.ts';
import { Copy } from '../../ui/copy.tsx';
import { countText } from '../../ui/format.ts';
import { ArgList, type Decoded } from './arg-list.tsx';
import type { Transaction } from './sentences.ts';

/** Most characters of data shown; the copy button has all that the answer has. */
const MAX_CHARACTERS = 4_000;

export function Method({ transaction }: { transaction: Transaction }) {
  const { method, to, input, inputBytes } = transaction;
  const token = useContext(AddressNames).get(to ?? '');
  return (
    <>
      {method !== null && (
        <>
          <p>
            <MethodName method={method} />
          </p>
          {method.args !== null && <ArgList args={method.args} token={token} />}
        </>
      )}
      {inputBytes > 0 && (
        <RawData title={method === null ? 'Code and arguments' : 'Input'} hex={input} bytes={inputBytes} />
      )}
    </>
  );
}

/** Whoever wrote the contract chose the name, so it is shown with the whole signature. */
export function MethodName({ method: { name, signature, selector, args } }: { method: Decoded }) {
  if (name === null)
    return (
      <>
        <code>{selector}</code> <span class="soft small">no known method</span>
      </>
    );
  return (
    <>
      <b>{name}</b> <code class="soft small break">{signature}</code>
      {args === null && <span class="soft small"> its data does not fit the declaration</span>}
    </>
  );
}

export function RawData({ title, hex, bytes }: { title: string; hex: string; bytes: number }) {
  const isWhole = hex.length === 2 + 2 * bytes;
  return (
    <details class="raw">
      <summary>
        {title} <span class="soft small">{countText(bytes, 'byte')}</span>
      </summary>
      <p class="with-copy">
        <code class="break">
          {hex.slice(0, MAX_CHARACTERS)}
          {hex.length > MAX_CHARACTERS || !isWhole ? '…' : ''}
        </code>
        {isWhole && <Copy text={hex} what="data" />}
      </p>
    </details>
  );
}
