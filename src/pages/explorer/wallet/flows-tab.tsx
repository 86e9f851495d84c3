/** A wallet's balance over time, in the coin or in one of its tokens. */
import type { Transfer } from '../../client/answers.ts';
import { useAnswer } from '../../client/use-answer.ts';
import { usePages } from '../../client/use-pages.ts';
import { Chart, type Point } from '../../ui/chart.tsx';
import {
  countText,
  dateTime,
  grouped,
  safeName,
  shortAmount,
  shortHex,
  unitsToText,
} from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { setParams } from '../../ui/router.ts';
import { Section } from '../../ui/section.tsx';
import { COIN } from '../coin.ts';
import { type Asset, assetsOf, type FlowPoint, flowPoints, sumOf } from './flows.ts';
import type { TabProps } from './tab-props.ts';

/** Most transfers per request. */
const PAGE = 500;

/** Most assets offered for selection. */
const MAX_ASSETS = 50;

export function FlowsTab({ address, params }: TabProps) {
  const pages = usePages(
    `flows ${address}`,
    (api, cursor, signal) =>
      api.get('address_transfers', { address, limit: PAGE, include_internal: 'true', cursor }, signal),
    (answer): readonly Transfer[] => answer.transfers,
  );
  const summary = useAnswer('wallet_summary', { address });
  return (
    <Section
      id="flows"
      title="Flows"
      note="Received minus sent after each transaction, excluding fees."
      loaded={{
        ...pages,
        error: pages.error ?? summary.error,
        reload: () => {
          pages.reload();
          summary.reload();
        },
      }}
    >
      {(transfers) => {
        const assets = assetsOf(transfers, COIN).slice(0, MAX_ASSETS);
        const asset = assets.find(({ id }) => id === params.get('asset')) ?? assets[0];
        if (asset === undefined || summary.data === undefined) return null;
        const { nativeReceivedWei, nativeSentWei } = summary.data;
        const isComplete = pages.more === null && !pages.isCut;
        const present =
          asset.id === 'native'
            ? BigInt(nativeReceivedWei) - BigInt(nativeSentWei)
            : sumOf(transfers, asset.id, address);
        const points = flowPoints(transfers, asset.id, address, present);
        return (
          <>
            <p class="controls">
              <select
                aria-label="Asset"
                value={asset.id}
                onChange={({ currentTarget }) => setParams({ asset: currentTarget.value }, { replace: true })}
              >
                {assets.map((one) => (
                  <option key={one.id} value={one.id}>
                    {assetName(one)}, {countText(one.count, 'transfer')}
                  </option>
                ))}
              </select>
              <span class="soft small">
                {isComplete ? 'All' : 'The newest'} {countText(transfers.length, 'transfer')} of the wallet
                {!isComplete &&
                  asset.id !== 'native' &&
                  '; the line starts at 0 because older transfers are not loaded'}
              </span>
            </p>
            {points.length === 0 ? (
              <p class="notice">None of the loaded transfers moves this asset.</p>
            ) : (
              <Chart
                label={`Balance of ${assetName(asset)} over time`}
                kind="step"
                points={points.map((point) => chartPoint(point, asset))}
              />
            )}
            <More pages={pages} />
          </>
        );
      }}
    </Section>
  );
}

function assetName({ id, symbol }: Asset): string {
  if (id === 'native') return COIN;
  const name = safeName(symbol ?? '');
  return name === '' ? shortHex(id) : `${name} (${shortHex(id)})`;
}

function chartPoint({ at, block, balance, change }: FlowPoint, { decimals }: Asset): Point {
  const text = (units: bigint) => shortAmount(unitsToText(units, decimals));
  const sign = change > 0n ? '+' : '';
  return {
    at,
    value: Number(unitsToText(balance, decimals)),
    text: `${text(balance)} after ${sign}${text(change)}, ${dateTime(new Date(at).toISOString())} UTC, block ${grouped(block)}`,
  };
}
