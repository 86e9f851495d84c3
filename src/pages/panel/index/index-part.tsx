/** The index: its position, contents and progress, and the node's capabilities. */
import { followsFinal } from '../../../model/finality.ts';
import { logGapsAdvice, logGapsText } from '../../../model/index-status.ts';
import { type Fact, Facts } from '../../ui/facts.tsx';
import { countText, duration, grouped, percent } from '../../ui/format.ts';
import { Section } from '../../ui/section.tsx';
import { Age } from '../../ui/time.tsx';
import { type AdminAnswers, usePolled } from '../admin-api.ts';
import { LampText, StateCards } from '../state-cards.tsx';
import { DiskSection, KindsSection } from './contents.tsx';
import { Problems, phaseOf } from './phase.tsx';
import { SkippedSection } from './skipped.tsx';

const POLL_MS = 2_000;

type Status = AdminAnswers['index']['status'];

export function IndexPart() {
  const index = usePolled('index', POLL_MS);
  return (
    <>
      <Section
        id="index"
        isPage
        title="Index"
        loaded={index}
        controls={index.data && <LampText {...phaseOf(index.data.status)} />}
      >
        {({ status }) => (
          <>
            <Problems status={status} />
            <Facts facts={progressFacts(status)} />
          </>
        )}
      </Section>
      {index.data && (
        <>
          <StateCards status={index.data.status} />
          <KindsSection index={index.data} />
          <DiskSection index={index.data} />
          <NodeSection status={index.data.status} />
          <SkippedSection status={index.data.status} />
        </>
      )}
    </>
  );
}

function progressFacts(status: Status): (Fact | null)[] {
  const { phase, reason, head, nodeHead, startBlock, lagBlocks, lagSeconds, etaSeconds, lastCommitAt } =
    status;
  const since = <SinceStart status={status} />;
  return [
    {
      name: 'Height',
      value: head === null ? 'empty' : grouped(head.number),
      note: startBlock !== null && `from block ${grouped(startBlock)} on, ${gapsText(status)}`,
    },
    {
      name: 'Node head',
      value: nodeHead === null ? 'unknown' : grouped(nodeHead),
      note: reason !== null && 'as last read',
    },
    {
      name: 'Behind',
      value: lagBlocks === null ? 'unknown' : countText(lagBlocks, 'block'),
      note: lagSeconds !== null && `${duration(lagSeconds)} by the clock`,
    },
    {
      name: 'Rate',
      value: `${oneDecimal(status.blocksPerSecond)} blocks/s`,
      note: `${oneDecimal(status.transfersPerSecond)} transfers/s`,
    },
    phase === 'backfilling'
      ? {
          name: 'Done in',
          value: etaSeconds === null ? 'unknown' : duration(etaSeconds),
          note: shareDone(status),
        }
      : null,
    { name: 'Transfers', value: grouped(status.transfers) },
    {
      name: 'Reorganisations',
      value: grouped(status.reorgs),
      note: (
        <>
          {since}
          {status.reorgs > 0 && `; the deepest took ${countText(status.deepestReorg, 'block')}`}
        </>
      ),
    },
    lastCommitAt === null
      ? { name: 'Last commit', value: 'none', note: since }
      : { name: 'Last commit', value: <Age iso={new Date(lastCommitAt).toISOString()} /> },
  ];
}

function gapsText({ untraced, logGaps }: Status): string {
  const texts = [
    untraced && `${countText(untraced.blocks, 'block')} without all internal transfers`,
    logGaps && `${countText(logGaps.blocks, 'block')} without all logs`,
  ].filter((text) => text !== null);
  return texts.length === 0 ? 'without gaps' : texts.join(', ');
}

function SinceStart({ status: { startedAt } }: { status: Status }) {
  return (
    <>
      since the daemon started <Age iso={new Date(startedAt).toISOString()} />
    </>
  );
}

function shareDone({ head, startBlock, nodeHead }: Status): string {
  if (head === null || startBlock === null || nodeHead === null || nodeHead <= startBlock) return '';
  return `${percent((head.number - startBlock) / (nodeHead - startBlock))} of the blocks are indexed`;
}

function oneDecimal(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

function NodeSection({ status }: { status: Status }) {
  const { capabilities, finality, internalTransfers, internalTransfersReason } = status;
  const { unprovenHeaders, unchecked, logGaps } = status;
  return (
    <section class="section" aria-label="Node">
      <header>
        <h2>Node</h2>
      </header>
      {capabilities === null ? (
        <p class="notice">The node has not answered yet.</p>
      ) : (
        <Facts
          facts={[
            { name: 'Client', value: capabilities.client },
            { name: 'Chain id', value: String(capabilities.chainId) },
            {
              name: 'Followed',
              value: `${capabilities.headTag} blocks`,
              note: followsFinal(capabilities.headTag)
                ? 'final ones only'
                : 'reorganisations are rolled back',
            },
            ...(finality === null
              ? []
              : [
                  {
                    name: 'Final',
                    value: finality.block === null ? 'no block yet' : `up to ${grouped(finality.block)}`,
                    note: `by ${finality.rule}: ${finality.reason}`,
                  },
                ]),
            {
              name: 'Internal transfers',
              value: internalTransfers ? 'yes' : 'no',
              note: internalTransfers ? `by ${capabilities.traces}` : internalTransfersReason,
            },
            ...(unprovenHeaders === null
              ? []
              : [{ name: 'Headers', value: 'not verified', note: unprovenHeaders }]),
            ...(unchecked === null ? [] : [{ name: 'Not checked', value: 'in part', note: unchecked }]),
            ...(logGaps === null
              ? []
              : [
                  {
                    name: 'Log gaps',
                    value: grouped(logGaps.blocks),
                    note: `${logGapsText(logGaps)}; ${logGapsAdvice(logGaps, status.head)}`,
                  },
                ]),
            {
              name: 'Receipts',
              value: capabilities.blockReceipts ? 'by block' : 'one by one',
              note: !capabilities.blockReceipts && 'the node offers no eth_getBlockReceipts',
            },
          ]}
        />
      )}
    </section>
  );
}
