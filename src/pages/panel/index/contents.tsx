/** The contents of the index, and how long the disk lasts. */
import type { ComponentChildren } from 'preact';
import { TRANSFER_KINDS } from '../../../model/transfer-kind.ts';
import { Facts, Meter } from '../../ui/facts.tsx';
import { byteSize, duration, grouped, percent } from '../../ui/format.ts';
import { Table } from '../../ui/table.tsx';
import { Age } from '../../ui/time.tsx';
import type { AdminAnswers } from '../admin-api.ts';

type Index = AdminAnswers['index'];
type Survey = NonNullable<Index['survey']>;

/** Tables below this share of the file are omitted. */
const SMALL = 1 / 10_000;

export function KindsSection({ index }: { index: Index }) {
  return (
    <SurveySection title="Transfers by kind" index={index}>
      {({ kinds: { estimated, transfers }, at }) => {
        const all = TRANSFER_KINDS.reduce((sum, { name }) => sum + (transfers[name] ?? 0), 0);
        return (
          <>
            <Table
              caption="Transfers by kind"
              rows={TRANSFER_KINDS.map(({ name, label }) => ({ label, count: transfers[name] ?? 0 }))}
              rowKey={({ label }) => label}
              columns={[
                { title: 'Kind', plain: true, cell: ({ label }) => label },
                {
                  title: 'Transfers',
                  number: true,
                  plain: true,
                  cell: ({ count }) => `${estimated ? '≈ ' : ''}${grouped(count)}`,
                },
                { title: 'Share', plain: true, cell: ({ count }) => <Share some={count} all={all} /> },
              ]}
            />
            <p class="pager soft small">
              {estimated ? 'Estimated from a sample' : 'Counted'} <Age iso={at} />.
            </p>
          </>
        );
      }}
    </SurveySection>
  );
}

export function DiskSection({ index }: { index: Index }) {
  return (
    <SurveySection title="Disk" index={index}>
      {(survey) => (
        <>
          <DiskFacts index={index} survey={survey} />
          <Table
            caption="Disk by table"
            rows={tablesOf(survey)}
            rowKey={({ name }) => name}
            columns={[
              { title: 'Table with its indexes', plain: true, cell: ({ name }) => <code>{name}</code> },
              { title: 'Size', plain: true, number: true, cell: ({ bytes }) => byteSize(bytes) },
              {
                title: 'Share',
                plain: true,
                cell: ({ bytes }) => <Share some={bytes} all={bytesOf(survey)} />,
              },
            ]}
          />
          <p class="pager soft small">
            Measured <Age iso={survey.at} />.
            {survey.unmeasured !== null && ' Tables too large to measure are listed together.'}
          </p>
        </>
      )}
    </SurveySection>
  );
}

function DiskFacts({ index: { status, forecast }, survey }: { index: Index; survey: Survey }) {
  const { fileBytes, walBytes, freeBytes, growth } = survey;
  const isFilling = status.phase === 'backfilling';
  return (
    <Facts
      facts={[
        {
          name: 'index.db',
          value: byteSize(fileBytes),
          note: `and ${byteSize(walBytes)} of write-ahead log`,
        },
        { name: 'Free', value: byteSize(freeBytes) },
        {
          name: 'Growth',
          value: forecast?.bytesPerDay ? `${byteSize(forecast.bytesPerDay)} a day` : 'not known yet',
          note:
            growth === null
              ? 'available after ten minutes of blocks'
              : `${grouped(growth.transfersPerDay)} transfers a day, over the ` +
                'last ' +
                `${duration(growth.seconds)} of the chain`,
        },
        isFilling && forecast !== null
          ? {
              name: 'After backfill',
              value:
                forecast.bytesWhenFilled === null
                  ? 'not known yet'
                  : `≈ ${byteSize(forecast.bytesWhenFilled)}`,
              note:
                growth === null
                  ? 'if new blocks resemble the indexed ones'
                  : 'if new blocks resemble the newest indexed ones: ' +
                    `${grouped(growth.transfersPerBlock)} ` +
                    'transfers each',
            }
          : null,
        {
          name: 'Full in',
          value: fullText(forecast?.daysUntilFull ?? null),
          note: isFilling ? 'at this growth, after backfill' : 'at this growth',
        },
      ]}
    />
  );
}

/** Of the file, or of its tables where most of them are only in the write-ahead log. */
function bytesOf({ tables, fileBytes, unmeasured }: Survey): number {
  return Math.max(
    fileBytes,
    tables.reduce((sum, { bytes }) => sum + bytes, unmeasured?.bytes ?? 0),
  );
}

function tablesOf({ tables, fileBytes, unmeasured }: Survey): { name: string; bytes: number }[] {
  const rest = unmeasured === null ? [] : [{ name: unmeasured.names.join(', '), bytes: unmeasured.bytes }];
  return [...tables.filter(({ bytes }) => bytes >= fileBytes * SMALL), ...rest];
}

function fullText(days: number | null): string {
  if (days === null) return 'not known yet';
  if (days > 3_650) return 'over ten years';
  return days > 730 ? `${(days / 365).toFixed(1)} years` : `${grouped(days)} days`;
}

interface SurveySectionProps {
  title: string;
  index: Index;
  children: (survey: Survey) => ComponentChildren;
}

/** A section about a measurement of the file, which may not exist yet. */
function SurveySection({ title, index: { survey, surveyFailure }, children }: SurveySectionProps) {
  return (
    <section class="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {survey === null ? (
        <p class="notice">
          {surveyFailure === null
            ? 'The file is being measured …'
            : `The file could not be measured: ${surveyFailure}.`}
        </p>
      ) : (
        children(survey)
      )}
    </section>
  );
}

function Share({ some, all }: { some: number; all: number }) {
  const share = all === 0 ? 0 : some / all;
  return (
    <span class="share-cell">
      <Meter share={share} />
      <small class="soft">{percent(Math.round(share * 1000) / 1000)}</small>
    </span>
  );
}
