/** What a transaction called: the method by name, its arguments, and the input as it is. */

import { useContext } from 'preact/hooks';
import { AddressNames } from '../../ui/address-names.ts';
import { Copy } from '../../ui/copy.tsx';
import { countText } from '../../ui/format.ts';
import { ArgList } from './arg-list.tsx';
import { InnerCalls } from './inner-calls.tsx';
import { MethodName } from './method-name.tsx';
import type { Transaction } from './sentences.ts';

/** Most characters of data shown; the copy button has all that the answer has. */
const MAX_CHARACTERS = 4_000;

export function Method({ transaction }: { transaction: Transaction }) {
  const { method, calls, to, input, inputBytes } = transaction;
  const token = useContext(AddressNames).get(to ?? '');
  return (
    <>
      {method !== null && (
        <>
          <p>
            <MethodName method={method} />
          </p>
          {calls === null ? (
            method.args !== null && <ArgList args={method.args} token={token} />
          ) : (
            <InnerCalls calls={calls} isCut={transaction.callsTruncated} />
          )}
          {calls !== null && method.args !== null && (
            <details class="raw">
              <summary>Arguments</summary>
              <ArgList args={method.args} token={token} />
            </details>
          )}
        </>
      )}
      {inputBytes > 0 && (
        <RawData title={method === null ? 'Code and arguments' : 'Input'} hex={input} bytes={inputBytes} />
      )}
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
