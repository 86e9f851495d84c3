/** The transfers of a wallet, filtered, newest first, with new ones as they happen. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveTransfer, Transfer } from '../../client/answers.ts';
import { useStream } from '../../client/stream.ts';
import { usePages } from '../../client/use-pages.ts';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { LiveState } from '../live-state.tsx';
import { TransferTable } from '../transfer-table.tsx';
import type { TabProps } from './tab-props.ts';
import { Filters, filterQuery } from './transfer-filters.tsx';

const PAGE = 50;

/** Shortest interval between loads of new transfers. */
const REFRESH_MS = 2_000;

export function TransfersTab({ address, params }: TabProps) {
  const filters = filterQuery(params);
  const isHidden = params.get('internal') === '0';
  const pages = usePages(
    `transfers ${address} ${JSON.stringify(filters)}`,
    (api, cursor, signal) =>
      api.get('address_transfers', { address, limit: PAGE, ...filters, cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
  );
  const news = useNews(address, pages.isLong, pages.reload);
  return (
    <Section
      id="transfers"
      title="Transfers"
      loaded={pages}
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
          <Filters params={params} />
          {news.count > 0 && (
            <p class="news">
              <button type="button" class="button main" onClick={news.show}>
                Show new transfers
              </button>
            </p>
          )}
          <TransferTable
            caption="Transfers of the wallet"
            transfers={transfers}
            wallet={address}
            empty={pages.more === null ? 'No transfers match this filter.' : 'No matches so far: load more.'}
          />
          <More pages={pages} />
        </>
      )}
    </Section>
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
