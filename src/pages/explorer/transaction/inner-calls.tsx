/** The calls within a multicall, a batch or a Safe's transaction, each with its arguments. */
import { useContext } from 'preact/hooks';
import { Address } from '../../ui/address.tsx';
import { AddressNames } from '../../ui/address-names.ts';
import { Amount } from '../../ui/amount.tsx';
import { countText } from '../../ui/format.ts';
import { COIN } from '../coin.ts';
import { ArgList } from './arg-list.tsx';
import { argsInLine } from './args-in-line.ts';
import { MethodName } from './method-name.tsx';
import type { Transaction } from './sentences.ts';

type InnerCall = NonNullable<Transaction['calls']>[number];

export function InnerCalls({ calls, isCut }: { calls: readonly InnerCall[]; isCut: boolean }) {
  return (
    <>
      <h3 class="method-part">Calls within it</h3>
      <p class="soft small">From its arguments, in order, whether they succeeded or not.</p>
      <ol class="inner-calls">
        {calls.map((call, i) => (
          <li key={i} class={`depth-${call.depth}`}>
            <Call call={call} />
          </li>
        ))}
      </ol>
      {isCut && <p class="soft small">The first {countText(calls.length, 'call')} are shown.</p>}
    </>
  );
}

function Call({ call: { to, value, method } }: { call: InnerCall }) {
  const names = useContext(AddressNames);
  const token = names.get(to);
  return (
    <>
      <p class="call">
        {method === null ? (
          <span class="soft">payment to</span>
        ) : (
          <b class="break">{method.name ?? method.selector}</b>
        )}{' '}
        {method !== null && <span class="soft">of</span>} <Address address={to} />
        {value !== null && value !== '0' && (
          <>
            <span class="soft">with</span> <Amount text={value} symbol={COIN} />
          </>
        )}
      </p>
      {method?.name == null ? (
        method !== null && <p class="soft small">no known method</p>
      ) : (
        <details class="event small">
          <summary>{method.args === null ? method.signature : argsInLine(method.args, token, names)}</summary>
          <p>
            <MethodName method={method} />
          </p>
          {method.args !== null && <ArgList args={method.args} token={token} />}
        </details>
      )}
    </>
  );
}
