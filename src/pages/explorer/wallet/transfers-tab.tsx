/** The transfers of a wallet, filtered, newest first, with new ones as they happen. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LiveTransfer, Transfer } from '../../client/answers.ts';
import { useStream } from '../../client/stream.ts';
import { usePages } from '../../client/use-pages.ts';
import { countText } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { LiveState } from '../live-state.tsx';
import { TransferTable } from '../transfer-table.tsx';
import type { Suspicion } from './suspicion.ts';
import type { TabProps } from './tab-props.ts';
import { Filters, filterQuery, useFilterState } from './transfer-filters.tsx';
import { useSuspicions } from './use-suspicions.ts';

const PAGE = 50;

/** Shortest interval between loads of new transfers. */
const REFRESH_MS = 2_000;

export function TransfersTab({ address, params, known }: TabProps) {
  const filters = useMemo(() => filterQuery(params, Date.now()), [params.toString()]);
  const [filterState, setFilterState] = useFilterState(params);
  const isHidden = params.get('internal') === '0';
  const pages = usePages(
    `transfers ${address} ${JSON.stringify(filters)}`,
    (api, cursor, signal) =>
      api.get('address_transfers', { address, limit: PAGE, ...filters, cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
  );
  const news = useNews(address, pages.isLong, pages.reload);
  const suspicions = useSuspicions(known, pages.data);
  const showsAll = params.get('suspicious') === '1';
  const isShown = (transfer: Transfer) => showsAll || !suspicions.of(transfer)?.isHidden;
  return (
    <Section
      id="transfers"
      title="Transfers"
      loaded={suspicions.isReady ? pages : { ...pages, data: undefined }}
      controls={
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={!isHidden}
              onChange={() => setParams({ internal: isHidden ? null : '0' }, { replace: true })}
            />
            include internal transfers
          </label>
          <LiveState state={news.state} />
        </>
      }
    >
      {(transfers) => (
        <>
          <Filters params={params} state={filterState} onState={setFilterState} />
          {news.count > 0 && (
            <p class="news">
              <button type="button" class="button main" onClick={news.show}>
                Show new transfers
              </button>
            </p>
          )}
          <SuspiciousCount
            count={transfers.filter((transfer) => suspicions.of(transfer)?.isHidden).length}
            showsAll={showsAll}
            isAll={pages.more === null && !pages.isCut}
          />
          <TransferTable
            caption="Transfers of the wallet"
            transfers={transfers.filter(isShown)}
            wallet={address}
            empty={emptyText(transfers.length, pages.more === null)}
            noteOf={(transfer) => <SuspicionNote suspicion={suspicions.of(transfer)} />}
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function emptyText(loaded: number, isAll: boolean): string {
  if (loaded > 0) return isAll ? 'No other transfers.' : 'No other transfers so far: load more.';
  return isAll ? 'No transfers match this filter.' : 'No matches so far: load more.';
}

interface SuspiciousCountProps {
  /** Of the loaded transfers. */
  count: number;
  showsAll: boolean;
  /** Whether all transfers are loaded. */
  isAll: boolean;
}

/** How many transfers are hidden, and a button that shows them. */
function SuspiciousCount({ count, showsAll, isAll }: SuspiciousCountProps) {
  if (count === 0) return null;
  return (
    <p class="suspicious small">
      {countText(count, 'suspicious transfer')} {isAll ? '' : 'so far '}
      {showsAll ? 'shown' : 'hidden'}:{' '}
      <button
        type="button"
        class="quiet"
        aria-pressed={showsAll}
        onClick={() => setParams({ suspicious: showsAll ? null : '1' }, { replace: true })}
      >
        {showsAll ? 'hide' : 'show'}
      </button>{' '}
      <span class="soft">Copy no address from them: they may be made to be taken for others.</span>
    </p>
  );
}

function SuspicionNote({ suspicion }: { suspicion: Suspicion | null }) {
  if (suspicion === null) return null;
  const { isHidden, reasons } = suspicion;
  return (
    <small class="suspicion">
      {isHidden ? 'Suspicious' : 'Caution'}: {reasons.join('; ')}
    </small>
  );
}

/**
 * Reloads the list when the wallet has new transfers, or when a reorg removed some. Does not reload a list that the
 * visitor has extended, but offers a button, because rows must not move under the pointer.
 */
function useNews(address: string, isHeld: boolean, reload: () => void) {
  const [count, setCount] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const onNews = () => {
    setCount((before) => before + 1);
  };
  const state = useStream<LiveTransfer>({
    path: '/ws',
    method: 'eth_subscribe',
    params: ['wallet_transfers', { address }],
    onEvent: onNews,
    onResume: onNews,
  });
  const show = () => {
    setCount(0);
    reload();
  };
  useEffect(() => {
    if (count === 0 || isHeld || timer.current !== undefined) return;
    show();
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setCount((before) => before && before + 1); // checks again for transfers that arrived meanwhile
    }, REFRESH_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return { count: isHeld ? count : 0, show, state };
}
