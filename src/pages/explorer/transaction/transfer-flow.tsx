/** The transfers of a transaction as arrows between the lines of its addresses, in execution order. */

import { useContext } from 'preact/hooks';
import type { Transfer } from '../../client/answers.ts';
import { labelOf } from '../../ui/address.tsx';
import { AddressNames } from '../../ui/address-names.ts';
import { useWidth } from '../../ui/chart.tsx';
import { safeName, unitsText, ZERO_ADDRESS } from '../../ui/format.ts';
import type { KnownNames } from '../../ui/known-names.ts';

/** Most transfers drawn. The table below has all of them. */
const MAX_TRANSFERS = 24;
const MAX_PARTIES = 10;

/** Pixels between two lines: as the window has room. */
const [LEAST_COLUMN, MOST_COLUMN] = [96, 220];
const HEAD = 34;
const ROW = 34;

export function TransferFlow({ transfers }: { transfers: readonly Transfer[] }) {
  const known = useContext(AddressNames);
  const [room, frame] = useWidth();
  const names = new Map<string, string>();
  const drawn: Transfer[] = [];
  for (const transfer of transfers.slice(0, MAX_TRANSFERS)) {
    const newcomers = [transfer.from, transfer.to].filter((address) => !names.has(address));
    if (names.size + new Set(newcomers).size > MAX_PARTIES) break;
    names.set(transfer.from, partyName(transfer, 'from', known));
    names.set(transfer.to, partyName(transfer, 'to', known));
    drawn.push(transfer);
  }
  if (drawn.length === 0) return null;
  const parties = [...names.keys()];
  const column = Math.max(LEAST_COLUMN, Math.min(MOST_COLUMN, room / parties.length));
  const x = (address: string) => column / 2 + parties.indexOf(address) * column;
  const width = parties.length * column;
  const height = HEAD + drawn.length * ROW + 8;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <section ref={frame} class="flow" tabIndex={0} aria-label="Diagram of the transfers listed below">
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="flow-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8Z" />
            </marker>
          </defs>
          {parties.map((address) => (
            <g key={address}>
              <line class="lifeline" x1={x(address)} x2={x(address)} y1={HEAD} y2={height} />
              <text class="party" x={x(address)} y={20} text-anchor="middle">
                {names.get(address)}
              </text>
            </g>
          ))}
          {drawn.map((transfer, i) => (
            <Arrow
              key={transfer.eventIndex}
              transfer={transfer}
              from={x(transfer.from)}
              to={x(transfer.to)}
              y={HEAD + (i + 0.75) * ROW}
            />
          ))}
        </svg>
      </section>
      {drawn.length < transfers.length && <p class="soft small">The first {drawn.length} are drawn.</p>}
    </>
  );
}

function Arrow({ transfer, from, to, y }: { transfer: Transfer; from: number; to: number; y: number }) {
  const isInternal = transfer.transferType === 'native_internal';
  const path = from === to ? `M${from} ${y - 8}h24v10h-20` : `M${from} ${y}H${to + (to > from ? -2 : 2)}`;
  return (
    <g>
      <path class={isInternal ? 'arrow internal' : 'arrow'} d={path} marker-end="url(#flow-arrow)" />
      <text
        x={from === to ? from + 30 : (from + to) / 2}
        y={y - 6}
        text-anchor={from === to ? 'start' : 'middle'}
      >
        {amountText(transfer)}
      </text>
    </g>
  );
}

function amountText({ amount, decimals, tokenId, symbol }: Transfer): string {
  if (tokenId !== null)
    return `${safeName(symbol ?? '', 10)} #${tokenId.length > 8 ? `${tokenId.slice(0, 8)}…` : tokenId}`;
  return unitsText(amount, decimals, symbol, 10);
}

function partyName(transfer: Transfer, side: 'from' | 'to', known: KnownNames): string {
  const address = transfer[side];
  const label = labelOf(transfer, side);
  const named = safeName(label?.name ?? '', 16);
  if (named !== '') return named;
  if (address === ZERO_ADDRESS) return 'Zero address';
  return safeName(known.get(address)?.symbol ?? '') || `${address.slice(0, 8)}…${address.slice(-4)}`;
}
