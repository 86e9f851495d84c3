/** Every transfer of the chain, live as it is indexed. */
import { useState } from 'preact/hooks';
import { TRANSFER_KINDS } from '../../../model/transfer-kind.ts';
import { useBlockTransfers, useFirstBlock, useRecentTransfers } from '../../client/recent-transfers.ts';
import { Address } from '../../ui/address.tsx';
import { Link } from '../../ui/link.tsx';
import { setParams, useTitle } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { useStatus } from '../chain-state.tsx';
import { LiveState } from '../live-state.tsx';
import { TransferTable } from '../transfer-table.tsx';

/** Most rows kept. Older ones are dropped, however long the page stays open. */
const ROWS = 200;

export function LivePage({ params }: { params: URLSearchParams }) {
  useTitle('Live transfers');
  const [isPaused, setPaused] = useState(false);
  const first = useFirstBlock(useStatus());
  const wallet = params.get('wallet');
  const withNothing = wallet === null && params.get('nothing') === '1';
  const signals = useRecentTransfers(ROWS, withNothing ? null : first, isPaused, wallet);
  const all = useBlockTransfers(ROWS, withNothing ? first : null, isPaused);
  const { transfers, state, error } = withNothing ? all : signals;
  const kind = params.get('kind') ?? '';
  const shown = kind === '' ? transfers : transfers.filter(({ transferType }) => transferType === kind);
  return (
    <Section
      id="live"
      isPage
      title="Live transfers"
      note={
        wallet === null ? (
          `The newest ${ROWS}, as they are indexed.`
        ) : (
          <>
            Of <Address address={wallet} />, as they are indexed. <Link to="/live">Show all</Link>
          </>
        )
      }
      rows={shown}
      loaded={{ data: shown, exchanges: [], error, loading: false, reload: () => undefined }}
      controls={
        <>
          {wallet === null && (
            <label class="check">
              <input
                type="checkbox"
                checked={withNothing}
                onChange={() => setParams({ nothing: withNothing ? null : '1' }, { replace: true })}
              />
              include transfers of nothing
            </label>
          )}
          <select
            aria-label="Kind"
            value={kind}
            onChange={({ currentTarget }) =>
              setParams({ kind: currentTarget.value || null }, { replace: true })
            }
          >
            <option value="">Every kind</option>
            {TRANSFER_KINDS.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
          <button type="button" class="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
          <LiveState state={state} />
        </>
      }
    >
      {(rows) => (
        <TransferTable
          caption="Live transfers"
          transfers={rows}
          empty={
            state === 'off'
              ? 'This server offers no streams, or this key has too many open connections.'
              : 'Waiting for the next transfer …'
          }
        />
      )}
    </Section>
  );
}
