/** Funded wallets and, on request, what each bought first and whether it still holds that. */
import { useState } from 'preact/hooks';
import { TOKEN_KIND_NAMES } from '../../../model/transfer-kind.ts';
import type { Answers, Transfer } from '../../client/answers.ts';
import type { Api } from '../../client/api.ts';
import { useLoaded } from '../../client/use-answer.ts';
import { Address, BlockLink, labelOf, TokenLink, TransactionLink } from '../../ui/address.tsx';
import { Amount, TransferAmount } from '../../ui/amount.tsx';
import { grouped } from '../../ui/format.ts';
import { Failure } from '../../ui/section.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { COIN } from '../coin.ts';

/** Wallets whose first purchase is loaded at once. Each costs two requests. */
const CHECKED = 20;

/** Receipts searched for the first one: one page. */
const RECEIPTS = 500;

/** Balances that are looked through for it: one page. */
const TOKENS = 200;

type FundedWallet = Pick<
  Answers['funding_recipients']['recipients'][number],
  'address' | 'amount' | 'timestamp' | 'txHash'
> &
  Partial<Pick<Answers['funding_recipients']['recipients'][number], FundingTotals>>;

/** What a list of sums says beside each sum. */
type FundingTotals = 'transferCount' | 'firstBlock' | 'lastBlock' | 'firstFunding';

interface FirstPurchase {
  /** Null for a wallet without tokens; `many` when it has more receipts than are searched. */
  bought: Transfer | null | 'many';
  /** Null for a wallet with more tokens than are looked through. */
  holds: boolean | null;
}

interface FundedTableProps {
  caption: string;
  wallets: readonly FundedWallet[];
  /** Whether an amount is the sum of several transfers. */
  isSummed?: boolean;
  empty: string;
}

export function FundedTable({ caption, wallets, isSummed = false, empty }: FundedTableProps) {
  const [asked, setAsked] = useState(0);
  const checked = wallets.slice(0, asked).map(({ address }) => address);
  const purchases = useLoaded(`purchases ${checked.join()}`, async (api, signal) => {
    const found = await Promise.all(checked.map((wallet) => firstPurchase(api, wallet, signal)));
    return { data: new Map(checked.map((wallet, i) => [wallet, found[i]])), exchanges: [] };
  });
  const funded = [WALLET, ...(isSummed ? SUM_COLUMNS : PAYMENT_COLUMNS)];
  const columns =
    asked > 0 ? [...funded, ...purchaseColumns(purchases.data, purchases.error !== null)] : funded;
  return (
    <>
      {wallets.length > asked && (
        <p class="pager-before">
          <button type="button" class="button" onClick={() => setAsked(asked + CHECKED)}>
            {asked === 0 ? 'What did they buy first?' : `Look up the next ${CHECKED}`}
          </button>
        </p>
      )}
      {purchases.error !== null && <Failure error={purchases.error} onRetry={purchases.reload} />}
      <Table
        caption={caption}
        columns={columns}
        rows={wallets}
        rowKey={({ address }) => address}
        empty={empty}
      />
    </>
  );
}

const WALLET: Column<FundedWallet> = {
  title: 'Wallet',
  plain: true,
  cell: (row) => <Address address={row.address} label={labelOf(row, 'address')} />,
};

const PAYMENT_COLUMNS: readonly Column<FundedWallet>[] = [
  {
    title: 'Amount',
    plain: true,
    number: true,
    cell: ({ amount }) => <Amount text={amount} symbol={COIN} />,
  },
  { title: 'Time', plain: true, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: 'Transaction',
    plain: true,
    wideOnly: true,
    cell: ({ txHash }) => <TransactionLink hash={txHash} />,
  },
];

const SUM_COLUMNS: readonly Column<FundedWallet>[] = [
  {
    title: 'Sent in all',
    plain: true,
    number: true,
    cell: ({ amount }) => <Amount text={amount} symbol={COIN} />,
  },
  {
    title: 'Transfers',
    number: true,
    cell: ({ transferCount = 1 }) => grouped(transferCount),
  },
  {
    title: 'First',
    cell: ({ firstBlock = 0, firstFunding }) => (
      <>
        <BlockLink block={firstBlock} /> {firstFunding === true && <span class="tag">its first coins</span>}
      </>
    ),
  },
  { title: 'Last', cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: 'Last transaction',
    wideOnly: true,
    cell: ({ txHash }) => <TransactionLink hash={txHash} />,
  },
];

function purchaseColumns(
  found: ReadonlyMap<string, FirstPurchase | undefined> | undefined,
  hasFailed: boolean,
): Column<FundedWallet>[] {
  return [
    {
      title: 'Bought first',
      cell: ({ address }) => (
        <Purchase purchase={found?.get(address)} isLoading={found === undefined && !hasFailed} />
      ),
    },
    {
      title: 'Still holds it',
      cell: ({ address }) => {
        const purchase = found?.get(address);
        if (purchase === undefined || purchase.bought === null || purchase.bought === 'many') return '';
        if (purchase.holds === null) return <span class="soft">more than {TOKENS} tokens</span>;
        return purchase.holds ? <span class="in">holds</span> : <span class="out">sold</span>;
      },
    },
  ];
}

function Purchase({ purchase, isLoading }: { purchase: FirstPurchase | undefined; isLoading: boolean }) {
  if (isLoading) return <span class="soft">…</span>;
  if (purchase === undefined) return <span class="soft">not looked up</span>;
  const { bought } = purchase;
  if (bought === null) return <span class="soft">no token</span>;
  if (bought === 'many') return <span class="soft">more than {RECEIPTS} receipts</span>;
  return (
    <span class="nowrap">
      <TransferAmount {...bought} symbol={null} units={bought.amount} />{' '}
      <TokenLink token={bought.tokenAddress ?? ''} symbol={bought.symbol} />
    </span>
  );
}

/** The oldest token that a wallet received, and whether its balance of that token is above zero. */
async function firstPurchase(api: Api, address: string, signal: AbortSignal): Promise<FirstPurchase> {
  const query = { address, direction: 'in', type: TOKEN_KIND_NAMES.join(), limit: RECEIPTS };
  const { data } = await api.get('address_transfers', query, signal);
  if (data.nextCursor !== null) return { bought: 'many', holds: false };
  const bought = data.transfers.filter(({ tokenAddress }) => tokenAddress !== null).at(-1) ?? null;
  if (bought === null) return { bought, holds: false };
  const held = await api.get('wallet_tokens', { address, limit: TOKENS }, signal);
  const isHeld = held.data.tokens.some(({ tokenAddress }) => tokenAddress === bought.tokenAddress);
  return { bought, holds: isHeld || held.data.nextCursor === null ? isHeld : null };
}
