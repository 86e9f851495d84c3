/** The transfers of a token, newest first, to its first one. */
import { usePages } from '../../client/use-pages.ts';
import { countText } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { Section } from '../../ui/section.tsx';
import { TransferTable } from '../transfer-table.tsx';
import type { TokenTabProps } from './token-tab-props.ts';

const PAGE = 50;

export function TokenTransfersTab({ stats: { token, transferCount } }: TokenTabProps) {
  const pages = usePages(
    `token transfers ${token}`,
    (api, cursor, signal) => api.get('token_transfers', { token, limit: PAGE, cursor }, signal),
    ({ transfers }) => transfers,
  );
  return (
    <Section
      id="transfers"
      title="Transfers"
      note={`${countText(transferCount, 'transfer')}, newest first.`}
      loaded={pages}
    >
      {(transfers) => (
        <>
          <TransferTable caption="Transfers of the token" transfers={transfers} without={['Token']} />
          <More pages={pages} />
        </>
      )}
    </Section>
  );
}
