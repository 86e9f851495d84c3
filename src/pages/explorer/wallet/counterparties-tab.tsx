/** The addresses with which a wallet has the most transfers. */
import type { Answers } from '../../client/answers.ts';
import { usePages } from '../../client/use-pages.ts';
import { Address, BlockLink, labelOf } from '../../ui/address.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Meter } from '../../ui/facts.tsx';
import { grouped } from '../../ui/format.ts';
import { addressPath, Link } from '../../ui/link.tsx';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';
import { LookalikeNote } from './lookalike-note.tsx';
import type { TabProps } from './tab-props.ts';

const PAGE = 100;

type Counterparty = Answers['wallet_counterparties']['counterparties'][number];

export function CounterpartiesTab({ address, known }: TabProps) {
  const pages = usePages(
    `wallet_counterparties ${address}`,
    (api, cursor, signal) => api.get('wallet_counterparties', { address, limit: PAGE, cursor }, signal),
    (answer): readonly Counterparty[] => answer.counterparties,
  );
  return (
    <Section
      id="counterparties"
      title="Counterparties"
      note="Over all its indexed transfers, most transfers first."
      loaded={pages}
    >
      {(counterparties) => (
        <>
          <Table
            caption="Counterparties of the wallet"
            columns={columnsFor(address, known, counterparties[0]?.transferCount ?? 1)}
            rows={counterparties}
            rowKey={(row) => row.address}
            empty="No counterparties."
          />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}

function columnsFor(wallet: string, known: TabProps['known'], most: number): Column<Counterparty>[] {
  return [
    {
      title: 'Address',
      plain: true,
      cell: (row) => (
        <>
          <Address address={row.address} label={labelOf(row, 'address')} />
          <LookalikeNote address={row.address} known={known} />
        </>
      ),
    },
    {
      title: 'Transfers',
      number: true,
      cell: (row) => (
        <Link to={`${addressPath(wallet)}?counterparty=${row.address}`}>{grouped(row.transferCount)}</Link>
      ),
    },
    { title: '', wideOnly: true, cell: ({ transferCount }) => <Meter share={transferCount / most} /> },
    { title: 'In', number: true, cell: ({ inCount }) => grouped(inCount) },
    { title: 'Out', number: true, cell: ({ outCount }) => grouped(outCount) },
    { title: 'Coin in', number: true, cell: ({ nativeIn }) => <Amount text={nativeIn} symbol={COIN} /> },
    { title: 'Coin out', number: true, cell: ({ nativeOut }) => <Amount text={nativeOut} symbol={COIN} /> },
    { title: 'Last block', wideOnly: true, cell: ({ lastBlock }) => <BlockLink block={lastBlock} /> },
    { title: 'Last seen', cell: ({ lastSeenAt }) => <Time iso={lastSeenAt} /> },
  ];
}
