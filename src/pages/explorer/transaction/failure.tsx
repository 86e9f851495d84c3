/** Why a transaction failed. */
import { safeName } from '../../ui/format.ts';
import { ArgList } from './arg-list.tsx';
import { RawData } from './method.tsx';
import { MethodName } from './method-name.tsx';
import type { Transaction } from './sentences.ts';

const MAX_REASON = 500;

export function Failure({ failure }: { failure: NonNullable<Transaction['failure']> }) {
  const { reason, error, data, unknownReason } = failure;
  return (
    <div class="notice bad">
      <p>
        <b>Failed: </b>
        {reason === null ? (
          <>the reason is not known, because {unknownReason}.</>
        ) : (
          <bdi>{safeName(reason, MAX_REASON)}</bdi>
        )}
      </p>
      {error !== null && (
        <details class="raw">
          <summary>The error that it returned</summary>
          <p>
            <MethodName method={error} />
          </p>
          {error.args !== null && <ArgList args={error.args} />}
          {data !== null && <RawData title="Data" hex={data} bytes={(data.length - 2) / 2} />}
        </details>
      )}
      {reason !== null && (
        <p class="soft small">
          Found out by running it again on the state before its block, which may differ from how it ran.
        </p>
      )}
    </div>
  );
}
